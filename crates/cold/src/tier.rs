//! The traits of the cold tier and what they promise.
//!
//! A checkpoint is written in three steps, so that the caller can put a barrier of its own (the
//! journal being durable) between the expensive part and the visible part:
//!
//! ```text
//! checkpoint_writer ─▶ put, delete, delete_range … ─▶ prepare ─▶ commit   all visible, durable
//!                                                       │   └──▶ discard  nothing happened
//!                                                       └─ files complete and synced, invisible
//! ```
//!
//! Dropping a writer or a prepared checkpoint is the same as discarding it.
//!
//! There is deliberately no single-row write, no transaction and no snapshot handle: memory is the
//! memtable, and the only writer is the checkpointer.

use crate::error::ColdError;
use basalt_env::{ReadAt, ReadRing};
use std::borrow::Cow;
use std::io;
use std::ops::ControlFlow;
use std::path::Path;

/// Largest key and value together, in bytes: a 512 MiB value, its header and a 512 MiB key.
pub const ROW_BYTES_MAX: usize = (1 << 30) + (1 << 20);

/// What is known about a key without touching the disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Probe {
    /// Certainly not there.
    Absent,
    /// There, and the value was in memory.
    Present(Vec<u8>),
    /// Perhaps there; only a blocking read can tell.
    Unknown,
}

/// Whether [`ColdTier::collect`] has found something to do, in the order of how soon it should be
/// called again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Collecting {
    /// Not now.
    Nothing,
    /// It has, and there may be more.
    GoesOn,
    /// It has removed files in which nothing lived, and there may be more: much space for little
    /// work.
    Removed,
}

/// The keys from the first one on that are below the second one.
pub type KeyRange = (Vec<u8>, Vec<u8>);

/// Receives a key and a value of a scan, and says whether to go on.
pub type Visit<'a> = dyn FnMut(&[u8], &[u8]) -> ControlFlow<()> + 'a;

/// As [`Visit`], for a scan of heads.
pub type VisitHead<'a> = dyn FnMut(&[u8], Head<'_>) -> ControlFlow<()> + 'a;

/// A value, or what it begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Head<'a> {
    /// All of it.
    Whole(&'a [u8]),
    /// What it begins with; there is more. It is 20 bytes at least, or as many as the tier was told
    /// are asked for when it was opened.
    Beginning(&'a [u8]),
}

/// Where the row of a key is, as of a moment.
pub struct RowPlace {
    /// What is to be read of it.
    pub read: ReadAt,
    /// The tier's name of the moment, and of the file.
    pub moment: u64,
    /// See `moment`.
    pub file: u32,
}

/// What the value of a key begins with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Beginning {
    /// All of it, or what it begins with, as in [`Head::Beginning`].
    pub bytes: Vec<u8>,
    /// The length of all of it.
    pub value_bytes: u64,
}

impl<'a> Head<'a> {
    /// The bytes that are there.
    pub fn bytes(self) -> &'a [u8] {
        let (Head::Whole(bytes) | Head::Beginning(bytes)) = self;
        bytes
    }
}

/// What [`ColdTier::collect`] is called with when nothing has been committed for a while.
pub const IDLE_PERCENT: u64 = 15;

/// A durable, ordered map from bytes to bytes that is changed by whole checkpoints.
///
/// Keys compare byte by byte. A key of zero bytes is allowed, and so is a value of zero bytes,
/// which is not the same as no row.
pub trait ColdTier: Send + Sync {
    /// Looks a key up without any disk access.
    ///
    /// May run on a network thread: it never blocks on the disk or on a commit in progress. An
    /// absent key is [`Probe::Absent`] except with the filter's false positive rate, after which
    /// it is [`Probe::Unknown`]. A closed tier and a failed look-up say [`Probe::Unknown`], so that
    /// the error surfaces in [`ColdTier::read_many`].
    fn probe(&self, key: &[u8]) -> Probe;

    /// Reads rows, in the order of `keys`, all as of one moment. May block on the disk. Keys may
    /// come in any order and more than once; ascending order is cheapest.
    ///
    /// # Errors
    /// [`ColdError::Corrupt`], [`ColdError::Failed`] or [`ColdError::Closed`].
    fn read_many(&self, keys: &[Vec<u8>]) -> Result<Vec<Option<Vec<u8>>>, ColdError>;

