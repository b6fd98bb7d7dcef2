//! To text: C's `%.17Lf`, trailing zeros removed.

use super::big::Big;
use super::{Finite, LongDouble, Remainder, round_shift};

/// Digits after the point.
const FRACTION_DIGITS: usize = 17;
const FRACTION_SCALE: u128 = 10u128.pow(FRACTION_DIGITS as u32);

impl LongDouble {
    /// The number in decimal, without exponent and with up to 17 digits after the point; `None` for
    /// an infinity.
    pub fn text(self) -> Option<String> {
        let LongDouble::Finite(Finite { negative, mantissa, exponent }) = self else {
            return None;
        };
        let magnitude = match exponent {
            ..=0 => with_fraction(mantissa, exponent.unsigned_abs()),
            _ => whole(mantissa, exponent as usize),
        };
        let sign = if negative && magnitude != "0" { "-" } else { "" };
        Some(format!("{sign}{magnitude}"))
    }
}

/// mantissa / 2^shift.
fn with_fraction(mantissa: u64, shift: u32) -> String {
    // 64 bits times 57 bits.
    let scaled = u128::from(mantissa) * FRACTION_SCALE;
    let rounded = match shift {
        0 => scaled,
        1..=127 => round_shift(scaled, shift, Remainder::Zero),
        _ => 0,
    };
    let (whole, fraction) = (rounded / FRACTION_SCALE, rounded % FRACTION_SCALE);
    let text = format!("{whole}.{fraction:0FRACTION_DIGITS$}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// mantissa × 2^shift.
fn whole(mantissa: u64, shift: usize) -> String {
    const STEP: u32 = 1_000_000_000;
    let mut rest = Big::from(mantissa);
    rest.shift_left(shift);
    let mut steps = Vec::new();
    while !rest.is_zero() {
        steps.push(rest.divide_small(STEP));
    }
    let mut text = steps.pop().unwrap_or(0).to_string();
    for step in steps.iter().rev() {
        text.push_str(&format!("{step:09}"));
    }
    text
}
