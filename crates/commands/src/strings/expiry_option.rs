//! What a command that puts a string says about its expiry: EX, PX, EXAT, PXAT or KEEPTTL.

use crate::expire_time::{Base, ExpireTime, Range, is_past};
use basalt_engine::{EventClass, Key, PutOptions, Txn};
use basalt_service::args::Args;
use basalt_service::error::CommandError;

/// See the head of this file.
#[derive(Clone, Copy)]
pub(crate) enum ExpiryOption<'a> {
    /// It does not expire.
    None,
    /// As what was there does.
    Keep,
    /// Then.
    At(ExpireTime, &'a [u8]),
}

impl<'a> ExpiryOption<'a> {
    /// What is said when the option at `index` has been read, too. Redis lets one replace an
    /// earlier one of the same name.
    ///
    /// # Errors
    /// There is no such option, or it contradicts what was said before.
    pub(crate) fn and(
        self,
        args: &Args<'a>,
        index: usize,
    ) -> Result<ExpiryOption<'a>, CommandError> {
        match (self, ExpireTime::option(args, index)) {
            (ExpiryOption::None | ExpiryOption::Keep, None) if args.is(index, "KEEPTTL") => {
                Ok(ExpiryOption::Keep)
            }
            (ExpiryOption::None, Some(time)) => at_time(time, args, index),
            (ExpiryOption::At(earlier, _), Some(time)) if earlier == time => {
                at_time(time, args, index)
            }
            _ => Err(CommandError::SYNTAX),
        }
    }

    /// Whether a string is put by it wherever one may be, whatever is there: a time that has passed
    /// may remove what is there instead.
    pub(crate) fn puts_whatever_is_there(self) -> bool {
        match self {
            ExpiryOption::None => true,
            ExpiryOption::At(time, _) => time.base == Base::Now,
            ExpiryOption::Keep => false,
        }
    }

    /// Words that the option at which it was read takes.
    pub(crate) fn words(self) -> usize {
        if let ExpiryOption::At(..) = self { 2 } else { 1 }
    }

    /// The expiry of what is put, 0 for none; of `command`, in the place of something with the
    /// expiry that `previous` returns.
    ///
    /// # Errors
    /// It is no time.
    pub(crate) fn expire_ms(
        self,
        now_ms: u64,
        command: &str,
        previous: impl FnOnce() -> u64,
    ) -> Result<u64, CommandError> {
        match self {
            ExpiryOption::At(time, word) => time.parse(word, now_ms, Range::Positive, command),
            ExpiryOption::Keep => Ok(previous()),
            ExpiryOption::None => Ok(0),
        }
    }

    /// Puts a string with this expiry, as [`ExpiryOption::expire_ms`] has returned it, and says so.
    /// Redis keeps one that has expired already until someone looks at it; here nothing is kept,
    /// which looks the same.
    pub(crate) fn put(self, txn: &mut Txn<'_>, key: &Key<'_>, value: &[u8], expire_ms: u64) {
        let is_past = expire_ms != 0 && is_past(expire_ms, txn.now_ms());
        if is_past {
            let is_new = !txn.delete(key);
            if is_new {
                txn.notify(EventClass::New, "new", key);
            }
        } else {
            txn.put(key, value, PutOptions::whole(expire_ms));
        }
        txn.notify(EventClass::String, "set", key);
        if let ExpiryOption::At(..) = self {
            txn.notify(EventClass::Generic, "expire", key);
            if is_past {
                txn.notify(EventClass::Expired, "expired", key);
            }
        }
    }
}

fn at_time<'a>(
    time: ExpireTime,
    args: &Args<'a>,
    index: usize,
) -> Result<ExpiryOption<'a>, CommandError> {
    args.opt(index + 1).map(|word| ExpiryOption::At(time, word)).ok_or(CommandError::SYNTAX)
}
