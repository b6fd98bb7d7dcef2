//! HOT PATH
//! Numbers in arguments, as strictly as Redis reads them.

use crate::error::CommandError;

/// Reads a decimal integer as strictly as Redis' `string2ll`.
pub use basalt_value::item::parse_number as parse_i64;

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

#[cfg(test)]
mod tests {
    use super::parse_i64;

    #[test]
    fn reads_what_redis_reads() {
        for value in [0, 1, -1, 42, i64::MAX, i64::MIN, 1_000_000_000_000] {
            assert_eq!(parse_i64(value.to_string().as_bytes()), Some(value));
        }
        for text in [
            "",
            "-",
            "+1",
            " 1",
            "1 ",
            "01",
            "-0",
            "-01",
            "1.0",
            "1e3",
            "9223372036854775808",
            "-9223372036854775809",
            "99999999999999999999",
            "a",
            "1a",
        ] {
            assert_eq!(parse_i64(text.as_bytes()), None, "{text}");
        }
    }
}
