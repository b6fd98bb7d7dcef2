//! A record: a key and its value, with a checksum.
//!
//! ```text
//! crc:u32le stored:u32le raw:u32le key:u16le flags:u8 zero:u8 key value zeros up to 64 bytes
//! ```
//! `crc` is CRC-32 of all behind it but the zeros at the end, begun with the segment's number: a
//! record that has got into another segment is none. `stored` and `raw` are the value's bytes as
//! they stand here and in truth; they differ if `flags` has LZ4.

use crate::place::UNIT_BYTES;
use std::borrow::Cow;

/// Keys that are longer stay with their values in rows.
pub(crate) const KEY_BYTES_MAX: usize = 4 << 10;
/// Values that are longer do, too.
pub(crate) const VALUE_BYTES_MAX: usize = 1 << 30;

const HEAD_BYTES: usize = 16;
const CHECKSUM_BYTES: usize = 4;
const LZ4: u8 = 1;
/// A value is compressed if that saves an eighth of it.
const SAVED_SHARE_MIN: usize = 8;

/// A record as it stands in its segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Record<'a> {
    pub(crate) key: &'a [u8],
    stored: &'a [u8],
    raw_bytes: u32,
    flags: u8,
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
        let Some((head, rest)) = bytes.split_first_chunk::<HEAD_BYTES>() else {
            return Err(NoRecord::Longer(HEAD_BYTES));
        };
        if head.iter().all(|&byte| byte == 0) {
            return Err(NoRecord::Zeros);
        }
        let number =
            |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        let (stored_bytes, raw_bytes) = (number(4) as usize, number(8));
        let key_bytes = usize::from(u16::from_le_bytes([head[12], head[13]]));
        let flags = head[14];
        let is_known = key_bytes <= KEY_BYTES_MAX
            && stored_bytes <= raw_bytes as usize
            && raw_bytes as usize <= VALUE_BYTES_MAX
            && flags & !LZ4 == 0
            && head[15] == 0
            && (flags == LZ4 || stored_bytes == raw_bytes as usize);
        if !is_known {
            return Err(NoRecord::Damaged(0));
        }
        let Some(body) = rest.get(..key_bytes + stored_bytes) else {
            return Err(NoRecord::Longer(HEAD_BYTES + key_bytes + stored_bytes));
        };
        if number(0) != checksum(segment, &head[CHECKSUM_BYTES..], body) {
            return Err(NoRecord::Damaged(body.len()));
        }
        let (key, stored) = body.split_at(key_bytes);
        Ok(Record { key, stored, raw_bytes, flags })
    }

    /// The value, or nothing if it cannot be decompressed.
    pub(crate) fn value(&self) -> Option<Cow<'a, [u8]>> {
        if self.flags & LZ4 == 0 {
            return Some(Cow::Borrowed(self.stored));
        }
        let mut value = vec![0; self.raw_bytes as usize];
        let bytes = lz4_flex::block::decompress_into(self.stored, &mut value).ok()?;
        (bytes == value.len()).then_some(Cow::Owned(value))
    }

    /// Units that it takes.
    pub(crate) fn units(&self) -> u32 {
        units(HEAD_BYTES + self.key.len() + self.stored.len())
    }

    /// Adds it to what another segment gets; returns its units.
    pub(crate) fn copy_to(&self, segment: u32, out: &mut Vec<u8>) -> u32 {
        let start = begin(self.key, out);
        out.extend_from_slice(self.stored);
        end(out, start, (segment, self.key.len(), self.raw_bytes, self.flags))
    }
}

/// Adds a record to what a segment gets; returns its units. The key and the value are not longer
/// than they may be.
pub(crate) fn encode(key: &[u8], value: &[u8], segment: u32, out: &mut Vec<u8>) -> u32 {
    let start = begin(key, out);
    let from = out.len();
    out.resize(from + lz4_flex::block::get_maximum_output_size(value.len()), 0);
    let compressed = lz4_flex::block::compress_into(value, &mut out[from..]);
    let flags = match compressed {
        Ok(bytes) if bytes + value.len() / SAVED_SHARE_MIN < value.len() => {
            out.truncate(from + bytes);
            LZ4
        }
        _ => {
            out.truncate(from);
            out.extend_from_slice(value);
            0
        }
    };
    end(out, start, (segment, key.len(), value.len() as u32, flags))
}

fn begin(key: &[u8], out: &mut Vec<u8>) -> usize {
    let start = out.len();
    out.extend_from_slice(&[0; HEAD_BYTES]);
    out.extend_from_slice(key);
    start
}

fn end(
    out: &mut Vec<u8>,
    start: usize,
    (segment, key_bytes, raw_bytes, flags): (u32, usize, u32, u8),
) -> u32 {
    let (head, body) = out[start..].split_at_mut(HEAD_BYTES);
    head[4..8].copy_from_slice(&((body.len() - key_bytes) as u32).to_le_bytes());
    head[8..12].copy_from_slice(&raw_bytes.to_le_bytes());
    head[12..14].copy_from_slice(&(key_bytes as u16).to_le_bytes());
    head[14] = flags;
    let checksum = checksum(segment, &head[CHECKSUM_BYTES..], body);
    head[..CHECKSUM_BYTES].copy_from_slice(&checksum.to_le_bytes());
    let units = units(out.len() - start);
    out.resize(start + units as usize * UNIT_BYTES as usize, 0);
    units
}

/// Makes the checksum of foreign bytes right, for what tries what a record may say.
pub(crate) fn seal(bytes: &mut [u8], segment: u32) {
    if bytes.len() < HEAD_BYTES {
        return;
    }
    let (head, rest) = bytes.split_at_mut(HEAD_BYTES);
    let stored_bytes = u32::from_le_bytes([head[4], head[5], head[6], head[7]]) as usize;
    let key_bytes = usize::from(u16::from_le_bytes([head[12], head[13]]));
    if let Some(body) = rest.get(..key_bytes + stored_bytes) {
        let checksum = checksum(segment, &head[CHECKSUM_BYTES..], body);
        head[..CHECKSUM_BYTES].copy_from_slice(&checksum.to_le_bytes());
    }
}

fn checksum(segment: u32, head: &[u8], body: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new_with_initial(segment);
    hasher.update(head);
    hasher.update(body);
    hasher.finalize()
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
            key in prop::collection::vec(any::<u8>(), 0..200),
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
        fn a_flipped_bit_is_found(at in 0usize..64 + 600, bit in 0u8..8) {
            let mut noise = 1u64;
            let value: Vec<u8> = std::iter::repeat_with(|| {
                noise = noise.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29) + 1;
                noise as u8
            }).take(600).collect();
            let mut bytes = encoded(b"key", &value, 1);
            let end = HEAD_BYTES + 3 + 600;
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
