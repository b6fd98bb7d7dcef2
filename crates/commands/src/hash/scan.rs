//! HSCAN.

use super::reply_item;
use crate::collection_scan::{SCANNING, ScanOptions, cursor};
use basalt_call::entry::{Entry, Run};
use basalt_engine::View;
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::CommandResult;
use basalt_spec::{CommandSpec, Flag, Flags, Group, KeyUse, at};
use basalt_value::Hash;
use basalt_value::item::NUMBER_CHARS_MAX;

pub(super) const HSCAN: Entry = Entry {
    spec: CommandSpec {
        name: "hscan",
        synopsis: "key cursor [MATCH pattern] [COUNT count] [NOVALUES]",
        group: Group::Hash,
        flags: Flags::of(&[Flag::Readonly]),
        keys: &[KeyUse::READ],
        overrides: &[at("NOVALUES").since("7.4.0")],
        since: "2.8.0",
        complexity: "O(1) a call, O(N) for all N fields",
        summary: "Returns some fields of a hash and a cursor to go on with; the cursor 0 ends it.",
        examples: &[
            r#"HSCAN h 0 => ["0", []]"#,
            "HSET h one 1 two 2 => (integer) 2",
            r#"HSCAN h 0 MATCH o* => ["0", ["one", "1"]]"#,
            r#"HSCAN h 0 MATCH o* NOVALUES => ["0", ["one"]]"#,
        ],
        tips: &["nondeterministic_output"],
        history: &[("7.4.0", "Option NOVALUES.")],
        ..CommandSpec::DEFAULT
    },
    run: Run::Read(hscan),
    traits: SCANNING,
    ..Entry::DEFAULT
};

fn hscan(view: &View<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let from = cursor(args)?;
    let Some(hash) = view.collection::<Hash>(args.key(0))? else {
        reply.array(2);
        reply.bulk(b"0");
        reply.array(0);
        return Ok(());
    };
    let options = ScanOptions::parse(args)?;
    let mut found = Vec::new();
    let next = hash.scan(from, options.count, view.now_ms(), |field| {
        if options.wants(field.name.spell(&mut [0; NUMBER_CHARS_MAX])) {
            found.push((field.name.to_owned(), field.value.to_owned()));
        }
    });
    reply.array(2);
    reply.bulk(itoa::Buffer::new().format(next).as_bytes());
    reply.array(if options.no_values { found.len() } else { 2 * found.len() });
    for (name, value) in &found {
        reply_item(name.item(), reply);
        if !options.no_values {
            reply_item(value.item(), reply);
        }
    }
    Ok(())
}
