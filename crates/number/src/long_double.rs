//! The number type in which Redis adds floating point numbers: the x87 extended double, which C on
//! x86-64 calls `long double`, with its conversions from and to decimal text.
//!
//! Idea: Redis reads both operands of INCRBYFLOAT with `strtold`, adds them with 64 bits of
//! mantissa and prints the sum with `%.17Lf`, trailing zeros removed. That is why 0.1 + 0.2 is 0.3
//! there and why large numbers with fractions come out with noise at their ends. No other
//! arithmetic gives the same digits: decimals would be prettier, doubles would be noisier, and
//! either would make a value depend on which server computed it. Rust has no such type, so it is
//! done here in integers: a number is ±mantissa × 2^exponent, each conversion and the sum are exact
//! until one rounding to 64 bits, to nearest, ties to even.
//!
//! Numbers of up to 19 digits near 1 stay within 128 bits; the others go through [`big`].
//!
//! It deliberately has no NaN and no sign of infinity: no command keeps such a value.

mod big;
mod decimal;
mod text;

use crate::double::power_of_two;

/// Least exponent: 2^-16445 is the smallest number above zero.
const EXPONENT_MIN: i32 = -16445;
/// Greatest exponent of a number with a full mantissa.
const EXPONENT_MAX: i32 = 16384 - 64;

/// The smallest double above zero.
const MIN_POSITIVE: f64 = f64::from_bits(1);

/// An extended double.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LongDouble {
    /// ±mantissa × 2^exponent.
    Finite(Finite),
    /// An infinity of either sign.
    Infinite,
}

/// A number that is not infinite.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Finite {
    negative: bool,
    /// The highest bit is set, but for zero and where the exponent is the least one.
    mantissa: u64,
    exponent: i32,
}

/// The sign and the magnitude of a number before it is rounded.
#[derive(Clone, Copy)]
struct Unrounded {
    negative: bool,
    /// At least 66 bits if the remainder is not zero.
    mantissa: u128,
    exponent: i32,
    remainder: Remainder,
}

/// Whether a number is more than its mantissa says, by less than one unit of it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Remainder {
    Zero,
    Some,
}

impl Remainder {
    fn of(is_some: bool) -> Remainder {
        if is_some { Remainder::Some } else { Remainder::Zero }
    }
}

impl LongDouble {
    /// Zero.
    pub const ZERO: LongDouble =
        LongDouble::Finite(Finite { negative: false, mantissa: 0, exponent: 0 });

    /// The number as a double, rounded perhaps more than once; `None` for an infinity. Only zero
    /// becomes zero: what is smaller than every double becomes the smallest.
    pub fn to_f64(self) -> Option<f64> {
        let LongDouble::Finite(Finite { negative, mantissa, exponent }) = self else {
            return None;
        };
        // In two steps, for 2^exponent alone is below every double where the product is not yet.
        let half = exponent / 2;
        let magnitude = mantissa as f64 * power_of_two(half) * power_of_two(exponent - half);
        let magnitude = if magnitude == 0.0 && mantissa != 0 { MIN_POSITIVE } else { magnitude };
        Some(if negative { -magnitude } else { magnitude }).filter(|value| value.is_finite())
    }

    /// The sum.
    pub fn plus(self, other: LongDouble) -> LongDouble {
        match (self, other) {
            (LongDouble::Finite(a), LongDouble::Finite(b)) => add(a, b),
            _ => LongDouble::Infinite,
        }
    }
}

