//! HEXPIRE, HPEXPIRE, HEXPIREAT, HPEXPIREAT and HPERSIST.

use super::fields_option::{self, NOT_ABOVE_ZERO, NOT_POSITIVE};
use crate::expire_time::{ExpireTime, is_past};
use basalt_call::entry::{Entry, Run};
use basalt_engine::{Absent, EventClass, Txn};
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::CommandResult;
use basalt_spec::{CommandSpec, Flag, Flags, Group, KeyUse, around};
use basalt_value::hash::EXPIRED_A_CHANGE;
use basalt_value::item::Item;
use basalt_value::{Edits, Hash};

const WRITES: Flags = Flags::of(&[Flag::Write, Flag::Denyoom, Flag::Fast]);

/// What the four have in common.
const EXPIRES: CommandSpec = CommandSpec {
    group: Group::Hash,
    flags: WRITES,
    keys: &[KeyUse::UPDATE],
    overrides: &[around("NX").named("condition"), around("numfields").named("fields")],
    since: "7.4.0",
    complexity: "O(1) a field",
    ..CommandSpec::DEFAULT
};

pub(super) const HEXPIRE: Entry = Entry {
    spec: CommandSpec {
        name: "hexpire",
        synopsis: "key seconds [NX | XX | GT | LT] FIELDS (numfields field [field ...])",
        summary: "Sets after how many seconds fields of a hash expire.",
        examples: &[
            "HSET h a 1 b 2 => (integer) 2",
            "HEXPIRE h 100 FIELDS 2 a c => [(integer) 1, (integer) -2]",
            "HEXPIRE h 50 GT FIELDS 1 a => [(integer) 0]",
            "HTTL h FIELDS 2 a b => [(integer) 100, (integer) -1]",
            "HEXPIRE h 0 FIELDS 1 a => [(integer) 2]",
            "HEXISTS h a => (integer) 0",
        ],
        ..EXPIRES
    },
    run: Run::Write(|txn, args, reply| expire(txn, args, ExpireTime::SECONDS, "hexpire", reply)),
    ..Entry::DEFAULT
};

pub(super) const HPEXPIRE: Entry = Entry {
    spec: CommandSpec {
        name: "hpexpire",
        synopsis: "key milliseconds [NX | XX | GT | LT] FIELDS (numfields field [field ...])",
        summary: "Sets after how many milliseconds fields of a hash expire.",
        examples: &[
            "HSET h a 1 => (integer) 1",
            "HPEXPIRE h 100000 FIELDS 1 a => [(integer) 1]",
            "HTTL h FIELDS 1 a => [(integer) 100]",
        ],
        ..EXPIRES
    },
    run: Run::Write(|txn, args, reply| {
        expire(txn, args, ExpireTime::MILLISECONDS, "hpexpire", reply)
    }),
    ..Entry::DEFAULT
};

pub(super) const HEXPIREAT: Entry = Entry {
    spec: CommandSpec {
        name: "hexpireat",
        synopsis: "key unix-time-seconds [NX | XX | GT | LT] FIELDS (numfields field [field ...])",
        summary: "Sets at which Unix time in seconds fields of a hash expire.",
        examples: &[
            "HSET h a 1 => (integer) 1",
            "HEXPIREAT h 33177117420 FIELDS 1 a => [(integer) 1]",
            "HEXPIRETIME h FIELDS 1 a => [(integer) 33177117420]",
        ],
        ..EXPIRES
    },
    run: Run::Write(|txn, args, reply| {
        expire(txn, args, ExpireTime::UNIX_SECONDS, "hexpireat", reply)
    }),
    ..Entry::DEFAULT
};

pub(super) const HPEXPIREAT: Entry = Entry {
    spec: CommandSpec {
        name: "hpexpireat",
        synopsis: "key unix-time-milliseconds [NX | XX | GT | LT] FIELDS (numfields field [field ...])",
        summary: "Sets at which Unix time in milliseconds fields of a hash expire.",
        examples: &[
            "HSET h a 1 => (integer) 1",
            "HPEXPIREAT h 33177117420000 FIELDS 1 a => [(integer) 1]",
            "HPEXPIRETIME h FIELDS 1 a => [(integer) 33177117420000]",
        ],
        ..EXPIRES
    },
    run: Run::Write(|txn, args, reply| {
        expire(txn, args, ExpireTime::UNIX_MILLISECONDS, "hpexpireat", reply)
    }),
    ..Entry::DEFAULT
};

