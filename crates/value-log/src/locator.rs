//! Where the record of each key is, by a hash of the key and in memory: 16 bytes a slot, some 21 a
//! value.
//!
//! A slot has 69 bits of the hash, and its shard is another ten: for a billion values the chance
//! that any two of them are taken for one is below one in a million, with a seed that nobody knows.
//! A reader compares the key and would notice; a writer would not, so the bits have to be enough.

mod shard;

pub(crate) use shard::{SEGMENT_MAX, UNIT_MAX};

use crate::place::{Place, SizeClass};
use basalt_stdx::lock_rank::LeafRwLock;
use rapidhash::v3::{RapidSecrets, rapidhash_v3_inline};
use shard::Shard;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

const SHARD_BITS: u32 = 10;

/// The hash of a key, as far as the locator goes by it. Packed, since a checkpoint has one of each
/// of its rows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(Rust, packed)]
pub(crate) struct KeyHash {
    shard: u16,
    /// Places it in its shard.
    leading: u64,
    rest: u8,
}

/// What is known of a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Located {
    pub(crate) place: Place,
    pub(crate) size: SizeClass,
}

/// The map. Shards are leaves in the order of locks.
pub(crate) struct Locator {
    shards: Box<[LeafRwLock<Shard>]>,
    secrets: [RapidSecrets; 2],
    is_built: AtomicBool,
    bytes: AtomicU64,
    values: AtomicU64,
}

impl Locator {
    pub(crate) fn new(seed: u64) -> Locator {
        let shards = std::iter::repeat_with(LeafRwLock::default).take(1 << SHARD_BITS).collect();
        Locator {
            shards,
            secrets: [RapidSecrets::seed(seed), RapidSecrets::seed(!seed.rotate_left(17))],
            is_built: AtomicBool::new(false),
            bytes: AtomicU64::new(0),
            values: AtomicU64::new(0),
        }
    }

    /// Slots have room for such a place. Nobody has written to others.
    pub(crate) fn can_hold(place: Place) -> bool {
        (1..=SEGMENT_MAX).contains(&place.segment) && place.unit <= UNIT_MAX
    }

    #[inline]
    pub(crate) fn hash(&self, key: &[u8]) -> KeyHash {
        let [leading, rest] = self
            .secrets
            .each_ref()
            .map(|secrets| rapidhash_v3_inline::<true, false, false>(key, secrets));
        KeyHash { shard: (rest >> (u64::BITS - SHARD_BITS)) as u16, leading, rest: rest as u8 }
    }

    pub(crate) fn find(&self, hash: KeyHash) -> Option<Located> {
        // Most data directories with small values only never have one.
        if self.values() == 0 {
            return None;
        }
        self.shard(hash).read().find(hash.leading, hash.rest)
    }

    /// A value's record is there now; returns where it was.
    pub(crate) fn insert(&self, hash: KeyHash, located: Located) -> Option<Located> {
        let mut shard = self.shard(hash).write();
        let before = shard.bytes();
        let replaced = shard.insert(hash.leading, hash.rest, located);
        self.account(before, shard.bytes());
        if replaced.is_none() {
            // Relaxed: the lock orders it for those who look under it, and others may be late.
            self.values.fetch_add(1, Ordering::Relaxed);
        }
        replaced
    }

    /// A key has no record any more; returns where it was.
    pub(crate) fn remove(&self, hash: KeyHash) -> Option<Located> {
        if self.values() == 0 {
            return None;
        }
        let mut shard = self.shard(hash).write();
        let before = shard.bytes();
        let removed = shard.remove(hash.leading, hash.rest);
        self.account(before, shard.bytes());
        if removed.is_some() {
            self.values.fetch_sub(1, Ordering::Relaxed);
        }
        removed
    }

    /// All rows have been gone over.
    pub(crate) fn is_built(&self) -> bool {
        self.is_built.load(Ordering::Acquire)
    }

    pub(crate) fn set_built(&self) {
        self.is_built.store(true, Ordering::Release);
    }

    /// Forgets all; it is not built any more.
    pub(crate) fn clear(&self) {
        self.is_built.store(false, Ordering::Release);
        for shard in &self.shards {
            *shard.write() = Shard::default();
        }
        self.bytes.store(0, Ordering::Relaxed);
        self.values.store(0, Ordering::Relaxed);
    }

    /// Values that it knows.
    pub(crate) fn values(&self) -> u64 {
        self.values.load(Ordering::Relaxed)
    }

    /// Bytes of memory.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    fn shard(&self, hash: KeyHash) -> &LeafRwLock<Shard> {
        &self.shards[usize::from(hash.shard)]
    }

    fn account(&self, before: usize, after: usize) {
        if before != after {
            // Relaxed: a figure. It wraps on the way down, and back.
            self.bytes.fetch_add((after as u64).wrapping_sub(before as u64), Ordering::Relaxed);
        }
    }
}
