//! How rows get out: probes from memory, reads, scans; and the tier's life.

use std::{
    fs,
    ops::ControlFlow,
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, AtomicU64, Ordering},
};

use basalt_cold::{
    CheckpointWriter, ColdError, ColdStats, ColdTier, Collecting, KeyRange, Pressure, Probe, Visit,
};
use basalt_stdx::lock_rank::RankedMutex;
use rocksdb::{
    CStrLike, Cache, ColumnFamilyDescriptor, DB, DEFAULT_COLUMN_FAMILY_NAME, Options, ReadOptions,
    ReadTier, WaitForCompactOptions, checkpoint::Checkpoint, properties,
};

use crate::{
    checkpoint::RocksCheckpoint,
    deleted::{Deleted, joined},
    error::{cold_error, io_error, open_error},
    options::{RocksOptions, behind_percent, database_options, file_options},
    reads::Reads,
    staging::Staging,
};

const DATABASE_DIR: &str = "db";
const STAGING_DIR: &str = "staging";
pub(crate) const LEVELS: usize = 7;

/// Rank of the lock under which files come and go (`docs/concurrency.md`).
const FILES_RANK: u8 = 5;

/// A [`ColdTier`] on RocksDB.
pub struct RocksTier {
    db: DB,
    dir: PathBuf,
    staging: Staging,
    file_options: Options,
    cache: Cache,
    cache_bytes_max: u64,
    file_bytes: u64,
    /// Made once: making one costs an allocation, and a probe has no time for that.
    probe_options: ReadOptions,
    read_options: ReadOptions,
    closed: AtomicBool,
    commits: AtomicU64,
    committed_entries: AtomicU64,
    committed_bytes: AtomicU64,
    reads: Reads,
    /// One commit at a time, and what there is to be done about deletions.
    deleted: RankedMutex<Deleted, FILES_RANK>,
}

impl RocksTier {
    /// Opens the tier at `dir`, making it if there is none, and removes what a crash left of
    /// uncommitted checkpoints. Takes well under a second whatever the size: files are opened in
    /// parallel, and only their indexes and filters are read.
    ///
    /// # Errors
    /// [`ColdError::Locked`] if another process or another tier of this one has it open,
    /// [`ColdError::Corrupt`], [`ColdError::NoSpace`] or [`ColdError::Failed`].
    pub fn open(dir: &Path, options: &RocksOptions) -> Result<Self, ColdError> {
        let database_dir = dir.join(DATABASE_DIR);
        fs::create_dir_all(&database_dir).map_err(|error| io_error(&error, "open"))?;
        refuse_headless(&database_dir)?;
        let cache = Cache::new_hyper_clock_cache(options.cache_bytes_bounded(), 0);
        let database = database_options(options, &cache);
        let family = ColumnFamilyDescriptor::new(DEFAULT_COLUMN_FAMILY_NAME, database.clone());
        let db = DB::open_cf_descriptors(&database, &database_dir, [family])
            .map_err(|error| open_error(&error, dir))?;
        // Only now: the database's lock is ours.
        let staging =
            Staging::open(dir.join(STAGING_DIR)).map_err(|error| io_error(&error, "open"))?;
        let mut probe_options = ReadOptions::default();
        probe_options.set_read_tier(ReadTier::BlockCache);
        Ok(Self {
            db,
            dir: dir.to_path_buf(),
            staging,
            file_options: file_options(&cache),
            cache,
            cache_bytes_max: options.cache_bytes_bounded() as u64,
            file_bytes: options.file_bytes,
            probe_options,
            read_options: ReadOptions::default(),
            closed: AtomicBool::new(false),
            commits: AtomicU64::new(0),
            committed_entries: AtomicU64::new(0),
            committed_bytes: AtomicU64::new(0),
            reads: Reads::default(),
            deleted: RankedMutex::default(),
        })
    }