    /// Visits the rows of `from..to` in ascending order, all as of the call, until `visit` breaks.
    /// `from >= to` visits nothing. May block on the disk; holds no lock while it visits.
    ///
    /// # Errors
    /// [`ColdError::Corrupt`], [`ColdError::Failed`] or [`ColdError::Closed`].
    fn scan(&self, from: &[u8], to: &[u8], visit: &mut Visit<'_>) -> Result<(), ColdError>;

    /// As [`ColdTier::scan`], for those who want keys, or what values begin with: a long value may
    /// not be read.
    ///
    /// # Errors
    /// As [`ColdTier::scan`].
    fn scan_heads(
        &self,
        from: &[u8],
        to: &[u8],
        visit: &mut VisitHead<'_>,
    ) -> Result<(), ColdError> {
        self.scan(from, to, &mut |key, value| visit(key, Head::Whole(value)))
    }

    /// Reads what the values of keys begin with, in their order; `None` where there is no row. A
    /// tier that has values apart from their rows leaves them where they are.
    ///
    /// # Errors
    /// As [`ColdTier::read_many`].
    fn read_heads(&self, keys: &[Vec<u8>]) -> Result<Vec<Option<Beginning>>, ColdError> {
        let whole = |value: Vec<u8>| Beginning { value_bytes: value.len() as u64, bytes: value };
        Ok(self.read_many(keys)?.into_iter().map(|value| value.map(whole)).collect())
    }

    /// Where one read of a file finds the row of a key, if that is known without the disk. Takes a
    /// microsecond.
    fn locate(&self, key: &[u8]) -> Option<RowPlace> {
        let _ = key;
        None
    }

    /// The row of a key, in bytes that were read at its place; `None` if it cannot be said that
    /// they are, and [`ColdTier::read_many`] is to be asked.
    fn row_at<'bytes>(
        &self,
        key: &[u8],
        place: &RowPlace,
        bytes: &'bytes [u8],
    ) -> Option<Cow<'bytes, [u8]>> {
        let _ = (key, place, bytes);
        None
    }

    /// A ring that reads what [`ColdTier::locate`] finds, for the calling thread, with `depth`
    /// reads under way at most.
    ///
    /// # Errors
    /// There is none: a tier that locates nothing has none, and many systems refuse it.
    fn read_ring(&self, depth: usize) -> io::Result<Box<dyn ReadRing>> {
        let _ = depth;
        Err(io::ErrorKind::Unsupported.into())
    }

    /// About how many percent of the bytes of all rows are in some ranges, without reading them;
    /// `None` if it is not known. Rows that are overwritten or deleted and whose space is not free
    /// yet may count.
    fn share_percent(&self, ranges: &[KeyRange]) -> Option<u64> {
        let _ = ranges;
        None
    }

    /// Does a piece of background work, of some tenths of a second: learns where values are after
    /// the tier was opened, or frees the space of overwritten and deleted values and rows where
    /// these are at least `percent_min` of a file, or of what it takes to be rewritten. Reads and
    /// checkpoints go on meanwhile; a commit may have to wait. [`IDLE_PERCENT`] says besides that
    /// there is time.
    ///
    /// # Errors
    /// [`ColdError::NoSpace`], [`ColdError::Corrupt`], [`ColdError::Failed`] or
    /// [`ColdError::Closed`]; it may be tried again.
    fn collect(&self, percent_min: u64) -> Result<Collecting, ColdError> {
        let _ = percent_min;
        Ok(Collecting::Nothing)
    }

    /// Starts a checkpoint. Several may be written at a time; their commits are ordered as called.
    ///
    /// # Errors
    /// [`ColdError::NoSpace`], [`ColdError::Failed`] or [`ColdError::Closed`].
    fn checkpoint_writer(&self) -> Result<Box<dyn CheckpointWriter<'_> + '_>, ColdError>;

    /// Makes `dir` (which must not exist; its parent must) a tier of its own with the rows of this
    /// moment. Files are shared with this tier by hard links where the file system allows it, so
    /// `dir` should be on the same one.
    ///
    /// # Errors
    /// [`ColdError::NoSpace`], [`ColdError::Failed`] or [`ColdError::Closed`].
    fn backup(&self, dir: &Path) -> Result<(), ColdError>;

    /// Sizes and counts, for people. May take milliseconds; not for a network thread.
    fn stats(&self) -> ColdStats;

    /// How far background work lags behind, for slowing writers down smoothly.
    fn pressure(&self) -> Pressure;

    /// Stops background work and waits for it to end. Afterwards everything but `stats`,
    /// `pressure` and `probe` returns [`ColdError::Closed`]. May be called again. Dropping the tier
    /// closes it too, and only then can its directory be opened again.
    fn close(&self);
}

