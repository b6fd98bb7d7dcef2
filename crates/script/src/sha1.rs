//! SHA-1 (RFC 3174): the names of scripts, and `redis.sha1hex`.
//!
//! Nothing here depends on its being hard to collide: a client that can load scripts can run any.

use std::collections::HashMap;
use std::fmt;
use std::hash::{BuildHasherDefault, Hash, Hasher};

/// A SHA-1 digest.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Sha1([u8; 20]);

/// A table by digests. A digest is as good as its own hash.
pub(crate) type BySha1<T> = HashMap<Sha1, T, BuildHasherDefault<DigestHasher>>;

/// Takes the digest that it is given as the hash.
#[derive(Default)]
pub(crate) struct DigestHasher(u64);

impl Hash for Sha1 {
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        let [a, b, c, d, e, f, g, h, ..] = self.0;
        state.write_u64(u64::from_ne_bytes([a, b, c, d, e, f, g, h]));
    }
}

impl Hasher for DigestHasher {
    #[inline]
    fn write_u64(&mut self, digest: u64) {
        self.0 = digest;
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    #[inline]
    fn finish(&self) -> u64 {
        self.0
    }
}

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
        let (eights, _) = text.as_chunks::<8>();
        for (bytes, digits) in digest.chunks_exact_mut(4).zip(eights) {
            bytes.copy_from_slice(&parse_eight(*digits)?);
        }
        Some(Sha1(digest))
    }
}

/// Reads eight hexadecimal digits at once, a digit in each byte of a word.
#[inline]
fn parse_eight(digits: [u8; 8]) -> Option<[u8; 4]> {
    const EACH: u64 = 0x0101_0101_0101_0101;
    let text = u64::from_le_bytes(digits);
    let letters = text >> 6 & EACH;
    // `a` is 0x61, `A` is 0x41, `0` is 0x30. The sum stays below 25.
    let values = (text & (0x0F * EACH)) + 9 * letters;
    let are_letters = (values + 6 * EACH) >> 4 & EACH;
    // As they are written in small letters: whatever is no digit comes out as another character.
    let written = values + 0x30 * EACH + 39 * are_letters;
    let small = text | (0x20 * EACH);
    let has_bits = (text | text << 1) & (0x40 * EACH);
    let are_too_large = values & (0x10 * EACH) != 0;
    if small != written || has_bits != 0x40 * EACH || are_too_large {
        return None;
    }
    let pairs = (values << 4 | values >> 8) & 0x00FF_00FF_00FF_00FF;
    let fours = (pairs | pairs >> 8) & 0x0000_FFFF_0000_FFFF;
    Some(((fours | fours >> 16) as u32).to_le_bytes())
}

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
        let mut text = sha.to_string().into_bytes();
        for place in 0..text.len() {
            let right = text[place];
            for byte in 0..=u8::MAX {
                text[place] = byte;
                let expected = byte.is_ascii_hexdigit();
                assert_eq!(Sha1::parse(&text).is_some(), expected, "{byte} at {place}");
            }
            text[place] = right;
        }
    }
}
