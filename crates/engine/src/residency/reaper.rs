//! Keys that expire on disk: they are brought into memory when their time has come, where active
//! expiry removes them and says so, as it does all others.
//!
//! Each database of a partition has a lower bound of when something expires that is on disk only,
//! in memory and in its mark. A partition of which the bound has passed is looked through, row by
//! row, and has a better bound then. Looking takes a tenth of the thread's time at most.

use crate::engine::Engine;
use crate::error::EngineError;
use crate::residency::queue::Miss;
use basalt_change::place::PartitionId;
use basalt_change::row::{self, ObjectRow, RowKind};
use basalt_cold::Head;
use basalt_keyspace::partition::Partition;
use basalt_value::{Kind, Value};
use std::ops::ControlFlow;
use std::time::Duration;

/// How often the thread looks whether something is due.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// It rests this many times as long as it has worked.
const RESTS: u32 = 9;
/// Keys that are brought into memory at once; active expiry has to keep up.
const KEYS_AT_ONCE: usize = 256;
/// Keys that one pass over a partition brings in; the rest is for the next.
const KEYS_A_PASS: usize = 16 << 10;
/// A partition is not looked through again before this many milliseconds, whatever is due.
const PAUSE_MS: u64 = 500;

/// What a pass over the rows of a partition has seen.
struct Pass {
    due: Vec<Miss>,
    /// When the next of the others expires.
    earliest_ms: u64,
}

impl Engine {
    /// The reaper's thread. Returns when the engine stops.
    pub(crate) fn run_reaper_thread(&self) {
        while !self.is_stopping() {
            let start = self.env.clock.now();
            let may_be_due = (0..self.options.databases).any(|db| self.may_expire(db));
            for id in PartitionId::all().take(if may_be_due { usize::MAX } else { 0 }) {
                let begun = self.env.clock.now();
                if self.is_stopping() || !self.reap(id) {
                    continue;
                }
                std::thread::park_timeout(self.env.clock.since(begun) * RESTS);
            }
            std::thread::park_timeout(LOOK_EVERY.saturating_sub(self.env.clock.since(start)));
        }
    }

    /// Brings what is due of a partition into memory; returns false if nothing may be.
    pub(crate) fn reap(&self, id: PartitionId) -> bool {
        let now_ms = self.env.clock.unix_ms();
        let is_due = |partition: &Partition| {
            self.used_of(partition).any(|database| database.cold_expiry_ms() <= now_ms)
        };
        // One that somebody holds comes again.
        if !self.may_remove_expired() || self.keyspace.try_look(id, is_due) != Some(true) {
            return false;
        }
        for db in (0..self.options.databases).filter(|&db| self.is_used(db)) {
            // It is said when somebody asks for the key.
            if let Err(error) = self.reap_database(db, id, now_ms)
                && !matches!(error, EngineError::Stopping)
            {
                tracing::debug!(%error, partition = id.number(), "rows cannot be looked through");
                self.put_off(db, id, now_ms);
            }
        }
        true
    }

    fn reap_database(&self, db: u8, id: PartitionId, now_ms: u64) -> Result<(), EngineError> {
        let (generation, cold_version, departures) = {
            let locked = self.keyspace.lock(id);
            let partition = locked.partition(id);
            let database = partition.database(db);
            if database.cold_expiry_ms() > now_ms {
                return Ok(());
            }
            (database.generation(), partition.cold_version(), database.departures())
        };
        let pass = self.look_through(db, id, (generation, cold_version), now_ms)?;
        for misses in pass.due.chunks(KEYS_AT_ONCE) {
            if self.is_stopping() {
                return Err(EngineError::Stopping);
            }
            self.read(misses)?;
        }
        let mut locked = self.keyspace.lock(id);
        let partition = locked.partition_mut(id);
        let is_same = partition.cold_version() == cold_version;
        let database = partition.database_mut(db);
        // What has left memory since may expire earlier, and what was written may.
        let is_known = is_same
            && database.departures() == departures
            && database.generation() == generation
            && pass.due.len() < KEYS_A_PASS;
        let next_ms = if is_known { pass.earliest_ms } else { now_ms };
        database.set_cold_expiry(match next_ms {
            u64::MAX => u64::MAX,
            next_ms => next_ms.max(now_ms + PAUSE_MS),
        });
        Ok(())
    }

