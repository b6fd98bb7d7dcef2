//! Writing an element of a collection under a condition: what fields and members have in common.

use super::options::{Condition, Numbering, Options};
use super::{reply_outcome, reply_version, version};
use crate::expire_time::is_past;
use crate::strings::{Comparison, ExpiryOption};
use basalt_engine::{EventClass, Key, Txn, Version};
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::{CommandError, CommandResult};

/// An element that is there and has not expired.
#[derive(Clone, Copy)]
pub(super) struct Present {
    pub(super) version: Version,
    /// Unix time in milliseconds, 0 for never.
    pub(super) expire_ms: u64,
}

/// What becomes of an element that is written.
#[derive(Clone, Copy)]
pub(super) enum Written {
    /// It is there, with this expiry and this version, or one that was never given.
    Stays { expire_ms: u64, version: Option<u64> },
    /// It has expired already: nothing is kept.
    Goes,
}

/// What a command has done.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// Nothing: this is the version that there is, none if there is none.
    Refused(Version),
    /// What was asked for: this is the version that there is now, or, after a removal, was.
    Done(Version),
}

/// A write with its options, as far as they do not depend on what is there.
pub(super) struct Write<'a> {
    options: Options<'a>,
    now_ms: u64,
    /// When the element expires, unless it keeps its expiry.
    expire_ms: u64,
}

impl<'a> Write<'a> {
    /// The write of `command` with these options.
    ///
    /// # Errors
    /// The expiry is no time.
    pub(super) fn new(
        options: Options<'a>,
        now_ms: u64,
        command: &str,
    ) -> Result<Write<'a>, CommandError> {
        let expire_ms = options.expiry.expire_ms(now_ms, command, || 0)?;
        Ok(Write { options, now_ms, expire_ms })
    }

    /// The element is to expire.
    pub(super) fn expires(&self) -> bool {
        matches!(self.options.expiry, ExpiryOption::At(..))
    }

    /// Whether the condition is met by what is there, of which `value` returns the bytes.
    ///
    /// # Errors
    /// The condition makes no sense.
    pub(super) fn is_met(
        &self,
        present: Option<Present>,
        value: Option<&[u8]>,
    ) -> Result<bool, CommandError> {
        self.options.condition.is_met(present, value)
    }

    /// What becomes of the element.
    pub(super) fn over(&self, present: Option<Present>) -> Written {
        let expire_ms = match (self.options.expiry, present) {
            (ExpiryOption::Keep, Some(present)) => present.expire_ms,
            _ => self.expire_ms,
        };
        if expire_ms != 0 && is_past(expire_ms, self.now_ms) {
            return Written::Goes;
        }
        let version = match self.options.numbering {
            Numbering::Unique => None,
            Numbering::Counted => Some(version_of(present).counted().number()),
            Numbering::Forced(version) => Some(version.number()),
        };
        Written::Stays { expire_ms, version }
    }
}

/// The version of an element, none if it is not there.
pub(super) fn version_of(present: Option<Present>) -> Version {
    present.map_or(Version::NONE, |present| present.version)
}

/// The condition with which a command ends that removes an element.
///
/// # Errors
/// It ends in another way.
pub(super) fn removal_condition<'a>(
    args: &Args<'a>,
    digests: Digests,
) -> Result<Condition<'a>, CommandError> {
    match args.len() {
        3 => Ok(Condition::None),
        5 if args.is(3, "IF") => version(args.word(4)).map(Condition::Version),
        5 if digests == Digests::Accepted && args.is(3, "IFDEQ") => {
            Ok(Condition::Compared(Comparison::digest_is(args.word(4))))
        }
        _ => Err(CommandError::SYNTAX),
    }
}

impl Condition<'_> {
    /// What a removal comes to that finds this, of which `value` are the bytes: the element is to
    /// go if it is done.
    ///
    /// # Errors
    /// The condition makes no sense.
    pub(super) fn removal_of(
        self,
        present: Option<Present>,
        value: Option<&[u8]>,
    ) -> Result<Outcome, CommandError> {
        let version = version_of(present);
        let is_met = present.is_some() && self.is_met(present, value)?;
        Ok(if is_met { Outcome::Done(version) } else { Outcome::Refused(version) })
    }
}

/// Tells of a removal from a collection, which was not there if there is no outcome, and replies.
///
/// # Errors
/// Those of the outcome.
pub(super) fn end_removal(
    txn: &mut Txn<'_>,
    key: &Key<'_>,
    (class, event): (EventClass, &'static str),
    outcome: Option<Result<Outcome, CommandError>>,
    reply: &mut Reply<'_>,
) -> CommandResult {
    let outcome = outcome.transpose()?.unwrap_or(Outcome::Refused(Version::NONE));
    if outcome.is_done() {
        txn.notify_taken(class, event, key);
    }
    reply.array(2);
    outcome.reply(reply);
    Ok(())
}

/// Whether a command takes IFDEQ.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Digests {
    Accepted,
    Refused,
}

impl Condition<'_> {
    /// Whether it is met by an element, of which `value` are the bytes.
    ///
    /// # Errors
    /// It makes no sense.
    pub(super) fn is_met(
        self,
        present: Option<Present>,
        value: Option<&[u8]>,
    ) -> Result<bool, CommandError> {
        match self {
            Condition::Compared(comparison) => comparison.holds_of(value),
            condition => Ok(condition.holds_of(present.map(|present| present.version))),
        }
    }
}

impl Outcome {
    pub(super) fn is_done(self) -> bool {
        matches!(self, Outcome::Done(_))
    }

    /// Writes the first two of the reply's elements.
    pub(super) fn reply(self, reply: &mut Reply<'_>) {
        match self {
            Outcome::Refused(version) => reply_outcome(false, version, reply),
            Outcome::Done(version) => reply_outcome(true, version, reply),
        }
    }
}

/// Replies with an element that a command has read, but for its value: the first two of the reply's
/// elements.
pub(super) fn reply_present(present: Present, now_ms: u64, reply: &mut Reply<'_>) {
    reply_version(present.version, reply);
    reply.integer(match present.expire_ms {
        0 => -1,
        expire_ms => expire_ms.saturating_sub(now_ms) as i64,
    });
}
