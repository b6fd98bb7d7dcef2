//! Checkpoints: giving the cold tier what changed in memory, so that the log can be cut.
//!
//! ```text
//! for each partition with changes since its mark    under its lock, ~50 ns a dirty key
//!     copy dirty entries into rows, mark them clean, note X = last position in the shard's stream
//! sort the rows, add the partition's mark {X, generations, counts}, write sorted files
//! when enough is gathered:
//!     log.sync()      nothing that the log could still lose may reach the cold tier
//!     ingest          all rows and marks become visible and durable at once
//!     clear the tombstones that the cold tier no longer needs
//! log.trim(positions at the start)
//! ```
//! A partition in the cold tier is therefore always exactly its state at one position of its shard's
//! stream, and recovery skips what it already has. There is no copy-on-write: a partition's share of
//! what changed between two checkpoints is a few thousand keys, and copying those takes a few
//! hundred microseconds of one lock of 1,024. A partition that gathers more than
//! [`PARTITION_DIRTY_MAX`] starts a checkpoint; that is looked for once a second.
//!
//! If the ingest fails, every entry of the partitions concerned that the cold tier may have is
//! marked dirty again: more work later, but never a lost row.

use crate::engine::Engine;
use crate::log::LogError;
use basalt_change::place::PartitionId;
use basalt_change::row::{self, DatabaseMark, Mark, ObjectRow, RowKind};
use basalt_cold::{CheckpointWriter, ColdError};
use basalt_keyspace::entry::{EntryValue, StringValue};
use basalt_keyspace::partition::Partition;
use basalt_keyspace::table::bucket::DIRTY;
use parking_lot::{Condvar, Mutex, MutexGuard};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Bytes of rows that are gathered before they are ingested.
const INGEST_BYTES: u64 = 256 << 20;
/// Dirty keys of one partition that start a checkpoint: about 1 ms under its lock.
const PARTITION_DIRTY_MAX: usize = 16 << 10;
/// After a failed checkpoint the next one waits this long.
const RETRY_AFTER: Duration = Duration::from_secs(1);
/// How often the thread looks whether a checkpoint is due.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// How often it looks at every partition, which is 1,024 locks.
const LOOK_AT_PARTITIONS_EVERY: Duration = Duration::from_secs(1);

/// Why a checkpoint failed. The data is safe in memory and in the log; it is tried again.
#[derive(Clone, Debug, thiserror::Error)]
pub enum CheckpointError {
    /// The cold tier did not take it.
    #[error("{0}")]
    Cold(#[from] ColdError),
    /// The log failed.
    #[error("{0}")]
    Log(#[from] LogError),
}

/// What checkpoints have done so far.
#[derive(Clone, Debug, Default)]
pub struct CheckpointStats {
    /// Checkpoints that completed.
    pub completed: u64,
    /// One is running.
    pub running: bool,
    /// Unix time in milliseconds of the end of the last complete one, 0 for none.
    pub last_ms: u64,
    /// Why the last one failed, if it did.
    pub last_error: Option<String>,
    /// How long the last complete one took.
    pub last_duration: Duration,
    /// Rows that the last complete one wrote.
    pub last_rows: u64,
    /// The longest time that one partition was locked, of all.
    pub longest_lock: Duration,
}

/// Called when a requested checkpoint has ended.
pub type Done = Box<dyn FnOnce(Result<(), CheckpointError>) + Send>;

#[derive(Default)]
pub(crate) struct Checkpointing {
    requests: Mutex<Vec<Done>>,
    requested: Condvar,
    /// Held while a checkpoint runs.
    running: Mutex<()>,
    stats: Mutex<CheckpointStats>,
}

/// The rows of one partition, copied under its lock. One is used for all partitions of a checkpoint: to
/// ask for memory, and to touch it for the first time, takes longer than to copy.
#[derive(Default)]
struct Rows {
    keys: Vec<u8>,
    values: Vec<u8>,
    index: Vec<RowAt>,
    mark: Mark,
    dead_generations: Vec<u64>,
}

struct RowAt {
    key: std::ops::Range<usize>,
    value: RowValue,
}

enum RowValue {
    Delete,
    Inline(std::ops::Range<usize>),
    /// What stands before the value in `values`, and the value.
    Shared(std::ops::Range<usize>, Arc<Vec<u8>>),
}

/// Partitions whose rows wait for the next ingest.
struct Gathered<'e> {
    writer: Box<dyn CheckpointWriter<'e> + 'e>,
    partitions: Vec<(PartitionId, Vec<u64>)>,
}

impl Engine {
    /// Asks for a checkpoint; `done` is called from the checkpoint thread.
    pub fn request_checkpoint(&self, done: Done) {
        self.checkpointing.requests.lock().push(done);
        self.checkpointing.requested.notify_one();
    }

    /// While the guard lives, no checkpoint runs.
    pub(crate) fn lock_out_checkpoints(&self) -> MutexGuard<'_, ()> {
        self.checkpointing.running.lock()
    }

    /// What checkpoints have done so far.
    pub fn checkpoint_stats(&self) -> CheckpointStats {
        self.checkpointing.stats.lock().clone()
    }

