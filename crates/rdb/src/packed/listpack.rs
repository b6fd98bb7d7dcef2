//! The listpack.
//!
//! ```text
//! bytes:u32le count:u16le entry* ff        bytes: of all; count: ffff if there are 65,535 or more
//! entry = encoding data back                back: length of encoding and data, see below
//!
//! 0nnnnnnn                  number 0 to 127       11110001 n:i16le    number
//! 10llllll bytes            string of l bytes     11110010 n:i24le    number
//! 110nnnnn nnnnnnnn         number of 13 bits     11110011 n:i32le    number
//! 1110llll llllllll bytes   string of l bytes     11110100 n:i64le    number
//! 11110000 l:u32le bytes    string of l bytes
//! ```
//!
//! `back` is read from its last byte to its first: seven bits a byte, least significant last; every
//! byte but the first has `80`. Redis takes a byte more than necessary at 16,383, 2,097,151 and
//! 268,435,455.

use crate::error::DecodeError;
use crate::limits::Budget;
use crate::number;
use crate::packed::{ELEMENT_BYTES, Element};

const HEADER_BYTES: usize = 6;
const END: u8 = 0xff;
const COUNT_UNKNOWN: u16 = u16::MAX;
/// An entry of two bytes is the shortest.
const ENTRY_BYTES_MIN: usize = 2;
const BACK_BYTES_MAX: usize = 5;

const STRING_32: u8 = 0xf0;
const INT_16: u8 = 0xf1;
const INT_24: u8 = 0xf2;
const INT_32: u8 = 0xf3;
const INT_64: u8 = 0xf4;

/// Length of a listpack without elements.
pub(crate) const EMPTY_BYTES: usize = HEADER_BYTES + 1;
/// The most bytes that a listpack should get: Redis does not let any grow beyond.
pub(crate) const BYTES_MAX: usize = 1 << 30;

/// The elements of a listpack.
pub(crate) fn elements<'b>(
    bytes: &'b [u8],
    budget: &mut Budget,
) -> Result<Vec<Element<'b>>, DecodeError> {
    let corrupt = DecodeError::Corrupt;
    let (header, rest) = bytes.split_at_checked(HEADER_BYTES).ok_or(corrupt("listpack: header"))?;
    let (&end, mut rest) = rest.split_last().ok_or(corrupt("listpack: no end"))?;
    let length = u32::from_le_bytes([header[0], header[1], header[2], header[3]]);
    if length as usize != bytes.len() || end != END {
        return Err(corrupt("listpack: length"));
    }
    let count = u16::from_le_bytes([header[4], header[5]]);
    let known = (count != COUNT_UNKNOWN).then_some(usize::from(count));
    let mut found = Vec::with_capacity(known.unwrap_or(0).min(rest.len() / ENTRY_BYTES_MIN));
    while !rest.is_empty() {
        budget.charge(ELEMENT_BYTES)?;
        let (element, length) = entry(rest).ok_or(corrupt("listpack: entry"))?;
        let (back, back_bytes) = back_length(length);
        let after = rest[length..].strip_prefix(&back[..back_bytes]);
        rest = after.ok_or(corrupt("listpack: back length"))?;
        found.push(element);
    }
    if known.is_some_and(|count| count != found.len()) {
        return Err(corrupt("listpack: count"));
    }
    Ok(found)
}