    /// Waits until no background work is left to do.
    ///
    /// # Errors
    /// As [`ColdTier::read_many`], and [`ColdError::NoSpace`].
    pub fn wait_for_background_work(&self) -> Result<(), ColdError> {
        self.db()?
            .wait_for_compact(&WaitForCompactOptions::default())
            .map_err(|error| cold_error(&error, "compact", &self.dir))
    }

    pub(crate) fn db(&self) -> Result<&DB, ColdError> {
        // Relaxed: a flag on its own; a call that races with `close` may go either way.
        if self.closed.load(Ordering::Relaxed) { Err(ColdError::Closed) } else { Ok(&self.db) }
    }

    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    pub(crate) fn staging(&self) -> &Staging {
        &self.staging
    }

    /// See [`RocksOptions::file_bytes`].
    pub(crate) fn file_bytes(&self) -> u64 {
        self.file_bytes
    }

    pub(crate) fn file_options(&self) -> &Options {
        &self.file_options
    }

    pub(crate) fn deleted(&self) -> &RankedMutex<Deleted, FILES_RANK> {
        &self.deleted
    }

    pub(crate) fn commits(&self) -> u64 {
        self.commits.load(Ordering::Relaxed)
    }

    pub(crate) fn count_commit(&self, entries: u64, bytes: u64) {
        // Relaxed: statistics.
        self.commits.fetch_add(1, Ordering::Relaxed);
        self.committed_entries.fetch_add(entries, Ordering::Relaxed);
        self.committed_bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    fn read_one(&self, db: &DB, key: &[u8]) -> Result<Option<Vec<u8>>, rocksdb::Error> {
        Ok(db.get_pinned_opt(key, &self.read_options)?.map(|value| value.to_vec()))
    }

    fn read_rows(&self, keys: &[Vec<u8>]) -> Result<Vec<Option<Vec<u8>>>, ColdError> {
        let db = self.db()?;
        let failed = |error: rocksdb::Error| cold_error(&error, "read", &self.dir);
        if let [key] = keys {
            return Ok(vec![self.read_one(db, key).map_err(failed)?]);
        }
        let family = db.cf_handle(DEFAULT_COLUMN_FAMILY_NAME).ok_or(ColdError::Closed)?;
        db.batched_multi_get_cf_opt(family, keys, keys.is_sorted(), &self.read_options)
            .into_iter()
            .map(|read| Ok(read.map_err(failed)?.map(|value| value.to_vec())))
            .collect()
    }

    pub(crate) fn number(&self, property: impl CStrLike) -> u64 {
        self.db.property_int_value(property).ok().flatten().unwrap_or(0)
    }
}

impl ColdTier for RocksTier {
    fn probe(&self, key: &[u8]) -> Probe {
        let Ok(db) = self.db() else { return Probe::Unknown };
        match db.get_pinned_opt(key, &self.probe_options) {
            Ok(None) => Probe::Absent,
            Ok(Some(value)) => Probe::Present(value.to_vec()),
            // "Incomplete": a filter says perhaps and the block is not cached. Any other error is
            // met again by the read that follows.
            Err(_) => Probe::Unknown,
        }
    }

    fn read_many(&self, keys: &[Vec<u8>]) -> Result<Vec<Option<Vec<u8>>>, ColdError> {
        self.reads.counting(|| self.read_rows(keys))
    }

    fn scan(&self, from: &[u8], to: &[u8], visit: &mut Visit<'_>) -> Result<(), ColdError> {
        let db = self.db()?;
        if from >= to {
            return Ok(());
        }
        let mut options = ReadOptions::default();
        options.set_iterate_upper_bound(to);
        // A scan passes once; it must not push out what reads need.
        options.fill_cache(false);
        let mut rows = db.raw_iterator_opt(options);
        rows.seek(from);
        while let Some((key, value)) = rows.item() {
            if visit(key, value) == ControlFlow::Break(()) {
                return Ok(());
            }
            rows.next();
        }
        rows.status().map_err(|error| cold_error(&error, "scan", &self.dir))
    }

