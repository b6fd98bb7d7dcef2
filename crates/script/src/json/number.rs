//! Numbers as C's `strtod` reads and `%g` writes them.

/// The number at the beginning, as much as is one, and how long it is; that may be 0.
pub(super) fn read(text: &[u8]) -> (f64, usize) {
    let sign = usize::from(matches!(text.first(), Some(b'-' | b'+')));
    let rest = &text[sign..];
    let (number, len) = match rest {
        [b'0', b'x' | b'X', digits @ ..] => match hexadecimal(digits) {
            (_, 0) => (0.0, 1),
            (number, len) => (number, len + 2),
        },
        _ if begins(rest, b"infinity") => (f64::INFINITY, 8),
        _ if begins(rest, b"inf") => (f64::INFINITY, 3),
        _ if begins(rest, b"nan") => (f64::NAN, 3 + parenthesis_len(&rest[3..])),
        _ => {
            let len = decimal_len(rest);
            let text = std::str::from_utf8(&rest[..len]).unwrap_or_default();
            (text.parse().unwrap_or_default(), len)
        }
    };
    match len {
        0 => (0.0, 0),
        len if text.first() == Some(&b'-') => (-number, sign + len),
        len => (number, sign + len),
    }
}

fn begins(text: &[u8], word: &[u8]) -> bool {
    text.get(..word.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(word))
}

/// `(chars)` behind `nan`.
fn parenthesis_len(text: &[u8]) -> usize {
    let [b'(', rest @ ..] = text else { return 0 };
    let is_inside = |byte: &&u8| byte.is_ascii_alphanumeric() || **byte == b'_';
    let len = rest.iter().take_while(is_inside).count();
    if rest.get(len) == Some(&b')') { len + 2 } else { 0 }
}

fn digits(text: &[u8]) -> usize {
    text.iter().take_while(|byte| byte.is_ascii_digit()).count()
}

fn decimal_len(text: &[u8]) -> usize {
    let whole = digits(text);
    let (mut len, mut any) = (whole, whole > 0);
    if text.get(len) == Some(&b'.') {
        let fraction = digits(&text[len + 1..]);
        any |= fraction > 0;
        if any {
            len += 1 + fraction;
        }
    }
    if !any { 0 } else { len + exponent_len(&text[len..], b'e') }
}

/// `e+10`, with its letter in either case.
fn exponent_len(text: &[u8], letter: u8) -> usize {
    if !text.first().is_some_and(|byte| byte.eq_ignore_ascii_case(&letter)) {
        return 0;
    }
    let sign = usize::from(matches!(text.get(1), Some(b'+' | b'-')));
    match digits(&text[1 + sign..]) {
        0 => 0,
        len => 1 + sign + len,
    }
}

/// What follows `0x`.
fn hexadecimal(text: &[u8]) -> (f64, usize) {
    // More digits than these only count as places; the last bit says whether there was anything.
    const BITS: u32 = 60;
    let (mut mantissa, mut exponent, mut len) = (0_u64, 0_i32, 0);
    let (mut any, mut is_fraction) = (false, false);
    while let Some(&byte) = text.get(len) {
        match char::from(byte).to_digit(16) {
            Some(digit) => {
                any = true;
                if mantissa >> (BITS - 4) == 0 {
                    mantissa = mantissa << 4 | u64::from(digit);
                    exponent -= if is_fraction { 4 } else { 0 };
                } else {
                    mantissa |= u64::from(digit != 0);
                    exponent = exponent.saturating_add(if is_fraction { 0 } else { 4 });
                }
            }
            None if byte == b'.' && !is_fraction => is_fraction = true,
            None => break,
        }
        len += 1;
    }
    if !any {
        return (0.0, 0);
    }
    let power = exponent_len(&text[len..], b'p');
    if power > 0 {
        let text = String::from_utf8_lossy(&text[len + 1..len + power]);
        let by: i32 = text.parse().unwrap_or(if text.starts_with('-') { -9999 } else { 9999 });
        exponent = exponent.saturating_add(by);
    }
    (scaled(mantissa as f64, exponent), len + power)
}

/// In steps, so that what is close to zero is not rounded away by a factor that is zero.
fn scaled(mut number: f64, mut exponent: i32) -> f64 {
    const STEP: i32 = 512;
    while exponent > STEP && number.is_finite() && number != 0.0 {
        (number, exponent) = (number * 2_f64.powi(STEP), exponent - STEP);
    }
    while exponent < -STEP && number != 0.0 {
        (number, exponent) = (number * 2_f64.powi(-STEP), exponent + STEP);
    }
    number * 2_f64.powi(exponent.clamp(-STEP, STEP))
}

/// Writes a number with this number of significant digits.
pub(super) fn write(number: f64, precision: i32, out: &mut Vec<u8>) {
    if !number.is_finite() {
        let text: &[u8] = match number {
            number if number.is_nan() => b"nan",
            number if number < 0.0 => b"-inf",
            _ => b"inf",
        };
        return out.extend_from_slice(text);
    }
    let scientific = format!("{number:.*e}", precision as usize - 1);
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or_default();
    let text = if (-4..precision).contains(&exponent) {
        without_zeros(&format!("{number:.*}", (precision - 1 - exponent) as usize)).to_owned()
    } else {
        let sign = if exponent < 0 { '-' } else { '+' };
        format!("{}e{sign}{:02}", without_zeros(mantissa), exponent.abs())
    };
    out.extend_from_slice(text.as_bytes());
}

fn without_zeros(digits: &str) -> &str {
    match digits.contains('.') {
        true => digits.trim_end_matches('0').trim_end_matches('.'),
        false => digits,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_with_the_digits_that_are_asked_for() {
        for (number, precision, text) in [
            (0.0, 14, "0"),
            (1.0, 14, "1"),
            (-1.5, 14, "-1.5"),
            (0.1, 14, "0.1"),
            (1.0 / 3.0, 14, "0.33333333333333"),
            (1e13, 14, "10000000000000"),
            (1e15, 14, "1e+15"),
            (123_456_789_012_345.0, 14, "1.2345678901234e+14"),
            (0.00001, 14, "1e-05"),
            (0.0001, 14, "0.0001"),
            (1e100, 14, "1e+100"),
            (1234.5, 3, "1.23e+03"),
            (0.125, 1, "0.1"),
            (f64::NEG_INFINITY, 14, "-inf"),
        ] {
            let mut out = Vec::new();
            write(number, precision, &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), text);
        }
    }

    #[test]
    fn as_much_is_read_as_is_a_number() {
        for (text, number, len) in [
            ("12ab", 12.0, 2),
            ("-1.5e3]", -1500.0, 6),
            ("1e", 1.0, 1),
            (".5", 0.5, 2),
            ("-", 0.0, 0),
            ("0x1F,", 31.0, 4),
            ("0x1.8p1", 3.0, 7),
            ("0xg", 0.0, 1),
            ("0x1p-1074", 5e-324, 9),
            ("Infinity", f64::INFINITY, 8),
            ("-infx", f64::NEG_INFINITY, 4),
        ] {
            assert_eq!(read(text.as_bytes()), (number, len), "{text}");
        }
        assert!(read(b"nan(12)").0.is_nan());
        assert_eq!(read(b"nan(12)").1, 7);
    }
}
