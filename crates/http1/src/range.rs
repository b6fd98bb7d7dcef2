//! Parts of values (RFC 9110, section 14): one range of bytes.
//!
//! Several ranges at once are answered with the whole, as section 14.2 allows: nobody here writes
//! `multipart/byteranges`.

use crate::field::number;
use crate::refusal::Refusal;
use std::ops::Range;

/// Which part of a value is asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ByteRange {
    /// `bytes=FIRST-LAST`, or `bytes=FIRST-` for all from there on.
    From {
        /// The first byte, counted from 0.
        first: u64,
        /// The last byte. Not before the first one.
        last: Option<u64>,
    },
    /// `bytes=-COUNT`: the last ones.
    Last(u64),
}

impl ByteRange {
    /// Reads the value of `Range`. `None` if it is to be ignored: another unit, or several ranges.
    pub fn parse(value: &[u8]) -> Result<Option<ByteRange>, Refusal> {
        const UNIT: &[u8] = b"bytes=";
        let Some((unit, set)) = value.split_at_checked(UNIT.len()) else { return Ok(None) };
        if !unit.eq_ignore_ascii_case(UNIT) || set.contains(&b',') {
            return Ok(None);
        }
        let set = set.trim_ascii();
        let dash = set.iter().position(|&byte| byte == b'-').ok_or(Refusal::RangeMalformed)?;
        let read = |digits| number(digits).ok_or(Refusal::RangeMalformed);
        match (&set[..dash], &set[dash + 1..]) {
            ([], count) => Ok(Some(ByteRange::Last(read(count)?))),
            (first, []) => Ok(Some(ByteRange::From { first: read(first)?, last: None })),
            (first, last) => match (read(first)?, read(last)?) {
                (first, last) if first > last => Err(Refusal::RangeMalformed),
                (first, last) => Ok(Some(ByteRange::From { first, last: Some(last) })),
            },
        }
    }

    /// The part of a value of this length. `None` if no byte of it was asked for: then the response
    /// is 416 with [`ContentRange::Unsatisfied`].
    pub fn of(self, length: u64) -> Option<Range<u64>> {
        let range = match self {
            ByteRange::From { first, last } => {
                first..last.map_or(length, |last| length.min(last.saturating_add(1)))
            }
            ByteRange::Last(count) => length.saturating_sub(count)..length,
        };
        (!range.is_empty()).then_some(range)
    }
}

/// The value of `Content-Range` (RFC 9110, section 14.4).
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ContentRange {
    /// Of a response 206.
    Part {
        /// Not empty.
        range: Range<u64>,
        /// Bytes of the whole.
        length: u64,
    },
    /// Of a response 416.
    Unsatisfied {
        /// Bytes of the whole.
        length: u64,
    },
}
