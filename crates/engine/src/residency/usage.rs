//! How much memory the keyspace takes, as far as evicting can change that.

use crate::engine::Engine;
use basalt_change::place::PartitionId;
use basalt_keyspace::database::Database;
use basalt_keyspace::partition::Partition;

/// Percent of the entries' bytes that pages may hold besides before it is not the keys' fault: that
/// is what compaction is for, and evicting more would not help.
const SLACK_PERCENT: u64 = 12;

/// See the head of this file.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Usage {
    /// Bytes.
    pub(crate) bytes: u64,
    /// Bytes of pages besides, which compaction may give back.
    pub(crate) slack_bytes: u64,
    /// Keys in memory, and tombstones.
    pub(crate) keys: u64,
    /// Of these, those that no checkpoint has copied.
    pub(crate) dirty_keys: u64,
    /// Tombstones.
    pub(crate) tombstones: u64,
    /// Keys on disk only.
    pub(crate) cold_keys: u64,
    /// Bytes of what is known of these.
    pub(crate) filter_bytes: u64,
}

impl Engine {
    /// Waits for nobody: partitions that somebody holds count as the others do on average.
    pub(crate) fn usage(&self) -> Usage {
        let (mut paged, mut sum, mut seen) = (0, Usage::default(), 0u64);
        for id in PartitionId::all() {
            let look = |partition: &Partition| {
                for database in self.used_of(partition) {
                    let (table, counts) = (database.table(), database.table().counts());
                    let large = table.large_bytes();
                    paged += counts.entry_bytes.saturating_sub(large) as u64;
                    sum.bytes += (large + counts.apart_bytes + counts.index_bytes) as u64;
                    sum.keys += (counts.live + counts.tombstones) as u64;
                    sum.dirty_keys += counts.dirty as u64;
                    sum.tombstones += counts.tombstones as u64;
                    sum.cold_keys += database.keys_cold_only();
                    sum.filter_bytes += database.cold_filter_bytes() as u64;
                    sum.bytes += database.residency_bytes() as u64;
                }
                sum.bytes += partition.worker_bytes() as u64;
            };
            seen += u64::from(self.keyspace.try_look(id, look).is_some());
        }
        let all = PartitionId::all().len() as u64;
        let scaled =
            |figure: u64| (u128::from(figure) * u128::from(all) / u128::from(seen.max(1))) as u64;
        // Pages have one counter, of all partitions.
        let (pages, paged) = (self.page_bytes(), scaled(paged));
        let counted = pages.min(paged + paged / 100 * SLACK_PERCENT);
        Usage {
            bytes: scaled(sum.bytes) + counted,
            slack_bytes: pages - counted,
            keys: scaled(sum.keys),
            dirty_keys: scaled(sum.dirty_keys),
            tombstones: scaled(sum.tombstones),
            cold_keys: scaled(sum.cold_keys),
            filter_bytes: scaled(sum.filter_bytes),
        }
    }

    /// The databases of a partition that may hold something.
    pub(crate) fn used_of<'a>(
        &self,
        partition: &'a Partition,
    ) -> impl Iterator<Item = &'a Database> + use<'_, 'a> {
        let databases = (0..).zip(partition.databases());
        databases.filter(|&(db, _)| self.is_used(db)).map(|(_, database)| database)
    }

    pub(crate) fn is_used(&self, db: u8) -> bool {
        db == 0 || self.used_databases.contains(db)
    }
}
