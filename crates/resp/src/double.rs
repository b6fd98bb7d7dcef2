//! Doubles as text, as Redis 7.2 and later print them: the fewest digits that read back as the same
//! number. (Redis 7.0 printed 17 digits: 3.2 came out as 3.2000000000000002.)
//!
//! With the d digits that are needed, the first of which counts 10^e:
//!
//! - whole numbers of up to 2^62 print all their digits: `1000000000000000000`;
//! - larger ones do so, digits that are not needed as zeros, if e < d + 7: `4611686018427390000`,
//!   else `5e+18`;
//! - fractions print in full if at most six digits follow the point, or if -4 < e < 4: `0.000001`,
//!   `1234.000000001`;
//! - all others are scientific, and their exponent has a sign but no padding: `1.5e-7`,
//!   `1.2345000000001e+4`.
//!
//! Where two shortest texts exist, this takes the one nearest to the number; Redis takes a short
//! one that is rarely not the shortest or the nearest. Both read back as the same number.

use std::io::Write;

/// Longest text: 24 digits and a sign, or 17 digits with a sign, a point and an exponent of five
/// bytes.
pub(crate) const DOUBLE_TEXT_BYTES_MAX: usize = 32;

/// Beyond this magnitude Redis does not treat a double as an integer.
const INTEGER_MAX: f64 = (i64::MAX / 2) as f64;

/// A double as replies show it.
pub fn double_text(value: f64) -> String {
    String::from_utf8_lossy(DoubleText::new(value).as_bytes()).into_owned()
}

/// The number if it is printed as an integer, and not zero, which has a sign.
#[inline]
pub(crate) fn as_whole(value: f64) -> Option<i64> {
    let whole = value as i64;
    (whole != 0 && whole as f64 == value && value.abs() <= INTEGER_MAX).then_some(whole)
}

/// A short text in place.
pub(crate) struct DoubleText {
    bytes: [u8; DOUBLE_TEXT_BYTES_MAX],
    len: usize,
}

impl DoubleText {
    /// The text of `value`.
    pub(crate) fn new(value: f64) -> Self {
        let mut text = Self { bytes: [0; DOUBLE_TEXT_BYTES_MAX], len: 0 };
        if value.is_nan() {
            text.push(b"nan");
        } else if value.is_infinite() {
            text.push(if value < 0.0 { b"-inf" } else { b"inf" });
        } else if value == 0.0 {
            text.push(if value.is_sign_negative() { b"-0" } else { b"0" });
        } else if let Some(whole) = as_whole(value) {
            text.push(itoa::Buffer::new().format(whole).as_bytes());
        } else {
            text.push_shortest(value);
        }
        text
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    fn push(&mut self, bytes: &[u8]) {
        self.bytes[self.len..self.len + bytes.len()].copy_from_slice(bytes);
        self.len += bytes.len();
    }

    fn push_zeros(&mut self, count: usize) {
        self.bytes[self.len..self.len + count].fill(b'0');
        self.len += count;
    }

    fn push_shortest(&mut self, value: f64) {
        if value < 0.0 {
            self.push(b"-");
        }
        let Shortest { digits, count, exponent } = Shortest::of(value.abs());
        let digits = &digits[..count];
        // The power of ten of the last digit.
        let scale = exponent - (count as i32 - 1);
        if scale >= 0 && exponent < count as i32 + 7 {
            self.push(digits);
            self.push_zeros(scale.unsigned_abs() as usize);
        } else if scale < 0 && (scale > -7 || exponent.abs() < 4) {
            self.push_fraction(digits, exponent);
        } else {
            self.push_scientific(digits, exponent);
        }
    }

    fn push_fraction(&mut self, digits: &[u8], exponent: i32) {
        match usize::try_from(exponent) {
            Ok(exponent) => {
                let (whole, fraction) = digits.split_at(exponent + 1);
                self.push(whole);
                self.push(b".");
                self.push(fraction);
            }
            Err(_) => {
                self.push(b"0.");
                self.push_zeros(exponent.unsigned_abs() as usize - 1);
                self.push(digits);
            }
        }
    }

    fn push_scientific(&mut self, digits: &[u8], exponent: i32) {
        self.push(&digits[..1]);
        if digits.len() > 1 {
            self.push(b".");
            self.push(&digits[1..]);
        }
        self.push(if exponent < 0 { b"e-" } else { b"e+" });
        self.push(itoa::Buffer::new().format(exponent.unsigned_abs()).as_bytes());
    }
}

/// The fewest digits that tell a number from its neighbours, and the power of ten of the first.
struct Shortest {
    digits: [u8; 17],
    count: usize,
    exponent: i32,
}

impl Shortest {
    /// Takes apart what the standard library prints: `d.ddde±x`.
    fn of(value: f64) -> Self {
        let mut text = [0u8; DOUBLE_TEXT_BYTES_MAX];
        let mut rest = &mut text[..];
        write!(rest, "{value:e}").expect("17 digits and an exponent fit in 32 bytes");
        let unused = rest.len();
        let text = &text[..DOUBLE_TEXT_BYTES_MAX - unused];
        let mark = text.iter().position(|&byte| byte == b'e').expect("{:e} prints an e");
        let (mantissa, exponent) = (&text[..mark], &text[mark + 1..]);
        let exponent = crate::line::parse_integer(exponent).expect("{:e} prints a whole exponent");
        let mut shortest = Self { digits: [0; 17], count: 0, exponent: exponent as i32 };
        for &byte in mantissa.iter().filter(|&&byte| byte != b'.') {
            shortest.digits[shortest.count] = byte;
            shortest.count += 1;
        }
        shortest
    }
}

#[cfg(test)]
mod tests {
    use super::DoubleText;
    use proptest::prelude::*;

