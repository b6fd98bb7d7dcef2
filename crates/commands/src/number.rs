//! HOT PATH
//! Numbers in arguments, as strictly as Redis reads them.

use basalt_number::{parse_f64, parse_i64};
use basalt_service::error::CommandError;

/// An integer argument.
#[inline]
pub fn integer(bytes: &[u8]) -> Result<i64, CommandError> {
    parse_i64(bytes).ok_or(CommandError::NOT_INTEGER)
}

/// A count that may be zero; anything else is refused in one way.
pub fn count(word: &[u8]) -> Result<usize, CommandError> {
    const REFUSED: CommandError =
        CommandError::fixed("ERR value is out of range, must be positive");
    parse_i64(word).and_then(|count| usize::try_from(count).ok()).ok_or(REFUSED)
}

/// A number argument: not NaN, not beyond what a double can hold, no blanks.
///
/// # Errors
/// [`CommandError::NOT_FLOAT`].
#[inline]
pub fn double(bytes: &[u8]) -> Result<f64, CommandError> {
    parse_f64(bytes).ok_or(CommandError::NOT_FLOAT)
}
