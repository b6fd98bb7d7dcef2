//! HOT PATH
//! What a command of the ZRANGE kind asks for.

use super::super::bounds::{RankBounds, lex_bounds, score_bounds};
use super::super::reply::Scores;
use crate::number::integer;
use basalt_service::args::Args;
use basalt_service::error::CommandError;
use basalt_value::sorted_set::{Bounds, Direction, Iter};
use basalt_value::{Collection, SortedSet};
use std::ops::Range;

/// What the ends of a range are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Sort {
    Rank,
    Score,
    Lex,
}

/// What a command's name has decided already.
#[derive(Clone, Copy)]
pub(super) struct Rules {
    /// The word with the first end.
    pub(super) bounds_at: usize,
    /// What the ends are, unless an option says so.
    pub(super) sort: Option<Sort>,
    /// The order of the reply, unless an option says so.
    pub(super) direction: Option<Direction>,
    /// WITHSCORES is an option.
    pub(super) may_score: bool,
}

/// LIMIT: a negative count is none.
#[derive(Clone, Copy)]
struct Limit {
    offset: i64,
    count: i64,
}

enum Ends<'a> {
    Ranks(RankBounds),
    Bounds(Bounds<'a>),
}

/// What is asked for.
pub(super) struct Query<'a> {
    ends: Ends<'a>,
    limit: Limit,
    direction: Direction,
    pub(super) scores: Scores,
}

struct Options {
    sort: Option<Sort>,
    direction: Option<Direction>,
    scores: Scores,
    limit: Limit,
}

impl Options {
    #[inline]
    fn parse(args: &Args<'_>, rules: Rules) -> Result<Options, CommandError> {
        let Rules { sort, direction, .. } = rules;
        let limit = Limit { offset: 0, count: -1 };
        let mut options = Options { sort, direction, scores: Scores::Without, limit };
        let mut at = rules.bounds_at + 2;
        while at < args.len() {
            at += options.take(args, at, rules)?;
        }
        let sort = options.sort.unwrap_or(Sort::Rank);
        if options.limit.count != -1 && sort == Sort::Rank {
            return Err(CommandError::fixed(
                "ERR syntax error, LIMIT is only supported in combination with either BYSCORE or BYLEX",
            ));
        }
        if options.scores == Scores::With && sort == Sort::Lex {
            return Err(CommandError::fixed(
                "ERR syntax error, WITHSCORES not supported in combination with BYLEX",
            ));
        }
        Ok(options)
    }

    /// Takes one option; returns its words.
    fn take(&mut self, args: &Args<'_>, at: usize, rules: Rules) -> Result<usize, CommandError> {
        if rules.may_score && args.is(at, "WITHSCORES") {
            self.scores = Scores::With;
        } else if args.is(at, "LIMIT") && at + 2 < args.len() {
            let (offset, count) = (integer(args.word(at + 1))?, integer(args.word(at + 2))?);
            self.limit = Limit { offset, count };
            return Ok(3);
        } else if self.direction.is_none() && args.is(at, "REV") {
            self.direction = Some(Direction::Backward);
        } else if self.sort.is_none() && args.is(at, "BYSCORE") {
            self.sort = Some(Sort::Score);
        } else if self.sort.is_none() && args.is(at, "BYLEX") {
            self.sort = Some(Sort::Lex);
        } else {
            return Err(CommandError::SYNTAX);
        }
        Ok(1)
    }
}

impl<'a> Query<'a> {
    /// Reads the ends and the options.
    #[inline]
    pub(super) fn parse(args: &Args<'a>, rules: Rules) -> Result<Query<'a>, CommandError> {
        let options = Options::parse(args, rules)?;
        let direction = options.direction.unwrap_or(Direction::Forward);
        let (first, second) = (args.word(rules.bounds_at), args.word(rules.bounds_at + 1));
        let (min, max) = match direction {
            Direction::Forward => (first, second),
            Direction::Backward => (second, first),
        };
        let ends = match options.sort.unwrap_or(Sort::Rank) {
            Sort::Rank => {
                Ends::Ranks(RankBounds { first: integer(first)?, last: integer(second)? })
            }
            Sort::Score => Ends::Bounds(score_bounds(min, max)?),
            Sort::Lex => Ends::Bounds(lex_bounds(min, max)?),
        };
        Ok(Query { ends, limit: options.limit, direction, scores: options.scores })
    }

    /// How many elements of a sorted set of `len` a call with these words may find. How many are
    /// between two scores or names is not known before it runs.
    pub(super) fn elements_max(args: &Args<'a>, rules: Rules, len: usize) -> usize {
        let Ok(query) = Query::parse(args, rules) else { return 0 };
        match &query.ends {
            Ends::Ranks(bounds) => bounds.within(len).len(),
            Ends::Bounds(_) => usize::try_from(query.limit.count).unwrap_or(usize::MAX).min(len),
        }
    }

    /// The ranks, from the lowest, of the elements that are asked for.
    #[inline]
    pub(super) fn ranks(&self, set: &SortedSet) -> Range<usize> {
        let is_backward = self.direction == Direction::Backward;
        match &self.ends {
            Ends::Ranks(bounds) => {
                let len = set.len();
                let ranks = bounds.within(len);
                if is_backward { len - ranks.end..len - ranks.start } else { ranks }
            }
            Ends::Bounds(bounds) => {
                let ranks = set.ranks(bounds);
                // A negative offset finds nothing, as in Redis.
                let skipped = usize::try_from(self.limit.offset).unwrap_or(usize::MAX);
                let most = usize::try_from(self.limit.count).unwrap_or(usize::MAX);
                let skipped = skipped.min(ranks.len());
                let count = most.min(ranks.len() - skipped);
                if is_backward {
                    let end = ranks.end - skipped;
                    end - count..end
                } else {
                    let start = ranks.start + skipped;
                    start..start + count
                }
            }
        }
    }

    /// The elements that are asked for, in the order that is asked for.
    #[inline]
    pub(super) fn elements<'s>(&self, set: &'s SortedSet) -> Iter<'s> {
        set.iter(self.ranks(set), self.direction)
    }
}
