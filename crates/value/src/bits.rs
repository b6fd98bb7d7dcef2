//! Strings as arrays of bits, as in `SETBIT`, `BITCOUNT` and `BITFIELD`.
//!
//! Bit 0 is the most significant bit of the first byte, so a string reads from left to right as its
//! bits are numbered:
//!
//! ```text
//! byte        0                        1
//! bit         0  1  2  3  4  5  6  7   8  9 10 11 …
//! weight    128 64 32 16  8  4  2  1 128 64 32 16 …
//! ```
//! Behind the end of a string all bits are 0. Positions are `u64`: a string of 512 MiB has 2^32
//! bits. What changes a string here returns the bytes to be written instead of writing them,
//! because the owner of the string logs them too.

#![forbid(unsafe_code)]

mod combine;
mod count;
mod field;
mod position;
mod range;

pub use combine::{Operation, combine, combine_into};
pub use count::count_ones;
pub use field::{FIELD_BYTES_MAX, FieldType, Overflow, Patch};
pub use position::first;
pub use range::{Indexes, Unit};

/// The bit at a position, 0 behind the end.
#[inline]
pub fn bit(bytes: &[u8], position: u64) -> u8 {
    let byte = usize::try_from(position / 8).ok().and_then(|index| bytes.get(index));
    byte.map_or(0, |byte| byte >> shift(position) & 1)
}

/// The byte with one of its bits set or cleared; of `position` only the place inside the byte
/// counts.
#[inline]
pub fn with_bit(byte: u8, position: u64, value: Bit) -> u8 {
    let cleared = byte & !(1 << shift(position));
    cleared | u8::from(value == Bit::One) << shift(position)
}

/// The value of a bit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bit {
    /// Clear.
    Zero,
    /// Set.
    One,
}

#[inline]
fn shift(position: u64) -> u32 {
    7 - (position % 8) as u32
}

#[cfg(test)]
mod tests {
    use super::{Bit, bit, with_bit};

    #[test]
    fn the_first_bit_is_the_highest() {
        assert_eq!(bit(&[0b1000_0001], 0), 1);
        assert_eq!(bit(&[0b1000_0001], 1), 0);
        assert_eq!(bit(&[0b1000_0001], 7), 1);
        assert_eq!(bit(&[0b1000_0001], 8), 0);
        assert_eq!(bit(&[0xFF], u64::MAX), 0);
    }

    #[test]
    fn one_bit_changes_and_no_other() {
        for position in 0..16 {
            for byte in 0..=u8::MAX {
                for (value, expected) in [(Bit::Zero, 0), (Bit::One, 1)] {
                    let changed = with_bit(byte, position, value);
                    assert_eq!(bit(&[changed], position % 8), expected);
                    assert_eq!((changed ^ byte) & !(0x80 >> (position % 8)), 0);
                }
            }
        }
    }
}
