//! Counting what there is: keys, memory.
//!
//! Partitions are counted one after the other, each under its lock: under concurrent writes the
//! sums are not one moment's truth.

use crate::engine::Engine;
use crate::store::held::Held;
use basalt_change::place::PartitionId;
use basalt_keyspace::database::Database;
use basalt_keyspace::keyspace::Locked;
use basalt_keyspace::partition::Partition;
use basalt_stdx::short_lock::LockWait;

/// What one database holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct DatabaseTotals {
    /// Keys, in memory or not.
    pub keys: u64,
    /// Keys in memory with an expiry.
    pub expires: u64,
    /// Keys in the cold tier only.
    pub keys_cold_only: u64,
    /// Keys that were put without a look at the cold tier, and of which it is not known yet whether
    /// they were there: by no more than this the other numbers may be wrong.
    pub keys_unread: u64,
}

impl DatabaseTotals {
    fn add(&mut self, database: &Database) {
        self.keys += database.keys();
        self.expires += database.table().counts().expiring as u64;
        self.keys_cold_only += database.keys_cold_only();
        self.keys_unread += database.unread().len() as u64;
    }
}

/// What the keyspace takes of memory, in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct MemoryTotals {
    /// Pages that hold small entries.
    pub page_bytes: u64,
    /// Entries, headers and keys included, without shared values.
    pub entry_bytes: u64,
    /// Entries too large for pages.
    pub large_bytes: u64,
    /// Values of their own, and the consumers of queues.
    pub apart_bytes: u64,
    /// Tables, and what is known of keys that are not in memory.
    pub index_bytes: u64,
}

impl MemoryTotals {
    /// All of it: what is compared with what `maxmemory` leaves the keyspace.
    pub fn bytes_used(&self) -> u64 {
        self.page_bytes + self.large_bytes + self.apart_bytes + self.index_bytes
    }

    /// What of the pages no entry fills.
    pub fn slack_bytes(&self) -> u64 {
        self.page_bytes.saturating_sub(self.entry_bytes.saturating_sub(self.large_bytes))
    }
}

/// What there is, all databases and kinds of memory in one walk over the partitions.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Census {
    /// By database number.
    pub databases: Vec<DatabaseTotals>,
    /// What it takes of memory.
    pub memory: MemoryTotals,
}

impl Engine {
    /// Number of keys of a database. Not one moment's truth under concurrent writes: partitions are
    /// counted one after the other.
    pub fn totals(&self, db: u8) -> DatabaseTotals {
        self.totals_in(None, db, LockWait::Endless).expect("an endless wait ends with the locks")
    }

    /// [`Engine::totals`] for a thread that has others to serve.
    ///
    /// # Errors
    /// Somebody holds a partition for longer than the thread waits.
    pub fn totals_within(&self, db: u8, wait: LockWait) -> Result<DatabaseTotals, Held> {
        self.totals_in(None, db, wait)
    }

    /// The totals for a caller that may hold every partition; then they are one moment's truth.
    pub(crate) fn totals_in(
        &self,
        held: Option<&Locked<'_>>,
        db: u8,
        wait: LockWait,
    ) -> Result<DatabaseTotals, Held> {
        let mut totals = DatabaseTotals::default();
        for id in PartitionId::all() {
            self.look(held, id, wait, |partition| totals.add(partition.database(db)))?;
        }
        Ok(totals)
    }

    /// What there is. Like [`Engine::totals`], not one moment's truth.
    ///
    /// # Errors
    /// Somebody holds a partition for longer than the thread waits.
    pub fn census(&self, wait: LockWait) -> Result<Census, Held> {
        let mut census = Census::default();
        census.databases.resize(usize::from(self.options.databases), DatabaseTotals::default());
        let memory = &mut census.memory;
        memory.page_bytes = self.keyspace.page_bytes() as u64;
        for id in PartitionId::all() {
            let locked = self.keyspace.lock_within(id, wait).ok_or(Held)?;
            let partition = locked.partition(id);
            for (totals, database) in census.databases.iter_mut().zip(partition.databases()) {
                let counts = database.table().counts();
                totals.add(database);
                memory.entry_bytes += counts.entry_bytes as u64;
                memory.large_bytes += database.table().large_bytes() as u64;
                memory.apart_bytes += counts.apart_bytes as u64;
                memory.index_bytes += (counts.index_bytes + database.residency_bytes()) as u64;
            }
            memory.apart_bytes += partition.worker_bytes() as u64;
        }
        Ok(census)
    }

    /// Bytes in pages that hold small entries; asks one counter.
    #[inline]
    pub fn page_bytes(&self) -> u64 {
        self.keyspace.page_bytes() as u64
    }

    /// What the keyspace takes of memory, waiting for nobody: a partition that somebody holds
    /// counts as large as the others are on average.
    pub fn memory_at_once(&self) -> u64 {
        let bytes_apart = |partition: &Partition| -> u64 {
            let bytes = self.used_of(partition).map(bytes_outside_of_pages);
            (bytes.sum::<usize>() + partition.worker_bytes()) as u64
        };
        let zeros = self.budget.zeros();
        let seen = PartitionId::all().filter_map(|id| self.keyspace.try_look(id, bytes_apart));
        let (count, bytes) = seen.fold((0_u64, 0), |(count, sum), bytes| (count + 1, sum + bytes));
        let all = PartitionId::all().count() as u64;
        let apart = (u128::from(bytes) * u128::from(all) / u128::from(count.max(1))) as u64;
        let bytes = self.page_bytes() + apart;
        // What a partition that is held has been given is not known to be in the sum.
        self.budget.note_seen(bytes, if count == all { zeros } else { 0 });
        bytes
    }

    /// Bytes of databases that were flushed and wait to be freed, those in pages left out.
    pub fn flushed_bytes(&self) -> u64 {
        let flushed = self.flushed.lock();
        flushed.iter().map(|database| bytes_outside_of_pages(database) as u64).sum()
    }

    /// What the keyspace takes of memory.
    ///
    /// # Errors
    /// Somebody holds a partition for longer than the thread waits.
    pub fn memory(&self, wait: LockWait) -> Result<MemoryTotals, Held> {
        Ok(self.census(wait)?.memory)
    }
}

/// Memory of a database that is not in pages.
fn bytes_outside_of_pages(database: &Database) -> usize {
    let (table, counts) = (database.table(), database.table().counts());
    table.large_bytes() + counts.apart_bytes + counts.index_bytes + database.residency_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::Gate;
    use crate::testing::{engine, put};

    #[test]
    fn memory_at_once_is_that_of_the_census() {
        let (engine, _) = engine();
        let agrees = || {
            let census = engine.memory(LockWait::Endless).expect("nobody holds one");
            assert_eq!(engine.memory_at_once(), census.bytes_used());
            census.bytes_used()
        };
        assert_eq!(agrees(), 0);
        (0..1000).for_each(|number| put(&engine, format!("key:{number}").as_bytes(), 0));
        let used = agrees();
        assert!(used > 0);
        // The keys are in another database now, which nobody had used.
        engine.swap(0, 1, LockWait::Endless, &mut Gate::default()).expect("nobody holds one");
        assert_eq!(agrees(), used);
        engine.flush(0..2, LockWait::Endless, &mut Gate::default()).expect("nobody holds one");
        assert!(engine.flushed_bytes() > 0);
        engine.free_flushed();
        assert_eq!((engine.flushed_bytes(), agrees()), (0, 0));
    }
}
