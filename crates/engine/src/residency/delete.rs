//! Deleting keys for lack of memory, as Redis does under `allkeys-…` and `volatile-…`.
//!
//! ```text
//! some partitions, by their shares of the keys ▸ keys from a random hash on: sixteen times as many
//!   as are to be compared for one that goes ▸ the sixteen worst ▸ as many of them as are needed
//! ```
//! To compare sixteen times five keys and delete sixteen is what Redis' pool comes to, which keeps
//! the good candidates of earlier samples: what goes is of the worst fifth of the keys, wherever
//! that stands. A partition is chosen by its keys and not by its bytes, so that each key is as
//! likely to be seen as another; one huge value that is in use does not have its partition looked
//! at again and again.
//!
//! A key goes as by a command: by a record in the log, an event, news for the clients that watch
//! it, wait for it or keep a copy. What was used between the look and the deletion stays. Where the
//! cold tier has a row, a tombstone is left until the next checkpoint; it counts as memory that is
//! about to be free.

use crate::engine::Engine;
use crate::residency::candidates::{
    CANDIDATES_MAX, Candidate, Candidates, Look, look_at_some, score,
};
use crate::residency::policy::{Among, First};
use crate::residency::shares::Shares;
use crate::store::changes::ChangeSet;
use crate::store::events::EventClass;
use crate::store::hold::Hold;
use crate::store::txn::Txn;
use basalt_change::place::PartitionId;
use basalt_env::random::Random;
use basalt_keyspace::database::Database;
use basalt_keyspace::partition::Partition;
use basalt_keyspace::table::bucket::EXPIRING;
use basalt_stdx::short_lock::LockWait;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// How long a round goes on at most.
const ROUND_FOR: Duration = Duration::from_millis(10);
/// Keys that are looked at under one lock, and those of their last bucket: some 3 µs.
const KEYS_A_LOOK: usize = 20;
/// Buckets that are looked at under one lock: some 20 µs, where no key is found.
const BUCKETS_A_LOOK: usize = 1_024;
/// What a tombstone takes as long as none has been seen.
const TOMBSTONE_BYTES: u64 = 32;

/// Deletes keys. See the head of this file.
pub(super) struct Deleter {
    random: Random,
    shares: Shares,
    candidates: Candidates,
    changes: ChangeSet,
    /// Tombstones that were left, and their bytes.
    tombstones: (u64, u64),
}

/// Which keys go.
#[derive(Clone, Copy)]
pub(super) struct Rule {
    pub(super) among: Among,
    pub(super) first: First,
}

/// How much of a partition is looked at.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reach {
    /// Some keys of a database.
    Some,
    /// All that there are.
    All,
}

/// What has gone under one lock.
#[derive(Default)]
struct Gone {
    evicted: u64,
    expired: u64,
    bytes: u64,
}

impl Deleter {
    pub(super) fn new(seed: u64) -> Deleter {
        Deleter {
            random: Random::new(seed),
            shares: Shares::default(),
            candidates: Candidates::default(),
            changes: ChangeSet::default(),
            tombstones: (0, 0),
        }
    }

    /// Deletes keys until `wanted` bytes have gone; returns how many have: fewer if there is
    /// nothing to delete, or that takes long.
    pub(super) fn round(&mut self, engine: &Engine, rule: Rule, wanted: u64) -> u64 {
        self.shares.count(engine, |database| rule.keys_of(database));
        let (start, mut left) = (engine.env.clock.now(), 0);
        while left < wanted && engine.env.clock.since(start) < ROUND_FOR && !engine.is_stopping() {
            self.look(engine, rule);
            match self.delete(engine, rule, wanted - left) {
                0 => break,
                bytes => left += bytes,
            }
        }
        left
    }

    /// The bytes that `count` tombstones take, about.
    pub(super) fn bytes_of_tombstones(&self, count: u64) -> u64 {
        let (seen, bytes) = self.tombstones;
        bytes.checked_div(seen).unwrap_or(TOMBSTONE_BYTES) * count
    }

