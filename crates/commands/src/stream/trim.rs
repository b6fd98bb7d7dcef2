//! XTRIM, and the options that it shares with XADD.

use super::ids::{self, NewId};
use super::notify;
use crate::number::integer;
use basalt_call::entry::{Entry, Run, Traits};
use basalt_engine::{Absent, Txn};
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::{CommandError, CommandResult};
use basalt_spec::{CommandSpec, Flag, Flags, Group, KeyUse, around, at};
use basalt_value::FormLimits;
use basalt_value::stream::{Exactness, Stream, Trim, TrimTo};

pub(super) const XTRIM: Entry = Entry {
    spec: CommandSpec {
        name: "xtrim",
        synopsis: "key (<MAXLEN | MINID> [= | ~] threshold [LIMIT count])",
        group: Group::Stream,
        flags: Flags::of(&[Flag::Write]),
        keys: &[KeyUse::TRIM],
        overrides: &[
            at("MINID").since("6.2.0"),
            around("MAXLEN").named("strategy"),
            at("=").named("equal"),
            at("~").named("approximately"),
            around("=").named("operator"),
            at("LIMIT").since("6.2.0"),
            around("strategy").named("trim"),
        ],
        since: "5.0.0",
        complexity: "O(N) with N entries removed; very small constant times, since entries go by whole nodes",
        summary: "Removes the first entries of a stream until it is short enough or begins late enough, and returns how many.",
        examples: &[
            r#"XADD s 1-0 f a => "1-0""#,
            r#"XADD s 2-0 f b => "2-0""#,
            r#"XADD s 3-0 f c => "3-0""#,
            "XTRIM s MAXLEN 2 => (integer) 1",
            "XTRIM s MINID 3 => (integer) 1",
            "XTRIM s MAXLEN ~ 0 => (integer) 1",
            "XTRIM s MAXLEN -1 => (error) ERR The MAXLEN argument must be >= 0.",
        ],
        tips: &["nondeterministic_output"],
        history: &[("6.2.0", "Added the options `MINID` and `LIMIT`.")],
        ..CommandSpec::DEFAULT
    },
    run: Run::Write(xtrim),
    traits: Traits::LONG,
    ..Entry::DEFAULT
};

fn xtrim(txn: &mut Txn<'_>, args: &Args<'_>, reply: &mut Reply<'_>) -> CommandResult {
    let mut options = Options::default();
    let mut index = 2;
    while index < args.len() {
        index = options.take(args, index)?.ok_or(CommandError::SYNTAX)?;
    }
    let trim = options.finish(&txn.limits())?.ok_or(CommandError::SYNTAX)?;
    let key = args.key(0);
    let trimmed =
        txn.edit::<Stream, _>(key, Absent::Skip, |stream, edits| stream.trim(trim, edits))?;
    let trimmed = trimmed.unwrap_or(0);
    if trimmed > 0 {
        notify(txn, "xtrim", key);
    }
    reply.integer(trimmed as i64);
    Ok(())
}

/// MAXLEN, MINID and LIMIT as they are read.
#[derive(Default)]
pub(super) struct Options {
    to: Option<TrimTo>,
    is_approximate: bool,
    limit: Option<u64>,
}

/// What stands where XADD has its identity.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum IdArgument {
    /// `*`
    Automatic,
    /// An identity, or part of one.
    Given(NewId),
}

impl Options {
    /// Reads an option; returns where the next one is, `None` if there is no option of trimming.
    pub(super) fn take(
        &mut self,
        args: &Args<'_>,
        index: usize,
    ) -> Result<Option<usize>, CommandError> {
        if index + 1 >= args.len() {
            return Ok(None);
        }
        if args.is(index, "maxlen") {
            let (at, is_approximate) = self.begin(args, index)?;
            let length = u64::try_from(integer(args.word(at))?)
                .map_err(|_| CommandError::fixed("ERR The MAXLEN argument must be >= 0."))?;
            self.to = Some(TrimTo::Length(length));
            self.is_approximate = is_approximate;
            return Ok(Some(at + 1));
        }
        if args.is(index, "minid") {
            let (at, is_approximate) = self.begin(args, index)?;
            self.to = Some(TrimTo::From(ids::id(args.word(at))?));
            self.is_approximate = is_approximate;
            return Ok(Some(at + 1));
        }
        if args.is(index, "limit") {
            let limit = u64::try_from(integer(args.word(index + 1))?)
                .map_err(|_| CommandError::fixed("ERR The LIMIT argument must be >= 0."))?;
            self.limit = Some(limit);
            return Ok(Some(index + 2));
        }
        Ok(None)
    }

    /// Where the threshold of a strategy is, and whether it is approximate.
    fn begin(&self, args: &Args<'_>, index: usize) -> Result<(usize, bool), CommandError> {
        if self.to.is_some() {
            return Err(CommandError::fixed(
                "ERR syntax error, MAXLEN and MINID options at the same time are not compatible",
            ));
        }
        let has_more = index + 2 < args.len();
        Ok(match args.word(index + 1) {
            b"~" if has_more => (index + 2, true),
            b"=" if has_more => (index + 2, false),
            _ => (index + 1, false),
        })
    }

    /// What is trimmed, if anything.
    pub(super) fn finish(self, limits: &FormLimits) -> Result<Option<Trim>, CommandError> {
        let Some(to) = self.to else {
            return match self.limit {
                None => Ok(None),
                Some(0) => Err(LIMIT_WITHOUT_TILDE),
                Some(_) => Err(CommandError::fixed(
                    "ERR syntax error, LIMIT cannot be used without specifying a trimming strategy",
                )),
            };
        };
        let exactness = match (self.is_approximate, self.limit) {
            (true, limit) => {
                Exactness::Nodes { entries_max: limit.unwrap_or_else(|| entries_max(limits)) }
            }
            (false, None) => Exactness::Exact,
            (false, Some(_)) => return Err(LIMIT_WITHOUT_TILDE),
        };
        Ok(Some(Trim { to, exactness }))
    }
}

const LIMIT_WITHOUT_TILDE: CommandError =
    CommandError::fixed("ERR syntax error, LIMIT cannot be used without the special ~ option");

/// How much is trimmed at most where nothing is said: 100 nodes, so that one call stays short.
fn entries_max(limits: &FormLimits) -> u64 {
    const NODES: u64 = 100;
    const ENTRIES_OF_UNLIMITED_NODES: u64 = 10_000;
    const ENTRIES_MAX: u64 = 1_000_000;
    match u64::from(limits.stream_node_entries_max) * NODES {
        0 => ENTRIES_OF_UNLIMITED_NODES,
        entries => entries.min(ENTRIES_MAX),
    }
}
