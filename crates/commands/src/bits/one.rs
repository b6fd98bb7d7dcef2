//! HOT PATH
//! One bit: SETBIT and GETBIT.

use super::{bit_offset, bytes_or_none};
use crate::strings::{check_zeros, make_raw};
use basalt_call::entry::{Entry, Run};
use basalt_engine::{EventClass, Point, Txn};
use basalt_number::parse_i64;
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::{CommandError, CommandResult};
use basalt_spec::{CommandSpec, Flag, Flags, Group, KeyUse, Kind, at};
use basalt_value::bits::{Bit, bit, with_bit};

pub(super) const SETBIT: Entry = Entry {
    spec: CommandSpec {
        name: "setbit",
        synopsis: "key offset value",
        group: Group::Bitmap,
        flags: Flags::of(&[Flag::Write, Flag::Denyoom]),
        keys: &[KeyUse::MODIFY],
        overrides: &[at("value").kind(Kind::Integer)],
        since: "2.2.0",
        complexity: "O(1)",
        summary: "Sets or clears a bit of a string, which grows as far as needed, and returns what the bit was.",
        examples: &[
            "SETBIT k 7 1 => (integer) 0",
            "SETBIT k 7 0 => (integer) 1",
            "SETBIT k 9 1 => (integer) 0",
            r#"GET k => "\x00@""#,
            "SETBIT k 0 2 => (error) ERR bit is not an integer or out of range",
            "SETBIT k -1 1 => (error) ERR bit offset is not an integer or out of range",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(setbit),
    ..Entry::DEFAULT
};

pub(super) const GETBIT: Entry = Entry {
    spec: CommandSpec {
        name: "getbit",
        synopsis: "key offset",
        group: Group::Bitmap,
        flags: Flags::of(&[Flag::Readonly, Flag::Fast]),
        keys: &[KeyUse::READ],
        since: "2.2.0",
        complexity: "O(1)",
        summary: "Returns a bit of a string, 0 behind its end.",
        examples: &[
            "SET k a => OK",
            "GETBIT k 1 => (integer) 1",
            "GETBIT k 100 => (integer) 0",
            "GETBIT absent 0 => (integer) 0",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Point(getbit),
    ..Entry::DEFAULT
};

fn setbit(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let offset = bit_offset(args.word(2), txn.value_bytes_max())?;
    let value = match parse_i64(args.word(3)) {
        Some(0) => Bit::Zero,
        Some(1) => Bit::One,
        _ => return Err(CommandError::fixed("ERR bit is not an integer or out of range")),
    };
    let (key, index) = (args.key(0), (offset / 8) as usize);
    let bytes = bytes_or_none(txn.get(key))?;
    let (len, old) = (bytes.len(), bytes.get(index).copied());
    let new = with_bit(old.unwrap_or(0), offset, value);
    if old == Some(new) {
        make_raw(txn, key);
    } else {
        check_zeros(txn, len, index)?;
        if txn.must_copy_first(key, len, index..index + 1) {
            return Ok(());
        }
        txn.splice(key, index, &[new]);
        txn.notify(EventClass::String, "setbit", key);
    }
    reply.integer(i64::from(bit(&[old.unwrap_or(0)], offset % 8)));
    Ok(())
}

fn getbit(point: &Point<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let offset = bit_offset(args.word(2), point.value_bytes_max())?;
    let bytes = bytes_or_none(point.object())?;
    reply.integer(i64::from(bit(bytes, offset)));
    Ok(())
}