    /// Looks for candidates.
    fn look(&mut self, engine: &Engine, rule: Rule) {
        let compared = if rule.first == First::Any { 1 } else { engine.eviction.samples() };
        let wanted = CANDIDATES_MAX * compared;
        if self.shares.total() <= wanted as u64 {
            for id in self.shares.all().collect::<Vec<PartitionId>>() {
                self.look_into(engine, id, rule, Reach::All);
            }
            return;
        }
        let mut seen = 0;
        for _ in 0..wanted {
            let Some(id) = self.shares.pick(&mut self.random) else { return };
            seen += self.look_into(engine, id, rule, Reach::Some);
            if seen >= wanted {
                return;
            }
        }
    }

    /// Returns how many keys it has seen.
    fn look_into(&mut self, engine: &Engine, id: PartitionId, rule: Rule, reach: Reach) -> usize {
        let Deleter { random, candidates, .. } = self;
        let now_s = (engine.env.clock.unix_ms() / 1000) as u32;
        let flags = if rule.among == Among::Expiring { EXPIRING } else { 0 };
        let entries = if reach == Reach::All { usize::MAX } else { KEYS_A_LOOK };
        let look = |partition: &Partition| {
            let keys: u64 = engine.used_of(partition).map(|database| rule.keys_of(database)).sum();
            let (mut drawn, mut seen) = (random.below(keys), 0);
            let databases = (0..).zip(partition.databases());
            for (db, database) in databases.filter(|&(db, _)| engine.is_used(db)) {
                let own = rule.keys_of(database);
                if own > 0 && (reach == Reach::All || drawn < own) {
                    let look = Look { flags, entries, buckets: BUCKETS_A_LOOK };
                    seen += look_at_some(database.table(), random.next_u64(), look, |entry| {
                        candidates.offer(rule.first, now_s, (id, db), entry);
                    });
                    if reach == Reach::Some {
                        break;
                    }
                }
                drawn = drawn.saturating_sub(own);
            }
            seen
        };
        // One that somebody holds is left out.
        engine.keyspace.with(id, LockWait::Brief, look).unwrap_or(0)
    }

    /// Deletes the worst of the candidates until `wanted` bytes have gone; returns how many have.
    fn delete(&mut self, engine: &Engine, rule: Rule, wanted: u64) -> u64 {
        let chosen = self.candidates.take(wanted);
        let is_together = |one: &Candidate, other: &Candidate| {
            (one.partition, one.db) == (other.partition, other.db)
        };
        let together = chosen.chunk_by(is_together);
        let bytes = together.map(|some| self.delete_together(engine, rule, some)).sum();
        engine.log().kick();
        bytes
    }

    /// Deletes candidates of one database's share of a partition.
    fn delete_together(&mut self, engine: &Engine, rule: Rule, some: &[Candidate]) -> u64 {
        let (id, db) = (some[0].partition, some[0].db);
        if engine.log().admit_removal(id.shard()).is_err() {
            return 0;
        }
        let Some(locked) = engine.keyspace.lock_within(id, LockWait::Brief) else { return 0 };
        if engine.are_removals_paused() {
            return 0;
        }
        let (hold, now_ms) = (Hold::begin(engine.clock()), engine.env.clock.unix_ms());
        let (gone, tombstones) =
            engine.change_by_itself(locked, (db, now_ms), &mut self.changes, |txn| {
                let before = figures(txn.locked.partition(id).database(db));
                let mut gone = Gone::default();
                some.iter().for_each(|candidate| delete_one(txn, rule.first, candidate, &mut gone));
                let after = figures(txn.locked.partition(id).database(db));
                let bytes = gone.bytes.saturating_sub(before.1.saturating_sub(after.1));
                (gone, (after.0.saturating_sub(before.0), bytes))
            });
        self.tombstones.0 += tombstones.0;
        self.tombstones.1 += tombstones.1;
        engine.count_expired(gone.expired);
        engine.budget.note_deleted(gone.evicted, engine.clock(), &hold);
        gone.bytes
    }
}

