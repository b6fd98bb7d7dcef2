//! `FIELDS numfields field [field …]`, and the times at which fields expire.

use crate::expire_time::{Base, ExpireTime, Unit};
use crate::number::integer;
use basalt_number::parse_i64;
use basalt_service::args::Args;
use basalt_service::error::CommandError;

/// The last time at which a field can expire, in unix milliseconds: Redis keeps 46 bits.
const EXPIRE_MS_MAX: u64 = (1 << 46) - 1;

/// How a command words that the number of fields is none.
pub(super) const NOT_ABOVE_ZERO: CommandError =
    CommandError::fixed("ERR Parameter `numFields` should be greater than 0");
/// How another does.
pub(super) const NOT_POSITIVE: CommandError =
    CommandError::fixed("ERR Number of fields must be a positive integer");

/// Reads FIELDS at a place; returns the place of the first field. They go to the end of the words.
pub(super) fn parse(
    args: &Args<'_>,
    index: usize,
    not_a_number: CommandError,
) -> Result<usize, CommandError> {
    const MISSING: CommandError = CommandError::fixed(
        "ERR Mandatory argument FIELDS is missing or not at the right position",
    );
    const MISMATCH: CommandError =
        CommandError::fixed("ERR The `numfields` parameter must match the number of arguments");
    if !args.is(index, "FIELDS") {
        return Err(MISSING);
    }
    let word = args.opt(index + 1).ok_or(MISMATCH)?;
    let count = parse_i64(word).filter(|&count| count > 0).ok_or(not_a_number)?;
    let first = index + 2;
    if count as usize == args.len() - first { Ok(first) } else { Err(MISMATCH) }
}

/// Reads FIELDS at a place as HGETEX and HSETEX do, with this number of words a field; returns the
/// place of the first.
pub(super) fn parse_ex(
    args: &Args<'_>,
    index: usize,
    words_a_field: usize,
    command: &str,
) -> Result<usize, CommandError> {
    const NO_NUMBER: CommandError = CommandError::fixed("ERR invalid number of fields");
    let first = index + 2;
    if args.len() < first + words_a_field {
        return Err(CommandError::wrong_arity(command));
    }
    let count = parse_i64(args.word(index + 1))
        .filter(|count| (1..=i64::from(i32::MAX)).contains(count))
        .ok_or(NO_NUMBER)?;
    if count as usize * words_a_field != args.len() - first {
        return Err(CommandError::wrong_arity(command));
    }
    Ok(first)
}

/// A time at which fields expire, in unix milliseconds and above zero.
pub(super) fn expire_ms(
    time: ExpireTime,
    word: &[u8],
    now_ms: u64,
    command: &str,
) -> Result<u64, CommandError> {
    const NEGATIVE: CommandError = CommandError::fixed("ERR invalid expire time, must be >= 0");
    let number = u64::try_from(integer(word)?).map_err(|_| NEGATIVE)?;
    let ms = match time.unit {
        Unit::Seconds => number.saturating_mul(1000),
        Unit::Milliseconds => number,
    };
    let since_epoch = match time.base {
        Base::Now => ms.saturating_add(now_ms),
        Base::UnixEpoch => ms,
    };
    if since_epoch > EXPIRE_MS_MAX {
        return Err(CommandError::invalid_expire_time(command));
    }
    Ok(since_epoch.max(1))
}
