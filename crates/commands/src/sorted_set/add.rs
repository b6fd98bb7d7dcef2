//! HOT PATH
//! ZADD and ZINCRBY.

use crate::number::double;
use basalt_call::entry::{Entry, Run};
use basalt_engine::{Absent, EventClass, Key, Txn};
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::{CommandError, CommandResult};
use basalt_spec::{CommandSpec, Flag, Flags, Group, KeyUse, around, at};
use basalt_value::SortedSet;
use basalt_value::sorted_set::Change;

pub(super) const ZADD: Entry = Entry {
    spec: CommandSpec {
        name: "zadd",
        synopsis: "key [NX | XX] [GT | LT] [CH] [INCR] score member [score member ...]",
        group: Group::SortedSet,
        flags: Flags::of(&[Flag::Write, Flag::Denyoom, Flag::Fast]),
        keys: &[KeyUse::UPDATE],
        overrides: &[
            around("NX").named("condition").since("3.0.2"),
            around("GT").named("comparison").since("6.2.0"),
            at("CH").named("change").since("3.0.2"),
            at("INCR").named("increment").since("3.0.2"),
        ],
        since: "1.2.0",
        complexity: "O(log N) for each member, with N elements in the sorted set",
        summary: "Gives members of a sorted set their scores, adding those that are not there, and returns how many were added.",
        examples: &[
            "ZADD z 1 a 2 b => (integer) 2",
            "ZADD z CH 3 a 2 b => (integer) 1",
            "ZADD z NX 9 a => (integer) 0",
            r#"ZADD z INCR 1.5 a => "4.5""#,
            "ZADD z GT INCR -1 a => (nil)",
            "ZADD z XX NX 1 a => (error) ERR XX and NX options at the same time are not compatible",
        ],
        history: &[("2.4.0", "Several members in one call."), ("6.2.0", "Options GT and LT.")],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(zadd),
    ..Entry::DEFAULT
};

pub(super) const ZINCRBY: Entry = Entry {
    spec: CommandSpec {
        name: "zincrby",
        synopsis: "key increment member",
        group: Group::SortedSet,
        flags: Flags::of(&[Flag::Write, Flag::Denyoom, Flag::Fast]),
        keys: &[KeyUse::MODIFY],
        since: "1.2.0",
        complexity: "O(log N) with N elements in the sorted set",
        summary: "Adds to the score of a member, which counts as 0 if it is not there, and returns the sum.",
        examples: &[
            r#"ZINCRBY z 2 a => "2""#,
            r#"ZINCRBY z -0.5 a => "1.5""#,
            "ZINCRBY z x a => (error) ERR value is not a valid float",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(zincrby),
    ..Entry::DEFAULT
};

/// Which members change.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Conditions {
    /// Only such as are not there.
    pub(crate) is_nx: bool,
    /// Only such as are there.
    pub(crate) is_xx: bool,
    /// Of those that are there, only to a greater score.
    is_gt: bool,
    /// Of those that are there, only to a lesser score.
    is_lt: bool,
}

impl Conditions {
    /// A member may go from one score, if it has one, to another.
    #[inline]
    pub(crate) fn allow(self, before: Option<f64>, after: f64) -> bool {
        match before {
            None => !self.is_xx,
            Some(before) => {
                let is_refused =
                    self.is_nx || self.is_gt && after <= before || self.is_lt && after >= before;
                !is_refused
            }
        }
    }
}

#[derive(Clone, Copy, Default)]
struct AddOptions {
    conditions: Conditions,
    counts_changes: bool,
    is_increment: bool,
    /// Where scores and members begin.
    pairs_at: usize,
}

impl AddOptions {
    #[inline]
    fn parse(args: &Args<'_>) -> Result<AddOptions, CommandError> {
        let mut options = AddOptions { pairs_at: 2, ..AddOptions::default() };
        // No option is a number: the usual call has none.
        while args
            .opt(options.pairs_at)
            .and_then(<[u8]>::first)
            .is_some_and(u8::is_ascii_alphabetic)
        {
            if !options.take(args) {
                break;
            }
            options.pairs_at += 1;
        }
        let words = args.len().saturating_sub(options.pairs_at);
        if words == 0 || !words.is_multiple_of(2) {
            return Err(CommandError::SYNTAX);
        }
        options.check(words / 2)?;
        Ok(options)
    }

    fn take(&mut self, args: &Args<'_>) -> bool {
        let is = |name| args.is(self.pairs_at, name);
        let flag = match () {
            () if is("NX") => &mut self.conditions.is_nx,
            () if is("XX") => &mut self.conditions.is_xx,
            () if is("GT") => &mut self.conditions.is_gt,
            () if is("LT") => &mut self.conditions.is_lt,
            () if is("CH") => &mut self.counts_changes,
            () if is("INCR") => &mut self.is_increment,
            () => return false,
        };
        *flag = true;
        true
    }

    fn check(&self, pairs: usize) -> CommandResult {
        let Conditions { is_nx, is_xx, is_gt, is_lt } = self.conditions;
        let error = if is_nx && is_xx {
            "ERR XX and NX options at the same time are not compatible"
        } else if is_nx && (is_gt || is_lt) || is_gt && is_lt {
            "ERR GT, LT, and/or NX options at the same time are not compatible"
        } else if self.is_increment && pairs > 1 {
            "ERR INCR option supports a single increment-element pair"
        } else {
            return Ok(());
        };
        Err(CommandError::fixed(error))
    }
}

/// How many members setting scores has changed.
#[derive(Default)]
pub(crate) struct Counts {
    pub(crate) added: i64,
    pub(crate) updated: i64,
}

fn zadd(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let options = AddOptions::parse(args)?;
    let first = double(args.word(options.pairs_at))?;
    if options.is_increment {
        let by = Increment { by: first, member: args.word(options.pairs_at + 1) };
        return increment(txn, args.key(0), by, options.conditions, reply);
    }
    // A score that cannot be read refuses the whole call: all are read before the first is set.
    for at in (options.pairs_at + 2..args.len()).step_by(2) {
        double(args.word(at))?;
    }
    let pairs = (options.pairs_at..args.len()).step_by(2).map(|at| {
        let score = if at == options.pairs_at { Some(first) } else { double(args.word(at)).ok() };
        (score.expect("it has been read before"), args.word(at + 1))
    });
    let counts = set_scores(txn, args.key(0), pairs, options.conditions)?;
    let more = if options.counts_changes { counts.updated } else { 0 };
    reply.integer(counts.added + more);
    Ok(())
}

/// Sets the scores of members of one sorted set.
pub(crate) fn set_scores<'a>(
    txn: &mut Txn<'_>,
    key: &Key<'_>,
    pairs: impl Iterator<Item = (f64, &'a [u8])>,
    conditions: Conditions,
) -> Result<Counts, CommandError> {
    let limits = txn.limits();
    let absent = if conditions.is_xx { Absent::Skip } else { Absent::Create };
    let counts = txn.edit::<SortedSet, _>(key, absent, |set, edits| {
        let mut counts = Counts::default();
        for (score, member) in pairs {
            let change = set.set(member, &limits, edits, |before| {
                conditions.allow(before, score).then_some(score)
            });
            match change {
                Change::None => {}
                Change::Added => counts.added += 1,
                Change::Updated => counts.updated += 1,
            }
        }
        counts
    })?;
    let counts = counts.unwrap_or_default();
    if counts.added + counts.updated > 0 {
        txn.notify(EventClass::SortedSet, "zadd", key);
    }
    if counts.added > 0 {
        txn.signal(key);
    }
    Ok(counts)
}

fn zincrby(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let by = Increment { by: double(args.word(2))?, member: args.word(3) };
    increment(txn, args.key(0), by, Conditions::default(), reply)
}

struct Increment<'a> {
    by: f64,
    member: &'a [u8],
}

fn increment(
    txn: &mut Txn<'_>,
    key: &Key<'_>,
    Increment { by, member }: Increment<'_>,
    conditions: Conditions,
    reply: &mut Reply<'_>,
) -> CommandResult {
    let limits = txn.limits();
    let absent = if conditions.is_xx { Absent::Skip } else { Absent::Create };
    // The sum; or NaN; or nothing, if the conditions do not allow it.
    let mut sum = None;
    let change = txn.edit::<SortedSet, _>(key, absent, |set, edits| {
        set.set(member, &limits, edits, |before| {
            let after = before.map_or(by, |before| before + by);
            sum = (after.is_nan() || conditions.allow(before, after)).then_some(after);
            sum.filter(|sum| !sum.is_nan())
        })
    })?;
    if change.is_some_and(|change| change != Change::None) {
        txn.notify(EventClass::SortedSet, "zincr", key);
        txn.signal(key);
    }
    match sum {
        Some(sum) if sum.is_nan() && !(conditions.is_nx) => {
            Err(CommandError::fixed("ERR resulting score is not a number (NaN)"))
        }
        Some(sum) if !sum.is_nan() => {
            reply.double(sum);
            Ok(())
        }
        _ => {
            reply.null();
            Ok(())
        }
    }
}
