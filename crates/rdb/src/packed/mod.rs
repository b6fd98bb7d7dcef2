//! Collections that Redis keeps, and writes, as one string of bytes.
//!
//! Each reader checks the whole string (every length, every back reference, the count, the end)
//! before it returns the elements, so those who use them check only what the elements mean.

pub(crate) mod intset;
pub(crate) mod listpack;
pub(crate) mod ziplist;
pub(crate) mod zipmap;

use std::borrow::Cow;

use crate::model::Bytes;
use crate::number;

/// What an element counts against the memory limit: the string that it becomes and an allocation.
pub(crate) const ELEMENT_BYTES: usize = 48;

/// One element; numbers are stored as numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Element<'b> {
    Bytes(&'b [u8]),
    Integer(i64),
}

impl<'b> Element<'b> {
    /// The element as the string that it is to clients.
    pub fn bytes(self) -> Bytes<'b> {
        match self {
            Element::Bytes(bytes) => Cow::Borrowed(bytes),
            Element::Integer(value) => Cow::Owned(number::integer_text(value)),
        }
    }

    /// The number, if it is stored as one.
    pub fn integer(self) -> Option<i64> {
        match self {
            Element::Bytes(_) => None,
            Element::Integer(value) => Some(value),
        }
    }

    /// The score that it stands for.
    pub fn score(self) -> Option<f64> {
        match self {
            Element::Bytes(text) => number::score(text),
            Element::Integer(value) => Some(value as f64),
        }
    }
}
