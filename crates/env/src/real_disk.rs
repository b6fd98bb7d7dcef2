//! The operating system's files, through `rustix` where the standard library has no call.

use std::fs::{self, File, OpenOptions};
use std::io::{self, IoSlice};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::sync::{Arc, OnceLock};

use rustix::fs::{
    AtFlags, FallocateFlags, FlockOperation, OFlags, StatxFlags, fallocate, fdatasync, flock, statx,
};
use rustix::io::{Errno, pwritev};

use crate::disk::{DirectoryLock, Disk, DiskFile};
use crate::read_ring::ReadRing;
use crate::uring::Uring;

/// Linux takes at most this many slices in one call (`IOV_MAX`).
const SLICES_PER_CALL_MAX: usize = 1024;
/// Where `fallocate` is not supported, space is reserved by writing zeros in pieces of this size.
const ZEROS_BYTES: usize = 64 * 1024;
/// What reads past the page cache are aligned to where the system does not say to what: no disk
/// has larger sectors.
const DIRECT_ALIGN: usize = 4096;

/// The operating system's disk.
#[derive(Debug, Default, Clone, Copy)]
pub struct RealDisk;

struct RealFile {
    file: File,
    /// Opened once more, for a ring.
    direct: OnceLock<Option<Direct>>,
}

/// A file that is read past the page cache.
struct Direct {
    file: File,
    /// What offsets, lengths and addresses are multiples of.
    align: usize,
}

impl Disk for RealDisk {
    fn create_dir(&self, dir: &Path) -> io::Result<()> {
        fs::create_dir_all(dir)
    }

    fn lock_dir(&self, dir: &Path) -> io::Result<DirectoryLock> {
        let file = File::open(dir)?;
        flock(&file, FlockOperation::NonBlockingLockExclusive)?;
        Ok(DirectoryLock::new(file))
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(dir)? {
            // A name that is not UTF-8 is none of ours.
            if let Ok(name) = entry?.file_name().into_string() {
                names.push(name);
            }
        }
        Ok(names)
    }

    fn create(&self, path: &Path, bytes: u64) -> io::Result<Arc<dyn DiskFile>> {
        let file = OpenOptions::new().read(true).write(true).create_new(true).open(path)?;
        let file = RealFile::new(file);
        if let Err(error) = file.reserve(bytes) {
            // Best effort: an empty leftover is ignored and overwritten by the next attempt's name.
            let _ = fs::remove_file(path);
            return Err(error);
        }
        Ok(Arc::new(file))
    }

    fn open(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        let file = OpenOptions::new().read(true).write(true).open(path)?;
        Ok(Arc::new(RealFile::new(file)))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        match fs::hard_link(from, to) {
            Err(error) if error.kind() == io::ErrorKind::CrossesDevices => {
                fs::copy(from, to)?;
                File::open(to)?.sync_all()
            }
            linked => linked,
        }
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        File::open(dir)?.sync_all()
    }

    fn read_ring(&self, depth: usize) -> io::Result<Box<dyn ReadRing>> {
        Ok(Box::new(Uring::new(depth)?))
    }
}

