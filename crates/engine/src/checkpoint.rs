//! Checkpoints: giving the cold tier what changed in memory, so that the log can be cut.
//!
//! ```text
//! read the collections for which changes of the log still wait      after a start, once
//! read what the rows begin with of keys that were put unread        (`residency/unread.rs`)
//! for each partition with changes since its mark    under its lock, ~50 ns a dirty key
//!     copy dirty entries into rows, now in flight, note X = last position in the shard's stream
//! sort the rows, write sorted files, keep the partition's mark {X, generations, counts}
//! when enough is gathered:
//!     write the marks, mostly in a file of their own, and how far the log is trimmed (`log_mark`)
//!     log.sync()      nothing that the log could still lose may reach the cold tier
//!     ingest          all rows and marks become visible and durable at once
//!     what was in flight is clean; clear the tombstones that the cold tier no longer needs
//!     log.trim(what no partition needs)       (`checkpoint/floors.rs`)
//! ```
//! A partition in the cold tier is therefore always exactly its state at one position of its
//! shard's stream, and recovery skips what it already has. There is no copy-on-write: a partition's
//! share of what changed between two checkpoints is a few thousand keys, and copying those takes a
//! few hundred microseconds of one lock of 1,024. A partition that gathers more than that starts a
//! checkpoint; that is looked for once a second (`checkpoint/due.rs`).
//!
//! A large collection is *spread*: only those of its elements are copied that have changed, in
//! slices (`checkpoint/spread.rs`). A long string is not copied: its pieces are written as they
//! stand in memory.
//!
//! Between the copy and the end of the ingest what was copied is *in flight*: it does not leave
//! memory. If the ingest fails, just that is dirty again.

mod due;
mod elements;
mod floors;
mod rows;
mod spread;
pub(crate) mod state;

use crate::engine::Engine;
use crate::error::EngineError;
use crate::log::Refusal;
use crate::store::hold::Hold;
use basalt_change::log_mark::{LogMark, log_mark_key};
use basalt_change::place::{PARTITIONS, PartitionId, ShardId, ShardSet};
use basalt_change::row;
use basalt_cold::{CheckpointWriter, ColdError};
use basalt_env::Instant;
use basalt_keyspace::partition::Partition;
use basalt_stdx::lock_rank::RankedGuard;
use due::Tombstones;
use floors::Floors;
use rows::{Dead, LibraryRow, Rows, Terms};
use spread::Holding;
use state::{CheckpointError, CheckpointStats, Checkpointing, Done};
use std::sync::atomic::Ordering;
use std::time::Duration;

/// So often a partition is copied again because a large collection went while its elements were
/// gathered, before all is done under one lock.
const SLICED_COPIES_MAX: usize = 3;
/// After a failed checkpoint the next one waits this long.
const RETRY_AFTER: Duration = Duration::from_secs(1);
/// How often the thread looks whether a checkpoint is due.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// How often it looks at every partition, which is 1,024 locks.
const LOOK_AT_PARTITIONS_EVERY: Duration = Duration::from_secs(1);
/// Where flushes follow each other, each does not have a checkpoint of its own.
const AFTER_FLUSHES_EVERY: Duration = Duration::from_secs(1);

/// Partitions whose rows wait for the next ingest.
struct Gathered<'e> {
    writer: Box<dyn CheckpointWriter<'e> + 'e>,
    partitions: Vec<(PartitionId, Dead)>,
    marks: Vec<(PartitionId, Vec<u8>)>,
    libraries: Vec<LibraryRow>,
}

impl<'e> Gathered<'e> {
    fn nothing(writer: Box<dyn CheckpointWriter<'e> + 'e>) -> Gathered<'e> {
        Gathered { writer, partitions: Vec::new(), marks: Vec::new(), libraries: Vec::new() }
    }
}

#[derive(Default)]
struct Written {
    rows: u64,
    left_out: LeftOut,
}

/// Partitions with a row that cannot be read. What waits for the row cannot be made, so the
/// partition cannot be stored as of any position: its mark stays, its floor stays, and so does the
/// log from there on.
#[derive(Default)]
struct LeftOut {
    partitions: u64,
    first_error: Option<EngineError>,
}

