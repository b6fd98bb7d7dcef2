//! HOT PATH
//! XADD.

use super::ids::{self, NewId};
use super::trim::{IdArgument, Options};
use super::{notify, reply_id};
use basalt_call::entry::{Entry, Run};
use basalt_engine::{Absent, Txn};
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::{CommandError, CommandResult};
use basalt_spec::{CommandSpec, Flag, Flags, Group, KeyUse, around, at};
use basalt_value::stream::{EntryId, Stream};

pub(super) const XADD: Entry = Entry {
    spec: CommandSpec {
        name: "xadd",
        synopsis: "key [NOMKSTREAM] [<MAXLEN | MINID> [= | ~] threshold [LIMIT count]] \
                   <* | id> field value [field value ...]",
        group: Group::Stream,
        flags: Flags::of(&[Flag::Write, Flag::Denyoom, Flag::Fast]),
        keys: &[KeyUse::UPDATE],
        overrides: &[
            at("NOMKSTREAM").since("6.2.0"),
            at("MINID").since("6.2.0"),
            around("MAXLEN").named("strategy"),
            at("=").named("equal"),
            at("~").named("approximately"),
            around("=").named("operator"),
            at("LIMIT").since("6.2.0"),
            around("strategy").named("trim"),
            at("*").named("auto_id"),
            around("*").named("id_or_auto"),
        ],
        since: "5.0.0",
        complexity: "O(1) to add an entry, O(N) with N entries trimmed",
        summary: "Adds an entry to the end of a stream, which is created if absent, and returns the entry's ID.",
        examples: &[
            r#"XADD s 1-1 name a => "1-1""#,
            r#"XADD s 1-* name b => "1-2""#,
            "XADD s 1-2 name c => (error) ERR The ID specified in XADD is equal or smaller than the target stream top item",
            r#"XADD s MAXLEN 1 2 name c => "2-0""#,
            "XLEN s => (integer) 1",
            "XADD absent NOMKSTREAM * name a => (nil)",
        ],
        tips: &["nondeterministic_output"],
        history: &[
            ("6.2.0", "Added the options `NOMKSTREAM`, `MINID` and `LIMIT`."),
            ("7.0.0", "Added the form `<ms>-*` of IDs."),
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(xadd),
    ..Entry::DEFAULT
};

fn xadd(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let limits = txn.limits();
    let mut options = Options::default();
    let mut absent = Absent::Create;
    let mut index = 2;
    let mut id = None;
    while index < args.len() {
        let word = args.word(index);
        if word == b"*" {
            id = Some(IdArgument::Automatic);
            break;
        }
        if let Some(next) = options.take(args, index)? {
            index = next;
        } else if args.is(index, "nomkstream") {
            absent = Absent::Skip;
            index += 1;
        } else {
            id = Some(IdArgument::Given(ids::new_id(word)?));
            break;
        }
    }
    let trim = options.finish(&limits)?;
    let first = index + 1;
    let id = match id {
        Some(id) if args.len() > first + 1 && (args.len() - first).is_multiple_of(2) => id,
        _ => return Err(CommandError::wrong_arity("xadd")),
    };
    if id == IdArgument::Given(NewId::Whole(EntryId::MIN)) {
        return Err(CommandError::fixed("ERR The ID specified in XADD must be greater than 0-0"));
    }
    let now_ms = txn.now_ms();
    let key = args.key(0);
    let added = txn.edit::<Stream, _>(key, absent, |stream, edits| {
        let id = choose(stream.last_id(), id, now_ms)?;
        stream
            .add(id, args.from(first), &limits, edits)
            .map_err(|_| CommandError::fixed("ERR Elements are too large to be stored"))?;
        let trimmed = trim.map_or(0, |trim| stream.trim(trim, edits));
        Ok::<_, CommandError>((id, trimmed))
    })?;
    let Some(added) = added else {
        reply.null();
        return Ok(());
    };
    let (id, trimmed) = added?;
    notify(txn, "xadd", key);
    if trimmed > 0 {
        notify(txn, "xtrim", key);
    }
    txn.signal(key);
    reply_id(id, reply);
    Ok(())
}

/// The identity of a new entry, given the last one.
#[inline]
fn choose(last: EntryId, id: IdArgument, now_ms: u64) -> Result<EntryId, CommandError> {
    const EXHAUSTED: CommandError = CommandError::fixed(
        "ERR The stream has exhausted the last possible ID, unable to add more items",
    );
    const TOO_SMALL: CommandError = CommandError::fixed(
        "ERR The ID specified in XADD is equal or smaller than the target stream top item",
    );
    let after = last.next().ok_or(EXHAUSTED)?;
    let id = match id {
        IdArgument::Automatic if now_ms > last.ms => EntryId { ms: now_ms, sequence: 0 },
        IdArgument::Automatic => after,
        IdArgument::Given(NewId::Whole(id)) => id,
        IdArgument::Given(NewId::InMillisecond(ms)) if ms == last.ms => {
            let sequence = last.sequence.checked_add(1).ok_or(TOO_SMALL)?;
            EntryId { ms, sequence }
        }
        IdArgument::Given(NewId::InMillisecond(ms)) => EntryId { ms, sequence: 0 },
    };
    if id > last { Ok(id) } else { Err(TOO_SMALL) }
}
