//! Commands on the bits of strings.

mod combine;
mod count;
mod field;
mod field_operation;
mod one;
mod position;

use super::strings::bytes;
use basalt_call::entry::Entry;
use basalt_engine::Object;
use basalt_number::parse_i64;
use basalt_service::args::Args;
use basalt_service::error::CommandError;
use basalt_value::bits::Unit;

/// The family.
pub const COMMANDS: &[Entry] = &[
    one::SETBIT,
    one::GETBIT,
    count::BITCOUNT,
    position::BITPOS,
    combine::BITOP,
    field::BITFIELD,
    field::BITFIELD_RO,
];

const BIT_OFFSET: CommandError =
    CommandError::fixed("ERR bit offset is not an integer or out of range");

/// The bytes of a string; an absent one has none.
#[inline]
fn bytes_or_none(object: Option<Object<'_>>) -> Result<&[u8], CommandError> {
    object.map_or(Ok(&[]), bytes)
}

/// Position of a bit that a string of at most `bytes_max` bytes can have.
#[inline]
fn bit_offset(word: &[u8], bytes_max: usize) -> Result<u64, CommandError> {
    let offset = parse_i64(word).ok_or(BIT_OFFSET)?;
    check_offset(offset, bytes_max)
}

#[inline]
fn check_offset(offset: i64, bytes_max: usize) -> Result<u64, CommandError> {
    match u64::try_from(offset) {
        Ok(offset) if offset / 8 < bytes_max as u64 => Ok(offset),
        _ => Err(BIT_OFFSET),
    }
}

/// What the indexes of BITCOUNT and BITPOS count.
fn unit(args: &Args<'_>, index: usize) -> Result<Unit, CommandError> {
    if args.is(index, "BIT") {
        Ok(Unit::Bit)
    } else if args.is(index, "BYTE") {
        Ok(Unit::Byte)
    } else {
        Err(CommandError::SYNTAX)
    }
}