impl Rule {
    /// How many keys of a database may go.
    fn keys_of(self, database: &Database) -> u64 {
        let counts = database.table().counts();
        let keys = match self.among {
            Among::All => counts.live,
            Among::Expiring => counts.expiring,
        };
        keys as u64
    }
}

/// Tombstones, and bytes of entries and what they hold.
fn figures(database: &Database) -> (u64, u64) {
    let counts = database.table().counts();
    (counts.tombstones as u64, (counts.entry_bytes + counts.apart_bytes) as u64)
}

/// Deletes a key unless it has been used since it was seen, or has gone.
fn delete_one(txn: &mut Txn<'_>, first: First, candidate: &Candidate, gone: &mut Gone) {
    let engine = txn.engine();
    let (key, now_s) = (engine.key(&candidate.key), (txn.now_ms() / 1000) as u32);
    let table = txn.database(&key).table();
    let Some(found) = table.find(key.hash, key.bytes) else { return };
    let entry = table.entry(found);
    if entry.is_tombstone() || score(first, entry, now_s) < candidate.score {
        return;
    }
    gone.bytes += (entry.bytes() + entry.apart_bytes()) as u64;
    if engine.active_expiry.load(Ordering::Relaxed) && txn.expire(&key) {
        gone.expired += 1;
        return;
    }
    txn.delete(&key);
    txn.notify(EventClass::Evicted, "evicted", &key);
    gone.evicted += 1;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::Gate;
    use crate::residency::policy::Eviction;
    use crate::store::context::CommandContext;
    use crate::testing::{engine, put};

    const RULE: Rule = Rule { among: Among::All, first: First::LeastRecent };

    #[test]
    fn what_was_used_since_it_was_seen_stays() {
        let (engine, clock) = engine();
        engine.set_eviction(Eviction::Delete(RULE.among, RULE.first), 5);
        put(&engine, b"one", 0);
        put(&engine, b"other", 0);
        clock.advance_ms(10_000);
        let mut deleter = Deleter::new(1);
        deleter.shares.count(&engine, |database| RULE.keys_of(database));
        deleter.look(&engine, RULE);
        let key = engine.key(b"one");
        let mut changes = ChangeSet::default();
        let session = CommandContext::background(0, engine.clock().unix_ms());
        let mut txn = Txn::new(&engine, engine.lock(&[key]), session, &mut changes);
        txn.touch(&key);
        txn.append(&mut Gate::default());
        drop(txn);
        assert!(deleter.delete(&engine, RULE, u64::MAX) > 0);
        assert_eq!(engine.totals(0).keys, 1);
        assert_eq!(engine.eviction_stats().deleted, 1);
        // Nor does what was put meanwhile go in the place of another.
        clock.advance_ms(10_000);
        deleter.look(&engine, RULE);
        put(&engine, b"one", 0);
        assert_eq!(deleter.delete(&engine, RULE, u64::MAX), 0);
        assert_eq!(engine.totals(0).keys, 1);
    }

    #[test]
    fn each_key_is_a_candidate_once_and_the_worst_are_kept() {
        let (engine, clock) = engine();
        engine.set_eviction(Eviction::Delete(RULE.among, RULE.first), 64);
        for number in 0..60 {
            put(&engine, format!("{{tag}}{number}").as_bytes(), 0);
            clock.advance_ms(1_000);
        }
        let mut deleter = Deleter::new(1);
        deleter.shares.count(&engine, |database| RULE.keys_of(database));
        deleter.look(&engine, RULE);
        deleter.look(&engine, RULE);
        let mut idle_s: Vec<u64> =
            deleter.candidates.take(u64::MAX).iter().map(|candidate| candidate.score).collect();
        idle_s.sort_unstable();
        assert_eq!(idle_s, (60 - CANDIDATES_MAX as u64 + 1..=60).collect::<Vec<_>>());
    }
}
