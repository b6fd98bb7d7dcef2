//! Pieces of bytes that edits and rows of streams have in common.

use super::id::EntryId;
use crate::error::DecodeError;
use crate::item::{Digits, Item};
use basalt_stdx::varint;

/// Takes bytes with their length off the front.
pub(super) fn take_bytes<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let len = usize::try_from(varint::take(rest)?).ok()?;
    let (bytes, after) = rest.split_at_checked(len)?;
    *rest = after;
    Some(bytes)
}

/// Takes a name off the front.
pub(super) fn take_name<'a, 'b: 'a>(
    rest: &mut &'b [u8],
    digits: &'a mut Digits,
) -> Result<&'a [u8], DecodeError> {
    Ok(Item::take(rest).ok_or(DecodeError::Truncated)?.spell(digits))
}

/// Appends identities.
pub(super) fn put_ids(ids: &[EntryId], out: &mut Vec<u8>) {
    varint::put(out, ids.len() as u64);
    let mut before = EntryId::MIN;
    for &id in ids {
        id.put_after(before, out);
        before = id;
    }
}

/// Appends a number that may be missing. The greatest one, which nothing reaches, counts as
/// missing.
pub(super) fn put_optional(number: Option<u64>, out: &mut Vec<u8>) {
    varint::put(out, number.map_or(0, |number| number.wrapping_add(1)));
}

/// Takes a number off the front that [`put_optional`] wrote.
pub(super) fn take_optional(bytes: &mut &[u8]) -> Option<Option<u64>> {
    Some(varint::take(bytes)?.checked_sub(1))
}
