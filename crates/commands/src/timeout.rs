//! How long a blocking command waits.

use basalt_number::LongDouble;
use basalt_service::error::CommandError;
use std::time::Duration;

/// A timeout in seconds, with a fraction; `None`, which is written 0, waits for ever. Rounded up to
/// milliseconds, as in Redis.
///
/// # Errors
/// It is no number, negative, or more milliseconds than 63 bits can count.
pub fn seconds(word: &[u8]) -> Result<Option<Duration>, CommandError> {
    const NO_FLOAT: CommandError =
        CommandError::fixed("ERR timeout is not a float or out of range");
    const TOO_LONG: CommandError = CommandError::fixed("ERR timeout is out of range");
    let seconds = LongDouble::parse(word).ok_or(NO_FLOAT)?.to_f64().ok_or(TOO_LONG)?;
    if seconds < 0.0 {
        return Err(CommandError::fixed("ERR timeout is negative"));
    }
    let milliseconds = (seconds * 1000.0).ceil();
    if milliseconds >= i64::MAX as f64 {
        return Err(TOO_LONG);
    }
    let milliseconds = milliseconds as u64;
    Ok((milliseconds > 0).then(|| Duration::from_millis(milliseconds)))
}

/// A timeout in milliseconds; `None`, which is written 0, waits for ever.
///
/// # Errors
/// It is no integer or negative.
pub fn milliseconds(word: &[u8]) -> Result<Option<Duration>, CommandError> {
    let milliseconds = basalt_number::parse_i64(word)
        .ok_or(CommandError::fixed("ERR timeout is not an integer or out of range"))?;
    let milliseconds =
        u64::try_from(milliseconds).map_err(|_| CommandError::fixed("ERR timeout is negative"))?;
    Ok((milliseconds > 0).then(|| Duration::from_millis(milliseconds)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timeouts_are_read_as_redis_reads_them() {
        for (word, milliseconds) in
            [("0", 0), ("1", 1000), ("0.5", 500), ("0.0001", 1), ("1e1", 10_000), ("0x10", 16_000)]
                .into_iter()
                .chain(["1e-300", "5e-324", "1e-4000", "0x1p-1100"].map(|tiny| (tiny, 1)))
        {
            let expected = Some(Duration::from_millis(milliseconds)).filter(|time| !time.is_zero());
            assert_eq!(seconds(word.as_bytes()), Ok(expected), "{word}");
        }
        for (word, text) in [
            ("x", "ERR timeout is not a float or out of range"),
            ("", "ERR timeout is not a float or out of range"),
            ("nan", "ERR timeout is not a float or out of range"),
            ("-1", "ERR timeout is negative"),
            ("-0.001", "ERR timeout is negative"),
            ("inf", "ERR timeout is out of range"),
            ("1e300", "ERR timeout is out of range"),
            ("9999999999999999", "ERR timeout is out of range"),
        ] {
            assert_eq!(seconds(word.as_bytes()).map_err(|e| e.text().to_owned()), Err(text.into()));
        }
        assert_eq!(milliseconds(b"20"), Ok(Some(Duration::from_millis(20))));
        assert_eq!(milliseconds(b"0"), Ok(None));
        assert!(milliseconds(b"1.5").is_err() && milliseconds(b"-1").is_err());
    }
}