    /// Writes everything dirty to the cold tier and cuts the log.
    pub fn checkpoint(&self) -> Result<(), CheckpointError> {
        let _running = self.checkpointing.running.lock();
        self.checkpointing.stats.lock().running = true;
        let start = Instant::now();
        let result = self.run_checkpoint();
        let mut stats = self.checkpointing.stats.lock();
        stats.running = false;
        match &result {
            Ok(rows) => {
                stats.completed += 1;
                stats.last_ms = self.clock.unix_ms();
                stats.last_error = None;
                stats.last_duration = start.elapsed();
                stats.last_rows = *rows;
            }
            Err(error) => stats.last_error = Some(error.to_string()),
        }
        result.map(|_| ())
    }

    fn run_checkpoint(&self) -> Result<u64, CheckpointError> {
        let cut = self.log().positions();
        let mut written = 0;
        let mut gathered: Option<Gathered<'_>> = None;
        let mut rows = Rows::default();
        for id in PartitionId::all() {
            if !self.collect(id, &mut rows) {
                continue;
            }
            written += rows.index.len() as u64;
            let mut current = match gathered.take() {
                Some(current) => current,
                None => match self.cold.checkpoint_writer() {
                    Ok(writer) => Gathered { writer, partitions: Vec::new() },
                    Err(error) => {
                        self.mark_dirty_again(&[(id, Vec::new())]);
                        return Err(error.into());
                    }
                },
            };
            let dead = rows.dead_generations.clone();
            current.partitions.push((id, dead));
            if let Err(error) = rows.write(id, &mut *current.writer) {
                self.mark_dirty_again(&current.partitions);
                return Err(error.into());
            }
            if current.writer.bytes() >= INGEST_BYTES {
                self.ingest(current)?;
            } else {
                gathered = Some(current);
            }
        }
        if let Some(gathered) = gathered {
            self.ingest(gathered)?;
        }
        self.log().trim(&cut);
        Ok(written)
    }

    /// Copies what is dirty in a partition and marks it clean; false if there is nothing to be written.
    fn collect(&self, id: PartitionId, rows: &mut Rows) -> bool {
        rows.make_room(self.keyspace.glance(id, Partition::dirty).unwrap_or(0));
        let mut locked = self.keyspace.lock(id);
        let partition = locked.partition_mut(id);
        // Also when nothing is dirty: a key that came and went is in the log, of which the next trim
        // may leave the second half, and the mark must be past that.
        if partition.last_seq == partition.marked_seq && !partition.mark_stale {
            debug_assert_eq!(partition.dirty(), 0, "what is dirty was logged after the mark");
            return false;
        }
        let start = Instant::now();
        rows.copy(id, partition);
        for database in &mut partition.databases {
            database.has_rows |= database.table.counts().dirty > 0;
            database.table.mark_all_clean();
        }
        partition.mark_stale = false;
        partition.marked_seq = partition.last_seq;
        drop(locked);
        let mut stats = self.checkpointing.stats.lock();
        stats.longest_lock = stats.longest_lock.max(start.elapsed());
        true
    }

    fn ingest(&self, gathered: Gathered<'_>) -> Result<(), CheckpointError> {
        let Gathered { writer, partitions } = gathered;
        let result = self.sync_and_commit(writer);
        match &result {
            Ok(()) => partitions.iter().for_each(|(id, dead)| self.after_commit(*id, dead)),
            Err(_) => self.mark_dirty_again(&partitions),
        }
        result
    }

    fn sync_and_commit(
        &self,
        writer: Box<dyn CheckpointWriter<'_> + '_>,
    ) -> Result<(), CheckpointError> {
        let prepared = writer.prepare()?;
        self.log().sync()?;
        prepared.commit()?;
        Ok(())
    }

    /// The cold tier has the rows: tombstones that were part of them have done their duty.
    fn after_commit(&self, id: PartitionId, dead: &[u64]) {
        let mut locked = self.keyspace.lock(id);
        let partition = locked.partition_mut(id);
        // Others have come in behind them since; nobody else takes any out.
        debug_assert!(partition.dead_generations.starts_with(dead));
        partition.dead_generations.drain(..dead.len());
        let mut cleared = false;
        for database in &mut partition.databases {
            if database.table.counts().tombstones == 0 {
                continue;
            }
            let mut keys = Vec::new();
            database.table.walk(0, |entry, flags| {
                if entry.is_tombstone() && flags & DIRTY == 0 {
                    keys.push(entry.key().to_vec());
                }
            });
            for key in keys {
                let hash = self.keyspace.hasher().hash(&key);
                if let Some(found) = database.table.find(hash, &key) {
                    database.table.remove(hash, found);
                    cleared = true;
                }
            }
        }
        // Who read one of these rows before the ingest must not bring it back to life.
        partition.cold_version += u64::from(cleared);
    }

    fn mark_dirty_again(&self, partitions: &[(PartitionId, Vec<u64>)]) {
        for &(id, _) in partitions {
            let mut locked = self.keyspace.lock(id);
            let partition = locked.partition_mut(id);
            partition.mark_stale = true;
            for database in &mut partition.databases {
                database.table.mark_cold_dirty();
            }
        }
    }