/// Collects the rows of one checkpoint.
///
/// Rows (`put` and `delete` together) must come in strictly ascending key order. After an error
/// the checkpoint is lost: drop it and begin another.
pub trait CheckpointWriter<'tier>: Send {
    /// Sets a row.
    ///
    /// # Errors
    /// [`ColdError::KeyOrder`], [`ColdError::RowTooBig`], [`ColdError::NoSpace`] or
    /// [`ColdError::Failed`].
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<(), ColdError>;

    /// Removes a row, which need not exist.
    ///
    /// # Errors
    /// As [`CheckpointWriter::put`].
    fn delete(&mut self, key: &[u8]) -> Result<(), ColdError>;

    /// Removes every older row of `from..to`. It may be called at any time, whatever the last key
    /// was: range deletions of a checkpoint take effect before its rows, so that a row put in the
    /// same checkpoint stays. `from >= to` does nothing.
    ///
    /// # Errors
    /// [`ColdError::NoSpace`] or [`ColdError::Failed`].
    fn delete_range(&mut self, from: &[u8], to: &[u8]) -> Result<(), ColdError>;

    /// What comes next lies far behind what came before: a tier that keeps rows in files had better
    /// begin another one, or it would span all that is between and be in the way of every merge.
    ///
    /// # Errors
    /// As [`CheckpointWriter::put`].
    fn begin_file(&mut self) -> Result<(), ColdError> {
        Ok(())
    }

    /// Bytes that this checkpoint occupies so far, about; compression and buffers make it lag.
    fn bytes(&self) -> u64;

    /// Completes and syncs the files. Nothing is visible yet, and a crash leaves nothing behind.
    ///
    /// # Errors
    /// [`ColdError::NoSpace`] or [`ColdError::Failed`]; the checkpoint is then gone.
    fn prepare(self: Box<Self>) -> Result<Box<dyn PreparedCheckpoint + 'tier>, ColdError>;
}

/// A checkpoint that is complete, durable and invisible.
pub trait PreparedCheckpoint: Send {
    /// Makes all of it visible and durable at once. After `Ok` it survives power loss. After a
    /// crash in between it is there whole or not at all.
    ///
    /// # Errors
    /// [`ColdError::NoSpace`], [`ColdError::Failed`] or [`ColdError::Closed`]: it is not visible.
    /// Only after a failed *sync* of the back end's own catalogue may a restart still find it, so
    /// the caller repeats the same rows or newer ones, never older ones.
    fn commit(self: Box<Self>) -> Result<(), ColdError>;

    /// Forgets it and frees its space.
    fn discard(self: Box<Self>);
}

/// Sizes and counts of a tier. Zero where a back end has no such thing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ColdStats {
    /// Rows, estimated; overwritten rows that background work has not merged yet count twice.
    pub rows_estimate: u64,
    /// Bytes of sorted files in use.
    pub table_bytes: u64,
    /// Bytes of files that hold large values apart from their rows.
    pub value_log_bytes: u64,
    /// Bytes of these that rows point to, up to a sixteenth too many.
    pub value_log_live_bytes: u64,
    /// How many such files there are.
    pub value_log_segments: u64,
    /// Values that are known to be in them.
    pub value_log_values: u64,
    /// Bytes that were moved from one to another since the tier was opened, to give space back.
    pub value_log_collected_bytes: u64,
    /// Memory of where these values are.
    pub locator_bytes: u64,
    /// That is known of all of them: one read leads to each.
    pub locator_is_built: bool,
    /// Sorted files in use, per level, the youngest first.
    pub files_per_level: Vec<u64>,
    /// Memory of indexes and filters, which is never evicted.
    pub index_filter_bytes: u64,
    /// Memory of cached blocks.
    pub cache_bytes_used: u64,
    /// Limit of cached blocks.
    pub cache_bytes_max: u64,
    /// Background merges running now.
    pub merges_running: u64,
    /// Errors that background work has met since the tier was opened.
    pub background_errors: u64,
    /// Blocks and values that [`ColdTier::read_many`] has had read from files since the tier was
    /// opened; what a cache of the kernel answered is counted, too.
    pub block_reads: u64,
    /// Checkpoints committed since the tier was opened.
    pub checkpoints_committed: u64,
    /// Rows and range deletions of these.
    pub checkpoint_rows: u64,
    /// File bytes of these.
    pub checkpoint_bytes: u64,
}

/// How far a tier's background work lags.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pressure {
    /// Files in the youngest level, each of which costs every probe of its range a look.
    pub l0_files: u64,
    /// Bytes that wait to be merged, estimated.
    pub pending_compaction_bytes: u64,
    /// The back end itself asks for no more writes now.
    pub stalled: bool,
    /// How far it is behind, in hundredths of how far it may be: 0 up to there, 100 at twice that.
    /// What is committed meanwhile is to come the slower.
    pub behind_percent: u32,
}
