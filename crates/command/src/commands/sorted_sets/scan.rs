//! ZSCAN.

use super::reply;
use crate::args::Args;
use crate::commands::generic::parse_cursor;
use crate::commands::{Entry, Run, number};
use crate::error::{CommandError, CommandResult};
use basalt_engine::View;
use basalt_resp::{Protocol, Reply};
use basalt_spec::{CommandSpec, Flag, Flags, Group, KeyUse};
use basalt_stdx::glob::{Case, Pattern};
use basalt_value::SortedSet;
use basalt_value::item::NUMBER_CHARS_MAX;

/// Elements that are looked at unless COUNT says otherwise.
const COUNT_DEFAULT: usize = 10;

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
};

fn zscan(view: &View<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let cursor = parse_cursor(args.word(2)).ok_or(CommandError::fixed("ERR invalid cursor"))?;
    let Some(set) = view.collection::<SortedSet>(args.key(0))? else {
        reply.array(2);
        reply.bulk(b"0");
        reply.array(0);
        return Ok(());
    };
    let (pattern, count) = options(args)?;
    let mut found = Vec::new();
    let next = set.scan(cursor, count, |element| {
        let mut digits = [0; NUMBER_CHARS_MAX];
        let matches = |pattern: &Pattern| pattern.matches(element.member.spell(&mut digits));
        if pattern.as_ref().is_none_or(matches) {
            found.push(element);
        }
    });
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

fn options(args: &Args<'_>) -> Result<(Option<Pattern>, usize), CommandError> {
    let (mut pattern, mut count) = (None, COUNT_DEFAULT);
    for at in (3..args.len()).step_by(2) {
        let word = args.opt(at + 1).ok_or(CommandError::SYNTAX)?;
        if args.is(at, "COUNT") {
            count = usize::try_from(number::integer(word)?)
                .ok()
                .filter(|&count| count > 0)
                .ok_or(CommandError::SYNTAX)?;
        } else if args.is(at, "MATCH") {
            pattern = Some(Pattern::new(word, Case::Differs));
        } else {
            return Err(CommandError::SYNTAX);
        }
    }
    Ok((pattern, count))
}
