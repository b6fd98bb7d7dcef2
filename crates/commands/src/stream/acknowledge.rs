//! XACK.

use super::ids;
use basalt_call::entry::{Entry, Run};
use basalt_engine::{Absent, Txn};
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::CommandResult;
use basalt_spec::{CommandSpec, Flag, Flags, Group, KeyUse};
use basalt_value::stream::Stream;

pub(super) const XACK: Entry = Entry {
    spec: CommandSpec {
        name: "xack",
        synopsis: "key group id [id ...]",
        group: Group::Stream,
        flags: Flags::of(&[Flag::Write, Flag::Fast]),
        keys: &[KeyUse::UPDATE],
        since: "5.0.0",
        complexity: "O(log(N)) for each ID with N pending entries",
        summary: "Acknowledges entries that were delivered to a group, so that they are pending no longer, and returns how many were.",
        examples: &[
            r#"XADD s 1-0 f a => "1-0""#,
            "XGROUP CREATE s g 0 => OK",
            r#"XREADGROUP GROUP g c STREAMS s > => [["s", [["1-0", ["f", "a"]]]]]"#,
            "XACK s g 1-0 2-0 => (integer) 1",
            "XACK s g 1-0 => (integer) 0",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(xack),
    ..Entry::DEFAULT
};

fn xack(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let (key, group) = (args.key(0), args.word(2));
    let stream = txn.collection::<Stream>(key)?;
    if stream.and_then(|stream| stream.group(group)).is_none() {
        txn.notify_missing(args.keys());
        reply.integer(0);
        return Ok(());
    }
    let mut ids = args.from(3).map(ids::id).collect::<Result<Vec<_>, _>>()?;
    txn.edit_aside::<Stream, _>(key, Absent::Skip, |stream, edits| {
        stream.acknowledge(group, &mut ids, edits);
    })?;
    reply.integer(ids.len() as i64);
    Ok(())
}
