//! ZREM and ZREMRANGEBYRANK, ZREMRANGEBYSCORE and ZREMRANGEBYLEX.

use super::bounds::{RankBounds, lex_bounds, score_bounds};
use crate::number::integer;
use basalt_call::entry::{Entry, Run, Traits};
use basalt_engine::{Absent, EventClass, Key, Txn};
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::CommandResult;
use basalt_spec::{CommandSpec, Flag, Flags, Group, KeyUse, Kind, at};
use basalt_value::{Collection, SortedSet};
use std::ops::Range;

pub(super) const ZREM: Entry = Entry {
    spec: CommandSpec {
        name: "zrem",
        synopsis: "key member [member ...]",
        group: Group::SortedSet,
        flags: Flags::of(&[Flag::Write, Flag::Fast]),
        keys: &[KeyUse::TRIM],
        since: "1.2.0",
        complexity: "O(log N) for each member, with N elements in the sorted set",
        summary: "Removes members from a sorted set and returns how many were there.",
        examples: &["ZADD z 1 a 2 b => (integer) 2", "ZREM z a x => (integer) 1"],
        history: &[("2.4.0", "Several members in one call.")],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(zrem),
    ..Entry::DEFAULT
};

pub(super) const ZREMRANGEBYRANK: Entry = Entry {
    spec: CommandSpec {
        name: "zremrangebyrank",
        synopsis: "key start stop",
        group: Group::SortedSet,
        flags: Flags::of(&[Flag::Write]),
        keys: &[KeyUse::TRIM],
        since: "2.0.0",
        complexity: "O(log N + M) with N elements in the sorted set and M removed",
        summary: "Removes the elements of a sorted set whose ranks are in a range, and returns how many.",
        examples: &[
            "ZADD z 1 a 2 b 3 c => (integer) 3",
            "ZREMRANGEBYRANK z 0 -2 => (integer) 2",
            r#"ZRANGE z 0 -1 => ["c"]"#,
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(zremrangebyrank),
    traits: Traits::LONG,
    ..Entry::DEFAULT
};

pub(super) const ZREMRANGEBYSCORE: Entry = Entry {
    spec: CommandSpec {
        name: "zremrangebyscore",
        synopsis: "key min max",
        group: Group::SortedSet,
        flags: Flags::of(&[Flag::Write]),
        keys: &[KeyUse::TRIM],
        overrides: &[at("min").kind(Kind::Double), at("max").kind(Kind::Double)],
        since: "1.2.0",
        complexity: "O(log N + M) with N elements in the sorted set and M removed",
        summary: "Removes the elements of a sorted set whose scores are in a range, and returns how many.",
        examples: &[
            "ZADD z 1 a 2 b 3 c => (integer) 3",
            "ZREMRANGEBYSCORE z -inf (3 => (integer) 2",
            r#"ZRANGE z 0 -1 => ["c"]"#,
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(zremrangebyscore),
    traits: Traits::LONG,
    ..Entry::DEFAULT
};

pub(super) const ZREMRANGEBYLEX: Entry = Entry {
    spec: CommandSpec {
        name: "zremrangebylex",
        synopsis: "key min max",
        group: Group::SortedSet,
        flags: Flags::of(&[Flag::Write]),
        keys: &[KeyUse::TRIM],
        since: "2.8.9",
        complexity: "O(log N + M) with N elements in the sorted set and M removed",
        summary: "Removes the members in a range from a sorted set whose scores are all the same, and returns how many.",
        examples: &[
            "ZADD z 0 a 0 b 0 c => (integer) 3",
            "ZREMRANGEBYLEX z [a (c => (integer) 2",
            r#"ZRANGE z 0 -1 => ["c"]"#,
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(zremrangebylex),
    traits: Traits::LONG,
    ..Entry::DEFAULT
};

fn zrem(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let removed = txn.edit::<SortedSet, _>(args.key(0), Absent::Skip, |set, edits| {
        args.from(2).filter(|member| set.remove(member, edits)).count()
    })?;
    if removed.is_some_and(|removed| removed > 0) {
        txn.notify_taken(EventClass::SortedSet, "zrem", args.key(0));
    }
    reply.integer(removed.unwrap_or(0) as i64);
    Ok(())
}

fn zremrangebyrank(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let bounds = RankBounds { first: integer(args.word(2))?, last: integer(args.word(3))? };
    remove_range(txn, args.key(0), "zremrangebyrank", reply, |set| bounds.within(set.len()))
}

fn zremrangebyscore(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let bounds = score_bounds(args.word(2), args.word(3))?;
    remove_range(txn, args.key(0), "zremrangebyscore", reply, |set| set.ranks(&bounds))
}

fn zremrangebylex(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let bounds = lex_bounds(args.word(2), args.word(3))?;
    remove_range(txn, args.key(0), "zremrangebylex", reply, |set| set.ranks(&bounds))
}

fn remove_range(
    txn: &mut Txn<'_>,
    key: &Key<'_>,
    event: &'static str,
    reply: &mut Reply<'_>,
    ranks: impl FnOnce(&SortedSet) -> Range<usize>,
) -> CommandResult {
    let ranks = txn.collection::<SortedSet>(key)?.map_or(0..0, ranks);
    reply.integer(ranks.len() as i64);
    take_ranks(txn, key, ranks, event)
}

/// Takes elements out by their ranks, which are there. If these are all, the key goes as a whole: a
/// large one is then freed in the background.
pub(super) fn take_ranks(
    txn: &mut Txn<'_>,
    key: &Key<'_>,
    ranks: Range<usize>,
    event: &'static str,
) -> CommandResult {
    if ranks.is_empty() {
        return Ok(());
    }
    let len = txn.collection::<SortedSet>(key)?.map_or(0, SortedSet::len);
    if ranks.len() == len {
        txn.delete(key);
    } else {
        txn.edit::<SortedSet, _>(key, Absent::Skip, |set, edits| set.remove_ranks(ranks, edits))?;
    }
    txn.notify_taken(EventClass::SortedSet, event, key);
    Ok(())
}
