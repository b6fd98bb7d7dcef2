//! The tier: its parts, its life, and its figures.

use crate::appender::Appender;
use crate::envelope::HEAD_BYTES_MAX;
use crate::error::io_error;
use crate::format_file;
use crate::learn::Learning;
use crate::locator::Locator;
use crate::moment::Moment;
use crate::segments::Segments;
use crate::space::Space;
use crate::writer::ValueWriter;
use basalt_cold::{
    Beginning, CheckpointWriter, ColdError, ColdStats, ColdTier, Collecting, KeyRange, Pressure,
    Probe, RowPlace, Visit, VisitHead,
};
use basalt_env::{Disk, ReadRing};
use basalt_stdx::lock_rank::RankedMutex;
use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

const VALUES_DIR: &str = "values";
/// Bytes of a segment: this part of the data, within these. Some are always being filled or
/// emptied, and many files are many descriptors.
const SEGMENTS: u64 = 256;
const SEGMENT_BYTES_MIN: u64 = 16 << 20;
const SEGMENT_BYTES_MAX: u64 = 256 << 20;

/// The page cache is of use where it can hold this part of the log.
const CACHED_PART_MIN: u64 = 8;

/// Ranks of the locks that are held across calls of the disk (`docs/concurrency.md`).
const COLLECTING_RANK: u8 = 3;
const COMMITTING_RANK: u8 = 4;

/// What the operator may choose, and what only the caller knows.
#[derive(Debug, Clone, Copy)]
pub struct ValueOptions {
    /// Values from this size on stand in the log, in bytes; `usize::MAX` for none. What stands
    /// there already is read in any case.
    pub value_bytes_min: usize,
    /// Memory for where values are, in bytes. Values that are put when that is used up stay with
    /// their rows.
    pub locator_bytes_max: u64,
    /// Least size of a segment, in bytes.
    pub segment_bytes_min: u64,
    /// Memory in which the system may cache segments, in bytes. Where that is little of the log,
    /// values are read past it, as far as a ring reads them.
    pub page_cache_bytes: u64,
    /// Seed of the hashes of keys; a secret.
    pub seed: u64,
    /// How many of a value's first bytes say all that is asked for without it: they stand in its
    /// row, too, 20 of them at most. Each byte is written again whenever the row is merged.
    pub head_bytes: fn(&[u8]) -> usize,
}

impl Default for ValueOptions {
    fn default() -> ValueOptions {
        ValueOptions {
            value_bytes_min: 512,
            locator_bytes_max: u64::MAX,
            segment_bytes_min: SEGMENT_BYTES_MIN,
            page_cache_bytes: u64::MAX,
            seed: 0,
            head_bytes: |_| HEAD_BYTES_MAX,
        }
    }
}

/// A cold tier over another, with large values in a log beside its rows.
pub struct ValueTier {
    pub(crate) rows: Arc<dyn ColdTier>,
    pub(crate) dir: PathBuf,
    disk: Arc<dyn Disk>,
    pub(crate) options: ValueOptions,
    pub(crate) segments: Segments,
    pub(crate) locator: Locator,
    /// A ring reads values past the page cache.
    pub(crate) reads_directly: AtomicBool,
    /// One commit at a time, and none while rows are gone over to build the locator.
    pub(crate) committing: RankedMutex<Learning, COMMITTING_RANK>,
    /// One collection at a time.
    collecting: RankedMutex<(), COLLECTING_RANK>,
    pub(crate) moment: Moment,
    pub(crate) figures: Figures,
    is_closed: AtomicBool,
}

/// Counts since the tier was opened. Relaxed: statistics.
#[derive(Default)]
pub(crate) struct Figures {
    /// Checkpoints, and their rows: commits of moved pointers are none.
    pub(crate) commits: AtomicU64,
    pub(crate) rows: AtomicU64,
    /// Reads of segments.
    pub(crate) reads: AtomicU64,
    /// Bytes of records of checkpoints.
    pub(crate) written: AtomicU64,
    /// Bytes of records that were moved.
    pub(crate) collected: AtomicU64,
}