/// The entry at the front and its length without `back`.
fn entry(bytes: &[u8]) -> Option<(Element<'_>, usize)> {
    let (&first, rest) = bytes.split_first()?;
    let low = usize::from(first & 0x0f);
    let string = |start: usize, length: usize| {
        let end = start.checked_add(length)?;
        Some((Element::Bytes(bytes.get(start..end)?), end))
    };
    let integer = |value: i64, length: usize| Some((Element::Integer(value), length));
    match first {
        0x00..=0x7f => integer(i64::from(first), 1),
        0x80..=0xbf => string(1, usize::from(first & 0x3f)),
        0xc0..=0xdf => {
            // Shifted up and down again: the 13th bit is the sign.
            let bits = u16::from_be_bytes([first << 3, 0]) | u16::from(*rest.first()?) << 3;
            integer(i64::from(bits as i16 >> 3), 2)
        }
        0xe0..=0xef => string(2, low << 8 | usize::from(*rest.first()?)),
        STRING_32 => string(5, u32::from_le_bytes(*rest.first_chunk()?) as usize),
        INT_16 => integer(i64::from(i16::from_le_bytes(*rest.first_chunk()?)), 3),
        INT_24 => {
            let [low, middle, high] = *rest.first_chunk()?;
            integer(i64::from(i32::from_le_bytes([0, low, middle, high]) >> 8), 4)
        }
        INT_32 => integer(i64::from(i32::from_le_bytes(*rest.first_chunk()?)), 5),
        INT_64 => integer(i64::from_le_bytes(*rest.first_chunk()?), 9),
        0xf5..=0xff => None,
    }
}

/// The bytes of `back` for an entry, and how many they are.
fn back_length(length: usize) -> ([u8; BACK_BYTES_MAX], usize) {
    let count = match length {
        0..=127 => 1,
        128..16_383 => 2,
        16_383..2_097_151 => 3,
        2_097_151..268_435_455 => 4,
        _ => BACK_BYTES_MAX,
    };
    let mut back = [0; BACK_BYTES_MAX];
    let mut left = length;
    for byte in back[..count].iter_mut().rev() {
        *byte = (left & 0x7f) as u8 | 0x80;
        left >>= 7;
    }
    back[0] &= 0x7f;
    (back, count)
}

/// Builds a listpack.
#[derive(Debug)]
pub(crate) struct ListpackWriter {
    bytes: Vec<u8>,
    count: usize,
}

impl ListpackWriter {
    pub fn new() -> ListpackWriter {
        ListpackWriter { bytes: vec![0; HEADER_BYTES], count: 0 }
    }

    pub fn count(&self) -> usize {
        self.count
    }

    /// Length that the listpack would have now.
    pub fn bytes(&self) -> usize {
        self.bytes.len() + 1
    }

    /// Adds a string, as a number if it is one.
    pub fn push(&mut self, string: &[u8]) {
        match number::integer(string) {
            Some(value) => self.push_integer(value),
            None => self.push_string(string),
        }
    }

    pub fn push_integer(&mut self, value: i64) {
        let start = self.bytes.len();
        let out = &mut self.bytes;
        if let Ok(small @ 0..=0x7f) = u8::try_from(value) {
            out.push(small);
        } else if (-4096..4096).contains(&value) {
            let [high, low] = (value as u16 & 0x1fff).to_be_bytes();
            out.extend_from_slice(&[0xc0 | high, low]);
        } else if let Ok(short) = i16::try_from(value) {
            out.push(INT_16);
            out.extend_from_slice(&short.to_le_bytes());
        } else if (-0x80_0000..0x80_0000).contains(&value) {
            out.push(INT_24);
            out.extend_from_slice(&value.to_le_bytes()[..3]);
        } else if let Ok(long) = i32::try_from(value) {
            out.push(INT_32);
            out.extend_from_slice(&long.to_le_bytes());
        } else {
            out.push(INT_64);
            out.extend_from_slice(&value.to_le_bytes());
        }
        self.end_entry(start);
    }

    fn push_string(&mut self, string: &[u8]) {
        let start = self.bytes.len();
        let out = &mut self.bytes;
        match string.len() {
            length @ 0..0x40 => out.push(0x80 | length as u8),
            length @ 0x40..0x1000 => {
                let [high, low] = (length as u16).to_be_bytes();
                out.extend_from_slice(&[0xe0 | high, low]);
            }
            length => {
                out.push(STRING_32);
                out.extend_from_slice(&(length as u32).to_le_bytes());
            }
        }
        out.extend_from_slice(string);
        self.end_entry(start);
    }

