//! HOT PATH
//! What a sorted set consists of, and in which order it comes.

use super::score;
use crate::error::DecodeError;
use crate::item::{Item, NUMBER_CHARS_MAX};
use std::cmp::Ordering;

/// A member with its score.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Element<'a> {
    /// The member, as it stands in memory.
    pub member: Item<'a>,
    /// Its score.
    pub score: f64,
}

/// What a member gets with its score.
#[derive(Clone, Copy, Debug)]
pub struct Scored {
    /// Its score, not NaN.
    pub score: f64,
    /// Unix time in milliseconds when it expires, 0 for never.
    pub expire_ms: u64,
    /// Its version; `None` for the next of those that the edits give.
    pub version: Option<u64>,
}

/// In which order elements come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// From the lowest score on.
    Forward,
    /// From the highest score on.
    Backward,
}

impl<'a> Element<'a> {
    /// Which of two elements comes first.
    #[inline]
    pub fn compare(&self, other: &Element<'_>) -> Ordering {
        let by_score = self.score.partial_cmp(&other.score).expect("scores are not NaN");
        by_score.then_with(|| match (self.member, other.member) {
            (Item::Bytes(one), Item::Bytes(other)) => one.cmp(other),
            (one, other) => {
                let (a, b) = (&mut [0; NUMBER_CHARS_MAX], &mut [0; NUMBER_CHARS_MAX]);
                one.spell(a).cmp(other.spell(b))
            }
        })
    }

    /// Appends it as it is encoded.
    #[inline]
    pub(super) fn put(&self, out: &mut Vec<u8>) {
        // In the native form a number is spelled.
        self.member.respelled().put(out);
        score::put(self.score, out);
    }

    /// Takes one off the front.
    #[inline]
    pub(super) fn take(bytes: &mut &'a [u8]) -> Result<Element<'a>, DecodeError> {
        let member = Item::take(bytes).ok_or(DecodeError::Truncated)?;
        Ok(Element { member, score: score::take(bytes)? })
    }
}