impl LeftOut {
    fn add(&mut self, error: EngineError) {
        self.partitions += 1;
        self.first_error.get_or_insert(error);
    }
}

/// When the next checkpoint may run by itself.
#[derive(Default)]
pub(crate) struct CheckpointPace {
    /// After one that failed.
    not_before: Instant,
    look_at_partitions: Instant,
    /// After one that was due because of a flush.
    after_flushes: Instant,
    tombstones: Tombstones,
}

/// The partitions that were looked at since the last ingest, and where the log was before.
struct Slice {
    partitions: Vec<PartitionId>,
    positions_before: Vec<u64>,
}

/// What a partition had for the cold tier.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Collected {
    Nothing,
    Rows,
}

fn write_marks(
    marks: &[(PartitionId, Vec<u8>)],
    log: Option<&LogMark>,
    libraries: &[LibraryRow],
    writer: &mut (dyn CheckpointWriter<'_> + '_),
) -> Result<(), ColdError> {
    if !are_wide(marks) {
        writer.begin_file()?;
    }
    let mut key = Vec::new();
    for (id, mark) in marks {
        key.clear();
        row::mark_key(*id, &mut key);
        writer.put(&key, mark)?;
    }
    if let Some(log) = log {
        key.clear();
        log_mark_key(&mut key);
        let mut mark = Vec::new();
        log.encode(&mut mark);
        writer.put(&key, &mark)?;
    }
    libraries.iter().try_for_each(|library| library.write(writer))
}

/// Rows of partitions from all over the keyspace have come before: their file overlaps nearly all
/// others as it is, and marks in one of their own would only be one more.
fn are_wide(marks: &[(PartitionId, Vec<u8>)]) -> bool {
    let (Some((first, _)), Some((last, _))) = (marks.first(), marks.last()) else { return false };
    last.index() - first.index() > PARTITIONS / 2
}

impl Engine {
    /// Asks for a checkpoint; `done` is called from the checkpoint thread.
    pub fn request_checkpoint(&self, done: Done) {
        self.checkpointing.requests.lock().push(done);
        self.checkpointing.requested.notify_one();
    }

