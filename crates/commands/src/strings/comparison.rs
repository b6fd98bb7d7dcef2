//! Comparing what a key holds with a value or a digest: the options IFEQ, IFNE, IFDEQ and IFDNE of
//! SET and DELEX.

use super::bytes;
use basalt_engine::{Key, Object, Txn};
use basalt_service::args::Args;
use basalt_service::error::CommandError;
use basalt_stdx::digest::{DIGITS, Digest};

/// Longer strings are not digested among the short commands of a batch; this long takes some 20 µs.
const DIGESTED_BYTES_MAX: usize = 1 << 20;

/// A comparison that a command depends on.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Comparison<'a> {
    against: Against<'a>,
    /// What is to come out.
    expected: Expected,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Against<'a> {
    Value(&'a [u8]),
    Digest(&'a [u8]),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Expected {
    Same,
    Different,
}

impl<'a> Comparison<'a> {
    /// With this digest, in hexadecimal digits, which is to be the value's.
    pub(crate) fn digest_is(digits: &'a [u8]) -> Comparison<'a> {
        Comparison { against: Against::Digest(digits), expected: Expected::Same }
    }

    /// The option at `index`, with the word behind it, if it is one of the four.
    pub(crate) fn option(args: &Args<'a>, index: usize) -> Option<Comparison<'a>> {
        let word = args.opt(index + 1)?;
        let (against, expected) = match args.word(index) {
            name if name.eq_ignore_ascii_case(b"IFEQ") => (Against::Value(word), Expected::Same),
            name if name.eq_ignore_ascii_case(b"IFNE") => {
                (Against::Value(word), Expected::Different)
            }
            name if name.eq_ignore_ascii_case(b"IFDEQ") => (Against::Digest(word), Expected::Same),
            name if name.eq_ignore_ascii_case(b"IFDNE") => {
                (Against::Digest(word), Expected::Different)
            }
            _ => return None,
        };
        Some(Comparison { against, expected })
    }

    /// Whether the command has to run again where it may take long, for it has a long string
    /// digested. If so, it returns at once, as [`Txn::must_run_apart`] says.
    pub(crate) fn must_run_apart(self, txn: &mut Txn<'_>, key: &Key<'_>) -> bool {
        matches!(self.against, Against::Digest(_))
            && txn
                .get(key)
                .and_then(Object::string)
                .is_some_and(|string| string.bytes().len() > DIGESTED_BYTES_MAX)
            && txn.must_run_apart()
    }

    /// Whether it comes out as expected. A key that is not there is different from everything, and
    /// a digest is not looked at then, as in Redis.
    ///
    /// # Errors
    /// The key holds no string; the digest has not as many digits as digests have.
    pub(crate) fn holds(self, object: Option<Object<'_>>) -> Result<bool, CommandError> {
        self.holds_of(object.map(bytes).transpose()?)
    }

    /// Whether it comes out as expected for these bytes, if there are any.
    ///
    /// # Errors
    /// The digest has not as many digits as digests have.
    pub(crate) fn holds_of(self, value: Option<&[u8]>) -> Result<bool, CommandError> {
        const NO_DIGEST: CommandError =
            CommandError::fixed("ERR must be exactly 16 hexadecimal characters");
        let Some(value) = value else { return Ok(self.expected == Expected::Different) };
        let is_same = match self.against {
            Against::Value(other) => value == other,
            Against::Digest(digits) if digits.len() != DIGITS => return Err(NO_DIGEST),
            // What is no digit is in no digest.
            Against::Digest(digits) => Digest::of(value).is(digits),
        };
        Ok(is_same == (self.expected == Expected::Same))
    }
}
