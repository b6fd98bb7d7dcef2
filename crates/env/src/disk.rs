//! The disk: the dozen file operations that the journal needs, and no more.
//!
//! What the callers may rely on, and what [`SimDisk`](crate::SimDisk) therefore grants and no more:
//! - A sector of 512 bytes is written whole or not at all; anything larger may tear anywhere.
//! - Bytes are durable after `sync_data` of their file, names after `sync_dir` of their directory.
//!   Before that a crash may keep any subset of the sectors, and any prefix of the name changes.
//! - After a failed `sync_data` nobody knows what is on disk: a second, successful sync proves
//!   nothing.

use crate::read_ring::{BlockingRing, ReadRing};
use std::io::{self, IoSlice};
use std::os::fd::BorrowedFd;
use std::path::Path;
use std::sync::Arc;

/// A place for files.
pub trait Disk: Send + Sync {
    /// Makes a directory with its parents; an existing one is fine.
    fn create_dir(&self, dir: &Path) -> io::Result<()>;
    /// Takes the directory for this process; fails with `WouldBlock` when another one has it.
    fn lock_dir(&self, dir: &Path) -> io::Result<DirectoryLock>;
    /// Names of the files in a directory, in no particular order.
    fn list(&self, dir: &Path) -> io::Result<Vec<String>>;
    /// Makes a new file of this many bytes, with space reserved for all of them; they read as zero.
    ///
    /// A full disk shows here, as an error for which [`is_disk_full`] holds; nothing is left
    /// behind.
    fn create(&self, path: &Path, bytes: u64) -> io::Result<Arc<dyn DiskFile>>;
    /// Opens an existing file for reading and writing.
    fn open(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>>;
    /// Renames a file within its directory, replacing a file of the new name.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Adds another name for a file, which lasts when the first one is removed; on another file
    /// system that is a copy.
    fn link(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Removes a file.
    fn remove(&self, path: &Path) -> io::Result<()>;
    /// Makes the names in a directory durable.
    fn sync_dir(&self, dir: &Path) -> io::Result<()>;
    /// Makes a ring for the calling thread, of `depth` reads at most, or fails where the system has
    /// none.
    fn read_ring(&self, depth: usize) -> io::Result<Box<dyn ReadRing>> {
        Ok(Box::new(BlockingRing::new(depth)))
    }
}

/// An open file.
pub trait DiskFile: Send + Sync {
    /// Length in bytes.
    fn bytes(&self) -> io::Result<u64>;
    /// Grows the file to this length, with space reserved; the new bytes read as zero.
    fn reserve(&self, bytes: u64) -> io::Result<()>;
    /// Reads until the buffer is full or the file ends; returns how many bytes were read.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize>;
    /// Writes all slices, one after the other, from `offset` on.
    ///
    /// After an error any part of them may have been written; writing the same bytes to the same
    /// place again is always allowed.
    fn write_all_at(&self, slices: &[IoSlice<'_>], offset: u64) -> io::Result<()>;
    /// Makes everything written before this call durable (`fdatasync`).
    fn sync_data(&self) -> io::Result<()>;
    /// A descriptor to read by, if it is a file of the system's, and of which power of two offsets,
    /// lengths and addresses are to be multiples; one that goes past the page cache, if that is
    /// wanted and can be.
    fn for_ring(&self, is_direct: bool) -> Option<(BorrowedFd<'_>, usize)> {
        let _ = is_direct;
        None
    }
}

/// Holds a directory for this process until it is dropped.
pub struct DirectoryLock {
    _guard: Box<dyn Send + Sync>,
}

impl DirectoryLock {
    pub(crate) fn new(guard: impl Send + Sync + 'static) -> Self {
        Self { _guard: Box::new(guard) }
    }
}

/// Whether an error says that the disk, or the user's quota of it, is full.
pub fn is_disk_full(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded)
}