    /// The checkpoint thread: runs one when the log is long, a partition is full of changes, or
    /// somebody asks. Returns when the engine stops.
    pub(crate) fn run_checkpoint_thread(&self) {
        let mut not_before = Instant::now();
        let mut looked = Instant::now();
        loop {
            let requests = self.wait_for_requests();
            if self.is_stopping() {
                return;
            }
            let mut due = self.log().bytes_to_replay() > self.options.checkpoint_log_bytes;
            if looked.elapsed() > LOOK_AT_PARTITIONS_EVERY {
                looked = Instant::now();
                due |= self.any_partition_is_full();
            }
            if requests.is_empty() && (!due || Instant::now() < not_before) {
                continue;
            }
            let result = self.checkpoint();
            if let Err(error) = &result {
                tracing::warn!(%error, "a checkpoint failed and will be tried again");
                not_before = Instant::now() + RETRY_AFTER;
            }
            requests.into_iter().for_each(|done| done(result.clone()));
        }
    }

    fn wait_for_requests(&self) -> Vec<Done> {
        let mut requests = self.checkpointing.requests.lock();
        if requests.is_empty() && !self.is_stopping() {
            self.checkpointing.requested.wait_for(&mut requests, LOOK_EVERY);
        }
        std::mem::take(&mut requests)
    }

    fn any_partition_is_full(&self) -> bool {
        PartitionId::all().any(|id| {
            let dirty = self.keyspace.glance(id, basalt_keyspace::partition::Partition::dirty);
            dirty.is_some_and(|dirty| dirty > PARTITION_DIRTY_MAX)
        })
    }

    pub(crate) fn wake_checkpoint_thread(&self) {
        drop(self.checkpointing.requests.lock());
        self.checkpointing.requested.notify_all();
    }
}

impl Rows {
    /// Empties itself and makes room for about so many keys, before the lock is taken.
    fn make_room(&mut self, dirty: usize) {
        self.keys.clear();
        self.values.clear();
        self.index.clear();
        self.keys.reserve(dirty * 32);
        self.values.reserve(dirty * 80);
        self.index.reserve(dirty);
    }

    fn copy(&mut self, id: PartitionId, partition: &Partition) {
        let rows = self;
        rows.mark = Mark { applied: partition.last_seq, databases: Vec::new() };
        rows.dead_generations.clone_from(&partition.dead_generations);
        for database in &partition.databases {
            let mark = DatabaseMark { generation: database.generation, keys: database.keys() };
            rows.mark.databases.push(mark);
            database.table.walk(DIRTY, |entry, _| {
                let key_start = rows.keys.len();
                row::object_key(id, database.generation, entry.key(), &mut rows.keys);
                let start = rows.values.len();
                let mut head = |kind| {
                    ObjectRow { expire_ms: entry.expire_ms(), kind, value: b"" }
                        .encode_head(&mut rows.values)
                };
                let value = match entry.value() {
                    None => RowValue::Delete,
                    Some(EntryValue::String(StringValue::Inline(bytes))) => {
                        head(RowKind::String(entry.form()));
                        rows.values.extend_from_slice(bytes);
                        RowValue::Inline(start..rows.values.len())
                    }
                    Some(EntryValue::String(StringValue::Shared(shared))) => {
                        head(RowKind::String(entry.form()));
                        RowValue::Shared(start..rows.values.len(), shared.to_arc())
                    }
                    Some(EntryValue::Collection(value)) => {
                        head(RowKind::Collection(value.kind() as u8));
                        value.encode(&mut rows.values);
                        RowValue::Inline(start..rows.values.len())
                    }
                };
                rows.index.push(RowAt { key: key_start..rows.keys.len(), value });
            });
        }
    }

    fn write(
        &mut self,
        id: PartitionId,
        writer: &mut (dyn CheckpointWriter<'_> + '_),
    ) -> Result<(), ColdError> {
        let (mut key, mut value) = (Vec::new(), Vec::new());
        for &generation in &self.dead_generations {
            let (mut from, mut to) = (Vec::new(), Vec::new());
            row::object_key(id, generation, b"", &mut from);
            row::generation_end(id, generation, &mut to);
            writer.delete_range(&from, &to)?;
        }
        row::mark_key(id, &mut key);
        self.mark.encode(&mut value);
        writer.put(&key, &value)?;
        let keys = &self.keys;
        self.index.sort_unstable_by(|a, b| keys[a.key.clone()].cmp(&keys[b.key.clone()]));
        for row in &self.index {
            let key = &keys[row.key.clone()];
            match &row.value {
                RowValue::Delete => writer.delete(key)?,
                RowValue::Inline(range) => writer.put(key, &self.values[range.clone()])?,
                RowValue::Shared(head, bytes) => {
                    value.clear();
                    value.extend_from_slice(&self.values[head.clone()]);
                    value.extend_from_slice(bytes);
                    writer.put(key, &value)?;
                }
            }
        }
        Ok(())
    }
}
