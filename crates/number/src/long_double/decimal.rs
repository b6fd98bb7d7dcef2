//! From text: what C's `strtold` reads, minus what Redis refuses of it.

use super::big::Big;
use super::{Finite, LongDouble, Remainder, Unrounded};

/// Longest text that Redis reads as a number, plus one.
const TEXT_BYTES_MAX: usize = 5 * 1024;
/// Powers of ten beyond every extended double, whatever the digits in front of them.
const POWER_LIMIT: i64 = 5000;
/// Numbers written in exponents are not read any further.
const EXPONENT_LIMIT: i64 = 1_000_000_000;
/// Bits of a quotient: enough for [`Unrounded`].
const QUOTIENT_BITS: usize = 68;

/// Digits before an exponent.
struct Digits<'a> {
    /// The digits, leading zeros removed.
    digits: Vec<u8>,
    /// How many of them stand after the point.
    after_point: i64,
    /// At least one digit was there, if only a zero.
    any: bool,
    /// What follows.
    rest: &'a [u8],
}

impl LongDouble {
    /// Reads a whole text: decimal or hexadecimal, with or without point and exponent, or an
    /// infinity. `None` if it is nothing of that, too long, or out of range.
    pub fn parse(text: &[u8]) -> Option<LongDouble> {
        if text.len() >= TEXT_BYTES_MAX {
            return None;
        }
        let (negative, unsigned) = match text {
            [b'-', rest @ ..] => (true, rest),
            [b'+', rest @ ..] => (false, rest),
            _ => (false, text),
        };
        if unsigned.eq_ignore_ascii_case(b"inf") || unsigned.eq_ignore_ascii_case(b"infinity") {
            return Some(LongDouble::Infinite);
        }
        let number = match unsigned {
            [b'0', b'x' | b'X', rest @ ..] => hexadecimal(rest, negative)?,
            _ => decimal(unsigned, negative)?,
        };
        let Some(unrounded) = number else {
            return Some(LongDouble::Finite(Finite { negative, mantissa: 0, exponent: 0 }));
        };
        match unrounded.round() {
            LongDouble::Infinite | LongDouble::Finite(Finite { mantissa: 0, .. }) => None,
            number => Some(number),
        }
    }
}

/// `Some(None)` is zero.
fn decimal(text: &[u8], negative: bool) -> Option<Option<Unrounded>> {
    let Digits { digits, after_point, any, rest } = take_digits(text, 10);
    let power = take_exponent(rest, b'e')? - after_point;
    if !any {
        return None;
    }
    if digits.is_empty() {
        return Some(None);
    }
    if (digits.len() as i64 + power).abs() > POWER_LIMIT {
        return None;
    }
    const SHORT_DIGITS_MAX: usize = 19;
    const SHORT_POWER_MAX: u64 = 18;
    if digits.len() <= SHORT_DIGITS_MAX && power.unsigned_abs() <= SHORT_POWER_MAX {
        return Some(Some(short_decimal(&digits, power as i32, negative)));
    }
    Some(Some(long_decimal(&digits, power, negative)))
}

fn short_decimal(digits: &[u8], power: i32, negative: bool) -> Unrounded {
    let number = digits.iter().fold(0, |sum, &digit| sum * 10 + u128::from(digit));
    let scale = 10u128.pow(power.unsigned_abs());
    if power >= 0 {
        let mantissa = number * scale;
        return Unrounded { negative, mantissa, exponent: 0, remainder: Remainder::Zero };
    }
    // The scale has at most 60 bits, which leaves 68 for the quotient.
    let shift = number.leading_zeros();
    let number = number << shift;
    Unrounded {
        negative,
        mantissa: number / scale,
        exponent: -(shift as i32),
        remainder: Remainder::of(number % scale != 0),
    }
}

fn long_decimal(digits: &[u8], power: i64, negative: bool) -> Unrounded {
    let mut number = Big::from(0);
    for &digit in digits {
        number.multiply_add(10, u32::from(digit));
    }
    let mut divisor = Big::from(1);
    let scaled = if power >= 0 { &mut number } else { &mut divisor };
    scaled.multiply_by_power_of_ten(power.unsigned_abs() as usize);
    // Scaled so that the quotient has QUOTIENT_BITS or one more.
    let shift = QUOTIENT_BITS as i64 + divisor.bits() as i64 - number.bits() as i64;
    let shifted = if shift >= 0 { &mut number } else { &mut divisor };
    shifted.shift_left(shift.unsigned_abs() as usize);
    let mantissa = number.divide(&divisor, QUOTIENT_BITS + 1);
    let remainder = Remainder::of(!number.is_zero());
    Unrounded { negative, mantissa, exponent: -shift as i32, remainder }
}

