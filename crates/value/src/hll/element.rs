//! HOT PATH
//! From an element to its register and its count.

use super::layout::{COUNT_BITS, INDEX_BITS, REGISTERS};

/// Redis' seed.
const SEED: u64 = 0xADC8_3B19;
const MULTIPLIER: u64 = 0xC6A4_A793_5BD1_E995;
const SHIFT: u32 = 47;

/// What a HyperLogLog sees of an element.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Element {
    pub(super) index: usize,
    pub(super) count: u8,
}

impl Element {
    /// Hashes an element.
    #[inline]
    pub fn new(bytes: &[u8]) -> Element {
        let hash = murmur_64a(bytes);
        // A bit above the highest ends a row of zeros that would have no end.
        let rest = hash >> INDEX_BITS | 1 << COUNT_BITS;
        Element { index: hash as usize & (REGISTERS - 1), count: rest.trailing_zeros() as u8 + 1 }
    }
}

/// Austin Appleby's MurmurHash2 for 64-bit machines, variant A, read as on little-endian ones.
#[inline]
fn murmur_64a(bytes: &[u8]) -> u64 {
    let mut hash = SEED ^ (bytes.len() as u64).wrapping_mul(MULTIPLIER);
    let (words, rest) = bytes.as_chunks::<8>();
    for word in words {
        let mut word = u64::from_le_bytes(*word).wrapping_mul(MULTIPLIER);
        word ^= word >> SHIFT;
        hash = (hash ^ word.wrapping_mul(MULTIPLIER)).wrapping_mul(MULTIPLIER);
    }
    if !rest.is_empty() {
        hash = (hash ^ last_word(bytes, rest)).wrapping_mul(MULTIPLIER);
    }
    hash = (hash ^ hash >> SHIFT).wrapping_mul(MULTIPLIER);
    hash ^ hash >> SHIFT
}

/// What is left behind whole words. It ends where the last eight bytes end, which are read together
/// if there are as many: what is written byte by byte is not there yet when it is read as a word.
#[inline]
fn last_word(bytes: &[u8], rest: &[u8]) -> u64 {
    match bytes.last_chunk::<8>() {
        Some(last) => u64::from_le_bytes(*last) >> (u64::BITS as usize - 8 * rest.len()),
        None => rest.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte)),
    }
}

#[cfg(test)]
mod tests {
    use super::{Element, last_word};

    #[test]
    fn the_last_word_is_what_is_left() {
        let bytes: Vec<u8> = (1..=40).collect();
        for len in 0..bytes.len() {
            let bytes = &bytes[..len];
            let (_, rest) = bytes.as_chunks::<8>();
            let mut word = [0; 8];
            word[..rest.len()].copy_from_slice(rest);
            let is_whole = rest.is_empty();
            assert!(is_whole || last_word(bytes, rest) == u64::from_le_bytes(word), "{len}");
        }
    }

    /// Where a redis-server put these elements.
    #[test]
    fn elements_go_where_redis_puts_them() {
        for (text, index, count) in ELEMENTS {
            assert_eq!(Element::new(text.as_bytes()), Element { index, count }, "{text}");
        }
    }

    const ELEMENTS: [(&str, usize, u8); 10] = [
        ("", 5938, 2),
        ("a", 12711, 2),
        ("foo", 7348, 5),
        ("1234567", 10327, 3),
        ("12345678", 10579, 3),
        ("123456789", 9293, 2),
        ("HyperLogLog", 2853, 2),
        ("0123456789abcdef", 5949, 1),
        ("0123456789abcdefg", 14057, 2),
        ("the quick brown fox", 15795, 1),
    ];
}
