//! FLUSHDB, FLUSHALL and SWAPDB: constant work a partition, whatever it holds, and nothing where it
//! holds nothing.
//!
//! All partitions are locked, in order: else a key that is put meanwhile would stand in the log on
//! the other side of the flush than it was seen on. A flushed database gets a new generation and an
//! empty table; the old table is freed by a background thread, and the old generation's rows in the
//! cold tier are a range that the next checkpoint deletes.
//!
//! With sixteen databases that are 16,384 tables, of which nearly all are empty after a flush. So
//! databases that nobody uses are passed over ([`Engine::note_used`]), and so is a partition whose
//! database is as a new one ([`is_untouched`]). A shard has a record only if one of its
//! partitions is concerned. Replay comes to the same keys: where a flush found nothing, there is
//! nothing for it to remove.
//!
//! [`is_untouched`]: basalt_keyspace::database::Database::is_untouched

use crate::engine::Engine;
use crate::log::Gate;
use crate::store::changes::ChangeSet;
use crate::store::context::CommandContext;
use crate::store::held::Held;
use crate::store::txn::Txn;
use crate::store::whole::{apply, concerns};
use crate::waiting::watch::seen;
use basalt_change::op::Op;
use basalt_change::place::{PartitionId, ShardSet};
use basalt_keyspace::database::Database;
use basalt_keyspace::interest::{Call, Called, WatchedState};
use basalt_keyspace::keyspace::{Locked, PartitionSet};
use basalt_keyspace::partition::Partition;
use basalt_stdx::short_lock::LockWait;
use std::ops::Range;
use std::sync::atomic::Ordering;

impl Engine {
    /// Empties databases. The reply waits for `gate`.
    ///
    /// # Errors
    /// Somebody holds a partition for longer than the thread waits.
    pub fn flush(&self, databases: Range<u8>, wait: LockWait, gate: &mut Gate) -> Result<(), Held> {
        self.change_databases(wait, gate, |txn| txn.flush(databases))
    }

    /// Exchanges two databases. The reply waits for `gate`.
    ///
    /// # Errors
    /// Somebody holds a partition for longer than the thread waits.
    pub fn swap(&self, db: u8, other: u8, wait: LockWait, gate: &mut Gate) -> Result<(), Held> {
        self.change_databases(wait, gate, |txn| txn.swap(db, other))
    }

    fn change_databases(
        &self,
        wait: LockWait,
        gate: &mut Gate,
        change: impl FnOnce(&mut Txn<'_>),
    ) -> Result<(), Held> {
        let locked = self.lock_all_within(wait).ok_or(Held)?;
        let session = CommandContext::background(0, self.env.clock.unix_ms());
        let mut changes = ChangeSet::default();
        let mut txn = Txn::new(self, locked, session, &mut changes);
        change(&mut txn);
        txn.commit(gate);
        // What was found empty may be so by a change that the log has not acknowledged.
        if self.log().gates_replies() {
            self.log().latest(ShardSet::ALL, gate);
        }
        self.wake_called(changes.take_called());
        self.note_changes(changes.take_count());
        self.log().kick();
        Ok(())
    }

    /// Locks every partition; `None` if somebody holds one of them for longer than this thread
    /// waits.
    pub fn lock_all_within(&self, wait: LockWait) -> Option<Locked<'_>> {
        self.keyspace.lock_many_within(&PartitionSet::ALL, wait)
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
        let engine = self.engine;
        let ops: Vec<Op<'_>> = databases
            .zip(first_generation..)
            .filter(|&(db, _)| db == 0 || engine.used_databases.contains(db))
            .map(|(db, generation)| Op::FlushDb { db, generation })
            .collect();
        self.apply_everywhere(&ops);
        for op in ops {
            if let Op::FlushDb { db, .. } = op {
                engine.used_databases.remove(db);
            }
        }
        // The command may go on, as a part of a transaction.
        engine.note_used(self.session.db);
    }

    /// Exchanges two databases; every partition is held.
    pub(crate) fn swap(&mut self, db: u8, other: u8) {
        if self.engine.may_expire(db) || self.engine.may_expire(other) {
            self.engine.note_expiring(db);
            self.engine.note_expiring(other);
        }
        self.engine.note_used(db);
        self.engine.note_used(other);
        self.apply_everywhere(&[Op::SwapDb { db, other }]);
    }

