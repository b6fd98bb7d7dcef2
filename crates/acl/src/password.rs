//! Passwords are known by their SHA-256 alone.

use sha2::{Digest, Sha256};
use std::fmt;
use std::hint::black_box;

const HASH_BYTES: usize = 32;

/// The SHA-256 of a password.
#[derive(Clone, Copy)]
pub struct PasswordHash([u8; HASH_BYTES]);

/// Hashes a password.
pub fn hash_password(password: &[u8]) -> PasswordHash {
    PasswordHash(Sha256::digest(password).into())
}

impl PasswordHash {
    /// Reads 64 hexadecimal digits in lower case.
    pub fn from_hex(text: &[u8]) -> Option<PasswordHash> {
        if text.len() != 2 * HASH_BYTES {
            return None;
        }
        let mut hash = [0; HASH_BYTES];
        for (byte, digits) in hash.iter_mut().zip(text.chunks_exact(2)) {
            *byte = digit(digits[0])? << 4 | digit(digits[1])?;
        }
        Some(PasswordHash(hash))
    }

    /// 64 hexadecimal digits.
    pub fn to_hex(&self) -> String {
        self.0.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Whether the two are equal, found out in a time that does not depend on where they differ.
    pub fn is(&self, other: &PasswordHash) -> bool {
        let pairs = self.0.iter().zip(&other.0);
        let differing = pairs.fold(0, |all, (one, other)| black_box(all | one ^ other));
        black_box(differing) == 0
    }
}

fn digit(character: u8) -> Option<u8> {
    match character {
        b'0'..=b'9' => Some(character - b'0'),
        b'a'..=b'f' => Some(character - b'a' + 10),
        _ => None,
    }
}

impl fmt::Debug for PasswordHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PasswordHash(hidden)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b";

    #[test]
    fn a_hash_is_the_sha_256_in_lower_case() {
        let hash = hash_password(b"secret");
        assert_eq!(hash.to_hex(), SECRET);
        let read = PasswordHash::from_hex(SECRET.as_bytes()).unwrap();
        assert!(hash.is(&read) && !hash.is(&hash_password(b"Secret")));
        assert!(!format!("{hash:?}").contains("2b"));
    }

    #[test]
    fn other_texts_are_no_hashes() {
        let upper = SECRET.to_uppercase();
        for text in
            ["", "ab", &SECRET[1..], &upper, &format!("{SECRET}0"), &SECRET.replace('b', "g")]
        {
            assert!(PasswordHash::from_hex(text.as_bytes()).is_none(), "{text}");
        }
    }
}
