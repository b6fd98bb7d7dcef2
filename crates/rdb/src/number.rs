//! Numbers as text: which strings are integers, and scores.

/// The longest text of a 64-bit integer: a sign and 19 digits.
const INTEGER_BYTES_MAX: usize = 20;

/// The integer that `text` is, if it is one in the only form that Redis stores as a number: no sign
/// but a minus, no leading zeros, no `-0`.
pub(crate) fn integer(text: &[u8]) -> Option<i64> {
    if text.len() > INTEGER_BYTES_MAX {
        return None;
    }
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    match digits {
        [b'0'] if digits.len() == text.len() => return Some(0),
        [b'1'..=b'9', rest @ ..] if rest.iter().all(u8::is_ascii_digit) => {}
        _ => return None,
    }
    str::from_utf8(text).ok()?.parse().ok()
}

/// The text of an integer.
pub(crate) fn integer_text(value: i64) -> Vec<u8> {
    itoa::Buffer::new().format(value).as_bytes().to_vec()
}

/// The score that `text` is; `None` also for "not a number".
pub(crate) fn score(text: &[u8]) -> Option<f64> {
    let score: f64 = str::from_utf8(text).ok()?.parse().ok()?;
    (!score.is_nan()).then_some(score)
}

/// The integer that a score is exactly, if it is one; `-0` is none.
pub(crate) fn score_integer(score: f64) -> Option<i64> {
    // 2^63 as a float is the first that does not fit; the cast saturates, so it must be excluded
    // here.
    let fits = (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&score);
    let integer = score as i64;
    let is_integer = fits && integer as f64 == score && !(integer == 0 && score.is_sign_negative());
    is_integer.then_some(integer)
}

/// The shortest text that `strtod` reads as this score. Redis 7.0 writes 17 digits; both mean the
/// same.
pub(crate) fn score_text(score: f64) -> String {
    if score.is_infinite() {
        return if score > 0.0 { "inf" } else { "-inf" }.to_owned();
    }
    let is_short_in_full = (1e-5..1e17).contains(&score.abs());
    if is_short_in_full { format!("{score}") } else { format!("{score:e}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_canonical_integers_are_integers() {
        for value in [0, 1, -1, 10, 4_095, -4_096, i64::MAX, i64::MIN] {
            assert_eq!(integer(&integer_text(value)), Some(value));
        }
        let others = ["", "-", "-0", "00", "01", "-01", "+1", " 1", "1 ", "1.0", "a", "1e3"];
        for text in others {
            assert_eq!(integer(text.as_bytes()), None, "{text:?}");
        }
        assert_eq!(integer(b"9223372036854775808"), None);
        assert_eq!(integer(b"-9223372036854775809"), None);
        assert_eq!(integer(b"100000000000000000000000"), None);
    }

    #[test]
    fn scores_survive_their_text() {
        let scores =
            [0.1, -0.0, 1e300, -5e-324, f64::MAX, f64::INFINITY, f64::NEG_INFINITY, 3.0, 1e21];
        for value in scores {
            assert!(score_text(value).len() < 30, "{value}");
            let read = score(score_text(value).as_bytes());
            assert_eq!(read.map(f64::to_bits), Some(value.to_bits()), "{value}");
        }
        // As Redis 7.0 writes it.
        assert_eq!(score(b"0.10000000000000001"), Some(0.1));
        assert_eq!(score(b"1.7976931348623157e+308"), Some(f64::MAX));
        for text in ["nan", "-nan", "", "1 ", "0x10", "\u{fffd}"] {
            assert_eq!(score(text.as_bytes()), None, "{text:?}");
        }
    }

    #[test]
    fn only_exact_integers_become_integers() {
        assert_eq!(score_integer(3.0), Some(3));
        assert_eq!(score_integer(0.0), Some(0));
        assert_eq!(score_integer(-9_223_372_036_854_775_808.0), Some(i64::MIN));
        for score in [-0.0, 0.5, 9_223_372_036_854_775_808.0, f64::INFINITY, 1e300] {
            assert_eq!(score_integer(score), None, "{score}");
        }
    }
}