    /// While the guard lives, no checkpoint runs.
    pub(crate) fn lock_out_checkpoints(&self) -> RankedGuard<'_, impl Sized> {
        self.checkpointing.running.lock()
    }

    /// What checkpoints have done so far.
    pub fn checkpoint_stats(&self) -> CheckpointStats {
        let durations = self.checkpointing.durations.distribution();
        let longest_hold = self.checkpointing.holds.longest();
        CheckpointStats { durations, longest_hold, ..self.checkpointing.stats.lock().clone() }
    }

    /// A thread has made some changes since it last said so.
    pub fn note_changes(&self, count: u64) {
        self.checkpointing.changes.fetch_add(count, Ordering::Relaxed);
    }

    /// Changes that threads have told of since the last completed checkpoint began. Each record
    /// that recovery applied is one.
    pub fn changes_since_checkpoint(&self) -> u64 {
        let Checkpointing { changes, changes_saved, .. } = &self.checkpointing;
        // Relaxed: a count that is shown.
        let saved = changes_saved.load(Ordering::Relaxed);
        changes.load(Ordering::Relaxed).saturating_sub(saved)
    }

    /// Writes everything dirty to the cold tier and cuts the log.
    pub fn checkpoint(&self) -> Result<(), CheckpointError> {
        let mut floors = self.checkpointing.running.lock();
        self.checkpointing.stats.lock().running = true;
        // Relaxed: a change that is counted late counts as made after the checkpoint.
        let changes = self.checkpointing.changes.load(Ordering::Relaxed);
        let flushed = self.checkpointing.flushed.swap(false, Ordering::Relaxed);
        let start = self.env.clock.now();
        let result = self.run_checkpoint(&mut floors);
        self.checkpointing.note_landed();
        match result {
            // Files may be removed in which nothing lives now.
            Ok(_) if flushed => self.collector.wake(),
            Err(_) if flushed => self.checkpointing.flushed.store(true, Ordering::Relaxed),
            _ => {}
        }
        let mut stats = self.checkpointing.stats.lock();
        stats.running = false;
        match &result {
            Ok(Written { rows, left_out }) => {
                stats.completed += 1;
                self.checkpointing.changes_saved.store(changes, Ordering::Relaxed);
                if let Some(error) = &left_out.first_error
                    && stats.partitions_left_out == 0
                {
                    tracing::error!(
                        %error,
                        partitions = left_out.partitions,
                        "partitions with a row that cannot be read are left out of checkpoints, and the journal \
                         keeps all since: restore the cold tier from a backup, or flush their databases"
                    );
                }
                stats.partitions_left_out = left_out.partitions;
                stats.last_ms = self.env.clock.unix_ms();
                stats.last_error = None;
                stats.is_out_of_space = false;
                let duration = self.env.clock.since(start);
                self.checkpointing.durations.add(duration.as_nanos() as u64, 1);
                stats.last_duration = duration;
                stats.last_rows = *rows;
                let held_back = (left_out.partitions > 0).then(|| self.log().bytes_to_replay());
                // Relaxed: read by the checkpoint thread, which is late at worst.
                self.checkpointing.held_back_bytes.store(held_back.unwrap_or(0), Ordering::Relaxed);
            }
            Err(error) => {
                stats.failed += 1;
                stats.last_error = Some(error.to_string());
                stats.is_out_of_space = match error {
                    CheckpointError::Cold(error) => matches!(error, ColdError::NoSpace { .. }),
                    // What the log holds back for want of space keeps it from being synced.
                    CheckpointError::Log(_) => {
                        self.log().admit_all(ShardSet::ALL) == Err(Refusal::DiskFull)
                    }
                    CheckpointError::Read(_) => false,
                };
            }
        }
        result.map(|_| ())
    }

    fn run_checkpoint(&self, floors: &mut Floors) -> Result<Written, CheckpointError> {
        let mut written = Written::default();
        let mut gathered: Option<Gathered<'_>> = None;
        let mut slice = self.begin_slice();
        let mut rows = Rows::default();
        for id in PartitionId::all() {
            match self.read_deferred(id).and_then(|()| self.settle_for_copy(id)) {
                Ok(()) => slice.partitions.push(id),
                // It stays as it is, and with it its place in the log.
                Err(error) if error.is_of_a_row() => {
                    written.left_out.add(error);
                    continue;
                }
                Err(error) => {
                    self.give_up(gathered);
                    return Err(error.into());
                }
            }
            match self.collect(id, &mut rows) {
                Ok(Collected::Nothing) => continue,
                Ok(Collected::Rows) => {}
                Err(error) => {
                    self.mark_dirty_again(&[(id, Dead::default())]);
                    self.give_up(gathered);
                    return Err(error);
                }
            }
            written.rows += rows.len() as u64;
            let mut current = match gathered.take() {
                Some(current) => current,
                None => match self.cold.checkpoint_writer() {
                    Ok(writer) => Gathered::nothing(writer),
                    Err(error) => {
                        self.mark_dirty_again(&[(id, Dead::default())]);
                        return Err(error.into());
                    }
                },
            };
            current.partitions.push((id, rows.dead().clone()));
            current.marks.push((id, rows.mark()));
            current.libraries.append(&mut rows.take_libraries());
            if let Err(error) = rows.write(id, &mut *current.writer) {
                self.mark_dirty_again(&current.partitions);
                return Err(error.into());
            }
            if current.writer.bytes() >= self.options.ingest_bytes {
                self.end_slice(floors, &slice, Some(current))?;
                slice = self.begin_slice();
            } else {
                gathered = Some(current);
            }
        }
        self.end_slice(floors, &slice, gathered)?;
        Ok(written)
    }

    fn begin_slice(&self) -> Slice {
        Slice { partitions: Vec::new(), positions_before: self.log().positions() }
    }

    /// Passes what was gathered to the cold tier. Then it has all that the partitions of the slice
    /// had in the log before, and says so, and the log is trimmed.
    fn end_slice<'e>(
        &'e self,
        floors: &mut Floors,
        slice: &Slice,
        gathered: Option<Gathered<'e>>,
    ) -> Result<(), CheckpointError> {
        let mut raised = floors.clone();
        raised.raise(&slice.partitions, &slice.positions_before);
        let gathered = match gathered {
            None if raised.mark() != floors.mark() => {
                Some(Gathered::nothing(self.cold.checkpoint_writer()?))
            }
            gathered => gathered,
        };
        if let Some(gathered) = gathered {
            self.ingest(gathered, raised.mark())?;
        }
        *floors = raised;
        self.log().trim(&floors.of_shards());
        Ok(())
    }

    /// Copies what is dirty in a partition, from now on in flight.
    fn collect(&self, id: PartitionId, rows: &mut Rows) -> Result<Collected, CheckpointError> {
        let collected = self.copy_in_slices(id, rows)?;
        if collected == Collected::Rows {
            self.checkpointing.note_in_flight(rows.objects());
        }
        Ok(collected)
    }

    fn copy_in_slices(
        &self,
        id: PartitionId,
        rows: &mut Rows,
    ) -> Result<Collected, CheckpointError> {
        for _ in 0..SLICED_COPIES_MAX {
            if self.copy(id, rows, Holding::Slices) == Collected::Nothing {
                return Ok(Collected::Nothing);
            }
            if self.gather_slices(rows)? {
                return Ok(Collected::Rows);
            }
            self.mark_dirty_again(&[(id, Dead::default())]);
            self.settle_for_copy(id)?;
        }
        Ok(self.copy(id, rows, Holding::Throughout))
    }

    /// Copies all but the elements of large collections, if these are to be gathered in slices.
    fn copy(&self, id: PartitionId, rows: &mut Rows, holding: Holding) -> Collected {
        rows.make_room(self.keyspace.try_look(id, Partition::dirty).unwrap_or(0));
        let mut locked = self.keyspace.lock(id);
        let partition = locked.partition_mut(id);
        partition.end_settling();
        if !partition.is_to_be_copied() {
            return Collected::Nothing;
        }
        let hold = Hold::begin(self.clock());
        let terms = Terms {
            collection_row_bytes_max: self.options.collection_row_bytes_max,
            string_piece_bytes: self.options.string_piece_bytes,
            hasher: self.keyspace.hasher(),
        };
        rows.copy(id, partition, terms);
        Engine::gather_at_once(partition, rows, holding);
        partition.note_copied();
        drop(locked);
        self.checkpointing.holds.note(self.clock(), &hold);
        Collected::Rows
    }

    /// Nothing comes of what has been gathered.
    fn give_up(&self, gathered: Option<Gathered<'_>>) {
        if let Some(gathered) = gathered {
            self.mark_dirty_again(&gathered.partitions);
        }
    }

    fn ingest(&self, gathered: Gathered<'_>, log: Option<&LogMark>) -> Result<(), CheckpointError> {
        let Gathered { mut writer, partitions, marks, libraries } = gathered;
        let result = write_marks(&marks, log, &libraries, &mut *writer)
            .map_err(CheckpointError::from)
            .and_then(|()| self.sync_and_commit(writer, &partitions));
        self.checkpointing.note_landed();
        match &result {
            Ok(()) => {
                partitions.iter().for_each(|(id, dead)| self.after_commit(*id, dead));
                // Relaxed: a figure by itself.
                self.checkpointing.ingests.fetch_add(1, Ordering::Relaxed);
            }
            Err(_) => self.mark_dirty_again(&partitions),
        }
        result
    }

    fn sync_and_commit(
        &self,
        writer: Box<dyn CheckpointWriter<'_> + '_>,
        partitions: &[(PartitionId, Dead)],
    ) -> Result<(), CheckpointError> {
        let prepared = writer.prepare()?;
        let concerned: ShardSet = partitions.iter().map(|(id, _)| id.shard()).collect();
        let positions = self.log().positions();
        let through: Vec<(ShardId, u64)> =
            concerned.iter().map(|shard| (shard, positions[shard.index()])).collect();
        self.log().sync(&through)?;
        prepared.commit()?;
        Ok(())
    }

    /// The cold tier has the rows: tombstones that were part of them have done their duty.
    fn after_commit(&self, id: PartitionId, dead: &Dead) {
        let mut locked = self.keyspace.lock(id);
        let partition = locked.partition_mut(id);
        let dead_ids = |generation| dead.ids_of(generation);
        partition.note_arrived(&dead.generations, dead_ids, self.keyspace.hasher());
    }

    fn mark_dirty_again(&self, partitions: &[(PartitionId, Dead)]) {
        for &(id, _) in partitions {
            self.keyspace.lock(id).partition_mut(id).note_lost();
        }
    }

    /// The checkpoint thread. Returns when the engine stops.
    pub(crate) fn run_checkpoint_thread(&self) {
        let mut pace = CheckpointPace::default();
        while !self.is_stopping() {
            let requests = self.wait_for_requests();
            if self.is_stopping() {
                return;
            }
            self.checkpoint_if_due(&mut pace, requests);
        }
    }

    /// Runs a checkpoint if somebody asks, the log is long, a partition is full of changes, much
    /// was deleted, or databases were flushed; returns true if it did.
    fn checkpoint_if_due(&self, pace: &mut CheckpointPace, requests: Vec<Done>) -> bool {
        let held_back = self.checkpointing.held_back_bytes.load(Ordering::Relaxed);
        let new_bytes = self.log().bytes_to_replay().saturating_sub(held_back);
        let mut due = new_bytes > self.options.checkpoint_log_bytes;
        let now = self.env.clock.now();
        if now >= pace.look_at_partitions {
            pace.look_at_partitions = now + LOOK_AT_PARTITIONS_EVERY;
            due |= self.partitions_want_checkpoint(&mut pace.tombstones);
        }
        if now >= pace.after_flushes && self.checkpointing.flushed.load(Ordering::Relaxed) {
            pace.after_flushes = now + AFTER_FLUSHES_EVERY;
            due = true;
        }
        if requests.is_empty() && (!due || now < pace.not_before) {
            return false;
        }
        let result = self.checkpoint();
        if let Err(error) = &result {
            tracing::warn!(%error, "a checkpoint failed and will be tried again");
            pace.not_before = self.env.clock.now() + RETRY_AFTER;
        }
        requests.into_iter().for_each(|done| done(result.clone()));
        true
    }

    /// As [`Engine::checkpoint_if_due`], for those who have asked so far.
    pub(crate) fn checkpoint_now_if_due(&self, pace: &mut CheckpointPace) -> bool {
        let requests = std::mem::take(&mut *self.checkpointing.requests.lock());
        self.checkpoint_if_due(pace, requests)
    }

    fn wait_for_requests(&self) -> Vec<Done> {
        let mut requests = self.checkpointing.requests.lock();
        if requests.is_empty() && !self.is_stopping() {
            self.checkpointing.requested.wait_for(&mut requests, LOOK_EVERY);
        }
        std::mem::take(&mut requests)
    }

    pub(crate) fn wake_checkpoint_thread(&self) {
        drop(self.checkpointing.requests.lock());
        self.checkpointing.requested.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use basalt_cold::PreparedCheckpoint;

    /// Counts the files that are begun.
    #[derive(Default)]
    struct Files(u32);

    impl<'tier> CheckpointWriter<'tier> for Files {
        fn put(&mut self, _: &[u8], _: &[u8]) -> Result<(), ColdError> {
            Ok(())
        }

        fn delete(&mut self, _: &[u8]) -> Result<(), ColdError> {
            Ok(())
        }

        fn delete_range(&mut self, _: &[u8], _: &[u8]) -> Result<(), ColdError> {
            Ok(())
        }

        fn begin_file(&mut self) -> Result<(), ColdError> {
            self.0 += 1;
            Ok(())
        }

        fn bytes(&self) -> u64 {
            0
        }

        fn prepare(self: Box<Self>) -> Result<Box<dyn PreparedCheckpoint + 'tier>, ColdError> {
            Err(ColdError::Closed)
        }
    }

    #[test]
    fn marks_have_a_file_of_their_own_unless_the_rows_are_from_everywhere() {
        for (partitions, files) in [(0..0, 1), (7..8, 1), (0..400, 1), (600..1_024, 1), (0..900, 0)]
        {
            let ids = partitions.clone().filter_map(PartitionId::new);
            let marks: Vec<_> = ids.map(|id| (id, vec![1])).collect();
            let mut writer = Files::default();
            write_marks(&marks, None, &[], &mut writer).expect("is taken");
            assert_eq!(writer.0, files, "{partitions:?}");
        }
    }
}
