//! OBJECT DESCRIBE: all that there is to say of a key, in one reply.
//!
//! Redis has a command for each of these; a client that shows keys would need five, between which
//! the key may change.

use super::object::encoding;
use super::type_name;
use basalt_call::entry::{Entry, Run, Traits};
use basalt_engine::{Object, View};
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::CommandResult;
use basalt_spec::{CommandSpec, Flag, Flags, Group, KeyUse};

pub(super) const OBJECT_DESCRIBE: Entry = Entry {
    spec: CommandSpec {
        name: "object|describe",
        synopsis: "key",
        group: Group::Generic,
        flags: Flags::of(&[Flag::Readonly]),
        keys: &[KeyUse::INSPECT],
        since: "7.2.0",
        complexity: "O(1)",
        summary: "Tells the type of a key, its time to live, its encoding, how much memory it takes and how many elements it has.",
        examples: &["OBJECT DESCRIBE k => (nil)", "SET k v => OK", "OBJECT DESCRIBE k => (any)"],
        tips: &["nondeterministic_output"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Read(describe),
    traits: Traits { inspects_keys: true, ..Traits::NONE },
    ..Entry::DEFAULT
};

fn describe(view: &View<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let Some(object) = view.inspect(args.key(0)) else {
        reply.null();
        return Ok(());
    };
    reply.map(5);
    reply.bulk(b"type");
    reply.bulk(type_name(object).as_bytes());
    reply.bulk(b"ttl_ms");
    match object.expire_ms() {
        0 => reply.null(),
        expire_ms => reply.integer(expire_ms.saturating_sub(view.now_ms()) as i64),
    }
    reply.bulk(b"encoding");
    reply.bulk(encoding(object).as_bytes());
    reply.bulk(b"bytes");
    reply.integer(object.memory_bytes() as i64);
    reply.bulk(b"length");
    reply.integer(length(object) as i64);
    Ok(())
}

/// Elements, or bytes of a string.
pub(crate) fn length(object: Object<'_>) -> usize {
    match object.collection() {
        Some(value) => value.len(),
        None => object.string().map_or(0, |string| string.bytes().len()),
    }
}
