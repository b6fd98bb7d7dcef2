//! Deleting keys that are on disk only, where all keys may be deleted for lack of memory.
//!
//! Under `allkeys-…` nothing leaves memory and stays on disk. But a start may find more there than
//! memory holds, and so may a change of the policy. Such keys come into memory as they are asked
//! for, like others; and as soon as memory is nearly full, the rest does not fit and is deleted bit
//! by bit, by chance: when it was used last is not known. It is no memory that this makes free, so
//! it is done at leisure.
//!
//! Values are not needed for it: only rows are read, whose keys have no entry and whose elements go
//! with them.

use crate::engine::Engine;
use crate::error::EngineError;
use crate::residency::cold_removal::{ColdKey, Place, Which};
use crate::residency::rows;
use crate::residency::shares::Shares;
use crate::store::changes::ChangeSet;
use basalt_change::place::PartitionId;
use basalt_change::row::{self, ObjectRow};
use basalt_env::Instant;
use basalt_env::random::Random;
use basalt_keyspace::database::Database;
use basalt_keyspace::partition::Partition;
use basalt_stdx::short_lock::LockWait;
use std::ops::ControlFlow;
use std::time::Duration;

/// Partitions from which keys go in a round.
const PARTITIONS_A_ROUND: usize = 2;
/// Rows that are read of each, and their bytes.
const ROWS_A_VISIT: usize = 128;
const BYTES_A_VISIT: usize = 4 << 20;
/// Keys that go under one lock.
const KEYS_A_LOCK: usize = 16;
/// How long nothing is tried after a round that has found nothing.
const REST_FOR: Duration = Duration::from_millis(100);

/// Deletes them. See the head of this file.
pub(super) struct ColdKeys {
    random: Random,
    shares: Shares,
    changes: ChangeSet,
    /// Nothing is tried before.
    next: Instant,
}

impl ColdKeys {
    pub(super) fn new(seed: u64) -> ColdKeys {
        ColdKeys {
            random: Random::new(seed),
            shares: Shares::default(),
            changes: ChangeSet::default(),
            next: Instant::default(),
        }
    }

    /// Deletes some; returns how many.
    pub(super) fn round(&mut self, engine: &Engine) -> u64 {
        if engine.env.clock.now() < self.next || engine.are_removals_paused() {
            return 0;
        }
        self.shares.count(engine, Database::keys_cold_only);
        let mut gone = 0;
        for _ in 0..PARTITIONS_A_ROUND {
            let Some(id) = self.shares.pick(&mut self.random) else { break };
            let _ = engine.timed(|| {
                gone += self.delete_from(engine, id)?;
                Ok(())
            });
        }
        if gone == 0 {
            self.next = engine.env.clock.now() + REST_FOR;
        }
        engine.log().kick();
        gone
    }

    fn delete_from(&mut self, engine: &Engine, id: PartitionId) -> Result<u64, EngineError> {
        let Some(place) = self.place_in(engine, id) else { return Ok(0) };
        let start = self.random.next_u64();
        let mut keys = read(engine, place, start)?;
        if keys.len() < ROWS_A_VISIT {
            keys.append(&mut read(engine, place, 0)?);
        }
        let gone = keys
            .chunks(KEYS_A_LOCK)
            .filter_map(|some| engine.remove_cold(place, some, Which::All, &mut self.changes));
        Ok(gone.map(|removed| removed.evicted + removed.expired).sum())
    }

    /// A database of a partition, by its share of the keys on disk.
    fn place_in(&mut self, engine: &Engine, id: PartitionId) -> Option<Place> {
        let random = &mut self.random;
        let look = |partition: &Partition| {
            let cold = engine.used_of(partition).map(Database::keys_cold_only).sum();
            let mut drawn = random.below(cold);
            for (db, database) in (0..).zip(partition.databases()) {
                let own = if engine.is_used(db) { database.keys_cold_only() } else { 0 };
                if drawn < own {
                    return Some(Place::of(id, db, partition));
                }
                drawn -= own;
            }
            None
        };
        engine.keyspace.with(id, LockWait::Brief, look).flatten()
    }
}

/// Reads rows from a hash on; blocks on the disk.
fn read(engine: &Engine, place: Place, start: u64) -> Result<Vec<ColdKey>, EngineError> {
    let (from, to) = row::generation_range_from(place.id, place.generation, start);
    let (mut keys, mut bytes, mut outcome) = (Vec::new(), 0, Ok(()));
    engine.cold.scan(&from, &to, &mut |row_key, value| {
        bytes += row_key.len() + value.len();
        match cold_key(row_key, value) {
            Ok(key) => keys.push(key),
            Err(error) => outcome = Err(error),
        }
        match outcome.is_ok() && keys.len() < ROWS_A_VISIT && bytes < BYTES_A_VISIT {
            true => ControlFlow::Continue(()),
            false => ControlFlow::Break(()),
        }
    })?;
    outcome.map(|()| keys)
}

fn cold_key(row_key: &[u8], value: &[u8]) -> Result<ColdKey, EngineError> {
    let (_, key) = row::split_object_key(row_key).unwrap_or_default();
    let row = ObjectRow::decode(value).map_err(|error| EngineError::Row(error.into()))?;
    let spread_id = rows::spread_id(value).map_err(EngineError::Row)?;
    Ok(ColdKey { key: key.into(), expire_ms: row.expire_ms, spread_id, passing: None })
}
