//! Which keys of a database's share of a partition hold queues, so that queues can be counted
//! without a look at all keys.
//!
//! The hashes of keys: one is noted when a queue is put under its key, and dropped when a walk
//! finds no queue there. So a key that gets something else costs nothing.

use std::collections::BTreeSet;

/// See the head of this file. Allocates nothing until the first queue.
#[derive(Default)]
pub(crate) struct QueueKeys(BTreeSet<u64>);

impl QueueKeys {
    /// A queue is put under the key with this hash.
    #[cold]
    pub(crate) fn note(&mut self, hash: u64) {
        self.0.insert(hash);
    }

    /// Some hashes from this one on, in their order.
    pub(crate) fn some(&self, from: u64, count: usize) -> Vec<u64> {
        self.0.range(from..).take(count).copied().collect()
    }

    /// There is no queue under a key with this hash.
    pub(crate) fn forget(&mut self, hash: u64) {
        self.0.remove(&hash);
    }
}
