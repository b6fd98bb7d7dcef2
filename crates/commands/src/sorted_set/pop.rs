//! ZPOPMIN, ZPOPMAX and ZMPOP.

use super::remove::take_ranks;
use super::reply::{self, Scores};
use crate::how_many::HOW_MANY;
use crate::number::count;
use basalt_call::entry::{Entry, Run, Taken, Traits};
use basalt_engine::{Absent, EventClass, Key, Txn};
use basalt_number::parse_i64;
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::{CommandError, CommandResult};
use basalt_spec::{CommandSpec, Flag, Flags, Group, KeyUse, around};
use basalt_value::sorted_set::Direction;
use basalt_value::{Collection, SortedSet};

pub(super) const ZPOPMIN: Entry = Entry {
    spec: CommandSpec {
        name: "zpopmin",
        synopsis: "key [count]",
        group: Group::SortedSet,
        flags: Flags::of(&[Flag::Write, Flag::Fast]),
        keys: &[KeyUse::TAKE],
        since: "5.0.0",
        complexity: "O(log N + M) with N elements in the sorted set and M removed",
        summary: "Removes the elements with the lowest scores from a sorted set and returns them.",
        examples: &[
            "ZADD z 1 a 2 b 3 c => (integer) 3",
            r#"ZPOPMIN z => ["a", "1"]"#,
            r#"ZPOPMIN z 5 => ["b", "2", "c", "3"]"#,
            "ZPOPMIN z => []",
            "ZPOPMIN z -1 => (error) ERR value is out of range, must be positive",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(zpopmin),
    traits: Traits { takes: Some(Taken::First), ..HOW_MANY },
    ..Entry::DEFAULT
};

pub(super) const ZPOPMAX: Entry = Entry {
    spec: CommandSpec {
        name: "zpopmax",
        synopsis: "key [count]",
        group: Group::SortedSet,
        flags: Flags::of(&[Flag::Write, Flag::Fast]),
        keys: &[KeyUse::TAKE],
        since: "5.0.0",
        complexity: "O(log N + M) with N elements in the sorted set and M removed",
        summary: "Removes the elements with the highest scores from a sorted set and returns them.",
        examples: &["ZADD z 1 a 2 b 3 c => (integer) 3", r#"ZPOPMAX z 2 => ["c", "3", "b", "2"]"#],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(zpopmax),
    traits: Traits { takes: Some(Taken::Last), ..HOW_MANY },
    ..Entry::DEFAULT
};

pub(super) const ZMPOP: Entry = Entry {
    spec: CommandSpec {
        name: "zmpop",
        synopsis: "numkeys key [key ...] <MIN | MAX> [COUNT count]",
        group: Group::SortedSet,
        flags: Flags::of(&[Flag::Write]),
        keys: &[KeyUse::TAKE],
        overrides: &[around("MIN").named("where")],
        since: "7.0.0",
        complexity: "O(K + log N + M) with K keys, N elements in the sorted set and M removed",
        summary: "Removes elements with the lowest or the highest scores from the first sorted set that is not empty, and returns its key and them.",
        examples: &[
            "ZADD z 1 a 2 b 3 c => (integer) 3",
            r#"ZMPOP 2 absent z MIN => ["z", [["a", "1"]]]"#,
            r#"ZMPOP 1 z MAX COUNT 9 => ["z", [["c", "3"], ["b", "2"]]]"#,
            "ZMPOP 1 z MIN => (nil)",
            "ZMPOP 0 z MIN => (error) ERR numkeys should be greater than 0",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(zmpop),
    traits: Traits::working_on(6, |args, len| MultiPop::elements(args, 1, len)),
    ..Entry::DEFAULT
};

fn zpopmin(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    pop(txn, args, reply, Direction::Forward)
}

fn zpopmax(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    pop(txn, args, reply, Direction::Backward)
}

fn pop(
    txn: &mut Txn<'_>,
    args: &Args<'_>,
    reply: &mut Reply<'_>,
    direction: Direction,
) -> CommandResult {
    if args.len() > 3 {
        return Err(CommandError::SYNTAX);
    }
    let key = args.key(0);
    let Some(word) = args.opt(2) else { return pop_one(txn, key, reply, direction) };
    let count = count(word)?;
    let ranks = {
        let Some(set) = txn.collection::<SortedSet>(key)? else {
            reply.array(0);
            return Ok(());
        };
        let ranks = ends(set, count, direction);
        reply::elements(reply, set.iter(ranks.clone(), direction), Scores::With);
        ranks
    };
    take_ranks(txn, key, ranks, event(direction))
}

/// Without a count the reply is one flat pair, in either protocol.
fn pop_one(
    txn: &mut Txn<'_>,
    key: &Key<'_>,
    reply: &mut Reply<'_>,
    direction: Direction,
) -> CommandResult {
    let popped = txn.edit::<SortedSet, _>(key, Absent::Skip, |set, edits| {
        set.pop(direction, edits, |element| {
            reply.array(2);
            reply::member(reply, element.member);
            reply.double(element.score);
        })
    })?;
    if popped == Some(true) {
        txn.notify_taken(EventClass::SortedSet, event(direction), key);
    } else {
        reply.array(0);
    }
    Ok(())
}

/// What is announced of elements taken from an end.
pub(super) fn event(direction: Direction) -> &'static str {
    match direction {
        Direction::Forward => "zpopmin",
        Direction::Backward => "zpopmax",
    }
}

/// The ranks of this number of elements at one end.
pub(super) fn ends(set: &SortedSet, count: usize, direction: Direction) -> std::ops::Range<usize> {
    let len = set.len();
    match direction {
        Direction::Forward => 0..count.min(len),
        Direction::Backward => len - count.min(len)..len,
    }
}

/// The options of ZMPOP and BZMPOP.
pub(super) struct MultiPop {
    /// How many keys there are.
    pub(super) keys: usize,
    pub(super) direction: Direction,
    pub(super) count: usize,
}

impl MultiPop {
    /// Reads them from the word with the number of keys on.
    pub(super) fn parse(args: &Args<'_>, at: usize) -> Result<MultiPop, CommandError> {
        let positive = |word: &[u8]| {
            parse_i64(word).and_then(|it| usize::try_from(it).ok()).filter(|&it| it > 0)
        };
        let keys = positive(args.word(at))
            .ok_or(CommandError::fixed("ERR numkeys should be greater than 0"))?;
        let end = at.saturating_add(keys).saturating_add(1);
        let direction = if args.is(end, "MIN") {
            Direction::Forward
        } else if args.is(end, "MAX") {
            Direction::Backward
        } else {
            return Err(CommandError::SYNTAX);
        };
        let count = match args.len() - end {
            1 => 1,
            3 if args.is(end + 1, "COUNT") => positive(args.word(end + 2))
                .ok_or(CommandError::fixed("ERR count should be greater than 0"))?,
            _ => return Err(CommandError::SYNTAX),
        };
        Ok(MultiPop { keys, direction, count })
    }

    /// How many elements a call with these words takes of a sorted set that has `len`.
    pub(super) fn elements(args: &Args<'_>, at: usize, len: usize) -> usize {
        MultiPop::parse(args, at).map_or(0, |options| options.count.min(len))
    }

    /// Pops from the first sorted set that is not empty; false if there is none.
    pub(super) fn pop(
        &self,
        txn: &mut Txn<'_>,
        keys: &[Key<'_>],
        reply: &mut Reply<'_>,
    ) -> Result<bool, CommandError> {
        for key in keys {
            let ranks = {
                let Some(set) = txn.collection::<SortedSet>(key)? else { continue };
                let ranks = ends(set, self.count, self.direction);
                reply.array(2);
                reply.bulk(key.bytes);
                reply.array(ranks.len());
                for element in set.iter(ranks.clone(), self.direction) {
                    reply.array(2);
                    reply::member(reply, element.member);
                    reply.double(element.score);
                }
                ranks
            };
            take_ranks(txn, key, ranks, event(self.direction))?;
            return Ok(true);
        }
        Ok(false)
    }
}

fn zmpop(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let options = MultiPop::parse(args, 1)?;
    if !options.pop(txn, &args.keys()[..options.keys], reply)? {
        reply.null_array();
    }
    Ok(())
}
