//! Active expiry: removing keys that nobody asks for any more.
//!
//! Expired keys are invisible at once; this gives their memory back and makes DBSIZE right. Each
//! database of a partition knows a lower bound of its earliest expiry, so that partitions in which
//! nothing is due cost one comparison. The others are looked through in a *round*, some buckets a lock,
//! of which only the references marked EXPIRING are followed; a round goes on where the last lock ended.

use crate::changes::Changes;
use crate::engine::Engine;
use crate::events::EventClasses;
use crate::key::Key;
use crate::txn::Txn;
use crate::view::Session;
use basalt_change::place::PartitionId;
use basalt_keyspace::table::bucket::EXPIRING;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// From so many keys on that are to be removed under one lock, no further bucket is looked at: about
/// 50 µs.
const KEYS_A_LOCK: usize = 200;
/// Buckets that are looked at under one lock: at most about 100 µs, if all of their entries expire.
const BUCKETS_A_LOCK: usize = 256;
const BUCKETS_A_STEP: usize = 8;
/// A partition is not walked again before this many milliseconds, whatever is due.
const PAUSE_MS: u64 = 200;

/// Where the cycle goes on.
#[derive(Default)]
pub(crate) struct ExpiryCycle {
    next: usize,
    /// What is being looked through in the next partition.
    round: Option<Round>,
    changes: Changes,
    due: Vec<Vec<u8>>,
}

/// One database's share of a partition being looked through.
struct Round {
    db: u8,
    /// The hash where it goes on.
    from: u64,
    /// The earliest expiry seen that is not due.
    earliest_ms: u64,
}

impl ExpiryCycle {
    /// Goes once over the partitions, or as far as `budget` lasts.
    pub(crate) fn run(&mut self, engine: &Engine, budget: Duration) {
        if !engine.may_remove_expired() {
            return;
        }
        let start = Instant::now();
        for _ in 0..PartitionId::all().len() {
            let goes_on = || engine.may_remove_expired() && start.elapsed() < budget;
            self.expire_next(engine, &goes_on);
            if start.elapsed() > budget || engine.is_stopping() {
                return;
            }
        }
    }

    /// Removes the due keys of the next partition while `goes_on` says so; what is left is the next
    /// call's.
    fn expire_next(&mut self, engine: &Engine, goes_on: &dyn Fn() -> bool) {
        let now_ms = engine.clock.unix_ms();
        let partitions = PartitionId::all().len();
        let id = PartitionId::new((self.next % partitions) as u16).expect("below the count");
        let begun = self.round.as_ref().map_or(0, |round| round.db);
        for db in (begun..engine.options.databases).filter(|&db| engine.may_expire(db)) {
            while self.expire_some(engine, id, db, now_ms, goes_on) {
                if !goes_on() || engine.log().admit().is_err() {
                    return;
                }
            }
        }
        self.next += 1;
    }

    /// Looks through some buckets of one database and removes what is due there; true if there are more
    /// buckets to look through.
    fn expire_some(
        &mut self,
        engine: &Engine,
        id: PartitionId,
        db: u8,
        now_ms: u64,
        goes_on: &dyn Fn() -> bool,
    ) -> bool {
        if engine.log().admit().is_err() {
            return self.round.is_some();
        }
        let mut locked = engine.keyspace.lock(id);
        if !goes_on() {
            return self.round.is_some();
        }
        let database = &mut locked.partition_mut(id).databases[usize::from(db)];
        let mut round = match self.round.take() {
            Some(round) => round,
            None if database.next_expiry_ms > now_ms => return false,
            None => {
                // From here on it is what others set while this round lasts.
                database.next_expiry_ms = u64::MAX;
                Round { db, from: 0, earliest_ms: u64::MAX }
            }
        };
        let due = &mut self.due;
        due.clear();
        let mut next = Some(round.from);
        let mut buckets = 0;
        while let Some(from) = next
            && due.len() < KEYS_A_LOCK
            && buckets < BUCKETS_A_LOCK
        {
            next = database.table.scan_flagged(from, BUCKETS_A_STEP, EXPIRING, |entry| {
                if entry.expire_ms() > now_ms {
                    round.earliest_ms = round.earliest_ms.min(entry.expire_ms());
                } else {
                    due.push(entry.key().to_vec());
                }
            });
            buckets += BUCKETS_A_STEP;
        }
        match next {
            Some(from) => self.round = Some(Round { from, ..round }),
            None => database.next_expiry_ms = database.next_expiry_ms.min(round.bound(now_ms)),
        }
        if due.is_empty() {
            return next.is_some();
        }
        let session = Session::background(db, now_ms);
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
        next.is_some()
    }
}

impl Round {
    /// When the database is looked through again, as far as this round knows.
    fn bound(&self, now_ms: u64) -> u64 {
        match self.earliest_ms {
            u64::MAX => u64::MAX,
            earliest_ms => earliest_ms.max(now_ms + PAUSE_MS),
        }
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
