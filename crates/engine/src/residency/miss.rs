//! Keys that are not in memory: whether they may exist in the cold tier, and fetching them.
//!
//! A command runs only when each of its keys is resident or known to be absent. The question costs
//! nothing while a database is complete in memory; else the cold tier's filters answer it under the
//! lock, without disk. What they cannot answer is read by a small pool of threads while the command
//! waits, parked, and no network thread does.

use crate::engine::Engine;
use crate::error::EngineError;
use crate::residency::queue::{Done, Miss, MissStats, Missing, RowsDone, Unit};
use crate::residency::rows::{BadRow, LoadError, LoadedRow, Source};
use crate::residency::rows_read::{RowsWanted, WalkedRows};
use crate::store::held::Held;
use crate::store::key::Key;
use basalt_change::place::PartitionId;
use basalt_change::row;
use basalt_cold::Probe;
use basalt_keyspace::database::Database;
use basalt_keyspace::entry::Access;
use basalt_keyspace::keyspace::Locked;
use basalt_keyspace::partition::Partition;
use basalt_stdx::short_lock::LockWait;
use std::sync::Arc;

/// What for keys are read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReadFor {
    /// A command waits for them, or will: that a key is not there is noted, too.
    Command,
    /// They were in use before the start: they come as keys that have been used.
    WarmUp,
}

/// Keys of one command that the filters are asked for under its locks, a few microseconds each: the
/// other keys are read as if a filter had let them pass.
const PROBES_MAX: usize = 1_024;

