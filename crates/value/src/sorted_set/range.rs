//! HOT PATH
//! What ranges of a sorted set are bounded by.

use crate::item::{Item, NUMBER_CHARS_MAX};

/// An end of a range of scores. Not NaN.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum ScoreBound {
    /// This score belongs to the range.
    Inclusive(f64),
    /// This score does not.
    Exclusive(f64),
}

/// An end of a range of members, for sorted sets whose scores are all the same.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LexBound<'a> {
    /// Before every member.
    Least,
    /// Behind every member.
    Greatest,
    /// This member belongs to the range.
    Inclusive(&'a [u8]),
    /// This member does not.
    Exclusive(&'a [u8]),
}

/// What a range is bounded by.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Bounds<'a> {
    /// By scores.
    Score {
        /// Its lower end.
        min: ScoreBound,
        /// Its upper end.
        max: ScoreBound,
    },
    /// By members.
    Lex {
        /// Its lower end.
        min: LexBound<'a>,
        /// Its upper end.
        max: LexBound<'a>,
    },
}

impl Bounds<'_> {
    /// An element stands before the range.
    #[inline]
    pub(super) fn is_before<'m>(&self, score: f64, member: impl FnOnce() -> Item<'m>) -> bool {
        match self {
            Bounds::Score { min: ScoreBound::Inclusive(min), .. } => score < *min,
            Bounds::Score { min: ScoreBound::Exclusive(min), .. } => score <= *min,
            Bounds::Lex { min: LexBound::Least, .. } => false,
            Bounds::Lex { min: LexBound::Greatest, .. } => true,
            Bounds::Lex { min: LexBound::Inclusive(min), .. } => spelled(member(), |it| it < *min),
            Bounds::Lex { min: LexBound::Exclusive(min), .. } => spelled(member(), |it| it <= *min),
        }
    }

    /// An element stands before the range or in it, if the range is not empty.
    #[inline]
    pub(super) fn is_up_to<'m>(&self, score: f64, member: impl FnOnce() -> Item<'m>) -> bool {
        match self {
            Bounds::Score { max: ScoreBound::Inclusive(max), .. } => score <= *max,
            Bounds::Score { max: ScoreBound::Exclusive(max), .. } => score < *max,
            Bounds::Lex { max: LexBound::Least, .. } => false,
            Bounds::Lex { max: LexBound::Greatest, .. } => true,
            Bounds::Lex { max: LexBound::Inclusive(max), .. } => spelled(member(), |it| it <= *max),
            Bounds::Lex { max: LexBound::Exclusive(max), .. } => spelled(member(), |it| it < *max),
        }
    }
}

#[inline]
fn spelled(member: Item<'_>, test: impl FnOnce(&[u8]) -> bool) -> bool {
    match member {
        Item::Bytes(bytes) => test(bytes),
        number => test(number.spell(&mut [0; NUMBER_CHARS_MAX])),
    }
}
