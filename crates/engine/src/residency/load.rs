//! Bringing whole partitions into memory: after a restart, in the background, so that the server
//! answers at once and is as fast as before soon after; and at once when a command walks the
//! keyspace.

use crate::engine::Engine;
use crate::error::EngineError;
use crate::residency::rows::{LoadError, LoadedRow};
use crate::store::key::Key;
use basalt_change::place::PartitionId;
use basalt_change::row;
use std::ops::ControlFlow;

/// Rows that are made resident under one lock: about 50 µs.
const ROWS_A_LOCK: usize = 256;
/// Bytes of rows above which no more are read before they are made resident.
const BYTES_A_LOCK: usize = 4 << 20;

/// Rows read and not yet installed, in one buffer.
#[derive(Default)]
struct Batch {
    bytes: Vec<u8>,
    /// Ends of key and value in `bytes`.
    ends: Vec<(usize, usize)>,
}

impl Engine {
    /// Makes every key of a partition resident.
    pub(crate) fn load_partition(&self, id: PartitionId) -> Result<(), EngineError> {
        for db in 0..self.options.databases {
            while !self.is_complete(db, id) {
                if self.is_stopping() {
                    return Err(EngineError::Stopping);
                }
                self.load_database(db, id)?;
            }
        }
        Ok(())
    }

    /// One pass over a database's rows. Leaves it incomplete if its rows changed meanwhile.
    fn load_database(&self, db: u8, id: PartitionId) -> Result<(), EngineError> {
        let (generation, cold_version, departures) = {
            let locked = self.keyspace.lock(id);
            let partition = locked.partition(id);
            let database = partition.database(db);
            (database.generation(), partition.cold_version(), database.departures())
        };
        let (from, to) = row::generation_range(id, generation);
        let mut batch = Batch::default();
        let mut outcome = Ok(true);
        let install = |batch: &mut Batch| {
            let installed = self.install_batch(db, id, generation, cold_version, batch);
            batch.clear();
            installed
        };
        self.cold.scan(&from, &to, &mut |key, value| {
            batch.push(key, value);
            if batch.is_full() {
                outcome = install(&mut batch);
            }
            if matches!(outcome, Ok(true)) && !self.is_stopping() {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            }
        })?;
        if outcome? && install(&mut batch)? && !self.is_stopping() {
            self.settle(id)?;
            self.finish_load(db, id, (generation, cold_version, departures));
        }
        Ok(())
    }

    /// Installs rows; false if they may be out of date.
    fn install_batch(
        &self,
        db: u8,
        id: PartitionId,
        generation: u64,
        cold_version: u64,
        batch: &Batch,
    ) -> Result<bool, EngineError> {
        let goes_on = || !self.is_stopping();
        let mut rows = Vec::with_capacity(batch.ends.len());
        for (row_key, value) in batch.rows() {
            let Some((_, bytes)) = row::split_object_key(row_key) else { continue };
            let read = LoadedRow::read(value, id, generation, self.source(&goes_on));
            let read = read.and_then(|mut row| {
                self.catch_up(&mut row, id, db, bytes)?;
                Ok(row)
            });
            match read {
                Ok(row) => rows.push((bytes, row)),
                // Its elements are being replaced.
                Err(LoadError::Row(_)) if self.is_resident(db, id, bytes) => {}
                Err(LoadError::Row(_)) if !self.is_current(db, id, generation, cold_version) => {
                    return Ok(false);
                }
                Err(error) => return Err(error.into()),
            }
        }
        let mut locked = self.keyspace.lock(id);
        let partition = locked.partition_mut(id);
        if partition.database(db).generation() != generation
            || partition.cold_version() != cold_version
        {
            return Ok(false);
        }
        let database = partition.database_mut(db);
        for (bytes, row) in rows {
            let key = Key { bytes, hash: self.keyspace.hasher().hash(bytes), partition: id };
            if database.table().find(key.hash, key.bytes).is_none() {
                database.adopt_row(key.hash, key.bytes, row.into_row(self.access_now()));
            }
        }
        if database.may_expire() {
            self.note_expiring(db);
        }
        Ok(true)
    }

    fn is_resident(&self, db: u8, id: PartitionId, bytes: &[u8]) -> bool {
        let hash = self.keyspace.hasher().hash(bytes);
        let locked = self.keyspace.lock(id);
        locked.partition(id).database(db).table().find(hash, bytes).is_some()
    }

    /// Rows that were read of this generation, and elements after them, still belong together. Else
    /// a row of the cold tier may have gone, or all of the generation.
    fn is_current(&self, db: u8, id: PartitionId, generation: u64, cold_version: u64) -> bool {
        let locked = self.keyspace.lock(id);
        let partition = locked.partition(id);
        partition.cold_version() == cold_version
            && partition.database(db).generation() == generation
    }

    /// Every row has been seen: what is not resident now does not exist, unless something left
    /// memory meanwhile, or was put unread.
    fn finish_load(
        &self,
        db: u8,
        id: PartitionId,
        (generation, cold_version, departures): (u64, u64, u64),
    ) {
        let mut locked = self.keyspace.lock(id);
        let partition = locked.partition_mut(id);
        if partition.database(db).generation() != generation
            || partition.cold_version() != cold_version
        {
            return;
        }
        let keys = partition.database_mut(db).finish_load(departures);
        if let Some(keys) = keys.filter(|&keys| keys != 0) {
            tracing::error!(
                partition = id.number(),
                keys,
                "the cold tier has fewer rows than its mark says; the count is corrected"
            );
        }
    }
}

impl Batch {
    fn push(&mut self, key: &[u8], value: &[u8]) {
        self.bytes.extend_from_slice(key);
        let key_end = self.bytes.len();
        self.bytes.extend_from_slice(value);
        self.ends.push((key_end, self.bytes.len()));
    }

    fn rows(&self) -> impl Iterator<Item = (&[u8], &[u8])> {
        let starts = [0].into_iter().chain(self.ends.iter().map(|&(_, end)| end));
        starts.zip(&self.ends).map(|(start, &(key_end, end))| {
            (&self.bytes[start..key_end], &self.bytes[key_end..end])
        })
    }

    fn is_full(&self) -> bool {
        self.ends.len() >= ROWS_A_LOCK || self.bytes.len() >= BYTES_A_LOCK
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }
}