impl DiskFile for RealFile {
    fn bytes(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len())
    }

    fn reserve(&self, bytes: u64) -> io::Result<()> {
        let now = self.bytes()?;
        if bytes <= now {
            return Ok(());
        }
        match fallocate(&self.file, FallocateFlags::empty(), now, bytes - now) {
            Ok(()) => Ok(()),
            Err(Errno::OPNOTSUPP) => self.write_zeros(now, bytes),
            Err(error) => Err(error.into()),
        }
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let mut done = 0;
        while done < buffer.len() {
            match self.file.read_at(&mut buffer[done..], offset + done as u64) {
                Ok(0) => break,
                Ok(count) => done += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(done)
    }

    fn write_all_at(&self, slices: &[IoSlice<'_>], mut offset: u64) -> io::Result<()> {
        let mut owned = slices.to_vec();
        let mut rest = &mut owned[..];
        IoSlice::advance_slices(&mut rest, 0);
        while !rest.is_empty() {
            let batch = rest.len().min(SLICES_PER_CALL_MAX);
            match pwritev(&self.file, &rest[..batch], offset) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(count) => {
                    offset += count as u64;
                    IoSlice::advance_slices(&mut rest, count);
                }
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        Ok(fdatasync(&self.file)?)
    }

    fn for_ring(&self, is_direct: bool) -> Option<(BorrowedFd<'_>, usize)> {
        let open = || self.direct.get_or_init(|| Direct::of(&self.file).ok()).as_ref();
        Some(match is_direct.then(open).flatten() {
            Some(direct) => (direct.file.as_fd(), direct.align),
            // Some file systems have nothing else.
            None => (self.file.as_fd(), 1),
        })
    }
}

impl Direct {
    /// Opens a file once more, which may have lost its name.
    fn of(file: &File) -> io::Result<Direct> {
        let path = format!("/proc/self/fd/{}", file.as_raw_fd());
        let flags = OFlags::DIRECT.bits() as i32;
        let direct = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
        let align = statx(&direct, "", AtFlags::EMPTY_PATH, StatxFlags::DIOALIGN)
            .ok()
            .filter(|stat| stat.stx_mask & StatxFlags::DIOALIGN.bits() != 0)
            .map_or(0, |stat| stat.stx_dio_offset_align.max(stat.stx_dio_mem_align) as usize);
        let align = if align.is_power_of_two() { align } else { DIRECT_ALIGN };
        Ok(Direct { file: direct, align })
    }
}

impl RealFile {
    fn new(file: File) -> RealFile {
        RealFile { file, direct: OnceLock::new() }
    }

    fn write_zeros(&self, from: u64, to: u64) -> io::Result<()> {
        let zeros = vec![0; ZEROS_BYTES];
        let mut at = from;
        while at < to {
            let count = (to - at).min(ZEROS_BYTES as u64) as usize;
            self.file.write_all_at(&zeros[..count], at)?;
            at += count as u64;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_reserved_written_read_renamed_and_listed() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let disk = RealDisk;
        let path = dir.path().join("a");
        let file = disk.create(&path, 10_000).expect("create");
        assert_eq!(file.bytes().expect("length"), 10_000);
        let pieces: Vec<Vec<u8>> = (0..3_000u32).map(|i| vec![i as u8; 1]).collect();
        let slices: Vec<IoSlice<'_>> = pieces.iter().map(|piece| IoSlice::new(piece)).collect();
        file.write_all_at(&slices, 8_000).expect("write more slices than one call takes");
        file.sync_data().expect("sync");
        file.reserve(20_000).expect("grow");
        let mut back = vec![0; 20_000];
        assert_eq!(file.read_at(&mut back, 8_000).expect("read"), 12_000);
        assert!((0..3_000usize).all(|i| back[i] == i as u8));
        assert!(disk.create(&path, 1).is_err(), "an existing file is not overwritten");
        disk.rename(&path, &dir.path().join("b")).expect("rename");
        disk.sync_dir(dir.path()).expect("sync the directory");
        assert_eq!(disk.list(dir.path()).expect("list"), ["b"]);
        disk.remove(&dir.path().join("b")).expect("remove");
        assert!(disk.open(&path).is_err());
    }

    #[test]
    fn a_directory_is_locked_once() {
        let dir = tempfile::tempdir().expect("a temporary directory");
        let lock = RealDisk.lock_dir(dir.path()).expect("first lock");
        let second = RealDisk.lock_dir(dir.path()).map(drop);
        assert_eq!(second.expect_err("second lock").kind(), io::ErrorKind::WouldBlock);
        drop(lock);
        RealDisk.lock_dir(dir.path()).expect("free again");
    }
}
