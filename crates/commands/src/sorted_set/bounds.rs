//! HOT PATH
//! The ends of ranges in arguments, by scores, by members and by ranks.

use basalt_number::parse_bound;
use basalt_service::error::CommandError;
use basalt_value::sorted_set::{Bounds, LexBound, ScoreBound};
use std::ops::Range;

const NOT_A_SCORE: CommandError = CommandError::fixed("ERR min or max is not a float");
const NOT_A_MEMBER: CommandError =
    CommandError::fixed("ERR min or max not valid string range item");

/// `1.5`, `(1.5` or `-inf`, twice.
pub(super) fn score_bounds<'a>(min: &[u8], max: &[u8]) -> Result<Bounds<'a>, CommandError> {
    Ok(Bounds::Score { min: score_bound(min)?, max: score_bound(max)? })
}

fn score_bound(word: &[u8]) -> Result<ScoreBound, CommandError> {
    let bound = match word {
        [b'(', score @ ..] => parse_bound(score).map(ScoreBound::Exclusive),
        score => parse_bound(score).map(ScoreBound::Inclusive),
    };
    bound.ok_or(NOT_A_SCORE)
}

/// `[member`, `(member`, `-` or `+`, twice.
pub(super) fn lex_bounds<'a>(min: &'a [u8], max: &'a [u8]) -> Result<Bounds<'a>, CommandError> {
    Ok(Bounds::Lex { min: lex_bound(min)?, max: lex_bound(max)? })
}

fn lex_bound(word: &[u8]) -> Result<LexBound<'_>, CommandError> {
    match word {
        b"-" => Ok(LexBound::Least),
        b"+" => Ok(LexBound::Greatest),
        [b'[', member @ ..] => Ok(LexBound::Inclusive(member)),
        [b'(', member @ ..] => Ok(LexBound::Exclusive(member)),
        _ => Err(NOT_A_MEMBER),
    }
}

/// First and last of a range, counted from either end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct RankBounds {
    pub(super) first: i64,
    pub(super) last: i64,
}

impl RankBounds {
    /// The places in a row of this number of elements; an empty range if there are none.
    #[inline]
    pub(super) fn within(self, len: usize) -> Range<usize> {
        let count = i64::try_from(len).unwrap_or(i64::MAX);
        let from_start =
            |rank: i64| if rank < 0 { rank.saturating_add(count).max(0) } else { rank };
        let last = if self.last < 0 { self.last.saturating_add(count) } else { self.last };
        let (first, last) = (from_start(self.first), last.min(count - 1));
        if first > last { 0..0 } else { first as usize..last as usize + 1 }
    }
}
