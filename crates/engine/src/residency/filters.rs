//! Learning after a start which keys are in the cold tier only, so that a new key need not be
//! looked for there.
//!
//! What leaves memory is noted as it leaves (`keyspace/src/database/cold_keys.rs`). What was on
//! disk already when the server started is not known: the rows are gone over once, partition by
//! partition, in a fifth of the thread's time. Until then the cold tier's own filters answer, which
//! takes ten times as long.

#[cfg(test)]
mod tests;

use crate::engine::Engine;
use crate::error::EngineError;
use basalt_change::place::PartitionId;
use basalt_change::row;
use basalt_keyspace::database::Database;
use basalt_keyspace::partition::Partition;
use basalt_stdx::short_lock::LockWait;
use std::ops::ControlFlow;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// How often the thread looks whether a partition does not know.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// It rests this many times as long as it has worked.
const RESTS: u32 = 4;
/// Keys that are shown under one lock.
const KEYS_A_LOCK: usize = 1_024;

impl Engine {
    /// Has every partition know which keys are in the cold tier only, for as long as the engine
    /// runs: a filter that is out of date or that there was no memory for is made again. `between`
    /// is called between two partitions.
    pub(crate) fn keep_cold_filters(&self, mut between: impl FnMut()) {
        while !self.is_stopping() {
            for id in PartitionId::all() {
                between();
                let lacks = |partition: &Partition| {
                    self.used_of(partition).any(Database::lacks_cold_filter)
                };
                // One that somebody holds comes again.
                if self.keyspace.try_look(id, lacks) != Some(true) {
                    continue;
                }
                if self.is_stopping() || !self.has_memory_for_filters() {
                    break;
                }
                let start = self.env.clock.now();
                // It is said when somebody asks for the keys.
                if let Err(error) = self.make_cold_filters(id) {
                    tracing::debug!(%error, partition = id.number(), "rows cannot be gone over");
                }
                std::thread::park_timeout(self.env.clock.since(start) * RESTS);
            }
            std::thread::park_timeout(LOOK_EVERY);
        }
    }

    /// Filters may take more memory.
    fn has_memory_for_filters(&self) -> bool {
        let percent = self.options.cold_filter_percent;
        let is_enough = |target| self.usage().filter_bytes <= target / 100 * percent;
        percent > 0 && self.memory_target().is_none_or(is_enough)
    }

    /// What leaves memory may be noted, as far as was seen last.
    pub(super) fn may_note_cold(&self) -> bool {
        self.options.cold_filter_percent > 0
            && !self.budget.are_filters_full.load(Ordering::Relaxed)
    }

    /// Has a partition know which of its keys are in the cold tier only.
    ///
    /// # Errors
    /// The cold tier cannot be read.
    pub fn make_cold_filters(&self, id: PartitionId) -> Result<(), EngineError> {
        for db in (0..self.options.databases).filter(|&db| self.is_used(db)) {
            self.make_cold_filter(db, id)?;
        }
        Ok(())
    }

    fn make_cold_filter(&self, db: u8, id: PartitionId) -> Result<(), EngineError> {
        let begin = |partition: &mut Partition| {
            let database = partition.database_mut(db);
            let lacks = database.lacks_cold_filter();
            if lacks {
                database.begin_cold_filter();
            }
            lacks.then(|| database.generation())
        };
        let Some(generation) = self.keyspace.with_mut(id, LockWait::Endless, begin).flatten()
        else {
            return Ok(());
        };
        let (from, to) = row::generation_range(id, generation);
        let mut hashes = Vec::with_capacity(KEYS_A_LOCK);
        let mut goes_on = true;
        self.cold.scan_heads(&from, &to, &mut |row_key, _| {
            hashes.extend(row::hash_in_object_key(row_key));
            if hashes.len() == KEYS_A_LOCK {
                goes_on = self.show_cold(db, id, generation, &hashes);
                hashes.clear();
            }
            match goes_on && !self.is_stopping() {
                true => ControlFlow::Continue(()),
                false => ControlFlow::Break(()),
            }
        })?;
        if goes_on && !self.is_stopping() && self.show_cold(db, id, generation, &hashes) {
            let finish = |partition: &mut Partition| {
                let database = partition.database_mut(db);
                database.generation() == generation && database.finish_cold_filter()
            };
            self.keyspace.with_mut(id, LockWait::Endless, finish);
        }
        Ok(())
    }

    /// Returns false if they need not be shown any more.
    fn show_cold(&self, db: u8, id: PartitionId, generation: u64, hashes: &[u64]) -> bool {
        let show = |partition: &mut Partition| {
            let database = partition.database_mut(db);
            database.generation() == generation && database.show_cold(hashes)
        };
        self.keyspace.with_mut(id, LockWait::Endless, show).unwrap_or(false)
    }
}
