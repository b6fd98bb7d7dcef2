//! Keys that expire on disk: they are removed there when their time has come. What a row begins
//! with says that, and for a record of the deletion and the event `expired` the key is enough:
//! values are not read. So goes a large hash of which all fields have expired. Where an element of
//! a smaller collection is due, and not the key, the collection comes into memory, where active
//! expiry removes the element as it does all others.
//!
//! Each database of a partition has a lower bound of when something expires that is on disk only,
//! in memory and in its mark. A partition of which the bound has passed is looked through, row by
//! row ([`parts`]), and has a better bound then. Looking takes a tenth of the thread's time at
//! most, a quarter where much is found. What is removed leaves a tombstone until the next
//! checkpoint: one is asked for when these take much of memory, and waited for when they take more.

mod parts;

use crate::engine::Engine;
use crate::error::EngineError;
use crate::residency::cold_removal::{Place, Removed, Which};
use crate::store::changes::ChangeSet;
use basalt_change::place::PartitionId;
use basalt_change::row;
use basalt_keyspace::partition::Partition;
use parts::{Part, Reading};
use std::time::Duration;

/// How often the thread looks whether something is due …
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// … and where nothing expires that is on disk only.
const LOOK_SELDOM: Duration = Duration::from_millis(500);
/// It rests this many times as long as it has worked …
const RESTS: u32 = 9;
/// … and this many times where this many keys were removed from a partition.
const RESTS_BEHIND: u32 = 3;
const MANY_KEYS: u64 = 128;
/// Keys that are removed under one lock: some 100 µs.
const KEYS_A_LOCK: usize = 64;
/// Collections that are brought into memory at once; active expiry has to keep up.
const COLLECTIONS_AT_ONCE: usize = 256;
/// A partition is not looked through again before this many milliseconds, whatever is due.
const PAUSE_MS: u64 = 500;
/// What a tombstone takes of memory, about.
const TOMBSTONE_BYTES: u64 = 64;
/// Percent of what the keyspace may take that tombstones take when a checkpoint is asked for …
const TOMBSTONES_PERCENT: u64 = 2;
/// … and when no more keys are removed before it has ended.
const TOMBSTONES_PERCENT_MAX: u64 = 4;
/// How often is looked whether they are gone …
const LOOK_FOR_ROOM_EVERY: Duration = Duration::from_millis(20);
/// … and after a checkpoint that has failed.
const LOOK_AFTER_FAILURE: Duration = Duration::from_secs(1);

/// What the reaper remembers.
#[derive(Default)]
pub(crate) struct Reaper {
    changes: ChangeSet,
    removed: u64,
}

/// What became of a partition.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Reaped {
    /// Nothing may be due there.
    NotDue,
    /// It was looked through, and this many keys were removed.
    Removed(u64),
}

impl Engine {
    /// The reaper's thread. Returns when the engine stops.
    pub(crate) fn run_reaper_thread(&self) {
        let mut reaper = Reaper::default();
        while !self.is_stopping() {
            let start = self.env.clock.now();
            let may_be_due = (0..self.options.databases).any(|db| self.may_expire(db));
            for id in PartitionId::all().take(if may_be_due { usize::MAX } else { 0 }) {
                let begun = self.env.clock.now();
                if self.is_stopping() {
                    return;
                }
                let rests = match reaper.reap(self, id, &|| self.may_remove_expired()) {
                    Reaped::NotDue => continue,
                    Reaped::Removed(keys) if keys >= MANY_KEYS => RESTS_BEHIND,
                    Reaped::Removed(_) => RESTS,
                };
                std::thread::park_timeout(self.env.clock.since(begun) * rests);
                self.await_room_for_tombstones();
            }
            let pause = if may_be_due { LOOK_EVERY } else { LOOK_SELDOM };
            std::thread::park_timeout(pause.saturating_sub(self.env.clock.since(start)));
        }
    }

    /// Removes what has expired on disk, as the reaper's thread does bit by bit, whether or not
    /// that is switched on.
    pub fn reap_due(&self) {
        let mut reaper = Reaper::default();
        for id in PartitionId::all() {
            reaper.reap(self, id, &|| true);
        }
    }

