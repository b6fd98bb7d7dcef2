//! CAS.ZADD, CAS.ZREM, CAS.ZSCORE and CAS.ZMSCORE.

use super::element::{
    Digests, Outcome, Present, Write, Written, end_removal, removal_condition, reply_present,
    version_of,
};
use super::options::{Accepted, OPTION_NAMES, Options};
use crate::number::double;
use basalt_call::entry::{Entry, Run};
use basalt_engine::{Absent, EventClass, Point, Txn, Version};
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::{CommandError, CommandResult};
use basalt_spec::{CommandSpec, Flag, Flags, Group, KeyUse};
use basalt_value::hash::EXPIRED_A_CHANGE;
use basalt_value::item::Item;
use basalt_value::sorted_set::Scored;
use basalt_value::{Edits, FormLimits, SortedSet};

pub(super) const CAS_ZADD: Entry = Entry {
    spec: CommandSpec {
        name: "cas.zadd",
        synopsis: "key score member [INCR] [IF version | NX | XX] [EX seconds | PX milliseconds | EXAT \
                   unix-time-seconds | PXAT unix-time-milliseconds | KEEPTTL] [COUNTED | FORCE \
                   forced-version]",
        group: Group::SortedSet,
        flags: Flags::of(&[Flag::Write, Flag::Denyoom, Flag::Fast]),
        keys: &[KeyUse::MODIFY],
        overrides: OPTION_NAMES,
        since: "0.1.0",
        complexity: "O(log(N)) with N members",
        summary: "Sets the score of a member of a sorted set, or adds to it with INCR, if the member has a \
                  given version. Returns 1, the new version and the score, or 0 and the version that it \
                  has.",
        examples: &[
            "CAS.ZADD z 1.5 m NX FORCE 7 => [(integer) 1, \"7\", \"1.5\"]",
            "CAS.ZADD z 2 m NX => [(integer) 0, \"7\"]",
            "CAS.ZADD z 2 m INCR IF 7 EX 100 COUNTED => [(integer) 1, \"8\", \"3.5\"]",
            "CAS.ZADD z 3 m KEEPTTL COUNTED => [(integer) 1, \"9\", \"3\"]",
            r#"CAS.ZSCORE z m => ["9", (integer) 100000, "3"]"#,
            "CAS.ZADD z 3 absent XX => [(integer) 0, \"0\"]",
            "CAS.ZADD z x m => (error) ERR value is not a valid float",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(add),
    ..Entry::DEFAULT
};

pub(super) const CAS_ZREM: Entry = Entry {
    spec: CommandSpec {
        name: "cas.zrem",
        synopsis: "key member [IF version]",
        group: Group::SortedSet,
        flags: Flags::of(&[Flag::Write, Flag::Fast]),
        keys: &[KeyUse::TRIM],
        since: "0.1.0",
        complexity: "O(log(N)) with N members",
        summary: "Removes a member from a sorted set, if it has a given version. Returns 1 and the version \
                  that it had, or 0 and the one that it has.",
        examples: &[
            "CAS.ZADD z 1 m FORCE 7 => [(integer) 1, \"7\", \"1\"]",
            "CAS.ZREM z m IF 6 => [(integer) 0, \"7\"]",
            "CAS.ZREM z m IF 7 => [(integer) 1, \"7\"]",
            "CAS.ZREM z m => [(integer) 0, \"0\"]",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(remove),
    ..Entry::DEFAULT
};

pub(super) const CAS_ZSCORE: Entry = Entry {
    spec: CommandSpec {
        name: "cas.zscore",
        synopsis: "key member",
        group: Group::SortedSet,
        flags: Flags::of(&[Flag::Readonly, Flag::Fast]),
        keys: &[KeyUse::READ],
        since: "0.1.0",
        complexity: "O(1)",
        summary: "Returns the version of a member of a sorted set, its time to live in milliseconds and its \
                  score.",
        examples: &[
            "ZADD z 1 m => (integer) 1",
            r#"CAS.ZSCORE z m => ["0", (integer) -1, "1"]"#,
            "CAS.ZSCORE z n => (nil)",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Point(score),
    ..Entry::DEFAULT
};

pub(super) const CAS_ZMSCORE: Entry = Entry {
    spec: CommandSpec {
        name: "cas.zmscore",
        synopsis: "key member [member ...]",
        group: Group::SortedSet,
        flags: Flags::of(&[Flag::Readonly, Flag::Fast]),
        keys: &[KeyUse::READ],
        since: "0.1.0",
        complexity: "O(N) with N members",
        summary: "Returns of each member of a sorted set its version, its time to live in milliseconds and its score.",
        examples: &[
            "CAS.ZADD z 1.5 m FORCE 7 => [(integer) 1, \"7\", \"1.5\"]",
            "ZADD z 2 n => (integer) 1",
            r#"CAS.ZMSCORE z m absent n => [["7", (integer) -1, "1.5"], (nil), ["0", (integer) -1, "2"]]"#,
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Point(scores),
    ..Entry::DEFAULT
};

/// The score of a member and what it has, if it is there.
fn member_of(set: &SortedSet, member: &[u8], now_ms: u64) -> Option<(f64, Present)> {
    let score = set.score_at(member, now_ms)?;
    let present = match set.attribute(Item::of(member)) {
        Some(it) => Present { version: Version::new(it.version), expire_ms: it.expire_ms },
        None => Present { version: Version::NONE, expire_ms: 0 },
    };
    Some((score, present))
}

fn score(point: &Point<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let now_ms = point.now_ms();
    let set = point.collection::<SortedSet>()?;
    match set.and_then(|set| member_of(set, args.word(2), now_ms)) {
        Some((score, present)) => {
            reply.array(3);
            reply_present(present, now_ms, reply);
            reply.double(score);
        }
        None => reply.null(),
    }
    Ok(())
}

fn scores(point: &Point<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let now_ms = point.now_ms();
    let set = point.collection::<SortedSet>()?;
    reply.array(args.len() - 2);
    for member in args.from(2) {
        match set.and_then(|set| member_of(set, member, now_ms)) {
            Some((score, present)) => {
                reply.array(3);
                reply_present(present, now_ms, reply);
                reply.double(score);
            }
            None => reply.null(),
        }
    }
    Ok(())
}

/// A member that is to be written.
struct Target<'a> {
    member: &'a [u8],
    score: f64,
    /// INCR
    is_increment: bool,
    write: Write<'a>,
    now_ms: u64,
}

fn add(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let is_increment = args.len() > 4 && args.is(4, "INCR");
    let first = if is_increment { 5 } else { 4 };
    let options = Options::parse(args, first, Accepted { digest: false, get: false })?;
    let (key, now_ms, limits) = (args.key(0), txn.now_ms(), txn.limits());
    let (score, member) = (double(args.word(2))?, args.word(3));
    let write = Write::new(options, now_ms, "cas.zadd")?;
    let target = Target { member, score, is_increment, write, now_ms };
    let result = txn.edit_versioned::<SortedSet, _>(key, Absent::Create, |set, edits| {
        target.change(set, &limits, edits)
    })?;
    let (outcome, score) = result.expect("the key is created if it is absent")?;
    if outcome.is_done() {
        txn.notify(EventClass::SortedSet, if is_increment { "zincr" } else { "zadd" }, key);
        if outcome == Outcome::Done(Version::NONE) {
            txn.notify_taken(EventClass::SortedSet, "zrem", key);
        } else {
            txn.signal(key);
        }
    }
    reply.array(if outcome.is_done() { 3 } else { 2 });
    outcome.reply(reply);
    if outcome.is_done() {
        reply.double(score);
    }
    Ok(())
}

impl Target<'_> {
    fn change(
        &self,
        set: &mut SortedSet,
        limits: &FormLimits,
        edits: &mut Edits<'_>,
    ) -> Result<(Outcome, f64), CommandError> {
        set.remove_expired(self.now_ms, EXPIRED_A_CHANGE, edits);
        let found = member_of(set, self.member, self.now_ms);
        let present = found.map(|(_, present)| present);
        if !self.write.is_met(present, None)? {
            return Ok((Outcome::Refused(version_of(present)), 0.0));
        }
        let before = found.map_or(0.0, |(score, _)| score);
        let score = if self.is_increment { before + self.score } else { self.score };
        if score.is_nan() {
            return Err(CommandError::fixed("ERR resulting score is not a number (NaN)"));
        }
        let version = match self.write.over(present) {
            Written::Stays { expire_ms, version } => {
                let scored = Scored { score, expire_ms, version };
                Version::new(set.set_versioned(self.member, scored, limits, edits))
            }
            Written::Goes => {
                set.remove(self.member, edits);
                Version::NONE
            }
        };
        Ok((Outcome::Done(version), score))
    }
}

fn remove(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let condition = removal_condition(args, Digests::Refused)?;
    let (key, member, now_ms) = (args.key(0), args.word(2), txn.now_ms());
    let outcome = txn.edit::<SortedSet, _>(key, Absent::Skip, |set, edits| {
        set.remove_expired(now_ms, EXPIRED_A_CHANGE, edits);
        let present = member_of(set, member, now_ms).map(|(_, present)| present);
        let outcome = condition.removal_of(present, None)?;
        if outcome.is_done() {
            set.remove(member, edits);
        }
        Ok(outcome)
    })?;
    end_removal(txn, key, (EventClass::SortedSet, "zrem"), outcome, reply)
}
