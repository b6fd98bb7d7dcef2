//! The ziplist, which Redis wrote before 7.0.
//!
//! ```text
//! bytes:u32le tail:u32le count:u16le entry* ff   tail: last entry's place; count ffff: unknown
//! entry = previous encoding data                   previous: length of the one before, 0 at first
//! previous = l:u8 (0 to 253) | fe l:u32le
//!
//! 00llllll bytes            string of l bytes      11000000 n:i16le    number
//! 01llllll llllllll bytes   string of l bytes      11010000 n:i32le    number
//! 10...... l:u32be bytes    string of l bytes      11100000 n:i64le    number
//! 11110001 to 11111101      number 0 to 12         11110000 n:i24le    number
//!                                                  11111110 n:i8       number
//! ```

use crate::error::DecodeError;
use crate::limits::Budget;
use crate::packed::{ELEMENT_BYTES, Element};

const HEADER_BYTES: usize = 10;
const END: u8 = 0xff;
const COUNT_UNKNOWN: u16 = u16::MAX;
const PREVIOUS_32: u8 = 0xfe;

const INT_16: u8 = 0xc0;
const INT_32: u8 = 0xd0;
const INT_64: u8 = 0xe0;
const INT_24: u8 = 0xf0;
const INT_8: u8 = 0xfe;

/// The elements of a ziplist.
pub(crate) fn elements<'b>(
    bytes: &'b [u8],
    budget: &mut Budget,
) -> Result<Vec<Element<'b>>, DecodeError> {
    let corrupt = DecodeError::Corrupt;
    let (header, rest) = bytes.split_at_checked(HEADER_BYTES).ok_or(corrupt("ziplist: header"))?;
    let (&end, entries) = rest.split_last().ok_or(corrupt("ziplist: no end"))?;
    let length = u32::from_le_bytes([header[0], header[1], header[2], header[3]]);
    let tail = u32::from_le_bytes([header[4], header[5], header[6], header[7]]);
    let count = u16::from_le_bytes([header[8], header[9]]);
    if length as usize != bytes.len() || end != END {
        return Err(corrupt("ziplist: length"));
    }
    let mut found = Vec::new();
    let mut rest = entries;
    let mut previous = 0;
    while !rest.is_empty() {
        budget.charge(ELEMENT_BYTES)?;
        let (said, after) = previous_length(rest).ok_or(corrupt("ziplist: previous length"))?;
        if said != previous {
            return Err(corrupt("ziplist: previous length"));
        }
        let (element, length) = entry(after).ok_or(corrupt("ziplist: entry"))?;
        previous = rest.len() - after.len() + length;
        rest = &after[length..];
        found.push(element);
    }
    // Of an empty one Redis says that the tail is its end.
    let tail_found = HEADER_BYTES + entries.len() - previous;
    if tail as usize != tail_found {
        return Err(corrupt("ziplist: tail"));
    }
    if count != COUNT_UNKNOWN && usize::from(count) != found.len() {
        return Err(corrupt("ziplist: count"));
    }
    Ok(found)
}

/// The length that an entry says the one before has, and what follows. Redis does not always take
/// the short form where it would fit, so neither form is wrong.
fn previous_length(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let (&first, rest) = bytes.split_first()?;
    match first {
        0..PREVIOUS_32 => Some((usize::from(first), rest)),
        PREVIOUS_32 => {
            let (length, rest) = rest.split_first_chunk()?;
            Some((u32::from_le_bytes(*length) as usize, rest))
        }
        END => None,
    }
}

/// The element at the front and how many bytes it takes.
fn entry(bytes: &[u8]) -> Option<(Element<'_>, usize)> {
    let (&first, rest) = bytes.split_first()?;
    let low = usize::from(first & 0x3f);
    let string = |start: usize, length: usize| {
        let end = start.checked_add(length)?;
        Some((Element::Bytes(bytes.get(start..end)?), end))
    };
    let integer = |value: i64, length: usize| Some((Element::Integer(value), length));
    match first {
        0x00..=0x3f => string(1, low),
        0x40..=0x7f => string(2, low << 8 | usize::from(*rest.first()?)),
        0x80..=0xbf => string(5, u32::from_be_bytes(*rest.first_chunk()?) as usize),
        INT_8 => integer(i64::from(*rest.first()? as i8), 2),
        INT_16 => integer(i64::from(i16::from_le_bytes(*rest.first_chunk()?)), 3),
        INT_24 => {
            let [low, middle, high] = *rest.first_chunk()?;
            integer(i64::from(i32::from_le_bytes([0, low, middle, high]) >> 8), 4)
        }
        INT_32 => integer(i64::from(i32::from_le_bytes(*rest.first_chunk()?)), 5),
        INT_64 => integer(i64::from_le_bytes(*rest.first_chunk()?), 9),
        0xf1..=0xfd => integer(i64::from(first & 0x0f) - 1, 1),
        _ => None,
    }
}
