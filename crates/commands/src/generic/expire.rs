//! EXPIRE, PEXPIRE, EXPIREAT, PEXPIREAT and PERSIST: when a key goes.

use crate::expire_time::{ExpireTime, Range, is_past};
use basalt_call::entry::{Entry, Run};
use basalt_engine::{EventClass, Txn};
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::{CommandError, CommandResult};
use basalt_spec::{CommandSpec, Flag, Flags, Group, KeyUse, around};

pub(super) const EXPIRE: Entry = Entry {
    spec: CommandSpec {
        name: "expire",
        synopsis: "key seconds [NX | XX | GT | LT]",
        group: Group::Generic,
        flags: Flags::of(&[Flag::Write, Flag::Fast]),
        keys: &[KeyUse::UPDATE],
        overrides: &[around("NX").named("condition").since("7.0.0")],
        since: "1.0.0",
        complexity: "O(1)",
        summary: "Makes a key expire after some seconds.",
        examples: &[
            "EXPIRE k 100 => (integer) 0",
            "SET k v => OK",
            "EXPIRE k 100 => (integer) 1",
            "TTL k => (integer) 100",
            "EXPIRE k 200 NX => (integer) 0",
            "EXPIRE k 50 GT => (integer) 0",
            "EXPIRE k 50 LT => (integer) 1",
            "EXPIRE k -1 => (integer) 1",
            "EXISTS k => (integer) 0",
            "EXPIRE k 1 NX XX => (error) ERR NX and XX, GT or LT options at the same time are not compatible",
        ],
        history: &[("7.0.0", "Options NX, XX, GT and LT.")],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(expire),
    ..Entry::DEFAULT
};

pub(super) const PEXPIRE: Entry = Entry {
    spec: CommandSpec {
        name: "pexpire",
        synopsis: "key milliseconds [NX | XX | GT | LT]",
        group: Group::Generic,
        flags: Flags::of(&[Flag::Write, Flag::Fast]),
        keys: &[KeyUse::UPDATE],
        overrides: &[around("NX").named("condition").since("7.0.0")],
        since: "2.6.0",
        complexity: "O(1)",
        summary: "Makes a key expire after some milliseconds.",
        examples: &[
            "SET k v => OK",
            "PEXPIRE k 100000 => (integer) 1",
            "TTL k => (integer) 100",
            "PEXPIRE k 1000 XX => (integer) 1",
        ],
        history: &[("7.0.0", "Options NX, XX, GT and LT.")],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(pexpire),
    ..Entry::DEFAULT
};

pub(super) const EXPIREAT: Entry = Entry {
    spec: CommandSpec {
        name: "expireat",
        synopsis: "key unix-time-seconds [NX | XX | GT | LT]",
        group: Group::Generic,
        flags: Flags::of(&[Flag::Write, Flag::Fast]),
        keys: &[KeyUse::UPDATE],
        overrides: &[around("NX").named("condition").since("7.0.0")],
        since: "1.2.0",
        complexity: "O(1)",
        summary: "Makes a key expire at a second since 1970.",
        examples: &[
            "SET k v => OK",
            "EXPIREAT k 33177117420 => (integer) 1",
            "EXPIRETIME k => (integer) 33177117420",
            "EXPIREAT k 1 => (integer) 1",
            "EXISTS k => (integer) 0",
        ],
        history: &[("7.0.0", "Options NX, XX, GT and LT.")],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(expireat),
    ..Entry::DEFAULT
};

pub(super) const PEXPIREAT: Entry = Entry {
    spec: CommandSpec {
        name: "pexpireat",
        synopsis: "key unix-time-milliseconds [NX | XX | GT | LT]",
        group: Group::Generic,
        flags: Flags::of(&[Flag::Write, Flag::Fast]),
        keys: &[KeyUse::UPDATE],
        overrides: &[around("NX").named("condition").since("7.0.0")],
        since: "2.6.0",
        complexity: "O(1)",
        summary: "Makes a key expire at a millisecond since 1970.",
        examples: &[
            "SET k v => OK",
            "PEXPIREAT k 33177117420000 => (integer) 1",
            "PEXPIRETIME k => (integer) 33177117420000",
        ],
        history: &[("7.0.0", "Options NX, XX, GT and LT.")],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(pexpireat),
    ..Entry::DEFAULT
};

pub(super) const PERSIST: Entry = Entry {
    spec: CommandSpec {
        name: "persist",
        synopsis: "key",
        group: Group::Generic,
        flags: Flags::of(&[Flag::Write, Flag::Fast]),
        keys: &[KeyUse::UPDATE],
        since: "2.2.0",
        complexity: "O(1)",
        summary: "Makes a key never expire.",
        examples: &[
            "SET k v EX 100 => OK",
            "PERSIST k => (integer) 1",
            "PERSIST k => (integer) 0",
            "TTL k => (integer) -1",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(persist),
    ..Entry::DEFAULT
};

fn expire(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    set_expiry(txn, args, reply, ExpireTime::SECONDS, "expire")
}

fn pexpire(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    set_expiry(txn, args, reply, ExpireTime::MILLISECONDS, "pexpire")
}

fn expireat(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    set_expiry(txn, args, reply, ExpireTime::UNIX_SECONDS, "expireat")
}

fn pexpireat(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    set_expiry(txn, args, reply, ExpireTime::UNIX_MILLISECONDS, "pexpireat")
}

fn set_expiry(
    txn: &mut Txn<'_>,
    args: &Args<'_>,
    reply: &mut Reply<'_>,
    time: ExpireTime,
    command: &str,
) -> CommandResult {
    let conditions = Conditions::parse(args)?;
    let now_ms = txn.now_ms();
    let expire_ms = time.parse(args.word(2), now_ms, Range::Any, command)?;
    let key = args.key(0);
    let current_ms = txn.get(key).map(|object| object.expire_ms());
    let done = current_ms.is_some_and(|current_ms| conditions.allow(current_ms, expire_ms));
    if done && is_past(expire_ms, now_ms) {
        txn.delete(key);
        txn.notify(EventClass::Generic, "del", key);
    } else if done {
        txn.set_expiry(key, expire_ms);
        txn.notify(EventClass::Generic, "expire", key);
    }
    reply.integer(done.into());
    Ok(())
}

/// On what a new expiry depends.
#[derive(Clone, Copy, Default)]
struct Conditions {
    none_yet: bool,
    one_already: bool,
    later: bool,
    earlier: bool,
}

impl Conditions {
    fn parse(args: &Args<'_>) -> Result<Conditions, CommandError> {
        let mut conditions = Conditions::default();
        for (index, word) in args.from(3).enumerate() {
            let flag = match index + 3 {
                at if args.is(at, "NX") => &mut conditions.none_yet,
                at if args.is(at, "XX") => &mut conditions.one_already,
                at if args.is(at, "GT") => &mut conditions.later,
                at if args.is(at, "LT") => &mut conditions.earlier,
                _ => return Err(unsupported(word)),
            };
            *flag = true;
        }
        let Conditions { none_yet, one_already, later, earlier } = conditions;
        if none_yet && (one_already || later || earlier) {
            return Err(CommandError::fixed(
                "ERR NX and XX, GT or LT options at the same time are not compatible",
            ));
        }
        if later && earlier {
            return Err(CommandError::fixed(
                "ERR GT and LT options at the same time are not compatible",
            ));
        }
        Ok(conditions)
    }

    /// Whether a key that expires at `current_ms`, 0 for never, may get another expiry. Never is
    /// later than any time.
    fn allow(self, current_ms: u64, new_ms: u64) -> bool {
        let expires = current_ms != 0;
        !(self.none_yet && expires
            || self.one_already && !expires
            || self.later && (!expires || new_ms <= current_ms)
            || self.earlier && expires && new_ms >= current_ms)
    }
}

#[cold]
fn unsupported(word: &[u8]) -> CommandError {
    CommandError::new(format!("ERR Unsupported option {}", String::from_utf8_lossy(word)))
}

fn persist(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let key = args.key(0);
    let expires = txn.get(key).is_some_and(|object| object.expire_ms() != 0);
    if expires {
        txn.set_expiry(key, 0);
        txn.notify(EventClass::Generic, "persist", key);
    }
    reply.integer(expires.into());
    Ok(())
}
