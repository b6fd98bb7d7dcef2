//! SHA-1 (RFC 3174): the names of scripts, and `redis.sha1hex`.
//!
//! Nothing here depends on its being hard to collide: who can load scripts can run any.

use std::fmt;

/// A SHA-1 digest.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Sha1([u8; 20]);

const BLOCK_BYTES: usize = 64;

impl Sha1 {
    /// The digest of some bytes.
    pub fn of(bytes: &[u8]) -> Sha1 {
        let mut state = [0x6745_2301, 0xEFCD_AB89, 0x98BA_DCFE, 0x1032_5476, 0xC3D2_E1F0];
        let mut blocks = bytes.chunks_exact(BLOCK_BYTES);
        for block in &mut blocks {
            add_block(&mut state, block);
        }
        // A one bit, zeros, and the length in bits fill the last block or the last two.
        let rest = blocks.remainder();
        let mut end = [0_u8; 2 * BLOCK_BYTES];
        end[..rest.len()].copy_from_slice(rest);
        end[rest.len()] = 0x80;
        let used = if rest.len() < BLOCK_BYTES - 8 { BLOCK_BYTES } else { 2 * BLOCK_BYTES };
        end[used - 8..used].copy_from_slice(&(bytes.len() as u64 * 8).to_be_bytes());
        for block in end[..used].chunks_exact(BLOCK_BYTES) {
            add_block(&mut state, block);
        }
        let mut digest = [0; 20];
        for (bytes, word) in digest.chunks_exact_mut(4).zip(state) {
            bytes.copy_from_slice(&word.to_be_bytes());
        }
        Sha1(digest)
    }

    /// Reads 40 hexadecimal digits, in any case.
    pub fn parse(text: &[u8]) -> Option<Sha1> {
        let mut digest = [0; 20];
        if text.len() != 2 * digest.len() {
            return None;
        }
        for (byte, digits) in digest.iter_mut().zip(text.chunks_exact(2)) {
            let digit = |digit: u8| char::from(digit).to_digit(16);
            *byte = (digit(digits[0])? << 4 | digit(digits[1])?) as u8;
        }
        Some(Sha1(digest))
    }
}

impl fmt::Display for Sha1 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

fn add_block(state: &mut [u32; 5], block: &[u8]) {
    let mut words = [0_u32; 80];
    for (word, bytes) in words.iter_mut().zip(block.chunks_exact(4)) {
        *word = u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    }
    for at in 16..80 {
        words[at] =
            (words[at - 3] ^ words[at - 8] ^ words[at - 14] ^ words[at - 16]).rotate_left(1);
    }
    let [mut a, mut b, mut c, mut d, mut e] = *state;
    for (at, word) in words.into_iter().enumerate() {
        let (mixed, constant) = match at {
            0..20 => (b & c | !b & d, 0x5A82_7999),
            20..40 => (b ^ c ^ d, 0x6ED9_EBA1),
            40..60 => (b & c | b & d | c & d, 0x8F1B_BCDC),
            _ => (b ^ c ^ d, 0xCA62_C1D6_u32),
        };
        let next = a
            .rotate_left(5)
            .wrapping_add(mixed)
            .wrapping_add(e)
            .wrapping_add(constant)
            .wrapping_add(word);
        (e, d, c, b, a) = (d, c, b.rotate_left(30), a, next);
    }
    for (sum, word) in state.iter_mut().zip([a, b, c, d, e]) {
        *sum = sum.wrapping_add(word);
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
