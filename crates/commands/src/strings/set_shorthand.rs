//! What became options of SET later: SETNX, SETEX, PSETEX and GETSET.

use super::reply_object;
use crate::expire_time::{ExpireTime, Range};
use basalt_call::entry::{Entry, Run, Traits};
use basalt_engine::{EventClass, PutOptions, Txn};
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::CommandResult;
use basalt_spec::{CommandSpec, Deprecated, Flag, Flags, Group, KeyUse};

pub(super) const GETSET: Entry = Entry {
    spec: CommandSpec {
        name: "getset",
        synopsis: "key value",
        group: Group::String,
        flags: Flags::of(&[Flag::Write, Flag::Denyoom, Flag::Fast]),
        keys: &[KeyUse::MODIFY],
        since: "1.0.0",
        complexity: "O(1)",
        summary: "Stores a string and returns the one that was there.",
        examples: &["GETSET k v => (nil)", r#"GETSET k w => "v""#, r#"GET k => "w""#],
        deprecated: Some(Deprecated { since: "6.2.0", replaced_by: "`SET` with the `GET` option" }),
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(getset),
    ..Entry::DEFAULT
};

pub(super) const SETNX: Entry = Entry {
    spec: CommandSpec {
        name: "setnx",
        synopsis: "key value",
        group: Group::String,
        flags: Flags::of(&[Flag::Write, Flag::Denyoom, Flag::Fast]),
        keys: &[KeyUse::CREATE],
        since: "1.0.0",
        complexity: "O(1)",
        summary: "Stores a string if the key does not exist.",
        examples: &["SETNX k v => (integer) 1", "SETNX k w => (integer) 0", r#"GET k => "v""#],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(setnx),
    ..Entry::DEFAULT
};

pub(super) const SETEX: Entry = Entry {
    spec: CommandSpec {
        name: "setex",
        synopsis: "key seconds value",
        group: Group::String,
        flags: Flags::of(&[Flag::Write, Flag::Denyoom]),
        keys: &[KeyUse::OVERWRITE],
        since: "2.0.0",
        complexity: "O(1)",
        summary: "Stores a string that expires after some seconds.",
        examples: &[
            "SETEX k 100 v => OK",
            "TTL k => (integer) 100",
            "SETEX k 0 v => (error) ERR invalid expire time in 'setex' command",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(setex),
    traits: Traits::BLIND,
    ..Entry::DEFAULT
};

pub(super) const PSETEX: Entry = Entry {
    spec: CommandSpec {
        name: "psetex",
        synopsis: "key milliseconds value",
        group: Group::String,
        flags: Flags::of(&[Flag::Write, Flag::Denyoom]),
        keys: &[KeyUse::OVERWRITE],
        since: "2.6.0",
        complexity: "O(1)",
        summary: "Stores a string that expires after some milliseconds.",
        examples: &[
            "PSETEX k 100000 v => OK",
            "TTL k => (integer) 100",
            "PSETEX k -1 v => (error) ERR invalid expire time in 'psetex' command",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(psetex),
    traits: Traits::BLIND,
    ..Entry::DEFAULT
};

fn getset(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let key = args.key(0);
    let previous = txn.get(key);
    let is_absent = previous.is_none();
    reply_object(previous, reply)?;
    if is_absent {
        txn.notify(EventClass::Miss, "keymiss", key);
    }
    txn.put(key, args.word(2), PutOptions::whole(0));
    txn.notify(EventClass::String, "set", key);
    Ok(())
}

fn setnx(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let key = args.key(0);
    let absent = txn.get(key).is_none();
    if absent {
        txn.put(key, args.word(2), PutOptions::whole(0));
        txn.notify(EventClass::String, "set", key);
    }
    reply.integer(i64::from(absent));
    Ok(())
}

fn setex(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let now_ms = txn.now_ms();
    let expire_ms = ExpireTime::SECONDS.parse(args.word(2), now_ms, Range::Positive, "setex")?;
    put_expiring(txn, args, expire_ms);
    reply.ok();
    Ok(())
}

/// Puts the fourth word under the key.
fn put_expiring(txn: &mut Txn<'_>, args: &Args<'_>, expire_ms: u64) {
    let key = args.key(0);
    txn.put(key, args.word(3), PutOptions::whole(expire_ms));
    txn.notify(EventClass::String, "set", key);
    txn.notify(EventClass::Generic, "expire", key);
}

fn psetex(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let time = ExpireTime::MILLISECONDS;
    let expire_ms = time.parse(args.word(2), txn.now_ms(), Range::Positive, "psetex")?;
    put_expiring(txn, args, expire_ms);
    reply.ok();
    Ok(())
}