pub(super) const HPERSIST: Entry = Entry {
    spec: CommandSpec {
        name: "hpersist",
        synopsis: "key FIELDS (numfields field [field ...])",
        group: Group::Hash,
        flags: Flags::of(&[Flag::Write, Flag::Fast]),
        keys: &[KeyUse::UPDATE],
        overrides: &[around("numfields").named("fields")],
        since: "7.4.0",
        complexity: "O(1) a field",
        summary: "Makes fields of a hash expire no more.",
        examples: &[
            "HSET h a 1 => (integer) 1",
            "HEXPIRE h 100 FIELDS 1 a => [(integer) 1]",
            "HPERSIST h FIELDS 2 a b => [(integer) 1, (integer) -2]",
            "HPERSIST h FIELDS 1 a => [(integer) -1]",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(hpersist),
    ..Entry::DEFAULT
};

/// When a field gets its expiry. One without an expiry counts as expiring after every time.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Condition {
    Always,
    HasNone,
    HasOne,
    Later,
    Earlier,
}

impl Condition {
    fn parse(args: &Args<'_>, index: usize) -> Option<Condition> {
        const OPTIONS: [(&str, Condition); 4] = [
            ("NX", Condition::HasNone),
            ("XX", Condition::HasOne),
            ("GT", Condition::Later),
            ("LT", Condition::Earlier),
        ];
        OPTIONS.into_iter().find(|(name, _)| args.is(index, name)).map(|(_, it)| it)
    }

    fn holds(self, before_ms: u64, expire_ms: u64) -> bool {
        match self {
            Condition::Always => true,
            Condition::HasNone => before_ms == 0,
            Condition::HasOne => before_ms != 0,
            Condition::Later => before_ms != 0 && expire_ms > before_ms,
            Condition::Earlier => before_ms == 0 || expire_ms < before_ms,
        }
    }
}

const NO_FIELD: i64 = -2;
const NO_EXPIRY: i64 = -1;
const NOT_MET: i64 = 0;
const DONE: i64 = 1;
const REMOVED: i64 = 2;

fn expire(
    txn: &mut Txn<'_>,
    args: &Args<'_>,
    time: ExpireTime,
    command: &str,
    reply: &mut Reply<'_>,
) -> CommandResult {
    txn.collection::<Hash>(args.key(0))?;
    let now_ms = txn.now_ms();
    let expire_ms = fields_option::expire_ms(time, args.word(2), now_ms, command)?;
    let condition = Condition::parse(args, 3);
    let at = if condition.is_some() { 4 } else { 3 };
    let first = fields_option::parse(args, at, NOT_ABOVE_ZERO)?;
    let condition = condition.unwrap_or(Condition::Always);
    change_each(txn, args, first, "hexpire", reply, |hash, name, edits| {
        let Some(field) = hash.field(name, now_ms) else { return NO_FIELD };
        if !condition.holds(field.expire_ms, expire_ms) {
            return NOT_MET;
        }
        if is_past(expire_ms, now_ms) {
            hash.remove(name, now_ms, edits);
            return REMOVED;
        }
        hash.set_expiry(name, expire_ms, edits);
        DONE
    })
}

fn hpersist(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    txn.collection::<Hash>(args.key(0))?;
    let now_ms = txn.now_ms();
    let first = fields_option::parse(args, 2, NOT_POSITIVE)?;
    change_each(txn, args, first, "hpersist", reply, |hash, name, edits| {
        match hash.field(name, now_ms) {
            None => NO_FIELD,
            Some(field) if field.expire_ms == 0 => NO_EXPIRY,
            Some(_) => {
                hash.set_expiry(name, 0, edits);
                DONE
            }
        }
    })
}

/// Changes field after field, and replies with what becomes of each.
fn change_each(
    txn: &mut Txn<'_>,
    args: &Args<'_>,
    first: usize,
    event: &'static str,
    reply: &mut Reply<'_>,
    mut change: impl FnMut(&mut Hash, Item<'_>, &mut Edits<'_>) -> i64,
) -> CommandResult {
    let now_ms = txn.now_ms();
    reply.array(args.len() - first);
    let (mut done, mut removed) = (false, false);
    let changed = txn.edit::<Hash, _>(args.key(0), Absent::Skip, |hash, edits| {
        hash.remove_expired(now_ms, EXPIRED_A_CHANGE, edits);
        for name in args.from(first) {
            let outcome = change(hash, Item::of(name), edits);
            done |= outcome == DONE;
            removed |= outcome == REMOVED;
            reply.integer(outcome);
        }
    })?;
    if done {
        txn.notify(EventClass::Hash, event, args.key(0));
    }
    if removed {
        txn.notify_taken(EventClass::Hash, "hdel", args.key(0));
    }
    if changed.is_none() {
        args.from(first).for_each(|_| reply.integer(NO_FIELD));
    }
    Ok(())
}