    /// Has a checkpoint made if tombstones take much of memory, and waits for it if they take more.
    fn await_room_for_tombstones(&self) {
        loop {
            let Some(target) = self.memory_target() else { return };
            let bytes = self.usage().tombstones * TOMBSTONE_BYTES;
            if bytes <= target / 100 * TOMBSTONES_PERCENT || self.is_stopping() {
                return;
            }
            let state = self.checkpointing.under_way();
            if !state.is_running && !state.is_requested {
                self.request_checkpoint(Box::new(|_| ()));
            }
            if bytes <= target / 100 * TOMBSTONES_PERCENT_MAX {
                return;
            }
            let pause = if state.has_failed { LOOK_AFTER_FAILURE } else { LOOK_FOR_ROOM_EVERY };
            std::thread::park_timeout(pause);
        }
    }
}

impl Reaper {
    /// Removes what is due of a partition while `goes_on` says so.
    fn reap(&mut self, engine: &Engine, id: PartitionId, goes_on: &dyn Fn() -> bool) -> Reaped {
        let now_ms = engine.env.clock.unix_ms();
        let is_due = |partition: &Partition| {
            engine.used_of(partition).any(|database| database.cold_expiry_ms() <= now_ms)
        };
        // One that somebody holds comes again.
        if !goes_on() || engine.keyspace.try_look(id, is_due) != Some(true) {
            return Reaped::NotDue;
        }
        self.removed = 0;
        for db in (0..engine.options.databases).filter(|&db| engine.is_used(db)) {
            // It is said when somebody asks for the key.
            if let Err(error) = self.reap_database(engine, (db, id), now_ms, goes_on)
                && !matches!(error, EngineError::Stopping)
            {
                tracing::debug!(%error, partition = id.number(), "rows cannot be looked through");
                put_off(engine, db, id, now_ms);
            }
        }
        Reaped::Removed(self.removed)
    }

    fn reap_database(
        &mut self,
        engine: &Engine,
        (db, id): (u8, PartitionId),
        now_ms: u64,
        goes_on: &dyn Fn() -> bool,
    ) -> Result<(), EngineError> {
        let (place, departures) = {
            let locked = engine.keyspace.lock(id);
            let partition = locked.partition(id);
            let database = partition.database(db);
            if database.cold_expiry_ms() > now_ms {
                return Ok(());
            }
            (Place::of(id, db, partition), database.departures())
        };
        let (mut from, to) = row::generation_range(id, place.generation);
        let (mut earliest_ms, mut is_all_done) = (u64::MAX, true);
        loop {
            let part = engine.look_at_part(&from, &to, Reading { place, now_ms })?;
            earliest_ms = earliest_ms.min(part.earliest_ms);
            is_all_done &= self.remove(engine, place, &part, goes_on)?;
            match part.next {
                Some(next) => from = next,
                None => break,
            }
        }
        let mut locked = engine.keyspace.lock(id);
        let partition = locked.partition_mut(id);
        let is_same = place.is_current(partition);
        let database = partition.database_mut(db);
        // What has left memory since may expire earlier, and what was written may.
        let is_known = is_all_done && is_same && database.departures() == departures;
        let next_ms = if is_known { earliest_ms } else { now_ms };
        database.set_cold_expiry(match next_ms {
            u64::MAX => u64::MAX,
            next_ms => next_ms.max(now_ms + PAUSE_MS),
        });
        Ok(())
    }

    /// Removes what is due of a part; returns true if it could be.
    fn remove(
        &mut self,
        engine: &Engine,
        place: Place,
        part: &Part,
        goes_on: &dyn Fn() -> bool,
    ) -> Result<bool, EngineError> {
        let mut is_all_done = true;
        for keys in part.due.chunks(KEYS_A_LOCK) {
            if engine.is_stopping() {
                return Err(EngineError::Stopping);
            }
            if !goes_on() {
                return Ok(false);
            }
            let removed = engine.remove_cold(place, keys, Which::Due, &mut self.changes);
            is_all_done &= removed.is_some();
            let Removed { expired, gone, .. } = removed.unwrap_or_default();
            self.removed += expired + gone;
        }
        engine.log().kick();
        for misses in part.collections.chunks(COLLECTIONS_AT_ONCE) {
            if engine.is_stopping() {
                return Err(EngineError::Stopping);
            }
            engine.read(misses)?;
        }
        Ok(is_all_done)
    }
}

fn put_off(engine: &Engine, db: u8, id: PartitionId, now_ms: u64) {
    let mut locked = engine.keyspace.lock(id);
    locked.partition_mut(id).database_mut(db).set_cold_expiry(now_ms + 60 * PAUSE_MS);
}

#[cfg(test)]
mod tests;
