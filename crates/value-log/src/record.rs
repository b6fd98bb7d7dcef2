//! A record: a key and its value, with a checksum.
//!
//! ```text
//! crc:u32le form:u8 key:1 or 2 bytes stored:1 to 4 bytes [raw: as stored] key value zeros up to 16
//! ```
//! `crc` is CRC-32 of all behind it but the zeros at the end, begun with the segment's number: a
//! record that has got into another segment is none. `form` says how wide the lengths are, which
//! are little-endian, and whether the value is compressed; only then `raw`, its true bytes, differ
//! from `stored`, those that stand here, and are said.

use crate::place::UNIT_BYTES;
use std::borrow::Cow;

/// Keys that are longer stay with their values in rows.
pub(crate) const KEY_BYTES_MAX: usize = 4 << 10;
/// Values that are longer do, too.
pub(crate) const VALUE_BYTES_MAX: usize = 1 << 30;

const CHECKSUM_BYTES: usize = 4;
/// Bytes of the checksum and of the form.
const FIXED_BYTES: usize = 5;

/// Bits of the form. One of the first two is set, so that no record begins with zeros.
const PLAIN: u8 = 1;
const LZ4: u8 = 2;
/// The key's length has two bytes.
const LONG_KEY: u8 = 4;
/// The width of the value's lengths stands above, in bytes.
const WIDTH_SHIFT: u32 = 4;
const WIDTH_MAX: usize = 4;

/// A value is compressed if that saves an eighth of it.
const SAVED_SHARE_MIN: usize = 8;

/// What stands before the key, but the checksum.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Head {
    key_bytes: usize,
    stored_bytes: usize,
    raw_bytes: usize,
    is_compressed: bool,
}

impl Head {
    /// Reads what the first unit of a record begins with; returns nothing if that is no head.
    fn decode(unit: &[u8; UNIT_BYTES as usize]) -> Option<Head> {
        let form = unit[CHECKSUM_BYTES];
        let is_compressed = form & (PLAIN | LZ4) == LZ4;
        let width = usize::from(form >> WIDTH_SHIFT);
        let mut rest = &unit[FIXED_BYTES..];
        let mut take = |bytes: usize| {
            let (number, behind) = rest.split_at_checked(bytes)?;
            rest = behind;
            Some(number.iter().rev().fold(0, |number, &byte| (number << 8) | usize::from(byte)))
        };
        let key_bytes = take(1 + usize::from(form & LONG_KEY != 0))?;
        let stored_bytes = take(width)?;
        let raw_bytes = if is_compressed { take(width)? } else { stored_bytes };
        let head = Head { key_bytes, stored_bytes, raw_bytes, is_compressed };
        let is_whole = form == head.form()
            && key_bytes <= KEY_BYTES_MAX
            && stored_bytes <= raw_bytes
            && raw_bytes <= VALUE_BYTES_MAX;
        is_whole.then_some(head)
    }

    /// Adds it, with room for the checksum.
    fn encode(self, out: &mut Vec<u8>) {
        out.extend_from_slice(&[0; CHECKSUM_BYTES]);
        out.push(self.form());
        out.extend_from_slice(&self.key_bytes.to_le_bytes()[..self.key_width()]);
        out.extend_from_slice(&self.stored_bytes.to_le_bytes()[..self.width()]);
        if self.is_compressed {
            out.extend_from_slice(&self.raw_bytes.to_le_bytes()[..self.width()]);
        }
    }

    fn form(self) -> u8 {
        let kind = if self.is_compressed { LZ4 } else { PLAIN };
        let long = if self.key_width() > 1 { LONG_KEY } else { 0 };
        kind | long | ((self.width() as u8) << WIDTH_SHIFT)
    }

    fn key_width(self) -> usize {
        if self.key_bytes > usize::from(u8::MAX) { 2 } else { 1 }
    }

    /// Of the larger length: when a value is compressed behind its head, only that is known.
    fn width(self) -> usize {
        let bits = usize::BITS - self.raw_bytes.leading_zeros();
        (bits.div_ceil(u8::BITS) as usize).clamp(1, WIDTH_MAX)
    }

