//! Space that is kept back for a full disk.
//!
//! What makes room on a full disk needs room first: opening RocksDB writes a manifest, and what is
//! deleted goes when a checkpoint has written that it is deleted. So a file of some megabytes lies
//! in the data directory and is removed when nothing else helps: a start that finds no space, or a
//! checkpoint. From then on only what makes data smaller is accepted, so that clients' data does
//! not take the place, until there is room to make the file again.

use crate::disk_space::FileSystem;
use basalt_env::{Disk, DiskFile, RealDisk};
use std::path::{Path, PathBuf};
use std::sync::Arc;

const NAME: &str = "reserve";
/// As much as a large checkpoint's slice, but no more than this share of the file system.
const BYTES_MAX: u64 = 64 << 20;
const BYTES_MIN: u64 = 1 << 20;
const SHARE_OF_DISK: u64 = 32;
/// It is made if this many times as much is free: the rest is for what comes next.
const FREE_FACTOR: u64 = 4;

/// What has become of the file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    /// It is there.
    Held,
    /// There was never room for it.
    Missing,
    /// It was removed, and only removals are accepted.
    Released,
}

/// See the head of this file.
pub struct Reserve {
    path: PathBuf,
    bytes: u64,
    state: State,
}

impl Reserve {
    /// Finds the file in the data directory, or makes it.
    pub fn open(dir: &Path) -> Reserve {
        let disk = FileSystem::of(dir).unwrap_or_default().bytes;
        let bytes = (disk / SHARE_OF_DISK).clamp(BYTES_MIN, BYTES_MAX);
        Reserve::of_bytes(dir, bytes)
    }

    /// None, where nothing is stored.
    pub fn none() -> Reserve {
        Reserve { path: PathBuf::new(), bytes: u64::MAX, state: State::Missing }
    }

    fn of_bytes(dir: &Path, bytes: u64) -> Reserve {
        let path = dir.join(NAME);
        // An attempt that was interrupted leaves a short one.
        let whole = std::fs::metadata(&path).is_ok_and(|file| file.len() >= bytes);
        let state = if whole { State::Held } else { State::Missing };
        let mut reserve = Reserve { path, bytes, state };
        reserve.make();
        reserve
    }

    /// Frees the reserved space; false if there is none.
    pub fn release(&mut self) -> bool {
        if self.state != State::Held || std::fs::remove_file(&self.path).is_err() {
            return false;
        }
        self.state = State::Released;
        tracing::error!(
            bytes = self.bytes,
            "the disk is full: the reserve is used, and until there is room only what makes data smaller is accepted"
        );
        true
    }

    /// Whether only removals are to be accepted.
    pub fn is_released(&self) -> bool {
        self.state == State::Released
    }

    /// Once in a while: frees the space if a checkpoint needs it, takes it back when there is
    /// room.
    pub fn look(&mut self, is_needed: bool) {
        if is_needed {
            self.release();
        } else if self.state != State::Held {
            let was_released = self.is_released();
            if self.make() && was_released {
                tracing::info!("the disk has room again: the reserve is kept");
            }
        }
    }

    /// Makes the file if there is room; whether it is there.
    fn make(&mut self) -> bool {
        if self.state == State::Held {
            return true;
        }
        let dir = self.path.parent().unwrap_or(Path::new("."));
        let free = FileSystem::of(dir).unwrap_or_default().free_bytes;
        if free / FREE_FACTOR < self.bytes {
            return false;
        }
        // What is there is not whole.
        let _ = std::fs::remove_file(&self.path);
        let made = RealDisk.create(&self.path, self.bytes);
        if made.and_then(|file: Arc<dyn DiskFile>| file.sync_data()).is_ok() {
            self.state = State::Held;
        }
        self.state == State::Held
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_kept_given_up_once_and_made_again() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let file = dir.path().join(NAME);
        let mut reserve = Reserve::of_bytes(dir.path(), 100_000);
        assert_eq!(std::fs::metadata(&file).expect("it is made").len(), 100_000);
        assert!(reserve.release() && reserve.is_released());
        assert!(!file.exists());
        assert!(!reserve.release(), "there is no more");
        assert!(reserve.make() && !reserve.is_released());
        std::fs::write(&file, "short").expect("written");
        let reserve = Reserve::of_bytes(dir.path(), 100_000);
        assert_eq!(reserve.state, State::Held);
        assert_eq!(std::fs::metadata(&file).expect("it is made whole").len(), 100_000);
    }

    #[test]
    fn a_disk_without_room_gets_none() {
        let dir = tempfile::tempdir().expect("a temporary folder");
        let mut reserve = Reserve::of_bytes(dir.path(), 1 << 60);
        assert_eq!(reserve.state, State::Missing);
        assert!(!reserve.release());
        assert!(!dir.path().join(NAME).exists());
    }
}
