//! The parts that all bodies are made of: lengths, strings, numbers of fixed width.

use std::borrow::Cow;

use crate::error::DecodeError;
use crate::limits::Budget;
use crate::model::{Bytes, StreamId};
use crate::{lzf, number};

/// Encodings of a string that stand where its length would.
const INT_8: u8 = 0;
const INT_16: u8 = 1;
const INT_32: u8 = 2;
const LZF: u8 = 3;

/// Reads a body from its front.
#[derive(Debug)]
pub(crate) struct Reader<'a> {
    rest: &'a [u8],
    /// What may still be allocated.
    pub budget: Budget,
}

enum Length {
    Plain(u64),
    Encoding(u8),
}

impl<'a> Reader<'a> {
    pub fn new(bytes: &'a [u8], budget: Budget) -> Reader<'a> {
        Reader { rest: bytes, budget }
    }

    /// Bytes not read yet.
    pub fn remaining(&self) -> usize {
        self.rest.len()
    }

    pub fn take(&mut self, count: usize) -> Result<&'a [u8], DecodeError> {
        let (taken, rest) = self.rest.split_at_checked(count).ok_or(DecodeError::Truncated)?;
        self.rest = rest;
        Ok(taken)
    }

    pub fn u8(&mut self) -> Result<u8, DecodeError> {
        Ok(self.array::<1>()?[0])
    }

    pub fn u64_le(&mut self) -> Result<u64, DecodeError> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    pub fn f64_le(&mut self) -> Result<f64, DecodeError> {
        Ok(f64::from_le_bytes(self.array()?))
    }

    /// An identity of 16 bytes, as in lists of pending entries.
    pub fn raw_id(&mut self) -> Result<StreamId, DecodeError> {
        let ms = u64::from_be_bytes(self.array()?);
        Ok(StreamId { ms, sequence: u64::from_be_bytes(self.array()?) })
    }

    /// An identity as two lengths.
    pub fn id(&mut self) -> Result<StreamId, DecodeError> {
        let ms = self.length()?;
        Ok(StreamId { ms, sequence: self.length()? })
    }

    pub fn length(&mut self) -> Result<u64, DecodeError> {
        match self.length_or_encoding()? {
            Length::Plain(length) => Ok(length),
            Length::Encoding(_) => Err(DecodeError::Corrupt("length: an encoding in its place")),
        }
    }

    /// A number of items of at least `item_bytes_min` bytes each that become `T`s. More than what
    /// remains can hold is refused, and the memory for the `T`s is charged.
    pub fn count<T>(&mut self, item_bytes_min: usize) -> Result<usize, DecodeError> {
        let count = self.length()?;
        let possible = self.rest.len() / item_bytes_min;
        let count = usize::try_from(count).map_err(|_| DecodeError::Truncated)?;
        if count > possible {
            return Err(DecodeError::Truncated);
        }
        self.budget.charge(count.saturating_mul(size_of::<T>()))?;
        Ok(count)
    }