    fn text(value: f64) -> String {
        String::from_utf8(DoubleText::new(value).as_bytes().to_vec()).unwrap()
    }

    #[test]
    fn doubles_print_as_in_redis_7_2() {
        for (value, expected) in [
            (0.0, "0"),
            (-0.0, "-0"),
            (1.0, "1"),
            (-17.0, "-17"),
            (3.2, "3.2"),
            (0.1, "0.1"),
            (-0.1, "-0.1"),
            (0.1 + 0.2, "0.30000000000000004"),
            (1234.5678, "1234.5678"),
            (0.0001, "0.0001"),
            (0.000001, "0.000001"),
            (0.0000001, "1e-7"),
            (0.0000015, "1.5e-6"),
            (0.00123456789, "0.00123456789"),
            (0.000123456789, "1.23456789e-4"),
            (1234.000000001, "1234.000000001"),
            (12345.000000001, "1.2345000000001e+4"),
            (123456789012.5, "123456789012.5"),
            (1.5e-10, "1.5e-10"),
            (1e7, "10000000"),
            (1e8, "100000000"),
            (1e17, "100000000000000000"),
            (1e18, "1000000000000000000"),
            (4.611686018427388e18, "4611686018427387904"),
            (5e18, "5e+18"),
            (5.25e18, "5.25e+18"),
            (4.61168601842739e18, "4611686018427390000"),
            (1.2345678901234568e22, "12345678901234568000000"),
            (1e20, "1e+20"),
            (1e21, "1e+21"),
            (-1e100, "-1e+100"),
            (f64::MAX, "1.7976931348623157e+308"),
            (f64::MIN, "-1.7976931348623157e+308"),
            (f64::MIN_POSITIVE, "2.2250738585072014e-308"),
            (5e-324, "5e-324"),
            (f64::INFINITY, "inf"),
            (f64::NEG_INFINITY, "-inf"),
            (f64::NAN, "nan"),
        ] {
            assert_eq!(text(value), expected);
        }
    }

    proptest! {
        #[test]
        fn every_double_reads_back_as_itself(bits in any::<u64>(), whole in any::<i64>()) {
            for value in [f64::from_bits(bits), whole as f64, whole as f64 / 1000.0] {
                let back: f64 = text(value).parse().unwrap();
                prop_assert!(back == value || value.is_nan(), "{value:e}");
            }
        }
    }
}
