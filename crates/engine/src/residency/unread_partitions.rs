//! Partitions in which keys were put unread, a bit each.
//!
//! Relaxed throughout: a bit is set under the lock of its partition, and a thread that has taken it
//! looks at the partition under that lock.

use basalt_change::place::{PARTITIONS, PartitionId};
use std::sync::atomic::{AtomicU64, Ordering};

/// See the head of this file.
#[derive(Debug)]
pub(crate) struct UnreadPartitions([AtomicU64; PARTITIONS / 64]);

impl Default for UnreadPartitions {
    fn default() -> UnreadPartitions {
        UnreadPartitions([const { AtomicU64::new(0) }; PARTITIONS / 64])
    }
}

impl UnreadPartitions {
    pub(super) fn insert(&self, id: PartitionId) {
        let (word, bit) = (&self.0[id.index() / 64], 1 << (id.index() % 64));
        if word.load(Ordering::Relaxed) & bit == 0 {
            word.fetch_or(bit, Ordering::Relaxed);
        }
    }

    pub(super) fn take(&self) -> Vec<PartitionId> {
        let words = self.0.each_ref().map(|word| match word.load(Ordering::Relaxed) {
            0 => 0,
            _ => word.swap(0, Ordering::Relaxed),
        });
        let is_in = |id: &PartitionId| words[id.index() / 64] >> (id.index() % 64) & 1 != 0;
        PartitionId::all().filter(is_in).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_partition_is_taken_once() {
        let partitions = UnreadPartitions::default();
        let ids =
            [0, 63, 64, 1023].map(|number| PartitionId::new(number).expect("below the count"));
        ids.iter().chain(&ids).for_each(|&id| partitions.insert(id));
        assert_eq!(partitions.take(), ids);
        assert_eq!(partitions.take(), []);
    }
}
