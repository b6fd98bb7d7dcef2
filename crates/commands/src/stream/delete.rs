//! XDEL and XLEN.

use super::{ids, notify};
use basalt_call::entry::{Entry, Run};
use basalt_engine::{Absent, Txn, View};
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::CommandResult;
use basalt_spec::{CommandSpec, Flag, Flags, Group, KeyUse};
use basalt_value::Collection;
use basalt_value::stream::Stream;

pub(super) const XDEL: Entry = Entry {
    spec: CommandSpec {
        name: "xdel",
        synopsis: "key id [id ...]",
        group: Group::Stream,
        flags: Flags::of(&[Flag::Write, Flag::Fast]),
        keys: &[KeyUse::TRIM],
        since: "5.0.0",
        complexity: "O(1) for each entry, however long the stream",
        summary: "Deletes entries of a stream by their IDs and returns how many there were.",
        examples: &[
            r#"XADD s 1-0 f a => "1-0""#,
            "XDEL s 1-0 2-0 => (integer) 1",
            "XLEN s => (integer) 0",
            "XDEL s x => (error) ERR Invalid stream ID specified as stream command argument",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(xdel),
    ..Entry::DEFAULT
};

pub(super) const XLEN: Entry = Entry {
    spec: CommandSpec {
        name: "xlen",
        synopsis: "key",
        group: Group::Stream,
        flags: Flags::of(&[Flag::Readonly, Flag::Fast]),
        keys: &[KeyUse::INSPECT],
        since: "5.0.0",
        complexity: "O(1)",
        summary: "Returns how many entries a stream has.",
        examples: &["XLEN s => (integer) 0", r#"XADD s 1-0 f a => "1-0""#, "XLEN s => (integer) 1"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Read(xlen),
    ..Entry::DEFAULT
};

fn xdel(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let key = args.key(0);
    if txn.collection::<Stream>(key)?.is_none() {
        reply.integer(0);
        return Ok(());
    }
    // All of them are checked before the first entry goes.
    let ids = args.from(2).map(ids::id).collect::<Result<Vec<_>, _>>()?;
    let deleted = txn.edit::<Stream, _>(key, Absent::Skip, |stream, edits| {
        ids.iter().filter(|&&id| stream.delete(id, edits)).count()
    })?;
    let deleted = deleted.unwrap_or(0);
    if deleted > 0 {
        notify(txn, "xdel", key);
    }
    reply.integer(deleted as i64);
    Ok(())
}

fn xlen(view: &View<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let len = view.collection::<Stream>(args.key(0))?.map_or(0, Collection::len);
    reply.integer(len as i64);
    Ok(())
}
