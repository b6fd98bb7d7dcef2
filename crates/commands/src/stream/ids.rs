//! HOT PATH
//! Identities in arguments.

use basalt_number::parse_i64;
use basalt_service::error::CommandError;
use basalt_value::stream::EntryId;

const INVALID: CommandError =
    CommandError::fixed("ERR Invalid stream ID specified as stream command argument");

/// Longest text of an identity that is looked at.
const TEXT_BYTES_MAX: usize = 127;

/// An identity of which the sequence may be left to the stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum NewId {
    /// This one.
    Whole(EntryId),
    /// The next one in this millisecond.
    InMillisecond(u64),
}

/// An identity, without its sequence the first of its millisecond.
#[inline]
pub(super) fn id(text: &[u8]) -> Result<EntryId, CommandError> {
    parse(text, 0).ok_or(INVALID)
}

/// An identity, or `-` or `+` for the least and the greatest.
pub(super) fn id_or_bound(text: &[u8]) -> Result<EntryId, CommandError> {
    bound(text, 0)
}

/// An identity for a new entry: `ms-sequence`, `ms` or `ms-*`.
pub(super) fn new_id(text: &[u8]) -> Result<NewId, CommandError> {
    if text.len() <= TEXT_BYTES_MAX
        && let Some(ms) = text.strip_suffix(b"-*")
        && let Some(ms) = number(ms)
    {
        return Ok(NewId::InMillisecond(ms));
    }
    id(text).map(NewId::Whole)
}

/// Where an interval begins: `-`, `+`, an identity, or one behind `(` that is not in it.
pub(super) fn interval_start(text: &[u8]) -> Result<EntryId, CommandError> {
    match text {
        [b'(', excluded @ ..] if !excluded.is_empty() => {
            id(excluded)?.next().ok_or(CommandError::fixed("ERR invalid start ID for the interval"))
        }
        text => bound(text, 0),
    }
}

/// Where an interval ends, likewise. Without a sequence it ends with its millisecond.
pub(super) fn interval_end(text: &[u8]) -> Result<EntryId, CommandError> {
    match text {
        [b'(', excluded @ ..] if !excluded.is_empty() => parse(excluded, u64::MAX)
            .ok_or(INVALID)?
            .previous()
            .ok_or(CommandError::fixed("ERR invalid end ID for the interval")),
        text => bound(text, u64::MAX),
    }
}

#[inline]
fn bound(text: &[u8], missing_sequence: u64) -> Result<EntryId, CommandError> {
    match text {
        b"-" => Ok(EntryId::MIN),
        b"+" => Ok(EntryId::MAX),
        text => parse(text, missing_sequence).ok_or(INVALID),
    }
}

#[inline]
fn parse(text: &[u8], missing_sequence: u64) -> Option<EntryId> {
    if text.len() > TEXT_BYTES_MAX {
        return None;
    }
    match text.iter().position(|&byte| byte == b'-') {
        Some(dash) => {
            Some(EntryId { ms: number(&text[..dash])?, sequence: number(&text[dash + 1..])? })
        }
        None => Some(EntryId { ms: number(text)?, sequence: missing_sequence }),
    }
}

/// A number of 64 bits as Redis reads them: what is no plain integer goes through `strtoull`, which
/// takes leading blanks, a sign and leading zeros.
#[inline]
fn number(text: &[u8]) -> Option<u64> {
    match parse_i64(text) {
        Some(number) => u64::try_from(number).ok(),
        None => lenient_number(text),
    }
}

#[cold]
fn lenient_number(text: &[u8]) -> Option<u64> {
    let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t'..=b'\r');
    let blanks = text.iter().take_while(|byte| is_blank(byte)).count();
    let (is_negative, digits) = match &text[blanks..] {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] => (false, digits),
        digits => (false, digits),
    };
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let number = std::str::from_utf8(digits).ok()?.parse::<u64>().ok()?;
    Some(if is_negative { number.wrapping_neg() } else { number })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(ms: u64, sequence: u64) -> EntryId {
        EntryId { ms, sequence }
    }

    #[test]
    fn identities() {
        for (text, expected) in [
            ("5", Some(of(5, 0))),
            ("5-3", Some(of(5, 3))),
            ("18446744073709551615-18446744073709551615", Some(EntryId::MAX)),
            ("18446744073709551616", None),
            ("007- 3", Some(of(7, 3))),
            ("+5-+3", Some(of(5, 3))),
            ("5--3", None),
            ("5--03", Some(of(5, u64::MAX - 2))),
            ("5-", None),
            ("-5", None),
            ("-", None),
            ("+", None),
            ("", None),
            ("x", None),
        ] {
            assert_eq!(id(text.as_bytes()).ok(), expected, "{text}");
        }
        assert!(id(&[b'0'; 128]).is_err());
    }

    #[test]
    fn new_identities_and_intervals() {
        assert_eq!(new_id(b"5-*"), Ok(NewId::InMillisecond(5)));
        assert_eq!(new_id(b"5-1"), Ok(NewId::Whole(of(5, 1))));
        assert!(new_id(b"-*").is_err());
        assert_eq!(interval_start(b"-"), Ok(EntryId::MIN));
        assert_eq!(interval_start(b"(5"), Ok(of(5, 1)));
        assert_eq!(interval_end(b"5"), Ok(of(5, u64::MAX)));
        assert_eq!(interval_end(b"(5"), Ok(of(5, u64::MAX - 1)));
        assert!(interval_start(b"(").is_err());
        assert!(interval_start(b"(-").is_err());
    }
}
