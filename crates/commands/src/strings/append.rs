//! Commands that edit a string in place: APPEND and SETRANGE.

use super::{bytes, check_length, check_zeros};
use crate::number::integer;
use basalt_call::entry::{Entry, Run};
use basalt_engine::{EventClass, PutOptions, Txn};
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::{CommandError, CommandResult};
use basalt_spec::{CommandSpec, Flag, Flags, Group, KeyUse};

pub(super) const APPEND: Entry = Entry {
    spec: CommandSpec {
        name: "append",
        synopsis: "key value",
        group: Group::String,
        flags: Flags::of(&[Flag::Write, Flag::Denyoom, Flag::Fast]),
        keys: &[KeyUse::ADD],
        since: "2.0.0",
        complexity: "O(N) with N bytes appended, amortized",
        summary: "Appends to the string at a key, which is created if absent, and returns its length.",
        examples: &[
            "APPEND k ab => (integer) 2",
            "APPEND k cd => (integer) 4",
            r#"GET k => "abcd""#,
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(append),
    ..Entry::DEFAULT
};

pub(super) const SETRANGE: Entry = Entry {
    spec: CommandSpec {
        name: "setrange",
        synopsis: "key offset value",
        group: Group::String,
        flags: Flags::of(&[Flag::Write, Flag::Denyoom]),
        keys: &[KeyUse::UPDATE],
        since: "2.2.0",
        complexity: "O(N) with N bytes written",
        summary: "Overwrites part of a string from an offset on, filling up with zero bytes, and returns its length.",
        examples: &[
            r#"SET k "hello world" => OK"#,
            "SETRANGE k 6 Redis => (integer) 11",
            r#"GET k => "hello Redis""#,
            "SETRANGE n 2 x => (integer) 3",
            r#"GET n => "\x00\x00x""#,
            "SETRANGE n -1 x => (error) ERR offset is out of range",
            r#"SETRANGE absent 5 "" => (integer) 0"#,
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(setrange),
    ..Entry::DEFAULT
};

fn append(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let (key, value) = (args.key(0), args.word(2));
    let len = match txn.get(key) {
        None => {
            // Not an edit: Redis encodes a first value as SET would.
            txn.put(key, value, PutOptions::whole(0));
            value.len()
        }
        Some(object) => {
            let len = bytes(object)?.len();
            check_length(len, value.len(), txn.value_bytes_max())?;
            if txn.must_copy_first(key, len, len..len + value.len()) {
                return Ok(());
            }
            txn.splice(key, len, value)
        }
    };
    txn.notify(EventClass::String, "append", key);
    reply.integer(len as i64);
    Ok(())
}

fn setrange(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let (key, value) = (args.key(0), args.word(3));
    let offset =
        usize::try_from(integer(args.word(2))?).map_err(|_| CommandError::OFFSET_OUT_OF_RANGE)?;
    let len = match txn.get(key) {
        None => 0,
        Some(object) => bytes(object)?.len(),
    };
    let len = if value.is_empty() {
        // Nothing is written, and a gap would be at the end: the string stays as it is.
        len
    } else {
        check_length(offset, value.len(), txn.value_bytes_max())?;
        check_zeros(txn, len, offset)?;
        if txn.must_copy_first(key, len, offset..offset + value.len()) {
            return Ok(());
        }
        let len = txn.splice(key, offset, value);
        txn.notify(EventClass::String, "setrange", key);
        len
    };
    reply.integer(len as i64);
    Ok(())
}
