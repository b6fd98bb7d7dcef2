//! The operations of a BITFIELD, as its arguments name them.

use super::{BIT_OFFSET, bit_offset, check_offset};
use crate::number::integer;
use basalt_number::parse_i64;
use basalt_service::args::Args;
use basalt_service::error::CommandError;
use basalt_value::bits::{FieldType, Overflow};

/// One operation on one field.
#[derive(Clone, Copy)]
pub(super) struct Operation {
    pub(super) field: FieldType,
    /// Its first bit.
    pub(super) offset: u64,
    pub(super) action: Action,
}

/// What is done with a field.
#[derive(Clone, Copy)]
pub(super) enum Action {
    Get,
    Set(i64, Overflow),
    Add(i64, Overflow),
}

impl Operation {
    /// How long the string has to be for this operation to write; `None` if it only reads.
    pub(super) fn bytes_written_to(&self) -> Option<usize> {
        match self.action {
            Action::Get => None,
            Action::Set(..) | Action::Add(..) => {
                Some((self.offset + u64::from(self.field.width())).div_ceil(8) as usize)
            }
        }
    }
}

/// The operations behind the key. An OVERFLOW holds for those that follow it.
pub(super) fn parse(args: &Args<'_>, bytes_max: usize) -> Result<Vec<Operation>, CommandError> {
    let mut operations = Vec::new();
    let mut overflow = Overflow::default();
    let mut index = 2;
    while index < args.len() {
        let following = args.len() - index - 1;
        let words = if args.is(index, "GET") && following >= 2 {
            operations.push(operation(args, index, bytes_max, |_| Ok(Action::Get))?);
            3
        } else if args.is(index, "SET") && following >= 3 {
            let set = |value| Ok(Action::Set(integer(value)?, overflow));
            operations.push(operation(args, index, bytes_max, set)?);
            4
        } else if args.is(index, "INCRBY") && following >= 3 {
            let add = |value| Ok(Action::Add(integer(value)?, overflow));
            operations.push(operation(args, index, bytes_max, add)?);
            4
        } else if args.is(index, "OVERFLOW") && following >= 1 {
            overflow = parse_overflow(args, index + 1)?;
            2
        } else {
            return Err(CommandError::SYNTAX);
        };
        index += words;
    }
    Ok(operations)
}

fn operation<'a>(
    args: &Args<'a>,
    index: usize,
    bytes_max: usize,
    action: impl FnOnce(&'a [u8]) -> Result<Action, CommandError>,
) -> Result<Operation, CommandError> {
    let field = FieldType::parse(args.word(index + 1)).ok_or(CommandError::fixed(
        "ERR Invalid bitfield type. Use something like i16 u8. Note that u64 is not supported but \
         i64 is.",
    ))?;
    let offset = field_offset(args.word(index + 2), field, bytes_max)?;
    let action = action(args.opt(index + 3).unwrap_or_default())?;
    Ok(Operation { field, offset, action })
}

/// A bit, or `#` and the number of a field in a row of fields of this type.
fn field_offset(word: &[u8], field: FieldType, bytes_max: usize) -> Result<u64, CommandError> {
    let Some(number) = word.strip_prefix(b"#") else { return bit_offset(word, bytes_max) };
    let offset = parse_i64(number).and_then(|number| number.checked_mul(field.width().into()));
    check_offset(offset.ok_or(BIT_OFFSET)?, bytes_max)
}

fn parse_overflow(args: &Args<'_>, index: usize) -> Result<Overflow, CommandError> {
    const NAMES: [(&str, Overflow); 3] =
        [("WRAP", Overflow::Wrap), ("SAT", Overflow::Saturate), ("FAIL", Overflow::Fail)];
    let named = NAMES.into_iter().find(|(name, _)| args.is(index, name));
    let overflow = named.map(|(_, overflow)| overflow);
    overflow.ok_or(CommandError::fixed("ERR Invalid OVERFLOW type specified"))
}
