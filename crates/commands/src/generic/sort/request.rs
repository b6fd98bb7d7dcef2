//! What a SORT asks for.

use super::pattern::{Pattern, Source};
use basalt_engine::Issuer;
use basalt_number::parse_i64;
use basalt_service::args::Args;
use basalt_service::error::CommandError;
use std::ops::Range;

/// Whether STORE is an option.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Permits {
    Reading,
    Storing,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    Ascending,
    Descending,
}

/// The words behind the key.
pub(super) struct Request<'a> {
    by: Option<Pattern<'a>>,
    /// Some BY had no asterisk: the order does not matter.
    in_any_order: bool,
    by_bytes: bool,
    pub(super) direction: Direction,
    offset: i64,
    /// Negative for all.
    count: i64,
    /// GETs.
    pub(super) results: Vec<Pattern<'a>>,
    /// STORE; the destination is the command's second key.
    pub(super) stores: bool,
}

/// How elements are sorted.
pub(super) struct Sorting<'a> {
    pub(super) by: Option<Pattern<'a>>,
    pub(super) by_bytes: bool,
    pub(super) direction: Direction,
}

impl<'a> Request<'a> {
    pub(super) fn parse(args: &Args<'a>, permits: Permits) -> Result<Request<'a>, CommandError> {
        let mut request = Request {
            by: None,
            in_any_order: false,
            by_bytes: false,
            direction: Direction::Ascending,
            offset: 0,
            count: -1,
            results: Vec::new(),
            stores: false,
        };
        let mut at = 2;
        while at < args.len() {
            at += request.take_option(args, at, permits)?;
        }
        Ok(request)
    }

    /// Takes the option at a word; returns how many words it has.
    fn take_option(
        &mut self,
        args: &Args<'a>,
        at: usize,
        permits: Permits,
    ) -> Result<usize, CommandError> {
        let number = |word| parse_i64(word).ok_or(CommandError::NOT_INTEGER);
        if args.is(at, "ASC") {
            self.direction = Direction::Ascending;
            return Ok(1);
        }
        if args.is(at, "DESC") {
            self.direction = Direction::Descending;
            return Ok(1);
        }
        if args.is(at, "ALPHA") {
            self.by_bytes = true;
            return Ok(1);
        }
        let word = args.opt(at + 1).ok_or(CommandError::SYNTAX)?;
        if args.is(at, "LIMIT") {
            let count = args.opt(at + 2).ok_or(CommandError::SYNTAX)?;
            (self.offset, self.count) = (number(word)?, number(count)?);
            return Ok(3);
        }
        if args.is(at, "STORE") && permits == Permits::Storing {
            self.stores = true;
        } else if args.is(at, "BY") {
            let pattern = Pattern::parse(word);
            self.in_any_order |= !matches!(pattern, Pattern::Key { .. });
            self.by = Some(pattern);
        } else if args.is(at, "GET") {
            self.results.push(Pattern::parse(word));
        } else {
            return Err(CommandError::SYNTAX);
        }
        Ok(2)
    }

    /// How to sort; `None` if the elements stay as they are.
    pub(super) fn sorting(&self, source: Source<'_>, issuer: Issuer) -> Option<Sorting<'a>> {
        let direction = self.direction;
        if !self.in_any_order {
            return Some(Sorting { by: self.by, by_bytes: self.by_bytes, direction });
        }
        // What is stored, or computed by a script, shall not depend on the order of a hash table.
        let is_unordered = matches!(source, Source::Set(_));
        let counts = self.stores || issuer == Issuer::Script;
        (is_unordered && counts).then_some(Sorting { by: None, by_bytes: true, direction })
    }

    /// The ranks that LIMIT leaves of `len` elements.
    pub(super) fn range(&self, len: usize) -> Range<usize> {
        let start = usize::try_from(self.offset.max(0)).unwrap_or(len).min(len);
        let count = usize::try_from(self.count).unwrap_or(len).min(len - start);
        start..start + count
    }
}
