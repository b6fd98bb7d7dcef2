//! The zipmap, in which Redis wrote small hashes before 2.6.
//!
//! ```text
//! count:u8 pair* ff                              count: fe if there are 254 or more
//! pair = length name length free:u8 value padding    padding: `free` bytes
//! length = l:u8 (0 to 253) | fe l:u32le
//! ```

use crate::error::DecodeError;
use crate::limits::Budget;
use crate::packed::{ELEMENT_BYTES, Element};

const END: u8 = 0xff;
const COUNT_UNKNOWN: u8 = 0xfe;
const LENGTH_32: u8 = 0xfe;

/// Names and values by turns.
pub(crate) fn elements<'b>(
    bytes: &'b [u8],
    budget: &mut Budget,
) -> Result<Vec<Element<'b>>, DecodeError> {
    let corrupt = DecodeError::Corrupt;
    let (&count, rest) = bytes.split_first().ok_or(corrupt("zipmap: header"))?;
    let (&end, mut rest) = rest.split_last().ok_or(corrupt("zipmap: no end"))?;
    if end != END {
        return Err(corrupt("zipmap: no end"));
    }
    let mut found = Vec::new();
    while !rest.is_empty() {
        budget.charge(2 * ELEMENT_BYTES)?;
        let (name, value, after) = pair(rest).ok_or(corrupt("zipmap: entry"))?;
        found.extend([Element::Bytes(name), Element::Bytes(value)]);
        rest = after;
    }
    if count != COUNT_UNKNOWN && usize::from(count) != found.len() / 2 {
        return Err(corrupt("zipmap: count"));
    }
    Ok(found)
}

fn pair(bytes: &[u8]) -> Option<(&[u8], &[u8], &[u8])> {
    let (name_length, rest) = length(bytes)?;
    let (name, rest) = rest.split_at_checked(name_length)?;
    let (value_length, rest) = length(rest)?;
    let (free, rest) = rest.split_first()?;
    let (value, rest) = rest.split_at_checked(value_length)?;
    let (_, rest) = rest.split_at_checked(usize::from(*free))?;
    Some((name, value, rest))
}

fn length(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let (&first, rest) = bytes.split_first()?;
    match first {
        0..LENGTH_32 => Some((usize::from(first), rest)),
        LENGTH_32 => {
            let (length, rest) = rest.split_first_chunk()?;
            Some((u32::from_le_bytes(*length) as usize, rest))
        }
        END => None,
    }
}