    /// Bytes that it takes, with the checksum.
    fn bytes(self) -> usize {
        let lengths = if self.is_compressed { 2 } else { 1 };
        FIXED_BYTES + self.key_width() + lengths * self.width()
    }

    /// Bytes of the whole record without the zeros at its end.
    fn record_bytes(self) -> usize {
        self.bytes() + self.key_bytes + self.stored_bytes
    }
}

/// A record as it stands in its segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Record<'a> {
    pub(crate) key: &'a [u8],
    stored: &'a [u8],
    head: Head,
}

/// Why bytes are no record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum NoRecord {
    /// It goes on behind the bytes given; this is how many it has.
    Longer(usize),
    /// Nothing was written here.
    Zeros,
    /// Its form is wrong, or its checksum, which was made of this many bytes.
    Damaged(usize),
}

impl<'a> Record<'a> {
    /// Reads what `bytes` begin with.
    pub(crate) fn decode(bytes: &'a [u8], segment: u32) -> Result<Record<'a>, NoRecord> {
        let Some(unit) = bytes.first_chunk::<{ UNIT_BYTES as usize }>() else {
            return Err(NoRecord::Longer(UNIT_BYTES as usize));
        };
        if *unit == [0; UNIT_BYTES as usize] {
            return Err(NoRecord::Zeros);
        }
        let Some(head) = Head::decode(unit) else { return Err(NoRecord::Damaged(0)) };
        let Some(record) = bytes.get(..head.record_bytes()) else {
            return Err(NoRecord::Longer(head.record_bytes()));
        };
        if record[..CHECKSUM_BYTES] != checksum(segment, record) {
            return Err(NoRecord::Damaged(record.len()));
        }
        let (key, stored) = record[head.bytes()..].split_at(head.key_bytes);
        Ok(Record { key, stored, head })
    }

    /// The value, or nothing if it cannot be decompressed.
    pub(crate) fn value(&self) -> Option<Cow<'a, [u8]>> {
        if !self.head.is_compressed {
            return Some(Cow::Borrowed(self.stored));
        }
        let mut value = vec![0; self.head.raw_bytes];
        let bytes = lz4_flex::block::decompress_into(self.stored, &mut value).ok()?;
        (bytes == value.len()).then_some(Cow::Owned(value))
    }

    /// Units that it takes.
    pub(crate) fn units(&self) -> u32 {
        units(self.head.record_bytes())
    }

    /// Adds it to what another segment gets; returns its units.
    pub(crate) fn copy_to(&self, segment: u32, out: &mut Vec<u8>) -> u32 {
        let start = out.len();
        self.head.encode(out);
        out.extend_from_slice(self.key);
        out.extend_from_slice(self.stored);
        end(out, start, segment)
    }
}

/// Adds a record to what a segment gets; returns its units. The key and the value are not longer
/// than they may be.
pub(crate) fn encode(key: &[u8], value: &[u8], segment: u32, out: &mut Vec<u8>) -> u32 {
    let start = out.len();
    if !compress(key, value, out) {
        out.truncate(start);
        let (key_bytes, raw_bytes) = (key.len(), value.len());
        let head = Head { key_bytes, stored_bytes: raw_bytes, raw_bytes, is_compressed: false };
        head.encode(out);
        out.extend_from_slice(key);
        out.extend_from_slice(value);
    }
    end(out, start, segment)
}

/// Adds a record of which the value is compressed; returns whether that is worth it.
fn compress(key: &[u8], value: &[u8], out: &mut Vec<u8>) -> bool {
    let start = out.len();
    let (key_bytes, raw_bytes) = (key.len(), value.len());
    let head = Head { key_bytes, stored_bytes: 0, raw_bytes, is_compressed: true };
    head.encode(out);
    out.extend_from_slice(key);
    let from = out.len();
    out.resize(from + lz4_flex::block::get_maximum_output_size(value.len()), 0);
    let Ok(stored_bytes) = lz4_flex::block::compress_into(value, &mut out[from..]) else {
        return false;
    };
    out.truncate(from + stored_bytes);
    let stored_at = start + FIXED_BYTES + head.key_width();
    out[stored_at..][..head.width()].copy_from_slice(&stored_bytes.to_le_bytes()[..head.width()]);
    stored_bytes + raw_bytes / SAVED_SHARE_MIN < raw_bytes
}