impl Engine {
    /// The keys that must be fetched first, or `None` if the command can run. Keys that the cold
    /// tier has in its cache are made resident on the way.
    #[inline(always)]
    pub fn missing(&self, locked: &mut Locked<'_>, db: u8, keys: &[Key<'_>]) -> Option<Missing> {
        for key in keys {
            if !locked.partition(key.partition).database(db).is_complete() {
                return self.missing_slow(locked, db, keys);
            }
        }
        None
    }

    #[cold]
    fn missing_slow(&self, locked: &mut Locked<'_>, db: u8, keys: &[Key<'_>]) -> Option<Missing> {
        let (mut misses, mut probes) = (Vec::new(), 0);
        for key in keys {
            let partition = locked.partition_mut(key.partition);
            let database = partition.database(db);
            if database.is_complete()
                || database.table().find(key.hash, key.bytes).is_some()
                || !database.may_be_cold(key.hash)
            {
                continue;
            }
            let generation = database.generation();
            let mut row_key = Vec::new();
            row::object_key(key.partition, generation, (key.hash, key.bytes), &mut row_key);
            let cold_version = partition.cold_version();
            let miss = Miss { partition: key.partition, db, cold_version, hash: key.hash, row_key };
            probes += 1;
            let probe = match probes > PROBES_MAX {
                true => Probe::Unknown,
                false => self.cold.probe(&miss.row_key),
            };
            match probe {
                Probe::Absent => {}
                Probe::Present(row) => match LoadedRow::decode(&row, &self.limits()) {
                    Ok(Some(row)) => {
                        install(partition, &miss, Some(row), self.access_now());
                        self.note_expiring(db);
                    }
                    // Its elements are read, or it is read again, and reported, by the pool.
                    Ok(None) | Err(_) => misses.push(miss),
                },
                Probe::Unknown => misses.push(miss),
            }
        }
        (!misses.is_empty()).then_some(Missing { misses })
    }

    /// Reads keys into memory in the background, then calls `done`.
    ///
    /// The error is that they cannot be read, or are more than may be in memory at once.
    pub fn fetch(self: &Arc<Self>, missing: Missing, done: Done) {
        let Missing { misses } = missing;
        if let Err(error) = self.weigh(misses.len() as u64) {
            return done(Err(error));
        }
        let ids = misses.iter().map(|miss| miss.partition).collect();
        let done = self.keep(ids, misses.len(), done);
        self.misses.add_keys(misses, done);
    }

    /// Reads whole partitions into memory in the background, then calls `done`: for commands that
    /// walk the keyspace.
    ///
    /// The error is as that of [`Engine::fetch`].
    pub fn fetch_partitions(self: &Arc<Self>, partitions: Vec<PartitionId>, done: Done) {
        let cold = partitions.iter().map(|&id| self.cold_keys_of(id)).sum();
        if let Err(error) = self.weigh(cold) {
            return done(Err(error));
        }
        let done = self.keep(partitions.clone(), usize::MAX, done);
        self.misses.add_partitions(partitions, done);
    }

    fn cold_keys_of(&self, id: PartitionId) -> u64 {
        let locked = self.keyspace.lock(id);
        self.used_of(locked.partition(id)).map(Database::keys_cold_only).sum()
    }

    /// Reads rows for a walk in the background, then calls `done`.
    pub fn fetch_rows(&self, wanted: RowsWanted, done: RowsDone) {
        self.misses.add_walk(wanted, done);
    }

    /// Partitions of which a database is not wholly in memory.
    ///
    /// # Errors
    /// Somebody holds a partition for longer than the thread waits.
    pub fn incomplete(&self, db: u8, wait: LockWait) -> Result<Vec<PartitionId>, Held> {
        let mut incomplete = Vec::new();
        for id in PartitionId::all() {
            let is_complete = |partition: &Partition| partition.database(db).is_complete();
            if !self.look(None, id, wait, is_complete)? {
                incomplete.push(id);
            }
        }
        Ok(incomplete)
    }

    /// Whether a database's share of a partition is wholly in memory.
    pub fn is_complete(&self, db: u8, id: PartitionId) -> bool {
        self.keyspace.lock(id).partition(id).database(db).is_complete()
    }

    /// What was read for commands that waited, and what is still to be read.
    pub fn miss_stats(&self) -> MissStats {
        self.misses.stats()
    }

    /// One thread of the pool. Returns when the engine stops, after answering what is queued.
    pub(crate) fn run_miss_thread(&self) {
        let threads = self.options.miss_threads;
        loop {
            let mut work = self.misses.work.lock();
            let unit = loop {
                if let Some(unit) = work.take(threads) {
                    break unit;
                }
                if self.is_stopping() {
                    return;
                }
                self.misses.added.wait(&mut work);
            };
            drop(work);
            self.answer(unit);
        }
    }

    /// Reads what the command that has waited longest needs; returns false if none waits.
    pub(crate) fn answer_next_miss(&self) -> bool {
        let unit = self.misses.work.lock().take(self.options.miss_threads);
        let is_there = unit.is_some();
        unit.into_iter().for_each(|unit| self.answer(unit));
        is_there
    }

    fn answer(&self, unit: Unit) {
        match unit {
            Unit::Keys(misses) => self.answer_keys(&misses),
            Unit::Heads(mut unit) => {
                let misses = std::mem::take(&mut unit.misses);
                let result = self.timed(|| self.read_heads(misses, &unit.read));
                self.misses.finish_heads(unit, &result);
            }
            Unit::Partition(id, fetching) => {
                let result = self.timed(|| self.load_partition(id));
                self.misses.finish_partition(fetching, &result);
            }
            Unit::Unread(id) => {
                self.settle_in_background(id);
                self.misses.finish_unread();
            }
            Unit::Rows(wanted, done) => {
                let mut rows = WalkedRows::default();
                let result = self.timed(|| {
                    rows = self.read_rows(wanted)?;
                    Ok(())
                });
                done(result.map(|()| rows));
            }
        }
    }

    fn answer_keys(&self, misses: &[Miss]) {
        let result = self.timed(|| self.read(misses));
        match &result {
            // One of them is damaged; the others are to be had.
            Err(error) if error.is_damage() && misses.len() > 1 => {
                misses.chunks(1).for_each(|one| self.answer_keys(one));
            }
            _ => self.misses.finish_keys(misses, &result),
        }
    }

    /// Reads, notes how long that takes, and says so if it fails.
    pub(super) fn timed(
        &self,
        read: impl FnOnce() -> Result<(), EngineError>,
    ) -> Result<(), EngineError> {
        let start = self.env.clock.now();
        let result = read();
        self.misses.note_duration(self.env.clock.since(start).as_nanos() as u64);
        if let Err(error) = &result
            && !matches!(error, EngineError::Stopping)
            && let Some(times) = self.misses.admit_failure(self.env.clock.now())
        {
            tracing::error!(%error, times, "keys could not be read from the cold tier");
        }
        result
    }

    pub(crate) fn wake_miss_threads(&self) {
        // Taken so that no thread is between its look at `stopping` and its wait.
        let ring = self.misses.work.lock().ring.clone();
        ring.iter().for_each(|wake| wake());
        self.misses.added.notify_all();
    }

    pub(super) fn read(&self, misses: &[Miss]) -> Result<(), EngineError> {
        self.read_as(misses, ReadFor::Command).map(drop)
    }

    /// Makes keys resident that are on disk. Returns how many.
    pub(crate) fn read_as(&self, misses: &[Miss], read_for: ReadFor) -> Result<usize, EngineError> {
        let mut installed = 0;
        let keys: Vec<Vec<u8>> = misses.iter().map(|miss| miss.row_key.clone()).collect();
        let rows = self.cold.read_many(&keys)?;
        for (miss, row) in misses.iter().zip(rows) {
            let row = match row.as_deref().map(|row| self.load(miss, row)).transpose() {
                Err(LoadError::Row(_)) if self.is_out_of_date(miss) => continue,
                read => read.map_err(EngineError::from)?,
            };
            let access = match (read_for, &row) {
                (ReadFor::Command, _) => self.access_now(),
                (ReadFor::WarmUp, Some(_)) => self.access_now().used_once(),
                // Nobody has asked for it.
                (ReadFor::WarmUp, None) => continue,
            };
            let mut locked = self.keyspace.lock(miss.partition);
            let partition = locked.partition_mut(miss.partition);
            installed += usize::from(install(partition, miss, row, access));
            if partition.database(miss.db).may_expire() {
                self.note_expiring(miss.db);
            }
        }
        Ok(installed)
    }
}

