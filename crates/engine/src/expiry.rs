//! Active expiry: removing keys that nobody asks for any more.
//!
//! Expired keys are invisible at once; this gives their memory back and makes DBSIZE right. Each
//! database of a partition knows a lower bound of its earliest expiry, so that partitions in which
//! nothing is due cost one comparison; in the others the references marked EXPIRING are walked.

use crate::engine::Engine;
use crate::events::EventClasses;
use crate::key::Key;
use crate::txn::{Changes, Txn};
use crate::view::{Session, Touch};
use basalt_change::place::PartitionId;
use basalt_keyspace::table::bucket::EXPIRING;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Keys that are removed under one lock: about 50 µs.
const KEYS_A_LOCK: usize = 200;
/// A partition is not walked again before this many milliseconds, whatever is due.
const PAUSE_MS: u64 = 200;

/// Where the cycle goes on.
#[derive(Default)]
pub(crate) struct ExpiryCycle {
    next: usize,
    changes: Changes,
    due: Vec<Vec<u8>>,
}

impl ExpiryCycle {
    /// Goes once over the partitions, or as far as `budget` lasts.
    pub(crate) fn run(&mut self, engine: &Engine, budget: Duration) {
        if !engine.active_expiry.load(Ordering::Relaxed) {
            return;
        }
        let start = Instant::now();
        for _ in 0..PartitionId::all().len() {
            self.expire_next(engine, &|| start.elapsed() < budget);
            if start.elapsed() > budget || engine.is_stopping() {
                return;
            }
        }
    }

    /// Removes the due keys of the next partition while `has_time` says so.
    fn expire_next(&mut self, engine: &Engine, has_time: &dyn Fn() -> bool) {
        let now_ms = engine.clock.unix_ms();
        let partitions = PartitionId::all().len();
        let id = PartitionId::new((self.next % partitions) as u16).expect("below the count");
        for db in (0..engine.options.databases).filter(|&db| engine.may_expire(db)) {
            while self.expire_some(engine, id, db, now_ms) && has_time() {}
        }
        self.next += 1;
    }

    /// Removes some due keys of one database; true if more are due.
    fn expire_some(&mut self, engine: &Engine, id: PartitionId, db: u8, now_ms: u64) -> bool {
        let mut locked = engine.keyspace.lock(id);
        let database = &mut locked.partition_mut(id).databases[usize::from(db)];
        if database.next_expiry_ms > now_ms || engine.log().admit().is_err() {
            return false;
        }
        let mut earliest_ms = u64::MAX;
        let mut more = false;
        let due = &mut self.due;
        due.clear();
        database.table.walk(EXPIRING, |entry, _| {
            if entry.expire_ms() > now_ms {
                earliest_ms = earliest_ms.min(entry.expire_ms());
            } else if due.len() < KEYS_A_LOCK {
                due.push(entry.key().to_vec());
            } else {
                more = true;
            }
        });
        if !more {
            database.next_expiry_ms = earliest_ms.max(now_ms + PAUSE_MS);
            if earliest_ms == u64::MAX {
                database.next_expiry_ms = u64::MAX;
            }
        }
        let session = Session { db, now_ms, touch: Touch::No, value_bytes_max: usize::MAX };
        let sink = engine.event_sink.get();
        self.changes.listen_for(sink.map_or(EventClasses::NONE, |sink| sink.classes()));
        let mut txn = Txn::new(engine, locked, session, &mut self.changes);
        for bytes in &*due {
            txn.expire(&Key::new(bytes, engine.keyspace.hasher()));
        }
        // Nobody waits for it, but reads of these keys do, and the news of it.
        let ticket = txn.commit();
        engine.log().kick();
        if let Some(sink) = sink
            && !self.changes.events().is_empty()
        {
            sink.publish(self.changes.events(), ticket);
        }
        engine.expired_keys.fetch_add(due.len() as u64, Ordering::Relaxed);
        more
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
    }
}
