//! HOT PATH
//! The times at which keys expire, as commands give them: seconds or milliseconds, from now or from
//! 1970, and what is too far.

use super::number;
use basalt_service::args::Args;
use basalt_service::error::CommandError;

/// How a command gives the time at which a key expires.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ExpireTime {
    /// What the number counts.
    pub unit: Unit,
    /// Since when it counts.
    pub base: Base,
}

/// What a time counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unit {
    /// Seconds.
    Seconds,
    /// Milliseconds.
    Milliseconds,
}

/// Since when a time counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Base {
    /// Since the command runs.
    Now,
    /// Since 1970-01-01 UTC.
    UnixEpoch,
}

/// Which times a command takes besides those that fit 63 bits of milliseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Range {
    /// Only numbers above zero: `SET`, `GETEX`, `SETEX` and `PSETEX`.
    Positive,
    /// Any number: `EXPIRE` and its kin. What lies in the past deletes the key.
    Any,
}

impl ExpireTime {
    /// `EX`, `SETEX`, `EXPIRE`.
    pub const SECONDS: ExpireTime = ExpireTime { unit: Unit::Seconds, base: Base::Now };
    /// `PX`, `PSETEX`, `PEXPIRE`.
    pub const MILLISECONDS: ExpireTime = ExpireTime { unit: Unit::Milliseconds, base: Base::Now };
    /// `EXAT`, `EXPIREAT`.
    pub const UNIX_SECONDS: ExpireTime = ExpireTime { unit: Unit::Seconds, base: Base::UnixEpoch };
    /// `PXAT`, `PEXPIREAT`.
    pub const UNIX_MILLISECONDS: ExpireTime =
        ExpireTime { unit: Unit::Milliseconds, base: Base::UnixEpoch };

    /// The option that stands at `index`, if it is one of `EX`, `PX`, `EXAT` and `PXAT`; its number
    /// is the word behind it.
    pub fn option(args: &Args<'_>, index: usize) -> Option<ExpireTime> {
        const OPTIONS: [(&str, ExpireTime); 4] = [
            ("EX", ExpireTime::SECONDS),
            ("PX", ExpireTime::MILLISECONDS),
            ("EXAT", ExpireTime::UNIX_SECONDS),
            ("PXAT", ExpireTime::UNIX_MILLISECONDS),
        ];
        OPTIONS.into_iter().find(|(name, _)| args.is(index, name)).map(|(_, time)| time)
    }

    /// The number in `word` as unix time in milliseconds. It is at least 1, because 0 says in an
    /// entry that it never expires; a negative time of [`Range::Any`] becomes 1, which is as past.
    ///
    /// `command` is the command's name in lower case, for the error.
    ///
    /// # Errors
    /// The word is no integer; or `ERR invalid expire time in '…' command` if it is out of range.
    #[inline]
    pub fn parse(
        self,
        word: &[u8],
        now_ms: u64,
        range: Range,
        command: &str,
    ) -> Result<u64, CommandError> {
        let number = number::integer(word)?;
        self.unix_ms(number, now_ms, range)
            .ok_or_else(|| CommandError::invalid_expire_time(command))
    }

    #[inline]
    fn unix_ms(self, number: i64, now_ms: u64, range: Range) -> Option<u64> {
        if range == Range::Positive && number <= 0 {
            return None;
        }
        let ms = match self.unit {
            Unit::Seconds => number.checked_mul(1000)?,
            Unit::Milliseconds => number,
        };
        let since_epoch = match self.base {
            Base::Now => ms.checked_add_unsigned(now_ms)?,
            Base::UnixEpoch => ms,
        };
        Some(since_epoch.max(1) as u64)
    }
}

/// A key with this expiry is gone by now: Redis deletes it rather than keeping it for later.
#[inline]
pub fn is_past(expire_ms: u64, now_ms: u64) -> bool {
    expire_ms <= now_ms
}

#[cfg(test)]
mod tests {
    use super::{ExpireTime, Range};

    const NOW_MS: u64 = 1_700_000_000_123;

    fn parse(time: ExpireTime, word: &str, range: Range) -> Option<u64> {
        time.parse(word.as_bytes(), NOW_MS, range, "x").ok()
    }

    #[test]
    fn units_and_bases_make_unix_milliseconds() {
        for (time, expected) in [
            (ExpireTime::SECONDS, NOW_MS + 5000),
            (ExpireTime::MILLISECONDS, NOW_MS + 5),
            (ExpireTime::UNIX_SECONDS, 5000),
            (ExpireTime::UNIX_MILLISECONDS, 5),
        ] {
            assert_eq!(parse(time, "5", Range::Positive), Some(expected));
            assert_eq!(parse(time, "5", Range::Any), Some(expected));
        }
    }

    #[test]
    fn what_overflows_63_bits_is_refused() {
        let most_s = i64::MAX / 1000;
        let most_ms = i64::MAX - NOW_MS as i64;
        for (time, most) in [
            (ExpireTime::UNIX_SECONDS, most_s),
            (ExpireTime::SECONDS, most_ms / 1000),
            (ExpireTime::MILLISECONDS, most_ms),
        ] {
            for range in [Range::Positive, Range::Any] {
                assert!(parse(time, &most.to_string(), range).is_some());
                assert!(parse(time, &(most + 1).to_string(), range).is_none());
            }
        }
        let least_s = (i64::MIN / 1000).to_string();
        assert_eq!(parse(ExpireTime::UNIX_SECONDS, &least_s, Range::Any), Some(1));
        assert_eq!(parse(ExpireTime::SECONDS, &i64::MIN.to_string(), Range::Any), None);
    }

    #[test]
    fn only_some_commands_take_a_time_in_the_past() {
        for word in ["0", "-1"] {
            assert_eq!(parse(ExpireTime::SECONDS, word, Range::Positive), None);
            assert!(parse(ExpireTime::SECONDS, word, Range::Any).is_some());
            assert_eq!(parse(ExpireTime::UNIX_SECONDS, word, Range::Any), Some(1));
        }
    }

    #[test]
    fn the_error_names_the_command() {
        let refused = ExpireTime::SECONDS.parse(b"0", NOW_MS, Range::Positive, "setex");
        let text = "ERR invalid expire time in 'setex' command";
        assert_eq!(refused.unwrap_err().text(), text);
        let refused = ExpireTime::SECONDS.parse(b"x", NOW_MS, Range::Positive, "setex");
        assert_eq!(refused.unwrap_err().text(), "ERR value is not an integer or out of range");
    }
}
