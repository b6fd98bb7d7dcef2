//! Active expiry: removing keys that nobody asks for any more.
//!
//! Expired keys are invisible at once; this gives their memory back and makes DBSIZE right. Each
//! database of a partition knows a lower bound of its earliest expiry, so that partitions in which
//! nothing is due cost one comparison. The others are looked through in a *round*, some buckets a
//! lock, of which only the references marked EXPIRING are followed; a round goes on where the last
//! lock ended.

pub(crate) mod fields;

use crate::engine::Engine;
use crate::store::changes::ChangeSet;
use crate::store::key::Key;
use basalt_change::place::PartitionId;
use basalt_keyspace::database::RoundLimits;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// After this number of keys to be removed under one lock, no further bucket is looked at:
/// about 50 µs.
const KEYS_A_LOCK: usize = 200;
/// Buckets that are looked at under one lock: at most about 100 µs, if all of their entries expire.
const BUCKETS_A_LOCK: usize = 256;
/// A partition is not walked again before this many milliseconds, whatever is due.
const PAUSE_MS: u64 = 200;
const LIMITS: RoundLimits =
    RoundLimits { keys: KEYS_A_LOCK, buckets: BUCKETS_A_LOCK, pause_ms: PAUSE_MS };

/// Where the cycle goes on.
#[derive(Default)]
pub(crate) struct ExpiryCycle {
    next: usize,
    changes: ChangeSet,
    due: Vec<Vec<u8>>,
}

impl ExpiryCycle {
    /// Goes once over the partitions, or as far as `budget` lasts.
    pub(crate) fn run(&mut self, engine: &Engine, budget: Duration) {
        if !engine.may_expire_at_all() || !engine.may_remove_expired() {
            return;
        }
        let start = engine.env.clock.now();
        for _ in 0..PartitionId::all().len() {
            let goes_on = || engine.may_remove_expired() && engine.env.clock.since(start) < budget;
            self.expire_next(engine, &goes_on);
            if engine.env.clock.since(start) > budget || engine.is_stopping() {
                return;
            }
        }
    }

    /// Removes the due keys of the next partition while `goes_on` says so; what is left is the next
    /// call's.
    fn expire_next(&mut self, engine: &Engine, goes_on: &dyn Fn() -> bool) {
        let now_ms = engine.env.clock.unix_ms();
        let partitions = PartitionId::all().len();
        let id = PartitionId::new((self.next % partitions) as u16).expect("below the count");
        for db in (0..engine.options.databases).filter(|&db| engine.may_expire(db)) {
            while self.expire_some(engine, id, db, now_ms, goes_on) {
                if !goes_on() || engine.log().admit_removal(id.shard()).is_err() {
                    return;
                }
            }
        }
        self.next += 1;
    }

    /// Looks through some buckets of one database and removes what is due there; true if there are
    /// more buckets to look through.
    fn expire_some(
        &mut self,
        engine: &Engine,
        id: PartitionId,
        db: u8,
        now_ms: u64,
        goes_on: &dyn Fn() -> bool,
    ) -> bool {
        if engine.log().admit_removal(id.shard()).is_err() {
            return false;
        }
        let mut locked = engine.keyspace.lock(id);
        if !goes_on() {
            return true;
        }
        let due = &mut self.due;
        due.clear();
        let database = locked.partition_mut(id).database_mut(db);
        let goes_on = database.go_on_with_round(now_ms, LIMITS, due);
        if due.is_empty() {
            return goes_on;
        }
        let removed = engine.change_by_itself(locked, (db, now_ms), &mut self.changes, |txn| {
            let keys = due.iter().map(|bytes| Key::new(bytes, engine.keyspace.hasher()));
            keys.map(|key| u64::from(txn.expire(&key))).sum()
        });
        engine.log().kick();
        engine.expired_keys.fetch_add(removed, Ordering::Relaxed);
        goes_on
    }
}

impl Engine {
    /// Removes what has expired by now, as the background does bit by bit, whether or not that is
    /// switched on. Partitions that have just been looked through are left alone for a moment.
    pub fn expire_due(&self) {
        let mut cycle = ExpiryCycle::default();
        for _ in 0..PartitionId::all().len() {
            cycle.expire_next(self, &|| true);
        }
        self.expire_due_fields();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::Gate;
    use crate::testing::{engine, put};
    use std::cell::Cell;

    /// Keys of one partition: more than are removed under three locks.
    const KEYS: u64 = 4 * KEYS_A_LOCK as u64;

    fn go_round(cycle: &mut ExpiryCycle, engine: &Engine, goes_on: &dyn Fn() -> bool) {
        for _ in 0..PartitionId::all().len() {
            cycle.expire_next(engine, goes_on);
        }
    }

    #[test]
    fn keys_expire_though_their_database_is_exchanged_while_it_is_looked_through() {
        let (engine, clock) = engine();
        for number in 0..KEYS {
            put(&engine, format!("{{tag}}{number}").as_bytes(), 5);
        }
        // One that is not due yet, which the round sees.
        put(&engine, b"{tag}later", 1_000);
        clock.advance_ms(10);
        let mut cycle = ExpiryCycle::default();
        let left = Cell::new(1_000);
        while engine.totals(0).keys == KEYS + 1 {
            left.set(2);
            cycle.expire_next(&engine, &|| left.replace(left.get() - 1) > 1);
        }
        let keys = engine.totals(0).keys;
        assert!(keys > 1, "a round is under way: {keys} keys");
        engine
            .swap(0, 1, basalt_stdx::short_lock::LockWait::Endless, &mut Gate::default())
            .unwrap();
        go_round(&mut cycle, &engine, &|| true);
        clock.advance_ms(PAUSE_MS);
        go_round(&mut cycle, &engine, &|| true);
        assert_eq!((engine.totals(0).keys, engine.totals(1).keys), (0, 1));
        clock.advance_ms(1_000);
        go_round(&mut cycle, &engine, &|| true);
        assert_eq!(engine.totals(1).keys, 0);
    }

    /// A cycle that has gone, as that of DEBUG RELOAD goes, leaves its round to the next one.
    #[test]
    fn a_round_goes_on_though_its_cycle_has_gone() {
        let (engine, clock) = engine();
        for number in 0..KEYS {
            put(&engine, format!("{{tag}}{number}").as_bytes(), 5);
        }
        clock.advance_ms(10);
        while engine.totals(0).keys == KEYS {
            let left = Cell::new(2);
            let mut cycle = ExpiryCycle {
                next: usize::from(engine.key(b"{tag}").partition.number()),
                ..Default::default()
            };
            cycle.expire_next(&engine, &|| left.replace(left.get() - 1) > 1);
        }
        assert!(engine.totals(0).keys > 0, "a round is under way");
        go_round(&mut ExpiryCycle::default(), &engine, &|| true);
        assert_eq!(engine.totals(0).keys, 0);
    }
}
