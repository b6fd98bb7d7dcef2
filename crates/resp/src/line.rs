//! Lines and numbers, the careful way: whatever the parser's fast path does not recognise ends up
//! here.

use memchr::memchr;

/// What a search for the end of a line came to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Search {
    /// The line's end is at this index.
    Found(usize),
    /// Not there yet.
    Absent,
    /// Not there, and more bytes have come than a line may have.
    TooLong,
}

/// Looks for `end` among the first `bytes_max + 1` bytes of `rest`.
///
/// `scanned` is how many bytes are known not to hold it, and is updated, so that a line that
/// comes byte by byte is searched once. Only the position decides about `TooLong`, not how the
/// bytes happened to arrive.
pub(crate) fn find_end(rest: &[u8], end: u8, bytes_max: usize, scanned: &mut usize) -> Search {
    let window = &rest[..rest.len().min(bytes_max.saturating_add(1))];
    match memchr(end, &window[*scanned..]) {
        Some(index) => {
            *scanned += index;
            Search::Found(*scanned)
        }
        None => {
            *scanned = window.len();
            match rest.len() > bytes_max {
                true => Search::TooLong,
                false => Search::Absent,
            }
        }
    }
}

/// Reads a whole number as strictly as Redis does: no sign but `-`, no leading zero, no space, no
/// overflow of 64 bits.
pub(crate) fn parse_integer(text: &[u8]) -> Option<i64> {
    let (negative, digits) = match text {
        [b'-', digits @ ..] => (true, digits),
        digits => (false, digits),
    };
    if matches!(digits, [b'0', _, ..]) || (negative && digits == b"0") || digits.is_empty() {
        return None;
    }
    // Summed up on the negative side, which reaches one further than the positive one.
    let mut sum = 0i64;
    for &byte in digits {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        sum = sum.checked_mul(10)?.checked_sub(i64::from(digit))?;
    }
    if negative { Some(sum) } else { sum.checked_neg() }
}

#[cfg(test)]
mod tests {
    use super::{Search, find_end, parse_integer};

    #[test]
    fn integers_are_read_as_strictly_as_redis_does() {
        for (text, expected) in [
            ("0", Some(0)),
            ("7", Some(7)),
            ("-1", Some(-1)),
            ("1048576", Some(1_048_576)),
            ("9223372036854775807", Some(i64::MAX)),
            ("-9223372036854775808", Some(i64::MIN)),
            ("9223372036854775808", None),
            ("-9223372036854775809", None),
            ("99999999999999999999", None),
            ("", None),
            ("-", None),
            ("-0", None),
            ("00", None),
            ("03", None),
            ("-03", None),
            ("+3", None),
            (" 3", None),
            ("3 ", None),
            ("3a", None),
        ] {
            assert_eq!(parse_integer(text.as_bytes()), expected, "{text:?}");
        }
    }

    #[test]
    fn a_line_is_searched_once_and_its_limit_is_inclusive() {
        let mut scanned = 0;
        assert_eq!(find_end(b"abc", b'\n', 4, &mut scanned), Search::Absent);
        assert_eq!(scanned, 3);
        assert_eq!(find_end(b"abcd\n", b'\n', 4, &mut scanned), Search::Found(4));
        assert_eq!(find_end(b"abcde\n", b'\n', 4, &mut 0), Search::TooLong);
        assert_eq!(find_end(b"abcd", b'\n', 4, &mut 0), Search::Absent);
    }
}