impl ValueTier {
    /// Opens the log at `dir` over the tier that has its rows, and makes it if that has none.
    ///
    /// # Errors
    /// [`ColdError::Failed`] if the rows are of an earlier format, or as [`ColdTier::scan`].
    pub fn open(
        rows: Arc<dyn ColdTier>,
        disk: Arc<dyn Disk>,
        dir: &Path,
        options: ValueOptions,
    ) -> Result<ValueTier, ColdError> {
        let values_dir = dir.join(VALUES_DIR);
        let made = disk.create_dir(&values_dir).and_then(|()| disk.sync_dir(dir));
        made.map_err(|error| io_error(&error, "open", &values_dir))?;
        format_file::check(&*disk, &values_dir, &*rows)?;
        let segments = Segments::open(Arc::clone(&disk), values_dir.clone())?;
        let locator = Locator::new(options.seed);
        if segments.all().is_empty() {
            // No row can point anywhere.
            locator.set_built();
        }
        let tier = ValueTier {
            rows,
            segments,
            dir: values_dir,
            disk,
            options,
            locator,
            committing: RankedMutex::default(),
            collecting: RankedMutex::default(),
            reads_directly: AtomicBool::new(false),
            moment: Moment::default(),
            figures: Figures::default(),
            is_closed: AtomicBool::new(false),
        };
        tier.choose_reads(Space::of_all(&tier.segments.all()));
        Ok(tier)
    }

    /// The page cache serves reads where it holds much of the log, and costs each of them more than
    /// it serves where it does not.
    fn choose_reads(&self, space: Space) {
        let is_direct = space.used_bytes / CACHED_PART_MIN > self.options.page_cache_bytes;
        self.reads_directly.store(is_direct, Ordering::Relaxed);
    }

    pub(crate) fn appender(&self) -> Appender<'_> {
        let used_bytes = Space::of_all(&self.segments.all()).used_bytes;
        Appender::new(&self.segments, self.segment_bytes(used_bytes))
    }

    /// What the row of a value that stands in the log has of it.
    pub(crate) fn head_of<'a>(&self, value: &'a [u8]) -> &'a [u8] {
        let bytes = (self.options.head_bytes)(value).min(HEAD_BYTES_MAX);
        &value[..bytes.min(value.len())]
    }

    /// How large a new segment is where all take `used_bytes`.
    fn segment_bytes(&self, used_bytes: u64) -> u64 {
        let least = self.options.segment_bytes_min;
        (used_bytes / SEGMENTS).clamp(least, SEGMENT_BYTES_MAX.max(least))
    }

    /// Another value may be put into the log.
    pub(crate) fn has_room(&self) -> bool {
        self.locator.bytes() < self.options.locator_bytes_max && self.segments.has_numbers()
    }

    fn check_open(&self) -> Result<(), ColdError> {
        // Relaxed: a flag on its own; a call that races with `close` may go either way.
        if self.is_closed.load(Ordering::Relaxed) { Err(ColdError::Closed) } else { Ok(()) }
    }

    /// Undoes what a backup has done that could not go on.
    fn remove_backup(&self, dir: &Path) {
        let values = dir.join(VALUES_DIR);
        for name in self.disk.list(&values).unwrap_or_default() {
            let _ = self.disk.remove(&values.join(name));
        }
    }
}

impl ColdTier for ValueTier {
    fn probe(&self, key: &[u8]) -> Probe {
        if self.locator.find(self.locator.hash(key)).is_some() {
            return Probe::Unknown;
        }
        match self.rows.probe(key) {
            Probe::Present(row) => self.present(key, row),
            other => other,
        }
    }

    fn read_many(&self, keys: &[Vec<u8>]) -> Result<Vec<Option<Vec<u8>>>, ColdError> {
        self.check_open()?;
        self.read_rows(keys)
    }

