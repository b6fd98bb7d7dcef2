//! SSCAN.

use super::reply_item;
use crate::collection_scan::{SCANNING, ScanOptions, cursor};
use basalt_call::entry::{Entry, Run};
use basalt_engine::View;
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::CommandResult;
use basalt_spec::{CommandSpec, Flag, Flags, Group, KeyUse};
use basalt_value::Set;
use basalt_value::item::NUMBER_CHARS_MAX;

pub(super) const SSCAN: Entry = Entry {
    spec: CommandSpec {
        name: "sscan",
        synopsis: "key cursor [MATCH pattern] [COUNT count]",
        group: Group::Set,
        flags: Flags::of(&[Flag::Readonly]),
        keys: &[KeyUse::READ],
        since: "2.8.0",
        complexity: "O(1) a call, O(N) for all N members",
        summary: "Returns some members of a set and a cursor to go on with; the cursor 0 ends it.",
        examples: &[
            r#"SSCAN s 0 => ["0", []]"#,
            "SADD s one two => (integer) 2",
            r#"SSCAN s 0 MATCH o* => ["0", ["one"]]"#,
        ],
        tips: &["nondeterministic_output"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Read(sscan),
    traits: SCANNING,
    ..Entry::DEFAULT
};

fn sscan(view: &View<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let from = cursor(args)?;
    let set = view.collection::<Set>(args.key(0))?;
    let mut next = 0;
    let mut found = Vec::new();
    if let Some(set) = set {
        let options = ScanOptions::parse(args)?;
        next = set.scan(from, options.count, |item| {
            if options.wants(item.spell(&mut [0; NUMBER_CHARS_MAX])) {
                found.push(item.to_owned());
            }
        });
    }
    reply.array(2);
    reply.bulk(itoa::Buffer::new().format(next).as_bytes());
    reply.array(found.len());
    found.iter().for_each(|member| reply_item(member.item(), reply));
    Ok(())
}