    pub fn string(&mut self) -> Result<Bytes<'a>, DecodeError> {
        let integer = match self.length_or_encoding()? {
            Length::Plain(length) => {
                let length = self.budget.string_length(length)?;
                return Ok(Cow::Borrowed(self.take(length)?));
            }
            Length::Encoding(LZF) => return self.compressed().map(Cow::Owned),
            Length::Encoding(INT_8) => i64::from(i8::from_le_bytes(self.array()?)),
            Length::Encoding(INT_16) => i64::from(i16::from_le_bytes(self.array()?)),
            Length::Encoding(INT_32) => i64::from(i32::from_le_bytes(self.array()?)),
            Length::Encoding(_) => return Err(DecodeError::Corrupt("string: unknown encoding")),
        };
        let text = number::integer_text(integer);
        self.budget.charge(text.len())?;
        Ok(Cow::Owned(text))
    }

    fn compressed(&mut self) -> Result<Vec<u8>, DecodeError> {
        let packed_length = self.length()?;
        let length = self.length()?;
        let length = self.budget.string_length(length)?;
        let packed_length = self.budget.string_length(packed_length)?;
        let packed = self.take(packed_length)?;
        self.budget.charge(length)?;
        lzf::decompress(packed, length).ok_or(DecodeError::Corrupt("string: broken compression"))
    }

    /// ```text
    /// 00nnnnnn            6 bits          10000000 n:u32be    32 bits
    /// 01nnnnnn nnnnnnnn   14 bits         10000001 n:u64be    64 bits
    /// 11eeeeee            no length but encoding e
    /// ```
    fn length_or_encoding(&mut self) -> Result<Length, DecodeError> {
        let first = self.u8()?;
        let low = first & 0x3f;
        Ok(match (first >> 6, low) {
            (0, _) => Length::Plain(u64::from(low)),
            (1, _) => Length::Plain(u64::from(low) << 8 | u64::from(self.u8()?)),
            (2, 0) => Length::Plain(u64::from(u32::from_be_bytes(self.array()?))),
            (2, 1) => Length::Plain(u64::from_be_bytes(self.array()?)),
            (2, _) => return Err(DecodeError::Corrupt("length: unknown form")),
            _ => Length::Encoding(low),
        })
    }

    fn array<const COUNT: usize>(&mut self) -> Result<[u8; COUNT], DecodeError> {
        let (taken, rest) = self.rest.split_first_chunk().ok_or(DecodeError::Truncated)?;
        self.rest = rest;
        Ok(*taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::DecodeLimits;

    const LIMITS: DecodeLimits = DecodeLimits { string_bytes_max: 1000, memory_bytes_max: 10_000 };

    fn string(bytes: &[u8]) -> Result<Bytes<'_>, DecodeError> {
        Reader::new(bytes, Budget::new(&LIMITS)).string()
    }

    #[test]
    fn strings_in_every_form() {
        assert_eq!(string(b"\x03abc").as_deref(), Ok(&b"abc"[..]));
        assert_eq!(string(b"\x40\x03abc").as_deref(), Ok(&b"abc"[..]));
        assert_eq!(string(b"\x80\0\0\0\x03abc").as_deref(), Ok(&b"abc"[..]));
        assert_eq!(string(b"\x81\0\0\0\0\0\0\0\x03abc").as_deref(), Ok(&b"abc"[..]));
        assert_eq!(string(b"\xc0\xff").as_deref(), Ok(&b"-1"[..]));
        assert_eq!(string(b"\xc1\0\x80").as_deref(), Ok(&b"-32768"[..]));
        assert_eq!(string(b"\xc2\xff\xff\xff\x7f").as_deref(), Ok(&b"2147483647"[..]));
        assert_eq!(string(b"\xc3\x04\x04\0a\x20\0").as_deref(), Ok(&b"aaaa"[..]));
    }

    #[test]
    fn lengths_beyond_the_end_or_the_limits_are_refused() {
        assert_eq!(string(b"\x04abc"), Err(DecodeError::Truncated));
        assert_eq!(string(b"\x80\xff\xff\xff\xffabc"), Err(DecodeError::TooLarge));
        assert_eq!(string(b"\x81\xff\xff\xff\xff\xff\xff\xff\xffabc"), Err(DecodeError::TooLarge));
        assert_eq!(string(b"\xc3\x04\x43\xe9\0a\x20\0"), Err(DecodeError::TooLarge));
        assert!(matches!(string(b"\xc3\x04\x43\xe8\0a\x20\0"), Err(DecodeError::Corrupt(_))));
        assert!(matches!(string(b"\xc4\x04"), Err(DecodeError::Corrupt(_))));
        assert!(matches!(string(b"\x82\x04"), Err(DecodeError::Corrupt(_))));
        for bytes in [&b""[..], b"\x40", b"\x80\0\0\0", b"\xc1\0", b"\xc3", b"\xc3\x04"] {
            assert_eq!(string(bytes), Err(DecodeError::Truncated), "{bytes:?}");
        }
    }

    #[test]
    fn counts_are_held_against_what_remains_and_against_memory() {
        let mut reader = Reader::new(b"\x81\xff\xff\xff\xff\xff\xff\xff\xff", Budget::new(&LIMITS));
        assert_eq!(reader.count::<u64>(1), Err(DecodeError::Truncated));
        let mut reader = Reader::new(b"\x04abcd", Budget::new(&LIMITS));
        assert_eq!(reader.count::<u64>(1), Ok(4));
        let mut reader = Reader::new(b"\x04abcd", Budget::new(&LIMITS));
        assert_eq!(reader.count::<u64>(2), Err(DecodeError::Truncated));
        let mut reader = Reader::new(b"\x04abcd", Budget::new(&LIMITS));
        assert_eq!(reader.count::<[u8; 2501]>(1), Err(DecodeError::TooLarge));
    }
}