    fn read_heads(&self, keys: &[Vec<u8>]) -> Result<Vec<Option<Beginning>>, ColdError> {
        self.check_open()?;
        self.read_beginnings(keys)
    }

    fn locate(&self, key: &[u8]) -> Option<RowPlace> {
        self.check_open().ok()?;
        self.place_of(key)
    }

    fn row_at<'bytes>(
        &self,
        key: &[u8],
        place: &RowPlace,
        bytes: &'bytes [u8],
    ) -> Option<Cow<'bytes, [u8]>> {
        self.value_in(key, place, bytes)
    }

    fn read_ring(&self, depth: usize) -> io::Result<Box<dyn ReadRing>> {
        self.disk.read_ring(depth)
    }

    fn scan(&self, from: &[u8], to: &[u8], visit: &mut Visit<'_>) -> Result<(), ColdError> {
        self.check_open()?;
        self.visit_rows(from, to, visit)
    }

    fn scan_heads(
        &self,
        from: &[u8],
        to: &[u8],
        visit: &mut VisitHead<'_>,
    ) -> Result<(), ColdError> {
        self.check_open()?;
        self.visit_heads(from, to, visit)
    }

    fn share_percent(&self, ranges: &[KeyRange]) -> Option<u64> {
        self.rows.share_percent(ranges)
    }

    fn checkpoint_writer(&self) -> Result<Box<dyn CheckpointWriter<'_> + '_>, ColdError> {
        self.check_open()?;
        Ok(Box::new(ValueWriter::new(self)?))
    }

    fn collect(&self, percent_min: u64) -> Result<Collecting, ColdError> {
        self.check_open()?;
        let _collecting = self.collecting.lock();
        let rows = self.rows.collect(percent_min)?;
        if !self.locator.is_built() {
            self.learn_a_piece()?;
            return Ok(rows.max(Collecting::GoesOn));
        }
        Ok(rows.max(self.collect_worst(percent_min)?))
    }

    fn backup(&self, dir: &Path) -> Result<(), ColdError> {
        self.check_open()?;
        // No segment goes, and no row comes, between the two.
        let _collecting = self.collecting.lock();
        let _committing = self.committing.lock();
        self.rows.backup(dir)?;
        let copied = self.segments.link_to(&dir.join(VALUES_DIR)).and_then(|()| {
            let values = dir.join(VALUES_DIR);
            format_file::mark(&*self.disk, &values)
                .and_then(|()| self.disk.sync_dir(dir))
                .map_err(|error| io_error(&error, "back up", &values))
        });
        if copied.is_err() {
            self.remove_backup(dir);
        }
        copied
    }

    fn stats(&self) -> ColdStats {
        let rows = self.rows.stats();
        let segments = self.segments.all();
        let space = Space::of_all(&segments);
        let figure = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        ColdStats {
            value_log_bytes: space.used_bytes,
            value_log_live_bytes: space.live_bytes,
            value_log_segments: segments.len() as u64,
            value_log_values: self.locator.values(),
            value_log_collected_bytes: figure(&self.figures.collected),
            locator_bytes: self.locator.bytes(),
            locator_is_built: self.locator.is_built(),
            block_reads: rows.block_reads + figure(&self.figures.reads),
            checkpoints_committed: figure(&self.figures.commits),
            checkpoint_rows: figure(&self.figures.rows),
            checkpoint_bytes: rows.checkpoint_bytes + figure(&self.figures.written),
            ..rows
        }
    }

    fn pressure(&self) -> Pressure {
        let rows = self.rows.pressure();
        let segments = self.segments.all();
        self.choose_reads(Space::of_all(&segments));
        // What lives is not known before the rows have been gone over.
        if !self.locator.is_built() {
            return rows;
        }
        let space = Space::to_collect(&segments);
        let behind = space.behind_percent(self.segment_bytes(space.used_bytes));
        Pressure { behind_percent: rows.behind_percent.max(behind), ..rows }
    }

    fn close(&self) {
        self.is_closed.store(true, Ordering::Relaxed);
        self.rows.close();
    }
}
