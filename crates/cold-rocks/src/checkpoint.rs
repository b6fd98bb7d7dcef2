//! How rows get in: sorted files written aside, then one ingestion.
//!
//! ```text
//! put/delete ─▶ staging/2.sst, 3.sst … (rotated at a size and on request; ascending)
//! delete_range ─▶ kept in memory ─▶ staging/9.sst (tombstones only)        prepare: synced
//! commit: IngestExternalFile([tombstones, rows …], move_files)
//!         = hard links into db/, file and directory synced, ONE edit in the MANIFEST, synced
//! ```
//!
//! Against memtable and flush this saves the skip list, the second sort and RocksDB's own log, and
//! it is the only way into RocksDB that is atomic without its log however large a checkpoint is.
//!
//! Range deletions have a file of their own, first in the list: files that overlap within one
//! ingestion get ascending sequence numbers in list order, so every row of the checkpoint is newer
//! than every tombstone of it, whatever the order of the calls.

use basalt_cold::{CheckpointWriter, ColdError, KeyRange, PreparedCheckpoint, RowCheck};
use rocksdb::{DB, IngestExternalFileOptions, SstFileWriter};

use crate::{deleted::joined, error::cold_error, staging::StagedFile, tier::RocksTier};

/// Bytes put between two looks at the size of the file, which is a call across the language border.
const SIZE_CHECK_BYTES: u64 = 256 << 10;

pub(crate) struct RocksCheckpoint<'tier> {
    tier: &'tier RocksTier,
    check: RowCheck,
    current: Option<OpenFile<'tier>>,
    finished: Vec<StagedFile>,
    finished_bytes: u64,
    ranges: Vec<KeyRange>,
    entries: u64,
}

struct OpenFile<'tier> {
    writer: SstFileWriter<'tier>,
    staged: StagedFile,
    unchecked_bytes: u64,
}

impl<'tier> RocksCheckpoint<'tier> {
    pub(crate) fn new(tier: &'tier RocksTier) -> Self {
        Self {
            tier,
            check: RowCheck::default(),
            current: None,
            finished: Vec::new(),
            finished_bytes: 0,
            ranges: Vec::new(),
            entries: 0,
        }
    }

    fn failed(&self, error: &rocksdb::Error) -> ColdError {
        cold_error(error, "write a checkpoint", self.tier.dir())
    }

    /// The file for the next row, after turning over to a new one where the last is full.
    fn file_for(&mut self, row_bytes: usize) -> Result<&mut OpenFile<'tier>, ColdError> {
        if let Some(file) = &mut self.current {
            file.unchecked_bytes += row_bytes as u64;
            if file.unchecked_bytes >= SIZE_CHECK_BYTES {
                file.unchecked_bytes = 0;
                if file.writer.file_size() >= self.tier.file_bytes() {
                    self.finish_current()?;
                }
            }
        }
        self.entries += 1;
        match &mut self.current {
            Some(file) => Ok(file),
            empty => Ok(empty.insert(OpenFile::create(self.tier)?)),
        }
    }

    fn finish_current(&mut self) -> Result<(), ColdError> {
        let Some(mut file) = self.current.take() else { return Ok(()) };
        file.writer.finish().map_err(|error| self.failed(&error))?;
        self.finished_bytes += file.writer.file_size();
        self.finished.push(file.staged);
        Ok(())
    }

    fn write_ranges(&mut self) -> Result<(), ColdError> {
        if self.ranges.is_empty() {
            return Ok(());
        }
        let (file, bytes) = tombstones(self.tier, &self.ranges)?;
        self.finished_bytes += bytes;
        // First in the list of the ingestion, that is: older than the rows.
        self.finished.insert(0, file);
        Ok(())
    }
}

/// Writes a file that deletes ranges, and returns how many bytes it has.
pub(crate) fn tombstones(
    tier: &RocksTier,
    ranges: &[KeyRange],
) -> Result<(StagedFile, u64), ColdError> {
    let failed = |error: rocksdb::Error| cold_error(&error, "write a checkpoint", tier.dir());
    let OpenFile { mut writer, staged, .. } = OpenFile::create(tier)?;
    for (from, to) in ranges {
        writer.delete_range(from, to).map_err(failed)?;
    }
    writer.finish().map_err(failed)?;
    Ok((staged, writer.file_size()))
}

/// Makes files visible and durable, all at once.
pub(crate) fn ingest(tier: &RocksTier, db: &DB, files: &[StagedFile]) -> Result<(), ColdError> {
    let paths = files.iter().map(StagedFile::path).collect();
    db.ingest_external_file_opts(&ingest_options(), paths)
        .map_err(|error| cold_error(&error, "commit a checkpoint", tier.dir()))
}

impl<'tier> OpenFile<'tier> {
    fn create(tier: &'tier RocksTier) -> Result<Self, ColdError> {
        let writer = SstFileWriter::create(tier.file_options());
        let staged = tier.staging().new_file();
        writer
            .open(staged.path())
            .map_err(|error| cold_error(&error, "begin a checkpoint file", tier.dir()))?;
        Ok(Self { writer, staged, unchecked_bytes: 0 })
    }
}

impl<'tier> CheckpointWriter<'tier> for RocksCheckpoint<'tier> {
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<(), ColdError> {
        self.check.check(key, value.len())?;
        let written = self.file_for(key.len() + value.len())?.writer.put(key, value);
        written.map_err(|error| self.failed(&error))
    }

    fn delete(&mut self, key: &[u8]) -> Result<(), ColdError> {
        self.check.check(key, 0)?;
        let written = self.file_for(key.len())?.writer.delete(key);
        written.map_err(|error| self.failed(&error))
    }

    fn delete_range(&mut self, from: &[u8], to: &[u8]) -> Result<(), ColdError> {
        if from < to {
            self.entries += 1;
            self.ranges.push((from.to_vec(), to.to_vec()));
        }
        Ok(())
    }

    fn begin_file(&mut self) -> Result<(), ColdError> {
        self.finish_current()
    }

    fn bytes(&self) -> u64 {
        self.finished_bytes + self.current.as_ref().map_or(0, |file| file.writer.file_size())
    }

    fn prepare(mut self: Box<Self>) -> Result<Box<dyn PreparedCheckpoint + 'tier>, ColdError> {
        self.finish_current()?;
        self.write_ranges()?;
        Ok(Box::new(PreparedFiles {
            tier: self.tier,
            files: self.finished,
            bytes: self.finished_bytes,
            entries: self.entries,
            ranges: joined(self.ranges),
        }))
    }
}

struct PreparedFiles<'tier> {
    tier: &'tier RocksTier,
    files: Vec<StagedFile>,
    bytes: u64,
    entries: u64,
    /// Those that it deletes, sorted.
    ranges: Vec<KeyRange>,
}

impl PreparedCheckpoint for PreparedFiles<'_> {
    fn commit(self: Box<Self>) -> Result<(), ColdError> {
        let db = self.tier.db()?;
        let mut deleted = self.tier.deleted().lock();
        let covered_bytes = self.tier.bytes_in(db, &self.ranges);
        if !self.files.is_empty() {
            ingest(self.tier, db, &self.files)?;
        }
        deleted.note(self.ranges, covered_bytes);
        self.tier.count_commit(self.entries, self.bytes);
        Ok(())
    }

    fn discard(self: Box<Self>) {}
}

fn ingest_options() -> IngestExternalFileOptions {
    let mut options = IngestExternalFileOptions::default();
    options.set_move_files(true);
    // The memtable is always empty. Should that ever change, fail rather than flush in the midst.
    options.set_allow_blocking_flush(false);
    options
}