    /// Adds the entries of another one.
    pub fn append(&mut self, other: &ListpackWriter) {
        self.bytes.extend_from_slice(&other.bytes[HEADER_BYTES..]);
        self.count += other.count;
    }

    /// The finished listpack. Callers keep it about [`BYTES_MAX`], a quarter of what it could say
    /// its length of.
    pub fn finish(mut self) -> Vec<u8> {
        self.bytes.push(END);
        let length = u32::try_from(self.bytes.len()).expect("callers keep listpacks small");
        let count = u16::try_from(self.count).unwrap_or(COUNT_UNKNOWN);
        self.bytes[..4].copy_from_slice(&length.to_le_bytes());
        self.bytes[4..HEADER_BYTES].copy_from_slice(&count.to_le_bytes());
        self.bytes
    }

    fn end_entry(&mut self, start: usize) {
        let (back, back_bytes) = back_length(self.bytes.len() - start);
        self.bytes.extend_from_slice(&back[..back_bytes]);
        self.count += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::DecodeLimits;

    fn parse(bytes: &[u8]) -> Result<Vec<Element<'_>>, DecodeError> {
        let limits = DecodeLimits { string_bytes_max: 1 << 20, memory_bytes_max: 1 << 24 };
        elements(bytes, &mut Budget::new(&limits))
    }

    fn written(strings: &[&[u8]]) -> Vec<u8> {
        let mut writer = ListpackWriter::new();
        strings.iter().for_each(|string| writer.push(string));
        assert_eq!(writer.bytes(), writer.bytes.len() + 1);
        writer.finish()
    }

    #[test]
    fn every_encoding_comes_back() {
        let edges = [0, 127, 128, 4095, 4096, 32767, 32768, 0x7f_ffff, 0x80_0000];
        let numbers = edges.iter().flat_map(|edge| [*edge, -edge, -edge - 1]);
        for value in numbers.chain([i64::from(i32::MAX), i64::from(i32::MIN), i64::MAX, i64::MIN]) {
            let bytes = written(&[&number::integer_text(value), b"end"]);
            let expected = [Element::Integer(value), Element::Bytes(b"end")];
            assert_eq!(parse(&bytes).as_deref(), Ok(&expected[..]), "{value}");
        }
        for length in [0, 63, 64, 4095, 4096, 125, 126, 16_377, 16_378, 16_379, 70_000] {
            let string = vec![b'x'; length];
            let bytes = written(&[&string, b"end"]);
            let expected = [Element::Bytes(&string), Element::Bytes(b"end")];
            assert_eq!(parse(&bytes).as_deref(), Ok(&expected[..]), "{length}");
        }
    }

    #[test]
    fn bytes_as_redis_writes_them() {
        assert_eq!(written(&[b"a", b"-5"]), b"\x0d\0\0\0\x02\0\x81a\x02\xdf\xfb\x02\xff");
    }

    #[test]
    fn any_other_length_count_or_back_length_is_refused() {
        let good = written(&[b"abc", b"1", b"-300"]);
        assert!(parse(&good).is_ok());
        // The header, the encodings, the back lengths and the end; not the letters, nor the low
        // byte of -300.
        for index in [0, 1, 2, 3, 4, 5, 6, 10, 11, 12, 13, 15, 16] {
            let mut bad = good.clone();
            bad[index] ^= 0x80;
            assert!(parse(&bad).is_err(), "byte {index}");
        }
        for length in 0..good.len() {
            assert!(parse(&good[..length]).is_err(), "{length} bytes");
        }
        let mut unknown = good.clone();
        unknown[4..6].copy_from_slice(&[0xff, 0xff]);
        assert_eq!(parse(&unknown), parse(&good));
    }
}