    fn put_off(&self, db: u8, id: PartitionId, now_ms: u64) {
        let mut locked = self.keyspace.lock(id);
        locked.partition_mut(id).database_mut(db).set_cold_expiry(now_ms + 60 * PAUSE_MS);
    }

    fn look_through(
        &self,
        db: u8,
        id: PartitionId,
        (generation, cold_version): (u64, u64),
        now_ms: u64,
    ) -> Result<Pass, EngineError> {
        let mut pass = Pass { due: Vec::new(), earliest_ms: u64::MAX };
        // Only their values say when the first of their fields expires.
        let mut hashes = Vec::new();
        let (from, to) = row::generation_range(id, generation);
        let mut note = |row_key: &[u8], expiry_ms: Option<u64>| match expiry_ms {
            Some(expiry_ms) if expiry_ms <= now_ms => {
                let Some((_, key)) = row::split_object_key(row_key) else { return };
                let hash = self.keyspace.hasher().hash(key);
                let row_key = row_key.to_vec();
                pass.due.push(Miss { partition: id, db, cold_version, hash, row_key });
            }
            Some(expiry_ms) => pass.earliest_ms = pass.earliest_ms.min(expiry_ms),
            None => {}
        };
        let mut rows = 0;
        self.cold.scan_heads(&from, &to, &mut |row_key, head| {
            let expiry_ms = match head {
                Head::Whole(value) => self.expiry_of(value),
                Head::Beginning(head) if may_have_fields_that_expire(head) => {
                    hashes.push(row_key.to_vec());
                    None
                }
                Head::Beginning(head) => expiry_of_key(head),
            };
            rows += usize::from(expiry_ms.is_some_and(|expiry_ms| expiry_ms <= now_ms));
            note(row_key, expiry_ms);
            let goes_on = rows < KEYS_A_PASS && !self.is_stopping();
            if goes_on { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
        for hashes in hashes.chunks(KEYS_AT_ONCE) {
            for (row_key, value) in std::iter::zip(hashes, self.cold.read_many(hashes)?) {
                note(row_key, value.and_then(|value| self.expiry_of(&value)));
            }
        }
        Ok(pass)
    }

    /// When a row's key expires, or the first of its fields; `None` for never, and for a row that
    /// makes no sense: that is said when somebody asks for the key.
    fn expiry_of(&self, value: &[u8]) -> Option<u64> {
        let row = ObjectRow::decode(value).ok()?;
        let of_key = if row.expire_ms == 0 { u64::MAX } else { row.expire_ms };
        let of_fields = match row.kind {
            RowKind::Collection(number) => {
                let kind = Kind::from_number(number)?;
                let value = Value::decode(kind, row.value, &self.limits()).ok()?;
                value.as_ref().next_expiry_ms()
            }
            _ => u64::MAX,
        };
        Some(of_key.min(of_fields)).filter(|&expiry_ms| expiry_ms != u64::MAX)
    }
}

/// When the key of a row expires, by what the row begins with.
fn expiry_of_key(head: &[u8]) -> Option<u64> {
    let row = ObjectRow::decode(head).ok()?;
    (row.expire_ms != 0).then_some(row.expire_ms)
}

/// Whether only the value says when the first field expires, by what the row begins with.
fn may_have_fields_that_expire(head: &[u8]) -> bool {
    let kind = ObjectRow::decode(head).map(|row| row.kind);
    matches!(kind, Ok(RowKind::Collection(number)) if Kind::from_number(number) == Some(Kind::Hash))
}