    fn share_percent(&self, ranges: &[KeyRange]) -> Option<u64> {
        let db = self.db().ok()?;
        let all = self.number(properties::LIVE_SST_FILES_SIZE).max(1);
        Some((self.bytes_in(db, &joined(ranges.to_vec())).saturating_mul(100) / all).min(100))
    }

    fn collect(&self, percent_min: u64) -> Result<Collecting, ColdError> {
        self.give_space_back(percent_min)
    }

    fn checkpoint_writer(&self) -> Result<Box<dyn CheckpointWriter<'_> + '_>, ColdError> {
        self.db()?;
        Ok(Box::new(RocksCheckpoint::new(self)))
    }

    fn backup(&self, dir: &Path) -> Result<(), ColdError> {
        let db = self.db()?;
        fs::create_dir(dir).map_err(|error| io_error(&error, "back up"))?;
        let copied = Checkpoint::new(db)
            .and_then(|checkpoint| checkpoint.create_checkpoint(dir.join(DATABASE_DIR)))
            .map_err(|error| cold_error(&error, "back up", &self.dir));
        if copied.is_err() {
            // Half a backup must not look like one. What cannot be removed stays, and is headless.
            let _ = fs::remove_dir_all(dir);
        }
        copied
    }

    fn stats(&self) -> ColdStats {
        let level_files = |level| self.number(properties::num_files_at_level(level));
        ColdStats {
            rows_estimate: self.number(properties::ESTIMATE_NUM_KEYS),
            table_bytes: self.number(properties::LIVE_SST_FILES_SIZE),
            files_per_level: (0..LEVELS).map(level_files).collect(),
            index_filter_bytes: self.number(properties::ESTIMATE_TABLE_READERS_MEM),
            cache_bytes_used: self.cache.get_usage() as u64,
            cache_bytes_max: self.cache_bytes_max,
            merges_running: self.number(properties::NUM_RUNNING_COMPACTIONS),
            background_errors: self.number(properties::BACKGROUND_ERRORS),
            block_reads: self.reads.count(),
            checkpoints_committed: self.commits(),
            checkpoint_rows: self.committed_entries.load(Ordering::Relaxed),
            checkpoint_bytes: self.committed_bytes.load(Ordering::Relaxed),
            ..ColdStats::default()
        }
    }

    fn pressure(&self) -> Pressure {
        let l0_files = self.number(properties::num_files_at_level(0));
        let pending_compaction_bytes = self.number(properties::ESTIMATE_PENDING_COMPACTION_BYTES);
        Pressure {
            l0_files,
            pending_compaction_bytes,
            behind_percent: behind_percent(l0_files, pending_compaction_bytes),
            stalled: self.number(properties::IS_WRITE_STOPPED) > 0
                || self.number(properties::ACTUAL_DELAYED_WRITE_RATE) > 0,
        }
    }

    fn close(&self) {
        self.closed.store(true, Ordering::Relaxed);
        self.db.cancel_all_background_work(true);
    }
}

impl Drop for RocksTier {
    fn drop(&mut self) {
        self.close();
    }
}

/// Refuses a directory that has data but no `CURRENT`: RocksDB would make an empty database of it
/// and delete the data as left-overs.
fn refuse_headless(database_dir: &Path) -> Result<(), ColdError> {
    let failed = |error: std::io::Error| io_error(&error, "open");
    let current = database_dir.join("CURRENT");
    if current.try_exists().map_err(failed)? {
        return Ok(());
    }
    for entry in fs::read_dir(database_dir).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        if path.extension().is_some_and(|extension| extension == "sst") {
            return Err(ColdError::Corrupt {
                place: current.display().to_string(),
                detail: format!("it is missing while {} exists", path.display()),
            });
        }
    }
    Ok(())
}
