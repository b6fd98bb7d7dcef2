//! SHA-1 (RFC 3174): the names of scripts, and `redis.sha1hex`.
//!
//! Nothing here depends on its being hard to collide: a client that can load scripts can run any.

use std::fmt;

/// A SHA-1 digest.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Sha1([u8; 20]);

impl Sha1 {
    /// The digest of some bytes.
    pub fn of(bytes: &[u8]) -> Sha1 {
        Sha1(sha1_smol::Sha1::from(bytes).digest().bytes())
    }

    /// Reads 40 hexadecimal digits, in any case.
    pub fn parse(text: &[u8]) -> Option<Sha1> {
        let mut digest = [0; 20];
        if text.len() != 2 * digest.len() {
            return None;
        }
        let mut wrong = 0;
        for (byte, digits) in digest.iter_mut().zip(text.chunks_exact(2)) {
            let digits = [DIGITS[usize::from(digits[0])], DIGITS[usize::from(digits[1])]];
            wrong |= digits[0] | digits[1];
            *byte = digits[0] << 4 | (digits[1] & (NO_DIGIT - 1));
        }
        (wrong < NO_DIGIT).then_some(Sha1(digest))
    }
}

/// Greater than every digit.
const NO_DIGIT: u8 = 16;
/// What each character is as a hexadecimal digit.
const DIGITS: [u8; 256] = {
    let mut digits = [NO_DIGIT; 256];
    let mut digit = 0;
    while digit < NO_DIGIT {
        let small = b"0123456789abcdef"[digit as usize];
        digits[small as usize] = digit;
        digits[small.to_ascii_uppercase() as usize] = digit;
        digit += 1;
    }
    digits
};

impl fmt::Display for Sha1 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_digests_come_out() {
        for (text, digest) in [
            ("", "da39a3ee5e6b4b0d3255bfef95601890afd80709"),
            ("abc", "a9993e364706816aba3e25717850c26c9cd0d89d"),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "84983e441c3bd26ebaae4aa1f95129e5e54670f1",
            ),
        ] {
            assert_eq!(Sha1::of(text.as_bytes()).to_string(), digest);
        }
        let million = vec![b'a'; 1_000_000];
        assert_eq!(Sha1::of(&million).to_string(), "34aa973cd4c4daa4f61eeb2bdbad27316534016f");
    }

    #[test]
    fn digits_are_read_in_any_case_and_nothing_else_is() {
        let sha = Sha1::of(b"abc");
        assert_eq!(Sha1::parse(sha.to_string().as_bytes()), Some(sha));
        assert_eq!(Sha1::parse(sha.to_string().to_uppercase().as_bytes()), Some(sha));
        for wrong in ["", "a9", "g9993e364706816aba3e25717850c26c9cd0d89d"] {
            assert_eq!(Sha1::parse(wrong.as_bytes()), None);
        }
    }
}
