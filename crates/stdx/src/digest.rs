//! Digests of bytes, to tell whether they are others now: XXH3 in 64 bits, as sixteen hexadecimal
//! digits with their zeros in front. That is what Redis' DIGEST returns (since 8.4).
//!
//! They are no proof: two texts with the same digest can be made on purpose.

use twox_hash::XxHash3_64;

/// Digits of a digest.
pub const DIGITS: usize = 16;

/// See the head of this file.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Digest(u64);

impl Digest {
    /// The digest of these bytes.
    pub fn of(bytes: &[u8]) -> Digest {
        Digest(XxHash3_64::oneshot(bytes))
    }

    /// Its number.
    pub fn number(self) -> u64 {
        self.0
    }

    /// Its digits, in small letters.
    pub fn digits(self) -> [u8; DIGITS] {
        std::array::from_fn(|at| {
            let shift = 4 * (DIGITS - 1 - at);
            b"0123456789abcdef"[(self.0 >> shift) as usize & 0xF]
        })
    }

    /// Whether these are its digits, in letters of any size.
    pub fn is(self, digits: &[u8]) -> bool {
        self.digits().eq_ignore_ascii_case(digits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What Redis 8.4 returns.
    #[test]
    fn digests_are_those_of_redis() {
        for (text, digits) in [
            ("", "2d06800538d394c2"),
            ("123", "404a763b3f4c8c9a"),
            ("hello", "9555e8555c62dcfd"),
            ("v8", "0cc76dbb41381419"),
        ] {
            let digest = Digest::of(text.as_bytes());
            assert_eq!(digest.digits(), digits.as_bytes(), "{text}");
            assert!(digest.is(digits.as_bytes()) && digest.is(digits.to_uppercase().as_bytes()));
            assert!(!digest.is(b"") && !digest.is(&digits.as_bytes()[1..]));
        }
    }
}