impl Engine {
    fn load<'r>(&self, miss: &Miss, row: &'r [u8]) -> Result<LoadedRow<'r>, LoadError> {
        let (generation, key) = row::split_object_key(&miss.row_key).unwrap_or_default();
        let goes_on = || !self.is_stopping();
        let source = self.source(&goes_on);
        let mut row = LoadedRow::read(row, miss.partition, generation, source)?;
        self.catch_up(&mut row, miss.partition, miss.db, key)?;
        Ok(row)
    }

    /// Makes the changes that waited for a row to be read. That nobody else does meanwhile is seen
    /// when it is installed: then it is resident.
    pub(crate) fn catch_up(
        &self,
        row: &mut LoadedRow<'_>,
        id: PartitionId,
        db: u8,
        key: &[u8],
    ) -> Result<(), BadRow> {
        if !row.is_spread() {
            return Ok(());
        }
        let changes = self.keyspace.lock(id).partition(id).database(db).spread().deferred(key);
        changes.map_or(Ok(()), |changes| row.catch_up(&changes, &self.limits()))
    }

    /// Reads the collections of a partition for which changes wait, so that the partition as it is
    /// in memory is what the log says.
    pub(crate) fn read_deferred(&self, id: PartitionId) -> Result<(), EngineError> {
        loop {
            let misses = self.deferred_misses(id);
            if misses.is_empty() {
                return Ok(());
            }
            self.read(&misses)?;
        }
    }

    fn deferred_misses(&self, id: PartitionId) -> Vec<Miss> {
        let locked = self.keyspace.lock(id);
        let partition = locked.partition(id);
        let mut misses = Vec::new();
        for (db, database) in (0u8..).zip(partition.databases()) {
            for key in database.spread().deferred_keys() {
                let mut row_key = Vec::new();
                let (hash, cold_version) =
                    (self.keyspace.hasher().hash(key), partition.cold_version());
                row::object_key(id, database.generation(), (hash, key), &mut row_key);
                misses.push(Miss { partition: id, db, cold_version, hash, row_key });
            }
        }
        misses
    }

    /// Where rows are read from.
    pub(crate) fn source<'a>(&'a self, goes_on: &'a dyn Fn() -> bool) -> Source<'a> {
        Source { cold: &*self.cold, limits: self.limits(), goes_on }
    }

    /// What was read need not be true any more: the key has changed since, or may have.
    fn is_out_of_date(&self, miss: &Miss) -> bool {
        let locked = self.keyspace.lock(miss.partition);
        let partition = locked.partition(miss.partition);
        let database = partition.database(miss.db);
        let Some((generation, key)) = row::split_object_key(&miss.row_key) else { return false };
        partition.cold_version() != miss.cold_version
            || database.generation() != generation
            || database.table().find(miss.hash, key).is_some()
    }
}

impl Engine {
    /// Forgets what reads have not found in a partition. A command that waits for such a key reads
    /// it again.
    pub(crate) fn forget_absences(&self, id: PartitionId) {
        // Nothing waits for this: a partition in use comes next time.
        let has_some = |partition: &Partition| {
            partition.databases().iter().any(|database| database.table().counts().tombstones > 0)
        };
        if self.keyspace.try_look(id, has_some) != Some(true) {
            return;
        }
        let mut locked = self.keyspace.lock(id);
        let partition = locked.partition_mut(id);
        for db in 0..self.options.databases {
            partition.database_mut(db).forget_absences(self.keyspace.hasher());
        }
    }
}

/// Makes what was read resident, unless the key has changed since: then it returns false.
pub(super) fn install(
    partition: &mut Partition,
    miss: &Miss,
    row: Option<LoadedRow<'_>>,
    access: Access,
) -> bool {
    if partition.cold_version() != miss.cold_version {
        return false; // The command will ask again.
    }
    let database = partition.database_mut(miss.db);
    let Some((generation, key)) = row::split_object_key(&miss.row_key) else { return false };
    if database.generation() != generation || database.table().find(miss.hash, key).is_some() {
        return false;
    }
    match row {
        Some(row) => database.adopt_row(miss.hash, key, row.into_row(access)),
        // The filter was wrong.
        None => database.adopt_absence(miss.hash, key),
    }
    true
}