/// Ends the record that begins at `start`.
fn end(out: &mut Vec<u8>, start: usize, segment: u32) -> u32 {
    let checksum = checksum(segment, &out[start..]);
    out[start..][..CHECKSUM_BYTES].copy_from_slice(&checksum);
    let units = units(out.len() - start);
    out.resize(start + units as usize * UNIT_BYTES as usize, 0);
    units
}

/// Makes the checksum of foreign bytes right, for what tries what a record may say.
pub(crate) fn seal(bytes: &mut [u8], segment: u32) {
    let head = bytes.first_chunk().and_then(Head::decode);
    if let Some(record) = head.and_then(|head| bytes.get_mut(..head.record_bytes())) {
        let checksum = checksum(segment, record);
        record[..CHECKSUM_BYTES].copy_from_slice(&checksum);
    }
}

/// Of a record without the zeros at its end.
fn checksum(segment: u32, record: &[u8]) -> [u8; CHECKSUM_BYTES] {
    let mut hasher = crc32fast::Hasher::new_with_initial(segment);
    hasher.update(&record[CHECKSUM_BYTES..]);
    hasher.finalize().to_le_bytes()
}

fn units(bytes: usize) -> u32 {
    bytes.div_ceil(UNIT_BYTES as usize) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn encoded(key: &[u8], value: &[u8], segment: u32) -> Vec<u8> {
        let mut bytes = Vec::new();
        let units = encode(key, value, segment, &mut bytes);
        assert_eq!(bytes.len(), units as usize * UNIT_BYTES as usize);
        bytes
    }

    proptest! {
        #[test]
        fn what_was_encoded_comes_back(
            key in prop::collection::vec(any::<u8>(), 0..600),
            value in prop::collection::vec(0u8..4, 0..3_000),
            noise in prop::collection::vec(any::<u8>(), 0..600),
        ) {
            for value in [value, noise] {
                let bytes = encoded(&key, &value, 7);
                let record = Record::decode(&bytes, 7).expect("a record");
                prop_assert_eq!(record.key, &key[..]);
                prop_assert_eq!(record.value().expect("a value"), &value[..]);
                let mut copied = Vec::new();
                prop_assert_eq!(record.copy_to(9, &mut copied), record.units());
                let copy = Record::decode(&copied, 9).expect("a record");
                prop_assert_eq!(copy.value().expect("a value"), &value[..]);
                prop_assert!(matches!(Record::decode(&bytes, 8), Err(NoRecord::Damaged(_))));
            }
        }

        #[test]
        fn a_flipped_bit_is_found(at in 0usize..700, bit in 0u8..8) {
            let mut noise = 1u64;
            let value: Vec<u8> = std::iter::repeat_with(|| {
                noise = noise.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29) + 1;
                noise as u8
            }).take(600).collect();
            let mut bytes = encoded(b"key", &value, 1);
            let end = FIXED_BYTES + 1 + 2 + 3 + 600;
            bytes[at.min(end - 1)] ^= 1 << bit;
            prop_assert!(Record::decode(&bytes, 1).is_err());
        }

        #[test]
        fn foreign_bytes_do_no_harm(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            crate::fuzzing::decode(&bytes);
        }
    }

    #[test]
    fn values_that_repeat_themselves_take_less() {
        let bytes = encoded(b"key", &[b'x'; 10_000], 1);
        assert!(bytes.len() <= 256, "{}", bytes.len());
        assert_eq!(
            Record::decode(&bytes[..60], 1).err().map(|error| matches!(error, NoRecord::Longer(_))),
            Some(true)
        );
        assert_eq!(Record::decode(&[0; 64], 1), Err(NoRecord::Zeros));
    }
}