    /// One record for each shard that is concerned, all or none of which survive.
    fn apply_everywhere(&mut self, ops: &[Op<'_>]) {
        let engine = self.engine;
        let empty = |generation| engine.keyspace.empty_database(generation);
        let (mut old, mut concerned) = (Vec::new(), Vec::new());
        for id in PartitionId::all() {
            let partition = self.locked.partition_mut(id);
            if partition.interest.is_some() {
                engine.forget_tracked(partition);
            }
            if !ops.iter().any(|op| concerns(partition, *op)) {
                continue;
            }
            for op in ops {
                if partition.interest.is_some() {
                    tell(partition, *op, self.session.now_ms, &mut self.changes.called);
                }
                old.extend(apply(partition, *op, &empty));
            }
            concerned.push(id);
        }
        self.changes.called.push(Call::AllOutdated);
        if !concerned.is_empty() {
            self.log_everywhere(ops, &concerned);
            if old.iter().any(Database::has_rows) {
                // Relaxed: it is looked at ten times a second.
                engine.checkpointing.flushed.store(true, Ordering::Relaxed);
            }
            engine.flushed.lock().append(&mut old);
        }
    }
}

/// Tells those who are interested in keys of a database that is about to be emptied or exchanged.
#[cold]
fn tell(partition: &mut Partition, op: Op<'_>, now_ms: u64, called: &mut Called) {
    let Some(mut interest) = partition.interest.take() else { return };
    match op {
        Op::FlushDb { db, .. } => interest.note_replaced(db, |_, _| WatchedState::Absent, called),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checkpoint::CheckpointPace;
    use crate::testing::{engine, put};
    use std::ops::ControlFlow;
    use std::time::{Duration, Instant};

    #[test]
    fn rows_of_flushed_databases_go_without_being_asked_to() {
        let (engine, _) = engine();
        put(&engine, b"a", 0);
        engine.checkpoint().expect("a checkpoint");
        let rows = || {
            let mut rows = 0;
            // Marks stand behind.
            let count = &mut |_: &[u8], _: &[u8]| {
                rows += 1;
                ControlFlow::Continue(())
            };
            engine.cold().scan(b"", b"\xff", count).expect("a scan");
            rows
        };
        assert_eq!(rows(), 1);
        assert!(!engine.checkpoint_now_if_due(&mut CheckpointPace::default()));
        engine.flush(0..1, LockWait::Endless, &mut Gate::default()).unwrap();
        assert!(engine.checkpoint_now_if_due(&mut CheckpointPace::default()));
        assert_eq!(rows(), 0);
        assert!(!engine.checkpoint_now_if_due(&mut CheckpointPace::default()), "once");
        put(&engine, b"a", 0);
        engine.flush(0..1, LockWait::Endless, &mut Gate::default()).unwrap();
        assert!(!engine.checkpoint_now_if_due(&mut CheckpointPace::default()), "nothing to free");
    }

    #[test]
    fn a_flush_starts_a_checkpoint_at_once_and_many_do_once_a_second() {
        let (engine, clock) = engine();
        let put_and_flush = || {
            put(&engine, b"a", 0);
            engine.checkpoint().expect("a checkpoint");
            engine.flush(0..1, LockWait::Endless, &mut Gate::default()).unwrap();
        };
        let mut pace = CheckpointPace::default();
        assert!(!engine.checkpoint_now_if_due(&mut pace), "partitions are looked at");
        put_and_flush();
        assert!(engine.checkpoint_now_if_due(&mut pace), "before they are again");
        put_and_flush();
        assert!(!engine.checkpoint_now_if_due(&mut pace), "just after the last one");
        clock.advance_ms(1_000);
        assert!(engine.checkpoint_now_if_due(&mut pace));
    }

    #[test]
    fn the_checkpoint_after_a_flush_wakes_the_thread_that_frees_space() {
        const LONG: Duration = Duration::from_secs(10);
        let (engine, _) = engine();
        engine.collector.adopt(&std::thread::current());
        let sleeps = |limit: Duration| {
            let start = Instant::now();
            engine.collector.sleep(limit);
            start.elapsed() >= limit
        };
        put(&engine, b"a", 0);
        engine.checkpoint().expect("a checkpoint");
        assert!(sleeps(Duration::from_millis(1)), "nothing was flushed");
        engine.flush(0..1, LockWait::Endless, &mut Gate::default()).unwrap();
        assert!(sleeps(Duration::from_millis(1)), "the rows are there");
        engine.checkpoint().expect("a checkpoint");
        assert!(!sleeps(LONG));
    }

    #[test]
    fn reads_let_go_of_flushes_and_swaps_that_are_acknowledged() {
        let (engine, _) = engine();
        for _ in 0..20 {
            engine.flush(0..2, LockWait::Endless, &mut Gate::default()).unwrap();
            engine.swap(0, 1, LockWait::Endless, &mut Gate::default()).unwrap();
            engine.log().sync_all().expect("a healthy disk");
        }
        let gate = || {
            let (key, mut gate) = (engine.key(b"a"), Gate::default());
            engine.gate_reads(&mut engine.lock(&[key]), &[key], &mut gate);
            gate
        };
        assert!(gate().is_open());
        put(&engine, b"a", 0);
        engine.flush(0..2, LockWait::Endless, &mut Gate::default()).unwrap();
        assert!(!gate().is_open(), "the latest is not acknowledged");
    }

    #[test]
    fn a_flush_touches_only_what_holds_something() {
        let (engine, _) = engine();
        let appended = || engine.log().positions().iter().sum::<u64>();
        let flush = || engine.flush(0..2, LockWait::Endless, &mut Gate::default()).unwrap();
        flush();
        assert_eq!(appended(), 0, "nothing is there");
        // In two shards.
        put(&engine, b"a", 0);
        put(&engine, b"b", 0);
        flush();
        assert_eq!(appended(), 2 + 2);
        assert_eq!(engine.flushed.lock().len(), 2, "databases of a partition");
        assert_eq!(engine.totals(0).keys, 0);
        flush();
        assert_eq!(appended(), 2 + 2, "nothing is there again");
    }

    #[test]
    fn changes_that_wait_under_one_hash_tag_are_bounded_and_reads_let_go_of_them() {
        let (engine, _) = engine();
        let key = engine.key(b"{tag}0");
        let heap_bytes =
            || engine.keyspace.lock(key.partition).partition(key.partition).unacknowledged_bytes();
        for turn in 0..10_000 {
            put(&engine, format!("{{tag}}{}", turn % 10).as_bytes(), 0);
        }
        assert_eq!(heap_bytes(), 0, "ten keys");
        for number in 0..10_000 {
            put(&engine, format!("{{tag}}{number}").as_bytes(), 0);
        }
        assert!((1..=4096).contains(&heap_bytes()), "{} bytes", heap_bytes());
        engine.log().sync_all().expect("a healthy disk");
        let mut gate = Gate::default();
        engine.gate_reads(&mut engine.lock(&[key]), &[key], &mut gate);
        assert_eq!((gate.is_open(), heap_bytes()), (true, 0));
    }
}
