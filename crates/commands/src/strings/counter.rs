//! HOT PATH
//! Integers: INCR, DECR, INCRBY and DECRBY.

use super::bytes;
use crate::number::integer;
use basalt_call::entry::{Entry, Run};
use basalt_engine::{EventClass, PutOptions, Txn};
use basalt_number::parse_i64;
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::{CommandError, CommandResult};
use basalt_spec::{CommandSpec, Flag, Flags, Group, KeyUse};

pub(super) const INCR: Entry = Entry {
    spec: CommandSpec {
        name: "incr",
        synopsis: "key",
        group: Group::String,
        flags: Flags::of(&[Flag::Write, Flag::Denyoom, Flag::Fast]),
        keys: &[KeyUse::MODIFY],
        since: "1.0.0",
        complexity: "O(1)",
        summary: "Adds one to the integer at a key, which counts as 0 if absent, and returns the sum.",
        examples: &[
            "INCR k => (integer) 1",
            "INCR k => (integer) 2",
            "SET k x => OK",
            "INCR k => (error) ERR value is not an integer or out of range",
            "SET k 9223372036854775807 => OK",
            "INCR k => (error) ERR increment or decrement would overflow",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(incr),
    ..Entry::DEFAULT
};

pub(super) const DECR: Entry = Entry {
    spec: CommandSpec {
        name: "decr",
        synopsis: "key",
        group: Group::String,
        flags: Flags::of(&[Flag::Write, Flag::Denyoom, Flag::Fast]),
        keys: &[KeyUse::MODIFY],
        since: "1.0.0",
        complexity: "O(1)",
        summary: "Subtracts one from the integer at a key, which counts as 0 if absent, and returns the difference.",
        examples: &["DECR k => (integer) -1", "SET k 10 => OK", "DECR k => (integer) 9"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(decr),
    ..Entry::DEFAULT
};

pub(super) const INCRBY: Entry = Entry {
    spec: CommandSpec {
        name: "incrby",
        synopsis: "key increment",
        group: Group::String,
        flags: Flags::of(&[Flag::Write, Flag::Denyoom, Flag::Fast]),
        keys: &[KeyUse::MODIFY],
        since: "1.0.0",
        complexity: "O(1)",
        summary: "Adds to the integer at a key, which counts as 0 if absent, and returns the sum.",
        examples: &[
            "INCRBY k 5 => (integer) 5",
            "INCRBY k -7 => (integer) -2",
            "INCRBY k 1.5 => (error) ERR value is not an integer or out of range",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(incrby),
    ..Entry::DEFAULT
};

pub(super) const DECRBY: Entry = Entry {
    spec: CommandSpec {
        name: "decrby",
        synopsis: "key decrement",
        group: Group::String,
        flags: Flags::of(&[Flag::Write, Flag::Denyoom, Flag::Fast]),
        keys: &[KeyUse::MODIFY],
        since: "1.0.0",
        complexity: "O(1)",
        summary: "Subtracts from the integer at a key, which counts as 0 if absent, and returns the difference.",
        examples: &[
            "DECRBY k 5 => (integer) -5",
            "DECRBY k -9223372036854775808 => (error) ERR decrement would overflow",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(decrby),
    ..Entry::DEFAULT
};

fn incr(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    add(txn, args, 1, reply)
}

fn decr(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    add(txn, args, -1, reply)
}

fn incrby(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    add(txn, args, integer(args.word(2))?, reply)
}

fn decrby(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let decrement = integer(args.word(2))?;
    let increment =
        decrement.checked_neg().ok_or(CommandError::fixed("ERR decrement would overflow"))?;
    add(txn, args, increment, reply)
}

#[inline]
fn add(txn: &mut Txn<'_>, args: &Args<'_>, increment: i64, reply: &mut Reply<'_>) -> CommandResult {
    let key = args.key(0);
    let spot = txn.spot(key);
    let (value, expire_ms) = match spot.object() {
        Some(object) => {
            let value = parse_i64(bytes(object)?).ok_or(CommandError::NOT_INTEGER)?;
            (value, object.expire_ms())
        }
        None => (0, 0),
    };
    let sum = value
        .checked_add(increment)
        .ok_or(CommandError::fixed("ERR increment or decrement would overflow"))?;
    let mut digits = itoa::Buffer::new();
    spot.put(digits.format(sum).as_bytes(), PutOptions::whole(expire_ms));
    txn.notify(EventClass::String, "incrby", key);
    reply.integer(sum);
    Ok(())
}
