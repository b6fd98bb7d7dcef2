//! HOT PATH
//! Floating point numbers in arguments, as C's `strtod` reads them and Redis takes them.

use crate::integer::parse_i64;

/// Integers of up to this number of bytes are doubles without rounding.
const EXACT_BYTES_MAX: usize = 15;

/// A number: not NaN, not beyond what a double can hold, no blanks.
#[inline]
pub fn parse_f64(bytes: &[u8]) -> Option<f64> {
    if bytes.len() <= EXACT_BYTES_MAX
        && let Some(integer) = parse_i64(bytes)
    {
        return Some(integer as f64);
    }
    let Parsed { value, is_out_of_range } = parse(bytes)?;
    (!value.is_nan() && !is_out_of_range).then_some(value)
}

/// An end of a range: not NaN, but blanks may stand in front, nothing at all is 0, and what is
/// beyond a double is infinite or zero.
#[inline]
pub fn parse_bound(bytes: &[u8]) -> Option<f64> {
    if bytes.is_empty() {
        return Some(0.0);
    }
    parse(&bytes[blanks(bytes)..]).map(|parsed| parsed.value).filter(|value| !value.is_nan())
}

/// What SORT sorts by: as a bound, but nothing beyond a double.
pub fn parse_weight(bytes: &[u8]) -> Option<f64> {
    if let Some(integer) = parse_i64(bytes) {
        return Some(integer as f64);
    }
    if bytes.is_empty() {
        return Some(0.0);
    }
    parse_f64(&bytes[blanks(bytes)..])
}

/// How many blanks stand in front.
fn blanks(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|byte| matches!(byte, b' ' | b'\t'..=b'\r')).count()
}

struct Parsed {
    value: f64,
    is_out_of_range: bool,
}

fn parse(bytes: &[u8]) -> Option<Parsed> {
    let digits = match bytes {
        [b'+' | b'-', digits @ ..] => digits,
        digits => digits,
    };
    if let [b'0', b'x' | b'X', hexadecimal @ ..] = digits {
        let value = parse_hexadecimal(hexadecimal)?;
        let is_zero =
            hexadecimal.iter().all(|byte| !matches!(byte, b'1'..=b'9' | b'a'..=b'f' | b'A'..=b'F'));
        let is_out_of_range = value.is_infinite() || value == 0.0 && !is_zero;
        return Some(Parsed {
            value: if bytes[0] == b'-' { -value } else { value },
            is_out_of_range,
        });
    }
    let value: f64 = std::str::from_utf8(bytes).ok()?.parse().ok()?;
    let is_numeral = digits.first().is_some_and(|byte| byte.is_ascii_digit() || *byte == b'.');
    let mantissa = digits.iter().take_while(|byte| !matches!(byte, b'e' | b'E'));
    let is_zero = mantissa.clone().all(|byte| matches!(byte, b'0' | b'.'));
    let is_out_of_range = is_numeral && (value.is_infinite() || value == 0.0 && !is_zero);
    Some(Parsed { value, is_out_of_range })
}

/// `1f.8p-3`: what follows `0x`.
fn parse_hexadecimal(bytes: &[u8]) -> Option<f64> {
    const MANTISSA_BITS: u32 = 60;
    const EXPONENT_MAX: i32 = 100_000;
    let mark = bytes.iter().position(|byte| matches!(byte, b'p' | b'P'));
    let (digits, exponent) = match mark {
        Some(mark) => (&bytes[..mark], std::str::from_utf8(&bytes[mark + 1..]).ok()?),
        None => (bytes, "0"),
    };
    let signless = exponent.trim_start_matches(['+', '-']);
    if signless.is_empty() || signless.len() + 1 < exponent.len() {
        return None;
    }
    if !signless.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let magnitude = signless.parse::<i32>().unwrap_or(EXPONENT_MAX).min(EXPONENT_MAX);
    let mut exponent = if exponent.starts_with('-') { -magnitude } else { magnitude };
    let (mut mantissa, mut count, mut is_behind_point) = (0u64, 0, false);
    for &byte in digits {
        if byte == b'.' && !is_behind_point {
            is_behind_point = true;
            continue;
        }
        let digit = u64::from(char::from(byte).to_digit(16)?);
        count += 1;
        let has_room = mantissa >> MANTISSA_BITS == 0;
        // What does not fit can only break a tie.
        mantissa = if has_room { mantissa << 4 | digit } else { mantissa | u64::from(digit != 0) };
        exponent += match (has_room, is_behind_point) {
            (true, true) => -4,
            (false, false) => 4,
            _ => 0,
        };
    }
    (count > 0).then(|| scale(mantissa as f64, exponent))
}

