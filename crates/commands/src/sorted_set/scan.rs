//! ZSCAN.

use super::reply;
use crate::collection_scan::{SCANNING, ScanOptions, cursor};
use basalt_call::entry::{Entry, Run};
use basalt_engine::View;
use basalt_resp::{Protocol, Reply};
use basalt_service::args::Args;
use basalt_service::error::{CommandError, CommandResult};
use basalt_spec::{CommandSpec, Flag, Flags, Group, KeyUse};
use basalt_value::SortedSet;
use basalt_value::item::NUMBER_CHARS_MAX;

pub(super) const ZSCAN: Entry = Entry {
    spec: CommandSpec {
        name: "zscan",
        synopsis: "key cursor [MATCH pattern] [COUNT count]",
        group: Group::SortedSet,
        flags: Flags::of(&[Flag::Readonly]),
        keys: &[KeyUse::READ],
        since: "2.8.0",
        complexity: "O(1) a call, O(N) for all N elements",
        summary: "Returns some elements of a sorted set and a cursor to go on with; the cursor 0 ends it.",
        examples: &[
            "ZADD z 1 a 2 b => (integer) 2",
            r#"ZSCAN z 0 => ["0", ["a", "1", "b", "2"]]"#,
            r#"ZSCAN z 0 MATCH b* => ["0", ["b", "2"]]"#,
            "ZSCAN z x => (error) ERR invalid cursor",
        ],
        tips: &["nondeterministic_output"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Read(zscan),
    traits: SCANNING,
    ..Entry::DEFAULT
};

fn zscan(view: &View<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let from = cursor(args)?;
    let mut found = Vec::new();
    let mut next = 0;
    if let Some(set) = view.collection::<SortedSet>(args.key(0))? {
        let options = ScanOptions::parse(args)?;
        if options.no_values {
            return Err(CommandError::SYNTAX);
        }
        next = set.scan(from, options.count, |element| {
            if options.wants(element.member.spell(&mut [0; NUMBER_CHARS_MAX])) {
                found.push(element);
            }
        });
    }
    reply.array(2);
    reply.bulk(itoa::Buffer::new().format(next).as_bytes());
    reply.array(found.len() * 2);
    // The scores of a scan are strings in either protocol.
    let protocol = reply.protocol();
    reply.set_protocol(Protocol::Resp2);
    for element in found {
        reply::member(reply, element.member);
        reply.double(element.score);
    }
    reply.set_protocol(protocol);
    Ok(())
}
