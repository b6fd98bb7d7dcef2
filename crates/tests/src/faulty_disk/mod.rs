//! A disk that fails when told to: a file system in memory, mounted through FUSE.
//!
//! The server runs on it as on any other, RocksDB included. The disk can
//! - lose its power: what was not synced is gone, or torn by sectors, or there
//!   ([`FaultyDisk::cut_power`]);
//! - answer reads, writes or syncs of some files with an error, a given number of times
//!   ([`FaultyDisk::fail`]);
//! - write less than it was given.
//!
//! What survives a power cut is as little as POSIX promises: of a file what `fsync` has confirmed,
//! and of the rest any sectors; of names what an `fsync` of a directory has confirmed, and of the
//! changes behind it any first few, as a file system with a journal keeps them. An `fsync` of a
//! file does not make its name durable, though many file systems do that.
//!
//! Mounting needs the permission to do so and `/dev/fuse`.

mod image;
mod serve;

use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use fuser::{BackgroundSession, Config, MountOption};

use image::Image;

/// A mounted disk; unmounted when dropped.
#[derive(Debug)]
pub struct FaultyDisk {
    image: Arc<Mutex<Image>>,
    folder: tempfile::TempDir,
    _session: BackgroundSession,
}

/// What is done to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// `read` and its like.
    Read,
    /// `write` and its like.
    Write,
    /// `fsync` and `fdatasync`, of a directory, too.
    Sync,
}

/// How it fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// `EIO`.
    InputOutput,
    /// `ENOSPC`.
    NoSpace,
    /// A write of half of the bytes.
    Short,
}

/// A fault to come.
#[derive(Clone, Debug)]
pub struct Fault {
    /// A part of the path of the files that it is about.
    pub path_part: String,
    /// What fails.
    pub operation: Operation,
    /// How.
    pub failure: Failure,
    /// How many times.
    pub times: u64,
}

impl FaultyDisk {
    /// Mounts an empty disk.
    ///
    /// # Errors
    /// There is no FUSE, or mounting is not permitted.
    pub fn mount() -> io::Result<FaultyDisk> {
        let folder = tempfile::Builder::new().prefix("basalt-disk-").tempdir()?;
        let image = Arc::new(Mutex::new(Image::new()));
        let mut config = Config::default();
        config.mount_options = vec![MountOption::FSName("basalt-faulty-disk".to_owned())];
        let disk = serve::Disk::new(Arc::clone(&image));
        let session = fuser::spawn_mount(disk, folder.path(), &config)?;
        Ok(FaultyDisk { image, folder, _session: session })
    }

    /// Where it is mounted.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Has operations fail from now on.
    pub fn fail(&self, fault: Fault) {
        self.image().faults.push(fault);
    }

    /// No operation fails any more; how many have.
    pub fn heal(&self) -> u64 {
        let mut image = self.image();
        image.faults.clear();
        std::mem::take(&mut image.failed)
    }

    /// Loses what was not synced, as by a power cut now. The processes that have files open on the
    /// disk must be gone. `seed` decides about what may have survived or not.
    pub fn cut_power(&self, seed: u64) {
        self.image().cut_power(seed);
    }

    /// The disk says that it has synced and does not: for tests that must notice.
    pub fn forget_syncs(&self) {
        self.image().forgets_syncs = true;
    }

    fn image(&self) -> MutexGuard<'_, Image> {
        self.image.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
