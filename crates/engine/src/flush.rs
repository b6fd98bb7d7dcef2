//! FLUSHDB, FLUSHALL and SWAPDB: constant work a partition, whatever they hold.
//!
//! All partitions are locked, in order, for about 50 µs. A flushed database gets a new generation
//! and an empty table; the old table is freed by a background thread, and the old generation's rows
//! in the cold tier are a range that the next checkpoint deletes.

use crate::changes::Changes;
use crate::engine::Engine;
use crate::log::Gate;
use crate::txn::Txn;
use crate::view::Session;
use crate::watch::seen;
use basalt_change::op::Op;
use basalt_change::place::PartitionId;
use basalt_keyspace::database::Database;
use basalt_keyspace::interest::{Called, Seen};
use basalt_keyspace::keyspace::{Locked, PartitionSet};
use basalt_keyspace::partition::Partition;
use std::ops::Range;
use std::sync::atomic::Ordering;

impl Engine {
    /// Empties databases. The reply waits for `gate`.
    pub fn flush(&self, databases: Range<u8>, gate: &mut Gate) {
        self.change_databases(gate, |txn| txn.flush(databases));
    }

    /// Exchanges two databases. The reply waits for `gate`.
    pub fn swap(&self, db: u8, other: u8, gate: &mut Gate) {
        self.change_databases(gate, |txn| txn.swap(db, other));
    }

    fn change_databases(&self, gate: &mut Gate, change: impl FnOnce(&mut Txn<'_>)) {
        let session = Session::background(0, self.clock.unix_ms());
        let mut changes = Changes::default();
        let mut txn = Txn::new(self, self.lock_all(), session, &mut changes);
        change(&mut txn);
        if let Some(ticket) = txn.commit() {
            gate.add(ticket);
        }
        self.log().kick();
    }

    /// Locks every partition.
    pub fn lock_all(&self) -> Locked<'_> {
        self.keyspace.lock_many(&PartitionSet::ALL)
    }

    /// Frees flushed databases; called by a background thread.
    pub(crate) fn free_flushed(&self) {
        let old = std::mem::take(&mut *self.flushed.lock());
        drop(old);
    }
}

impl Txn<'_> {
    /// Empties databases; every partition is held.
    pub(crate) fn flush(&mut self, databases: Range<u8>) {
        let count = databases.len() as u64;
        let first_generation = self.engine.next_generation.fetch_add(count, Ordering::Relaxed);
        let ops: Vec<Op<'_>> = databases
            .zip(first_generation..)
            .map(|(db, generation)| Op::FlushDb { db, generation })
            .collect();
        self.apply_everywhere(&ops);
    }

    /// Exchanges two databases; every partition is held.
    pub(crate) fn swap(&mut self, db: u8, other: u8) {
        if self.engine.may_expire(db) || self.engine.may_expire(other) {
            self.engine.note_expiring(db);
            self.engine.note_expiring(other);
        }
        self.apply_everywhere(&[Op::SwapDb { db, other }]);
    }

    /// One record a shard, all or none of which survive.
    fn apply_everywhere(&mut self, ops: &[Op<'_>]) {
        let engine = self.engine;
        let empty = |generation| engine.keyspace.empty_database(generation);
        let mut old = Vec::new();
        for id in PartitionId::all() {
            for op in ops {
                let partition = self.locked.partition_mut(id);
                if partition.interest.is_some() {
                    tell(partition, *op, self.session.now_ms, &mut self.changes.called);
                }
                old.extend(apply(partition, *op, &empty));
            }
        }
        self.log_everywhere(ops);
        engine.flushed.lock().append(&mut old);
    }
}

/// Tells those who are interested in keys of a database that is about to be emptied or exchanged.
#[cold]
fn tell(partition: &mut Partition, op: Op<'_>, now_ms: u64, called: &mut Called) {
    let Some(mut interest) = partition.interest.take() else { return };
    match op {
        Op::FlushDb { db, .. } => interest.note_replaced(db, |_, _| Seen::Absent, called),
        Op::SwapDb { db, other } => {
            for (db, replacement) in [(db, other), (other, db)] {
                let replacement = partition.database(replacement);
                let now = |hash, key: &[u8]| seen(replacement, hash, key, now_ms);
                interest.note_replaced(db, now, called);
            }
        }
        _ => {}
    }
    partition.interest = (!interest.is_empty()).then_some(interest);
}

/// Applies a flush or a swap to one partition; returns the database that was flushed.
pub(crate) fn apply(
    partition: &mut Partition,
    op: Op<'_>,
    empty: &dyn Fn(u64) -> Database,
) -> Option<Database> {
    match op {
        Op::FlushDb { db, generation } => partition.flush(db, empty(generation)),
        Op::SwapDb { db, other } => {
            partition.swap(db, other);
            None
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{engine, put};

    #[test]
    fn flushes_and_swaps_do_not_gather_what_is_acknowledged() {
        let (engine, _) = engine();
        for _ in 0..20 {
            engine.flush(0..2, &mut Gate::default());
            engine.swap(0, 1, &mut Gate::default());
            engine.log().sync().expect("a healthy disk");
        }
        for id in PartitionId::all() {
            let waiting = engine.keyspace.lock(id).partition(id).unacknowledged_count();
            assert!(waiting <= 2, "{waiting} changes of partition {} wait", id.number());
        }
    }

    #[test]
    fn changes_that_wait_under_one_hash_tag_are_bounded_and_reads_let_go_of_them() {
        let (engine, _) = engine();
        let key = engine.key(b"{tag}0");
        let waiting =
            || engine.keyspace.lock(key.partition).partition(key.partition).unacknowledged_count();
        for turn in 0..10_000 {
            put(&engine, format!("{{tag}}{}", turn % 10).as_bytes(), 0);
        }
        assert!(waiting() <= 20, "{} changes of ten keys wait", waiting());
        for number in 0..10_000 {
            put(&engine, format!("{{tag}}{number}").as_bytes(), 0);
        }
        assert!(waiting() <= 4096, "{} changes wait", waiting());
        engine.log().sync().expect("a healthy disk");
        let mut gate = Gate::default();
        engine.gate_reads(&mut engine.lock(&[key]), &[key], &mut gate);
        assert_eq!((gate.is_open(), waiting()), (true, 0));
    }
}
