//! Commands that return a string and then change its key: GETEX and GETDEL.

use super::reply_object;
use crate::expire_time::{self, ExpireTime};
use basalt_call::entry::{Entry, Run};
use basalt_engine::{EventClass, Txn};
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::{CommandError, CommandResult};
use basalt_spec::{CommandSpec, Flag, Flags, Group, KeyUse, around};

pub(super) const GETEX: Entry = Entry {
    spec: CommandSpec {
        name: "getex",
        synopsis: "key [EX seconds | PX milliseconds | EXAT unix-time-seconds | PXAT \
                   unix-time-milliseconds | PERSIST]",
        group: Group::String,
        flags: Flags::of(&[Flag::Write, Flag::Fast]),
        keys: &[KeyUse::MODIFY],
        overrides: &[around("EX").named("expiration")],
        since: "6.2.0",
        complexity: "O(1)",
        summary: "Returns the string at a key and sets or removes when it expires.",
        examples: &[
            "SET k v => OK",
            r#"GETEX k EX 100 => "v""#,
            "TTL k => (integer) 100",
            r#"GETEX k PERSIST => "v""#,
            "TTL k => (integer) -1",
            "GETEX absent => (nil)",
            "GETEX k EX 1 PERSIST => (error) ERR syntax error",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(getex),
    ..Entry::DEFAULT
};

pub(super) const GETDEL: Entry = Entry {
    spec: CommandSpec {
        name: "getdel",
        synopsis: "key",
        group: Group::String,
        flags: Flags::of(&[Flag::Write, Flag::Fast]),
        keys: &[KeyUse::TAKE],
        since: "6.2.0",
        complexity: "O(1)",
        summary: "Returns the string at a key and deletes the key.",
        examples: &["SET k v => OK", r#"GETDEL k => "v""#, "GETDEL k => (nil)"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(getdel),
    ..Entry::DEFAULT
};

/// What GETEX does to the expiry.
#[derive(Clone, Copy)]
enum Change<'a> {
    Nothing,
    Persist,
    Expire(ExpireTime, &'a [u8]),
}

fn getex(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let change = parse_change(args)?;
    let key = args.key(0);
    let Some(object) = txn.get(key) else {
        txn.notify(EventClass::Miss, "keymiss", key);
        reply.null();
        return Ok(());
    };
    let (now_ms, had_expiry) = (txn.now_ms(), object.expire_ms() != 0);
    let value = super::string(object)?;
    let expire_ms = match change {
        Change::Expire(time, word) => {
            Some(time.parse(word, now_ms, expire_time::Range::Positive, "getex")?)
        }
        Change::Persist => had_expiry.then_some(0),
        Change::Nothing => None,
    };
    super::reply_string(value, reply);
    match expire_ms {
        Some(ms) if ms != 0 && expire_time::is_past(ms, now_ms) => {
            txn.delete(key);
            txn.notify(EventClass::Generic, "del", key);
        }
        Some(ms) => {
            txn.set_expiry(key, ms);
            let event = if ms == 0 { "persist" } else { "expire" };
            txn.notify(EventClass::Generic, event, key);
        }
        None => txn.touch(key),
    }
    Ok(())
}

fn parse_change<'a>(args: &Args<'a>) -> Result<Change<'a>, CommandError> {
    let mut change = Change::Nothing;
    let mut index = 2;
    while index < args.len() {
        change = match (change, ExpireTime::option(args, index)) {
            (Change::Nothing, None) | (Change::Persist, None) if args.is(index, "PERSIST") => {
                Change::Persist
            }
            // Redis lets an option replace an earlier one of the same name.
            (Change::Nothing, Some(time)) => expire(time, args, index)?,
            (Change::Expire(before, _), Some(time)) if before == time => expire(time, args, index)?,
            _ => return Err(CommandError::SYNTAX),
        };
        index += if let Change::Expire(..) = change { 2 } else { 1 };
    }
    Ok(change)
}

fn expire<'a>(time: ExpireTime, args: &Args<'a>, index: usize) -> Result<Change<'a>, CommandError> {
    args.opt(index + 1).map(|word| Change::Expire(time, word)).ok_or(CommandError::SYNTAX)
}

fn getdel(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let key = args.key(0);
    reply_object(txn.get(key), reply)?;
    if txn.delete(key) {
        txn.notify(EventClass::Generic, "del", key);
    } else {
        txn.notify(EventClass::Miss, "keymiss", key);
    }
    Ok(())
}
