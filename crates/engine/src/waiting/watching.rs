//! What a client watches.

use basalt_change::place::PartitionId;
use basalt_keyspace::interest::{KeyId, WatchMark};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The keys that one client watches.
#[derive(Debug)]
pub struct Watching {
    pub(super) mark: Arc<WatchMark>,
    pub(super) keys: BTreeSet<(PartitionId, KeyId)>,
    /// When the first of them expires, in unix milliseconds, of those that had not yet.
    pub(super) expires_ms: u64,
}

impl Default for Watching {
    fn default() -> Self {
        Watching { mark: Arc::default(), keys: BTreeSet::new(), expires_ms: u64::MAX }
    }
}

impl Watching {
    /// Whether a key has changed or expired since it was watched. For good only while the
    /// partitions of [`Watching::partitions`] are held.
    pub fn is_changed(&self, now_ms: u64) -> bool {
        self.mark.is_changed() || self.expires_ms <= now_ms
    }

    /// Count of keys.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether no key is watched.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// At most `max` of the keys, at least one if there is one, whose watches are to be ended apart
    /// from the others'.
    pub(super) fn split_off_some(&mut self, max: usize) -> Watching {
        let after = self.keys.iter().nth(max.max(1)).copied();
        let others = after.map_or_else(BTreeSet::new, |after| self.keys.split_off(&after));
        let keys = std::mem::replace(&mut self.keys, others);
        Watching { mark: Arc::clone(&self.mark), keys, expires_ms: self.expires_ms }
    }

    /// Where the keys are.
    pub fn partitions(&self) -> impl Iterator<Item = PartitionId> + '_ {
        self.keys.iter().map(|&(partition, _)| partition)
    }

    /// What tells of changes.
    pub fn mark(&self) -> &Arc<WatchMark> {
        &self.mark
    }
}
