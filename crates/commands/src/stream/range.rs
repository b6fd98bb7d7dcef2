//! HOT PATH
//! XRANGE and XREVRANGE.

use super::{ids, reply_entries};
use crate::number::integer;
use basalt_call::entry::{Entry, Run, Traits};
use basalt_engine::View;
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::{CommandError, CommandResult};
use basalt_spec::{CommandSpec, Flag, Flags, Group, KeyUse, Kind, at};
use basalt_value::stream::Stream;

pub(super) const XRANGE: Entry = Entry {
    spec: CommandSpec {
        name: "xrange",
        synopsis: "key start end [COUNT count]",
        group: Group::Stream,
        flags: Flags::of(&[Flag::Readonly]),
        keys: &[KeyUse::READ],
        overrides: &[at("start").kind(Kind::String), at("end").kind(Kind::String)],
        since: "5.0.0",
        complexity: "O(N) with N entries returned",
        summary: "Returns the entries of a stream whose IDs are within a range.",
        examples: &[
            r#"XADD s 1-0 f a => "1-0""#,
            r#"XADD s 2-0 f b => "2-0""#,
            r#"XRANGE s - + COUNT 1 => [["1-0", ["f", "a"]]]"#,
            r#"XRANGE s (1-0 + => [["2-0", ["f", "b"]]]"#,
            "XRANGE absent - + => []",
        ],
        history: &[("6.2.0", "Added exclusive ranges.")],
        ..CommandSpec::DEFAULT
    },
    run: Run::Read(xrange),
    traits: Traits::working_on(4, entries_asked),
    ..Entry::DEFAULT
};

pub(super) const XREVRANGE: Entry = Entry {
    spec: CommandSpec {
        name: "xrevrange",
        synopsis: "key end start [COUNT count]",
        group: Group::Stream,
        flags: Flags::of(&[Flag::Readonly]),
        keys: &[KeyUse::READ],
        overrides: &[at("end").kind(Kind::String), at("start").kind(Kind::String)],
        since: "5.0.0",
        complexity: "O(N) with N entries returned",
        summary: "Returns the entries of a stream whose IDs are within a range, the last one first.",
        examples: &[
            r#"XADD s 1-0 f a => "1-0""#,
            r#"XADD s 2-0 f b => "2-0""#,
            r#"XREVRANGE s + - COUNT 1 => [["2-0", ["f", "b"]]]"#,
        ],
        history: &[("6.2.0", "Added exclusive ranges.")],
        ..CommandSpec::DEFAULT
    },
    run: Run::Read(xrevrange),
    traits: Traits::working_on(4, entries_asked),
    ..Entry::DEFAULT
};

/// How many entries a call asks for of a stream that has `len`. From one identity to the same there
/// is one; between two others there may be all.
fn entries_asked(args: &Args<'_>, len: usize) -> usize {
    if args.word(2) == args.word(3) {
        return 1;
    }
    let most = |count: Option<u64>| count.map_or(len, |count| count.min(len as u64) as usize);
    count(args).map_or(0, most)
}

fn xrange(view: &View<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let (first, last) = (ids::interval_start(args.word(2))?, ids::interval_end(args.word(3))?);
    reply_range(view, args, reply, |stream, count_max, reply| {
        reply_entries(stream.entries(first, last), count_max, reply);
    })
}

fn xrevrange(view: &View<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let (first, last) = (ids::interval_start(args.word(3))?, ids::interval_end(args.word(2))?);
    reply_range(view, args, reply, |stream, count_max, reply| {
        reply_entries(stream.entries_back(first, last), count_max, reply);
    })
}

#[inline]
fn reply_range(
    view: &View<'_>,
    args: &Args<'_>,
    reply: &mut Reply<'_>,
    write: impl FnOnce(&Stream, Option<u64>, &mut Reply<'_>),
) -> CommandResult {
    let count_max = count(args)?;
    let Some(stream) = view.collection::<Stream>(args.key(0))? else {
        reply.array(0);
        return Ok(());
    };
    if count_max == Some(0) {
        // Not an empty array: so it is in Redis.
        reply.null_array();
        return Ok(());
    }
    write(stream, count_max, reply);
    Ok(())
}

fn count(args: &Args<'_>) -> Result<Option<u64>, CommandError> {
    let mut count_max = None;
    let mut index = 4;
    while index < args.len() {
        let Some(value) = args.opt(index + 1).filter(|_| args.is(index, "count")) else {
            return Err(CommandError::SYNTAX);
        };
        count_max = Some(u64::try_from(integer(value)?).unwrap_or(0));
        index += 2;
    }
    Ok(count_max)
}
