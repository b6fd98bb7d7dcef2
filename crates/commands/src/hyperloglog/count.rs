//! HOT PATH
//! PFCOUNT.
//!
//! The count of one HyperLogLog is kept in its string, as in Redis: a reader of it gets the same
//! bytes. So this command, which is flagged as reading only, writes when the count is out of date.
//! It runs as a write for that reason, unless a look is enough; where the log takes no change, it
//! counts and keeps nothing.

use super::hll;
use crate::generic::{RAW, encoding};
use crate::strings::make_raw;
use basalt_call::entry::{Entry, Run, Shortcut};
use basalt_engine::{Point, Txn};
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::CommandResult;
use basalt_spec::{CommandSpec, Flag, Flags, Group, KeyFlag, KeyUse};
use basalt_value::hll::{COUNT_FIELD, Registers};

pub(super) const PFCOUNT: Entry = Entry {
    spec: CommandSpec {
        name: "pfcount",
        synopsis: "key [key ...]",
        group: Group::Hyperloglog,
        flags: Flags::of(&[Flag::Readonly, Flag::MayReplicate]),
        keys: &[KeyUse::new(&[KeyFlag::Rw, KeyFlag::Access])
            .noted("The count that is kept in the value may be renewed")],
        since: "2.8.9",
        complexity: "O(1) for one key, mostly; O(N) with N keys otherwise",
        summary: "Estimates how many different elements were added to a HyperLogLog, or to any of several.",
        examples: &[
            "PFADD a 1 2 3 => (integer) 1",
            "PFADD b 3 4 => (integer) 1",
            "PFCOUNT a => (integer) 3",
            "PFCOUNT a b absent => (integer) 4",
            "PFCOUNT absent => (integer) 0",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(pfcount),
    shortcut: Some(Shortcut::Attempt(cached_count)),
    ..Entry::DEFAULT
};

/// The count of one HyperLogLog, if it is known and nothing is left to do.
fn cached_count(
    point: &Point<'_>,
    args: &Args<'_>,
    reply: &mut Reply<'_>,
) -> Option<CommandResult> {
    let object = point.object().filter(|&object| args.len() == 2 && encoding(object) == RAW)?;
    let count = hll(object).ok()?.cached_count()?;
    reply.integer(count as i64);
    Some(Ok(()))
}

fn pfcount(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    if args.keys().len() > 1 {
        return count_union(txn, args, reply);
    }
    let key = args.key(0);
    let Some(object) = txn.get(key) else {
        txn.notify_missing(args.keys());
        reply.integer(0);
        return Ok(());
    };
    let hll = hll(object)?;
    let cached = hll.cached_count();
    let count = cached.map_or_else(|| hll.count(), Ok);
    let is_raw = encoding(object) == RAW;
    if (cached.is_none() || !is_raw) && txn.engine().log().admit(key.partition.shard()).is_ok() {
        match count {
            Ok(count) if cached.is_none() => {
                txn.splice(key, COUNT_FIELD.start, &count.to_le_bytes());
            }
            Ok(_) | Err(_) => make_raw(txn, key),
        }
    }
    reply.integer(count? as i64);
    Ok(())
}

fn count_union(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    txn.prefetch(args.keys());
    txn.notify_missing(args.keys());
    let mut union = Registers::default();
    for key in args.keys() {
        if let Some(object) = txn.get(key) {
            hll(object)?.merge_into(&mut union)?;
        }
    }
    reply.integer(union.count() as i64);
    Ok(())
}
