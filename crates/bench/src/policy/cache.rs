//! What a model of a cache is, and the table that all of them keep keys in.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// One request of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Request {
    pub(super) key: u64,
    /// The second in which it comes, by which caches see time that keep no finer one.
    pub(super) second: u32,
}

/// A cache that holds a number of keys, each of which counts as one.
pub(super) trait Cache {
    /// Looks a key up, and installs it if it is not there. Returns true if it was.
    fn request(&mut self, request: Request) -> bool;

    /// How many keys it holds now; never more than it was made for.
    fn len(&self) -> usize;
}

/// A map by key with a hash of our own: one that needs no protection from those who choose keys,
/// and is the same in every run.
pub(super) type KeyMap<V> = HashMap<u64, V, BuildHasherDefault<KeyHasher>>;

/// Hashes one number.
#[derive(Debug, Default)]
pub(super) struct KeyHasher(u64);

impl Hasher for KeyHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = hash(self.0 ^ u64::from(byte));
        }
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = hash(number);
    }
}

/// Spreads a number over all 64 bits; no two numbers have the same. The finalizer of SplitMix64.
pub(super) fn hash(key: u64) -> u64 {
    let mut mixed = key.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}
