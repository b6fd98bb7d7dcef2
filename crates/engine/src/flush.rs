//! FLUSHDB, FLUSHALL and SWAPDB: constant work a partition, whatever they hold.
//!
//! All partitions are locked, in order, for about 50 µs. A flushed database gets a new generation
//! and an empty table; the old table is freed by a background thread, and the old generation's rows
//! in the cold tier are a range that the next checkpoint deletes.

use crate::engine::{EVERY_KEY, Engine};
use crate::log::Gate;
use basalt_change::op::{self, Op};
use basalt_change::place::{PartitionId, ShardId};
use basalt_keyspace::keyspace::{Locked, PartitionSet};
use std::sync::atomic::Ordering;

impl Engine {
    /// Empties databases. The reply waits for `gate`.
    pub fn flush(&self, databases: std::ops::Range<u8>, gate: &mut Gate) {
        let mut locked = self.keyspace.lock_many(&PartitionSet::ALL);
        let count = databases.len() as u64;
        let first_generation = self.next_generation.fetch_add(count, Ordering::Relaxed);
        let ops: Vec<Op<'_>> = databases
            .zip(first_generation..)
            .map(|(db, generation)| Op::FlushDb { db, generation })
            .collect();
        let mut old = Vec::with_capacity(PartitionId::all().len());
        for id in PartitionId::all() {
            for op in &ops {
                self.apply_to_database(&mut locked, id, *op, &mut old);
            }
        }
        self.log_everywhere(&mut locked, &ops, gate);
        drop(locked);
        self.log().kick();
        self.flushed.lock().append(&mut old);
    }

    /// Exchanges two databases. The reply waits for `gate`.
    pub fn swap(&self, db: u8, other: u8, gate: &mut Gate) {
        let mut locked = self.keyspace.lock_many(&PartitionSet::ALL);
        let op = Op::SwapDb { db, other };
        if self.may_expire(db) || self.may_expire(other) {
            self.note_expiring(db);
            self.note_expiring(other);
        }
        for id in PartitionId::all() {
            self.apply_to_database(&mut locked, id, op, &mut Vec::new());
        }
        self.log_everywhere(&mut locked, &[op], gate);
        drop(locked);
        self.log().kick();
    }

    fn apply_to_database(
        &self,
        locked: &mut Locked<'_>,
        id: PartitionId,
        op: Op<'_>,
        old: &mut Vec<basalt_keyspace::partition::Database>,
    ) {
        let empty = |generation| self.keyspace.empty_database(generation);
        if let Some(database) = apply(locked.partition_mut(id), op, &empty) {
            old.push(database);
        }
    }

    /// One record a shard, all or none of which survive.
    fn log_everywhere(&self, locked: &mut Locked<'_>, ops: &[Op<'_>], gate: &mut Gate) {
        let mut record = Vec::new();
        op::begin_shard(&mut record);
        ops.iter().for_each(|op| op.encode(&mut record));
        let records: Vec<(ShardId, &[u8])> =
            ShardId::all().map(|shard| (shard, &record[..])).collect();
        let mut positions = Vec::new();
        let ticket = self.log().append_atomically(&records, &mut positions);
        let gated = self.log().gates_replies();
        if gated {
            gate.add(ticket);
        }
        for (shard, seq) in ShardId::all().zip(positions) {
            for id in shard.partitions() {
                let partition = locked.partition_mut(id);
                partition.last_seq = seq;
                if gated {
                    self.forget_acknowledged(id, partition);
                    partition.unacknowledged.push((EVERY_KEY, ticket.position));
                }
            }
        }
    }

    /// Frees flushed databases; called by a background thread.
    pub(crate) fn free_flushed(&self) {
        let old = std::mem::take(&mut *self.flushed.lock());
        drop(old);
    }
}

/// Applies a flush or a swap to one partition; gives back the database that was flushed.
pub(crate) fn apply(
    partition: &mut basalt_keyspace::partition::Partition,
    op: Op<'_>,
    empty: &dyn Fn(u64) -> basalt_keyspace::partition::Database,
) -> Option<basalt_keyspace::partition::Database> {
    partition.mark_stale = true;
    match op {
        Op::FlushDb { db, generation } => {
            let database = partition.databases.numbered_mut(usize::from(db))?;
            // What no checkpoint has written need not be deleted.
            if database.has_rows {
                partition.dead_generations.push(database.generation);
            }
            Some(std::mem::replace(database, empty(generation)))
        }
        Op::SwapDb { db, other } => {
            let (db, other) = (usize::from(db), usize::from(other));
            if db < partition.databases.len() && other < partition.databases.len() {
                partition.databases.swap(db, other);
            }
            None
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Options;
    use crate::journal_log::{JournalLog, Trimming};
    use crate::log::CommitLog;
    use crate::recovery::RecoveryError;
    use basalt_cold::{MemoryDisk, MemoryTier, Residency};
    use basalt_env::{SimDisk, clock::ManualClock};
    use basalt_journal::FsyncPolicy;
    use std::path::Path;
    use std::sync::Arc;

    fn engine() -> Engine {
        let tier =
            MemoryTier::open(&Arc::new(MemoryDisk::new()), Path::new("cold"), Residency::Cached);
        let options =
            Options { databases: 2, checkpoint_log_bytes: u64::MAX, ..Default::default() };
        let journal = basalt_journal::Options { policy: FsyncPolicy::Always, ..Default::default() };
        let clock = Arc::new(ManualClock::at_unix_ms(1));
        Engine::open(options, Arc::new(tier), clock, |floor, replay| {
            let (disk, dir) = (Arc::new(SimDisk::new()), Path::new("/journal"));
            let trimming = Trimming::AfterCheckpoint;
            let log = JournalLog::open(disk, dir, journal, trimming, floor, replay)?;
            Ok::<Arc<dyn CommitLog>, RecoveryError>(Arc::new(log))
        })
        .expect("an empty engine opens")
    }

    #[test]
    fn flushes_and_swaps_do_not_gather_what_is_acknowledged() {
        let engine = engine();
        for _ in 0..20 {
            engine.flush(0..2, &mut Gate::default());
            engine.swap(0, 1, &mut Gate::default());
            engine.log().sync().expect("a healthy disk");
        }
        for id in PartitionId::all() {
            let waiting = engine.keyspace.lock(id).partition(id).unacknowledged.len();
            assert!(waiting <= 2, "{waiting} changes of partition {} wait", id.number());
        }
    }
}
