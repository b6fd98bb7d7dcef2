//! HOT PATH
//! A key with what is computed from it once and used everywhere.

use basalt_change::place::{PartitionId, Slot};
use basalt_change::row;
use basalt_keyspace::hash::KeyHasher;

/// A key, its hash and its partition.
#[derive(Clone, Copy, Debug)]
pub struct Key<'a> {
    /// The key.
    pub bytes: &'a [u8],
    /// Its hash under this process's seed.
    pub hash: u64,
    /// Where it lives.
    pub partition: PartitionId,
}

impl<'a> Key<'a> {
    /// Computes hash and partition.
    #[inline(always)]
    pub fn new(bytes: &'a [u8], hasher: &KeyHasher) -> Key<'a> {
        Key { bytes, hash: hasher.hash(bytes), partition: Slot::of(bytes).partition() }
    }

    /// The key of its row, in a database of this generation.
    pub(crate) fn row_key(&self, generation: u64) -> Vec<u8> {
        let mut row_key = Vec::new();
        row::object_key(self.partition, generation, (self.hash, self.bytes), &mut row_key);
        row_key
    }
}