/// `Some(None)` is zero.
fn hexadecimal(text: &[u8], negative: bool) -> Option<Option<Unrounded>> {
    let Digits { digits, after_point, any, rest } = take_digits(text, 16);
    let power = take_exponent(rest, b'p')?;
    if !any {
        return None;
    }
    if digits.is_empty() {
        return Some(None);
    }
    const KEPT_DIGITS_MAX: usize = 30;
    let (kept, dropped) = digits.split_at(digits.len().min(KEPT_DIGITS_MAX));
    let exponent = power - 4 * (after_point - dropped.len() as i64);
    let limit = i64::from(super::EXPONENT_MAX) * 2;
    Some(Some(Unrounded {
        negative,
        mantissa: kept.iter().fold(0, |sum, &digit| sum << 4 | u128::from(digit)),
        exponent: exponent.clamp(-limit, limit) as i32,
        remainder: Remainder::of(dropped.iter().any(|&digit| digit != 0)),
    }))
}

fn take_digits(text: &[u8], radix: u32) -> Digits<'_> {
    let mut taken = Digits { digits: Vec::new(), after_point: 0, any: false, rest: text };
    let mut seen_point = false;
    while let [byte, rest @ ..] = taken.rest {
        match char::from(*byte).to_digit(radix) {
            Some(digit) => {
                taken.any = true;
                taken.after_point += i64::from(seen_point);
                if digit != 0 || !taken.digits.is_empty() {
                    taken.digits.push(digit as u8);
                }
            }
            None if *byte == b'.' && !seen_point => seen_point = true,
            None => break,
        }
        taken.rest = rest;
    }
    taken
}

/// The exponent that is all the rest of a number; 0 if there is no rest, `None` if it is something
/// else.
fn take_exponent(text: &[u8], letter: u8) -> Option<i64> {
    let [first, rest @ ..] = text else { return Some(0) };
    let (negative, digits) = match rest {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] => (false, digits),
        digits => (false, digits),
    };
    if !first.eq_ignore_ascii_case(&letter) || digits.is_empty() {
        return None;
    }
    let mut value = 0;
    for digit in digits {
        let digit = char::from(*digit).to_digit(10)?;
        value = (value * 10 + i64::from(digit)).min(EXPONENT_LIMIT);
    }
    Some(if negative { -value } else { value })
}

#[cfg(test)]
mod tests {
    use super::LongDouble;

    #[test]
    fn only_whole_numbers_in_range_are_read() {
        let too_long = "1".repeat(5 * 1024);
        for text in [
            "",
            "-",
            "+",
            ".",
            "e5",
            " 1",
            "1 ",
            "1e",
            "1e+",
            "1.2.3",
            "0x",
            "0x.p1",
            "0x1p",
            "1f",
            "nan",
            "infin",
            "1e5000",
            "-1e4933",
            "1e-5000",
            "0x1p20000",
            "0x1p-20000",
            "--1",
            "1e99999999999999999999",
            &too_long,
        ] {
            assert_eq!(LongDouble::parse(text.as_bytes()), None, "{text}");
        }
        for text in ["0", ".5", "5.", "+1", "-0e9999999", "1E5", "0X1P-3", "INF", "1e-4940"] {
            assert!(LongDouble::parse(text.as_bytes()).is_some(), "{text}");
        }
    }

    #[test]
    fn short_and_long_notations_of_a_number_are_equal() {
        let parse = |text: &str| LongDouble::parse(text.as_bytes()).expect("a number");
        for (short, long) in [
            ("0.1", "0.100000000000000000000000000000"),
            ("123456789e-9", "0.0000000000000000000123456789e19"),
            ("-7e18", "-7000000000000000000.000"),
            ("3", "0x3.0000000000000000000000000000000000000"),
            ("1e-18", "0.000000000000000000000000000001e12"),
        ] {
            assert_eq!(parse(short), parse(long), "{short}");
        }
    }
}
