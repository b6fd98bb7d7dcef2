//! The options of commands that write under a condition.

use super::{chosen_version, version};
use crate::strings::{Comparison, ExpiryOption};
use basalt_engine::Version;
use basalt_service::args::Args;
use basalt_service::error::{CommandError, CommandResult};
use basalt_spec::{Override, around};

/// What the groups of options are called that all these commands have.
pub(super) const OPTION_NAMES: &[Override] = &[
    around("IF").named("condition"),
    around("EX").named("expiration"),
    around("COUNTED").named("numbering"),
];

/// On what a command depends.
#[derive(Clone, Copy)]
pub(super) enum Condition<'a> {
    None,
    /// IF
    Version(Version),
    /// IFDEQ
    Compared(Comparison<'a>),
    /// NX
    Absent,
    /// XX
    Present,
}

impl Condition<'_> {
    /// Whether it holds for something of this version, or for nothing. A comparison does not.
    pub(super) fn holds_of(self, present: Option<Version>) -> bool {
        match self {
            Condition::None => true,
            Condition::Version(expected) => present == Some(expected),
            Condition::Compared(_) => false,
            Condition::Absent => present.is_none(),
            Condition::Present => present.is_some(),
        }
    }
}

/// Which version the command gives.
#[derive(Clone, Copy)]
pub(super) enum Numbering {
    /// One that was never given.
    Unique,
    /// COUNTED: one more than there was.
    Counted,
    /// FORCE: this one.
    Forced(Version),
}

/// What is replied beside the outcome.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Answer {
    Nothing,
    /// GET
    Previous,
}

/// Options that not every command has.
#[derive(Clone, Copy)]
pub(super) struct Accepted {
    /// IFDEQ
    pub(super) digest: bool,
    /// GET
    pub(super) get: bool,
}

/// What has been asked for.
pub(super) struct Options<'a> {
    pub(super) condition: Condition<'a>,
    pub(super) expiry: ExpiryOption<'a>,
    pub(super) numbering: Numbering,
    pub(super) answer: Answer,
}

impl<'a> Options<'a> {
    /// Reads the words from `index` to the end.
    ///
    /// # Errors
    /// They are no options, or contradict each other.
    pub(super) fn parse(
        args: &Args<'a>,
        index: usize,
        accepted: Accepted,
    ) -> Result<Options<'a>, CommandError> {
        let mut options = Options {
            condition: Condition::None,
            expiry: ExpiryOption::None,
            numbering: Numbering::Unique,
            answer: Answer::Nothing,
        };
        let mut index = index;
        while index < args.len() {
            index += options.take(args, index, accepted)?;
        }
        Ok(options)
    }

    /// Reads the option at `index`; returns how many words it takes.
    fn take(
        &mut self,
        args: &Args<'a>,
        index: usize,
        accepted: Accepted,
    ) -> Result<usize, CommandError> {
        if let Some((condition, words)) = condition(args, index, accepted)? {
            demand(matches!(self.condition, Condition::None))?;
            self.condition = condition;
            return Ok(words);
        }
        if let Some((numbering, words)) = numbering(args, index)? {
            demand(matches!(self.numbering, Numbering::Unique))?;
            self.numbering = numbering;
            return Ok(words);
        }
        if accepted.get && args.is(index, "GET") {
            self.answer = Answer::Previous;
            return Ok(1);
        }
        self.expiry = self.expiry.and(args, index)?;
        Ok(self.expiry.words())
    }
}

/// Options of one kind are given once.
fn demand(is_first: bool) -> CommandResult {
    if is_first { Ok(()) } else { Err(CommandError::SYNTAX) }
}

/// The condition at `index`, if there is one, and how many words it takes.
fn condition<'a>(
    args: &Args<'a>,
    index: usize,
    accepted: Accepted,
) -> Result<Option<(Condition<'a>, usize)>, CommandError> {
    let value = || args.opt(index + 1).ok_or(CommandError::SYNTAX);
    Ok(Some(if args.is(index, "IF") {
        (Condition::Version(version(value()?)?), 2)
    } else if accepted.digest && args.is(index, "IFDEQ") {
        (Condition::Compared(Comparison::digest_is(value()?)), 2)
    } else if args.is(index, "NX") {
        (Condition::Absent, 1)
    } else if args.is(index, "XX") {
        (Condition::Present, 1)
    } else {
        return Ok(None);
    }))
}

/// The numbering at `index`, if it is said there, and how many words that takes.
fn numbering(args: &Args<'_>, index: usize) -> Result<Option<(Numbering, usize)>, CommandError> {
    Ok(Some(if args.is(index, "COUNTED") {
        (Numbering::Counted, 1)
    } else if args.is(index, "FORCE") {
        let word = args.opt(index + 1).ok_or(CommandError::SYNTAX)?;
        (Numbering::Forced(chosen_version(word)?), 2)
    } else {
        return Ok(None);
    }))
}
