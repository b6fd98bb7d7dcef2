//! The words of the commands that combine sorted sets.

use super::super::input::Input;
use super::super::reply::Scores;
use super::{Aggregate, Operation, Source};
use crate::number::integer;
use basalt_engine::Object;
use basalt_number::{parse_f64, parse_i64};
use basalt_service::args::Args;
use basalt_service::error::CommandError;

/// Which options a command has.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// The elements are the reply.
    Reply,
    /// The elements are stored.
    Store,
    /// Their number is the reply.
    Count,
}

/// What a command asks for.
pub(super) struct Request<'a> {
    pub(super) sources: Vec<Source<'a>>,
    pub(super) aggregate: Aggregate,
    pub(super) scores: Scores,
    /// How many elements are counted at most; 0 for all.
    pub(super) limit: usize,
}

/// How a command is called and what it may be told.
#[derive(Clone, Copy)]
pub(super) struct Call {
    pub(super) name: &'static str,
    pub(super) operation: Operation,
    pub(super) form: Form,
}

impl Call {
    /// The word with the number of keys.
    fn count_at(self) -> usize {
        if self.form == Form::Store { 2 } else { 1 }
    }

    /// Reads the whole call. `object` returns what is under the key with a number.
    pub(super) fn parse<'a>(
        self,
        args: &Args<'_>,
        object: impl Fn(usize) -> Option<Object<'a>>,
    ) -> Result<Request<'a>, CommandError> {
        let count_at = self.count_at();
        let keys = integer(args.word(count_at))?;
        let keys = usize::try_from(keys).ok().filter(|&keys| keys > 0).ok_or_else(|| {
            CommandError::new(format!(
                "ERR at least 1 input key is needed for '{}' command",
                self.name
            ))
        })?;
        if keys > args.len() - count_at - 1 {
            return Err(CommandError::SYNTAX);
        }
        let first_key = count_at - 1;
        let source = |key| Ok(Source { input: Input::of(object(first_key + key))?, weight: 1.0 });
        let mut request = Request {
            sources: (0..keys).map(source).collect::<Result<_, CommandError>>()?,
            aggregate: Aggregate::Sum,
            scores: Scores::Without,
            limit: 0,
        };
        let mut at = count_at + 1 + keys;
        while at < args.len() {
            at += self.option(args, at, &mut request)?;
        }
        Ok(request)
    }

    /// Takes one option; returns its words.
    fn option(
        self,
        args: &Args<'_>,
        at: usize,
        request: &mut Request<'_>,
    ) -> Result<usize, CommandError> {
        let has_weights = self.operation != Operation::Difference && self.form != Form::Count;
        let words_after = args.len() - at - 1;
        if has_weights && words_after >= request.sources.len() && args.is(at, "WEIGHTS") {
            for (source, word) in request.sources.iter_mut().zip(args.from(at + 1)) {
                source.weight = parse_f64(word)
                    .ok_or(CommandError::fixed("ERR weight value is not a float"))?;
            }
            return Ok(1 + request.sources.len());
        }
        if has_weights && words_after >= 1 && args.is(at, "AGGREGATE") {
            request.aggregate = match () {
                () if args.is(at + 1, "SUM") => Aggregate::Sum,
                () if args.is(at + 1, "MIN") => Aggregate::Min,
                () if args.is(at + 1, "MAX") => Aggregate::Max,
                () => return Err(CommandError::SYNTAX),
            };
            return Ok(2);
        }
        if self.form == Form::Reply && args.is(at, "WITHSCORES") {
            request.scores = Scores::With;
            return Ok(1);
        }
        if self.form == Form::Count && words_after >= 1 && args.is(at, "LIMIT") {
            request.limit = parse_i64(args.word(at + 1))
                .and_then(|limit| usize::try_from(limit).ok())
                .ok_or(CommandError::fixed("ERR LIMIT can't be negative"))?;
            return Ok(2);
        }
        Err(CommandError::SYNTAX)
    }
}