/// `value` × 2^`exponent`, by steps that stay in range.
fn scale(value: f64, exponent: i32) -> f64 {
    const STEP: i32 = 1000;
    let (mut value, mut exponent) = (value, exponent);
    while exponent != 0 && value != 0.0 && value.is_finite() {
        let step = exponent.clamp(-STEP, STEP);
        value *= power_of_two(step);
        exponent -= step;
    }
    value
}

/// 2^`exponent`, made of its bits: `powi` promises no exact result. What is beyond a double is
/// infinite or zero.
pub(crate) fn power_of_two(exponent: i32) -> f64 {
    const BIAS: i32 = f64::MAX_EXP - 1;
    const FRACTION_BITS: i32 = f64::MANTISSA_DIGITS as i32 - 1;
    const EXPONENT_MIN: i32 = f64::MIN_EXP - 1;
    const SUBNORMAL_MIN: i32 = EXPONENT_MIN - FRACTION_BITS;
    match exponent {
        ..SUBNORMAL_MIN => 0.0,
        SUBNORMAL_MIN..EXPONENT_MIN => f64::from_bits(1 << (exponent - SUBNORMAL_MIN)),
        EXPONENT_MIN..=BIAS => f64::from_bits(((exponent + BIAS) as u64) << FRACTION_BITS),
        _ => f64::INFINITY,
    }
}

#[cfg(test)]
mod tests {
    use super::{parse_bound, parse_f64, parse_weight, power_of_two};

    #[test]
    fn powers_of_two_are_exact() {
        let (mut up, mut down) = (1.0, 1.0);
        for exponent in 0..1100 {
            assert_eq!((power_of_two(exponent), power_of_two(-exponent)), (up, down), "{exponent}");
            (up, down) = (up * 2.0, down / 2.0);
        }
        assert_eq!((power_of_two(i32::MAX), power_of_two(i32::MIN)), (f64::INFINITY, 0.0));
    }

    #[test]
    fn reads_what_redis_reads() {
        for (text, value) in [
            ("0", 0.0),
            ("-1", -1.0),
            ("+2.5", 2.5),
            ("5.", 5.0),
            (".5", 0.5),
            ("1e3", 1000.0),
            ("0.1", 0.1),
            ("0x10", 16.0),
            ("-0x1.8p1", -3.0),
            ("0x.8P-1", 0.25),
            ("inf", f64::INFINITY),
            ("-Infinity", f64::NEG_INFINITY),
            ("12345678901234567890", 12_345_678_901_234_567_890.0),
            ("007", 7.0),
        ] {
            assert_eq!(parse_f64(text.as_bytes()), Some(value), "{text}");
        }
        assert!(parse_f64(b"-0").is_some_and(|zero| zero.is_sign_negative()));
        for text in [
            "",
            " 1",
            "1 ",
            "x",
            "1x",
            "nan",
            "1e400",
            "-1e400",
            "1e-400",
            "0x",
            "0xg",
            "0x1p",
            "0x1p+-1",
            "0x1p5000",
            "0x1p-5000",
            "1e",
            ".",
            "--1",
            "1_0",
        ] {
            assert_eq!(parse_f64(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn weights_may_be_empty_but_not_beyond_a_double() {
        for (text, value) in [("", 0.0), (" 1", 1.0), ("0x10", 16.0), ("inf", f64::INFINITY)] {
            assert_eq!(parse_weight(text.as_bytes()), Some(value), "{text:?}");
        }
        for text in [" ", "1 ", "1e400", "1e-400", "nan", "a"] {
            assert_eq!(parse_weight(text.as_bytes()), None, "{text:?}");
        }
    }

    #[test]
    fn bounds_are_read_more_freely() {
        for (text, value) in [
            ("", 0.0),
            (" 1", 1.0),
            ("1e400", f64::INFINITY),
            ("1e-400", 0.0),
            ("-inf", f64::NEG_INFINITY),
        ] {
            assert_eq!(parse_bound(text.as_bytes()), Some(value), "{text:?}");
        }
        for text in ["nan", "1 ", " ", "a", "(1"] {
            assert_eq!(parse_bound(text.as_bytes()), None, "{text:?}");
        }
    }
}
