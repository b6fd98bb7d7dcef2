//! XSETID: what a stream knows about its history.

use super::{ids, notify};
use crate::number::integer;
use basalt_call::entry::{Entry, Run};
use basalt_engine::{Absent, Txn};
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::{CommandError, CommandResult};
use basalt_spec::{CommandSpec, Flag, Flags, Group, KeyUse, at};
use basalt_value::Collection;
use basalt_value::stream::{EntryId, Marks, Stream};

pub(super) const XSETID: Entry = Entry {
    spec: CommandSpec {
        name: "xsetid",
        synopsis: "key last-id [ENTRIESADDED entries_added] [MAXDELETEDID \
                   max_deleted_entry_id]",
        group: Group::Stream,
        flags: Flags::of(&[Flag::Write, Flag::Denyoom, Flag::Fast]),
        keys: &[KeyUse::UPDATE],
        overrides: &[at("ENTRIESADDED").since("7.0.0"), at("MAXDELETEDID").since("7.0.0")],
        since: "5.0.0",
        complexity: "O(1)",
        summary: "Sets the last ID that a stream has given and, if asked to, its counters; for copying streams.",
        examples: &[
            r#"XADD s 1-0 f a => "1-0""#,
            "XSETID s 5-0 ENTRIESADDED 9 => OK",
            r#"XADD s 5-* f b => "5-1""#,
            "XSETID s 4-0 => (error) ERR The ID specified in XSETID is smaller than the target stream top item",
            "XSETID absent 1-0 => (error) ERR no such key",
        ],
        history: &[("7.0.0", "Added the arguments `entries_added` and `max_deleted_entry_id`.")],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(xsetid),
    ..Entry::DEFAULT
};

#[derive(Default)]
struct Options {
    entries_added: Option<u64>,
    max_deleted_id: EntryId,
}

fn xsetid(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let last_id = ids::id(args.word(2))?;
    let options = parse(args, last_id)?;
    let key = args.key(0);
    let stream = txn.collection::<Stream>(key)?.ok_or(CommandError::NO_SUCH_KEY)?;
    if last_id < stream.marks().max_deleted_id {
        return Err(CommandError::fixed(
            "ERR The ID specified in XSETID is smaller than current max_deleted_entry_id",
        ));
    }
    if last_id < stream.last_entry_id() {
        return Err(CommandError::fixed(
            "ERR The ID specified in XSETID is smaller than the target stream top item",
        ));
    }
    if options.entries_added.is_some_and(|added| added < stream.len() as u64) {
        return Err(CommandError::fixed(
            "ERR The entries_added specified in XSETID is smaller than the target stream length",
        ));
    }
    let before = stream.marks();
    let max_deleted_id = match options.max_deleted_id {
        EntryId::MIN => before.max_deleted_id,
        id => id,
    };
    let entries_added = options.entries_added.unwrap_or(before.entries_added);
    let marks = Marks { last_id, max_deleted_id, entries_added };
    txn.edit_aside::<Stream, _>(key, Absent::Skip, |stream, edits| stream.set_marks(marks, edits))?;
    notify(txn, "xsetid", key);
    reply.ok();
    Ok(())
}

fn parse(args: &Args<'_>, last_id: EntryId) -> Result<Options, CommandError> {
    let mut options = Options::default();
    let mut index = 3;
    while index < args.len() {
        let value = args.opt(index + 1).ok_or(CommandError::SYNTAX)?;
        if args.is(index, "entriesadded") {
            let added = u64::try_from(integer(value)?)
                .map_err(|_| CommandError::fixed("ERR entries_added must be positive"))?;
            options.entries_added = Some(added);
        } else if args.is(index, "maxdeletedid") {
            options.max_deleted_id = ids::id(value)?;
            if last_id < options.max_deleted_id {
                return Err(CommandError::fixed(
                    "ERR The ID specified in XSETID is smaller than the provided max_deleted_entry_id",
                ));
            }
        } else {
            return Err(CommandError::SYNTAX);
        }
        index += 2;
    }
    Ok(options)
}