impl Unrounded {
    /// Rounds to 64 bits, to nearest, ties to even.
    fn round(self) -> LongDouble {
        let Unrounded { negative, mut mantissa, mut exponent, mut remainder } = self;
        // Two bits more than are kept, and the remainder, decide every case.
        let extra = (128 - mantissa.leading_zeros() as i32 - 66).max(0);
        if extra > 0 {
            let lost = mantissa & ((1 << extra) - 1) != 0;
            remainder = Remainder::of(lost || remainder == Remainder::Some);
            mantissa >>= extra;
            exponent += extra;
        }
        let bits = 128 - mantissa.leading_zeros() as i32;
        if bits == 0 {
            return LongDouble::Finite(Finite { negative, mantissa: 0, exponent: 0 });
        }
        let shift = (bits - 64).max(EXPONENT_MIN - exponent);
        let mut kept = match shift {
            ..=0 => mantissa << -shift,
            1..=66 => round_shift(mantissa, shift as u32, remainder),
            _ => 0,
        };
        exponent += shift;
        if kept == 1 << 64 {
            kept >>= 1;
            exponent += 1;
        }
        if exponent > EXPONENT_MAX {
            return LongDouble::Infinite;
        }
        LongDouble::Finite(Finite { negative, mantissa: kept as u64, exponent })
    }
}

/// `value` / 2^`shift`, to nearest, ties to even. `shift` is from 1 to 127.
fn round_shift(value: u128, shift: u32, remainder: Remainder) -> u128 {
    let half = 1 << (shift - 1);
    let rest = value & ((1 << shift) - 1);
    let kept = value >> shift;
    let up = rest > half || rest == half && (remainder == Remainder::Some || kept & 1 == 1);
    kept + u128::from(up)
}

fn add(a: Finite, b: Finite) -> LongDouble {
    if a.mantissa == 0 {
        return LongDouble::Finite(b);
    }
    if b.mantissa == 0 {
        return LongDouble::Finite(a);
    }
    let (a, b) = if a.exponent >= b.exponent { (a, b) } else { (b, a) };
    // 62 bits below the larger number's last one, and one above its first for the carry.
    const SPARE_BITS: i32 = 62;
    let distance = (a.exponent - b.exponent).min(127);
    let larger = u128::from(a.mantissa) << SPARE_BITS;
    let smaller = u128::from(b.mantissa) << SPARE_BITS;
    let lost = smaller & ((1 << distance) - 1) != 0;
    let smaller = smaller >> distance;
    let (negative, mantissa) = if a.negative == b.negative {
        (a.negative, larger + smaller)
    } else if larger >= smaller {
        // What is lost below makes the difference smaller: by a unit, less a remainder.
        (a.negative, larger - smaller - u128::from(lost))
    } else {
        (b.negative, smaller - larger)
    };
    let exponent = a.exponent - SPARE_BITS;
    let sum = Unrounded { negative, mantissa, exponent, remainder: Remainder::of(lost) };
    sum.round()
}

#[cfg(test)]
mod tests {
    use super::LongDouble;

    fn sum(a: &str, b: &str) -> Option<String> {
        let parse = |text: &str| LongDouble::parse(text.as_bytes()).expect("a number");
        parse(a).plus(parse(b)).text()
    }

    #[test]
    fn sums_have_the_digits_that_redis_7_prints() {
        for (a, b, expected) in [
            ("0.1", "0.2", "0.3"),
            ("10.50", "0.1", "10.6"),
            ("10.6", "-5", "5.6"),
            ("5.0e3", "2.0e2", "5200"),
            ("3.0e3", "200", "3200"),
            ("0", "-0", "0"),
            ("1", "-1", "0"),
            ("-1e-20", "0", "0"),
            ("1e17", "0.1", "100000000000000000.1015625"),
            ("1000000.1", "0", "1000000.10000000000002274"),
            ("9223372036854775807", "1", "9223372036854775808"),
            ("0x1p-1", "0x.8", "1"),
        ] {
            assert_eq!(sum(a, b).as_deref(), Some(expected), "{a} + {b}");
        }
    }

    #[test]
    fn infinity_has_no_text() {
        assert_eq!(sum("inf", "1"), None);
        assert_eq!(sum("-Infinity", "inf"), None);
        let most = "1.18e4932";
        assert_eq!(sum(most, most), None);
        assert_eq!(sum(most, "0").map(|text| text.len()), Some(4933));
    }
}
