//! The directory in which checkpoints wait to be ingested.
//!
//! ```text
//! DIR/db/        RocksDB's own
//! DIR/staging/   N.sst: files of checkpoints that are not committed; emptied when the tier opens
//! ```
//!
//! Both are on one file system, so that ingestion is a hard link and never a copy. RocksDB syncs
//! the file and its own directory at ingestion, so nothing here needs a directory sync.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
};

pub(crate) struct Staging {
    dir: PathBuf,
    next_file: AtomicU64,
}

impl Staging {
    /// Opens and empties the staging directory. Only the owner of the database's lock may.
    pub(crate) fn open(dir: PathBuf) -> io::Result<Self> {
        fs::create_dir_all(&dir)?;
        for entry in fs::read_dir(&dir)? {
            fs::remove_file(entry?.path())?;
        }
        Ok(Self { dir, next_file: AtomicU64::new(1) })
    }

    pub(crate) fn new_file(&self) -> StagedFile {
        // Relaxed: only uniqueness matters.
        let number = self.next_file.fetch_add(1, Ordering::Relaxed);
        StagedFile { path: self.dir.join(format!("{number:08}.sst")) }
    }
}

/// A file of a checkpoint. It disappears with this value; an ingested one lives on under RocksDB's
/// name, being a hard link.
pub(crate) struct StagedFile {
    path: PathBuf,
}

impl StagedFile {
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for StagedFile {
    fn drop(&mut self) {
        // Already gone after ingestion. What cannot be removed now goes when the tier opens next.
        let _ = fs::remove_file(&self.path);
    }
}
