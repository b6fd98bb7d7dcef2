//! DEBUG's looks at how values are stored, as far as what Redis says has a meaning here.

use super::digest::look_at_keys;
use crate::generic::encoding;
use crate::number::integer;
use basalt_call::context::Context;
use basalt_engine::Object;
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::CommandError;
use basalt_service::session::{Flow, SessionResult};
use basalt_service::wait::Wait;
use std::fmt::Write;

const NOT_STRING: CommandError = CommandError::fixed("ERR Not an sds encoded string.");
const NOT_LISTPACK: CommandError = CommandError::fixed("ERR Not a listpack encoded object.");
const NOT_QUICKLIST: CommandError = CommandError::fixed("ERR Not a quicklist encoded object.");
const NOT_TABLE: CommandError = CommandError::fixed(
    "ERR The value stored at the specified key is not represented using an hash table",
);
const NO_DATABASE: CommandError = CommandError::fixed("ERR Out of range database");

/// Looks at the key that the command names.
fn look_at(
    ctx: &mut Context<'_>,
    args: &Args<'_>,
    look: impl FnOnce(Object<'_>) -> Result<(), CommandError>,
) -> SessionResult {
    look_at_keys(ctx, &[args.word(2)], |found| look(found[0].ok_or(CommandError::NO_SUCH_KEY)?))
}

/// DEBUG LISTPACK: the log has what Redis prints, as far as there is such a thing.
pub(super) fn listpack(
    ctx: &mut Context<'_>,
    args: &Args<'_>,
    reply: &mut Reply<'_>,
) -> SessionResult {
    look_at(ctx, args, |object| {
        log_form(object, "listpack", NOT_LISTPACK)?;
        reply.simple("Listpack structure printed on stdout");
        Ok(())
    })
}

/// DEBUG QUICKLIST: the log has what Redis prints, as far as there is such a thing.
pub(super) fn quicklist(
    ctx: &mut Context<'_>,
    args: &Args<'_>,
    reply: &mut Reply<'_>,
) -> SessionResult {
    if args.len() == 4 {
        integer(args.word(3))?;
    }
    look_at(ctx, args, |object| {
        log_form(object, "quicklist", NOT_QUICKLIST)?;
        reply.simple("Quicklist structure printed on stdout");
        Ok(())
    })
}

fn log_form(object: Object<'_>, form: &str, other: CommandError) -> Result<(), CommandError> {
    let collection = object.collection().filter(|value| value.encoding() == form).ok_or(other)?;
    let (elements, bytes) = (collection.len(), collection.heap_bytes());
    tracing::info!(elements, bytes, "DEBUG: a {form}");
    Ok(())
}

/// DEBUG SDSLEN: lengths of a key and its string, and the memory for them.
pub(super) fn sdslen(
    ctx: &mut Context<'_>,
    args: &Args<'_>,
    reply: &mut Reply<'_>,
) -> SessionResult {
    let key_bytes = args.word(2).len();
    look_at(ctx, args, |object| {
        let string = object.string().filter(|_| encoding(object) != "int").ok_or(NOT_STRING)?;
        let (bytes, memory) = (string.bytes().len(), object.memory_bytes());
        // A string that stands apart has spare capacity, a short one stands in its entry.
        let apart = object.apart_bytes();
        reply.simple(format!(
            "key_sds_len:{key_bytes}, key_sds_avail:0, key_zmalloc: {key_bytes}, \
             val_sds_len:{bytes}, val_sds_avail:{}, val_zmalloc: {}",
            apart.saturating_sub(bytes),
            memory.saturating_sub(key_bytes),
        ));
        Ok(())
    })
}

/// DEBUG HTSTATS: what the partitions' tables of a database hold together.
pub(super) fn htstats(
    ctx: &mut Context<'_>,
    args: &Args<'_>,
    reply: &mut Reply<'_>,
) -> SessionResult {
    let engine = &ctx.server.engine;
    let db = u8::try_from(integer(args.word(2))?).ok().filter(|&db| db < engine.databases());
    let Ok(totals) = engine.totals_within(db.ok_or(NO_DATABASE)?, ctx.lock_wait) else {
        return Ok(Flow::Wait(Wait::Held));
    };
    let mut text = String::from("[Dictionary HT]\n");
    write_table(totals.keys, &mut text);
    text.push_str("[Expires HT]\n");
    write_table(totals.expires, &mut text);
    reply.verbatim(*b"txt", text.as_bytes());
    Ok(Flow::Done)
}

/// DEBUG HTSTATS-KEY: what the table of a set or a hash holds, or that of a sorted set.
pub(super) fn htstats_key(
    ctx: &mut Context<'_>,
    args: &Args<'_>,
    reply: &mut Reply<'_>,
) -> SessionResult {
    look_at(ctx, args, |object| {
        let is_table = matches!(encoding(object), "hashtable" | "skiplist");
        let collection = object.collection().filter(|_| is_table).ok_or(NOT_TABLE)?;
        let mut text = String::new();
        write_table(collection.len() as u64, &mut text);
        reply.verbatim(*b"txt", text.as_bytes());
        Ok(())
    })
}

/// Redis goes on with the lengths of chains, of which there are none here.
fn write_table(elements: u64, text: &mut String) {
    text.push_str("Hash table 0 stats (main hash table):\n");
    // Writing to a string cannot fail.
    let _ = match elements {
        0 => writeln!(text, "No stats available for empty dictionaries"),
        _ => writeln!(text, " number of elements: {elements}"),
    };
}
