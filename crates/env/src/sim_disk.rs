//! A disk in memory that loses power when told to.
//!
//! Writes are seen at once by the running program and are kept apart until they are synced. `crash`
//! rolls every file back to an arbitrary mixture of synced and unsynced sectors, keeps a prefix of
//! the unsynced name changes, and kills every open handle: threads of the crashed program that
//! still run get errors and cannot touch what the next one finds. Everything follows from the seed.

use std::collections::BTreeMap;
use std::io::{self, IoSlice};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::{Condvar, Mutex};

use crate::disk::{DirectoryLock, Disk, DiskFile};
use crate::random::Random;
use crate::sim_file::{SECTOR_BYTES, SimInode};

/// An operation that can be made to fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// `Disk::create`, `Disk::link` and `DiskFile::reserve`.
    Create,
    /// `DiskFile::write_all_at`; half of the sectors are written before the error.
    Write,
    /// `DiskFile::sync_data`; nothing becomes durable.
    Sync,
    /// `DiskFile::read_at`.
    Read,
    /// `Disk::rename`.
    Rename,
    /// `Disk::remove`.
    Remove,
    /// `Disk::sync_dir`.
    SyncDir,
}

/// How it fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultKind {
    /// `EIO`.
    Broken,
    /// `ENOSPC`.
    Full,
    /// A panic in the calling thread, for a test of what the caller does about its own bugs.
    Panic,
}

/// A failure to come.
#[derive(Debug, Clone, Copy)]
pub struct Fault {
    /// Which operation fails.
    pub operation: Operation,
    /// In which way.
    pub kind: FaultKind,
    /// How many calls succeed first.
    pub skip: u32,
    /// How many calls then fail.
    pub times: u32,
}

/// A simulated disk; clones share it.
#[derive(Clone, Default)]
pub struct SimDisk {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    syncs_released: Condvar,
}

#[derive(Default)]
struct State {
    inodes: BTreeMap<u64, SimInode>,
    names: BTreeMap<PathBuf, u64>,
    names_durable: BTreeMap<PathBuf, u64>,
    names_pending: Vec<NameChange>,
    locked_dirs: Vec<PathBuf>,
    /// Raised by a crash; a handle of an earlier boot is dead.
    boot: u64,
    /// Counts writes; the time axis of a crash.
    stamp: u64,
    inode_next: u64,
    capacity_bytes: Option<u64>,
    faults: Vec<Fault>,
    syncs_held: bool,
    syncs_waiting: u32,
}

#[derive(Clone)]
enum NameChange {
    Link(PathBuf, u64),
    Unlink(PathBuf),
    Rename(PathBuf, PathBuf),
}

struct SimFile {
    shared: Arc<Shared>,
    inode: u64,
    boot: u64,
}

impl SimDisk {
    /// An empty disk without limits.
    pub fn new() -> Self {
        Self::default()
    }

    /// Cuts the power and restores it: see the head of this file.
    pub fn crash(&self, seed: u64) {
        let mut random = Random::new(seed);
        let mut state = self.shared.state.lock();
        let kept = random.below(state.names_pending.len() as u64 + 1) as usize;
        let now = state.stamp;
        state.restart(kept, |inode| inode.crash(&mut random, now));
        drop(state);
        self.shared.syncs_released.notify_all();
    }

    /// Kills the program and not the machine: everything written is still there, synced or not.
    pub fn kill(&self) {
        let mut state = self.shared.state.lock();
        let kept = state.names_pending.len();
        state.restart(kept, SimInode::sync);
        drop(state);
        self.shared.syncs_released.notify_all();
    }

    /// Arms a failure. Several may be armed; each counts the calls for itself.
    pub fn inject(&self, fault: Fault) {
        self.shared.state.lock().faults.push(fault);
    }

    /// Disarms every failure.
    pub fn heal(&self) {
        self.shared.state.lock().faults.clear();
    }

    /// Limits the sum of all file lengths; creating or growing beyond it fails as a full disk does.
    pub fn limit_capacity(&self, bytes: Option<u64>) {
        self.shared.state.lock().capacity_bytes = bytes;
    }

    /// Makes every `sync_data` wait until [`SimDisk::release_syncs`] or a crash.
    pub fn hold_syncs(&self) {
        self.shared.state.lock().syncs_held = true;
    }

    /// Lets waiting and future syncs go on.
    pub fn release_syncs(&self) {
        self.shared.state.lock().syncs_held = false;
        self.shared.syncs_released.notify_all();
    }

    /// How many threads stand in a held `sync_data`.
    pub fn syncs_waiting(&self) -> u32 {
        self.shared.state.lock().syncs_waiting
    }

    /// Flips the bits of `mask` in one byte, on the platter too. Nothing happens beyond the file's
    /// end.
    pub fn corrupt(&self, path: &Path, offset: u64, mask: u8) -> io::Result<()> {
        let mut state = self.shared.state.lock();
        let inode = state.find(path)?;
        state.inode_mut(inode)?.corrupt(offset, mask);
        Ok(())
    }

    /// The sum of all file lengths.
    pub fn used_bytes(&self) -> u64 {
        self.shared.state.lock().used_bytes()
    }

    fn handle(&self, inode: u64, boot: u64) -> Arc<dyn DiskFile> {
        Arc::new(SimFile { shared: Arc::clone(&self.shared), inode, boot })
    }
}

impl NameChange {
    fn apply(self, names: &mut BTreeMap<PathBuf, u64>) {
        match self {
            Self::Link(path, inode) => {
                names.insert(path, inode);
            }
            Self::Unlink(path) => {
                names.remove(&path);
            }
            Self::Rename(from, to) => {
                if let Some(inode) = names.remove(&from) {
                    names.insert(to, inode);
                }
            }
        }
    }

    fn is_in(&self, dir: &Path) -> bool {
        let (Self::Link(path, _) | Self::Unlink(path) | Self::Rename(path, _)) = self;
        path.parent() == Some(dir)
    }
}

impl State {
    fn find(&self, path: &Path) -> io::Result<u64> {
        self.names.get(path).copied().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    fn inode_mut(&mut self, inode: u64) -> io::Result<&mut SimInode> {
        self.inodes.get_mut(&inode).ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// Begins a new boot with the first `kept` of the unsynced name changes.
    fn restart(&mut self, kept: usize, end: impl FnMut(&mut SimInode)) {
        for change in self.names_pending.drain(..).take(kept) {
            change.apply(&mut self.names_durable);
        }
        self.names.clone_from(&self.names_durable);
        let names = &self.names;
        self.inodes.retain(|inode, _| names.values().any(|named| named == inode));
        self.inodes.values_mut().for_each(end);
        self.boot += 1;
        self.faults.clear();
        self.locked_dirs.clear();
        self.syncs_held = false;
    }

    fn used_bytes(&self) -> u64 {
        let names = &self.names;
        let named = |inode: &u64| names.values().any(|named| named == inode);
        self.inodes.iter().filter(|(inode, _)| named(inode)).map(|(_, file)| file.bytes()).sum()
    }

    fn check_capacity(&self, more_bytes: u64) -> io::Result<()> {
        match self.capacity_bytes {
            Some(limit) if self.used_bytes() + more_bytes > limit => {
                Err(io::ErrorKind::StorageFull.into())
            }
            _ => Ok(()),
        }
    }

    fn rename_now(&mut self, change: NameChange) {
        change.clone().apply(&mut self.names);
        self.names_pending.push(change);
    }

    /// The armed failure that strikes this call, if any.
    fn strike(&mut self, operation: Operation) -> io::Result<()> {
        let mut struck = None;
        for fault in self.faults.iter_mut().filter(|fault| fault.operation == operation) {
            if fault.skip > 0 {
                fault.skip -= 1;
            } else if fault.times > 0 {
                fault.times -= 1;
                struck = Some(fault.kind);
            }
        }
        match struck {
            None => Ok(()),
            Some(FaultKind::Broken) => Err(io::Error::other("simulated input/output error")),
            Some(FaultKind::Full) => Err(io::ErrorKind::StorageFull.into()),
            Some(FaultKind::Panic) => panic!("simulated panic in {operation:?}"),
        }
    }
}

struct LockedDir {
    shared: Arc<Shared>,
    dir: PathBuf,
    boot: u64,
}

impl Drop for LockedDir {
    fn drop(&mut self) {
        let mut state = self.shared.state.lock();
        if state.boot == self.boot {
            state.locked_dirs.retain(|dir| *dir != self.dir);
        }
    }
}

impl Disk for SimDisk {
    fn create_dir(&self, _dir: &Path) -> io::Result<()> {
        Ok(())
    }

    fn lock_dir(&self, dir: &Path) -> io::Result<DirectoryLock> {
        let mut state = self.shared.state.lock();
        if state.locked_dirs.iter().any(|locked| locked == dir) {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        state.locked_dirs.push(dir.to_path_buf());
        let shared = Arc::clone(&self.shared);
        Ok(DirectoryLock::new(LockedDir { shared, dir: dir.to_path_buf(), boot: state.boot }))
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<String>> {
        let state = self.shared.state.lock();
        let inside = state.names.keys().filter(|path| path.parent() == Some(dir));
        Ok(inside.filter_map(|path| Some(path.file_name()?.to_str()?.to_owned())).collect())
    }

    fn create(&self, path: &Path, bytes: u64) -> io::Result<Arc<dyn DiskFile>> {
        let mut state = self.shared.state.lock();
        state.strike(Operation::Create)?;
        if state.names.contains_key(path) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        state.check_capacity(bytes)?;
        let inode = state.inode_next;
        state.inode_next += 1;
        let mut file = SimInode::default();
        file.reserve(bytes);
        state.inodes.insert(inode, file);
        state.rename_now(NameChange::Link(path.to_path_buf(), inode));
        Ok(self.handle(inode, state.boot))
    }

    fn open(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        let state = self.shared.state.lock();
        Ok(self.handle(state.find(path)?, state.boot))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut state = self.shared.state.lock();
        state.strike(Operation::Rename)?;
        state.find(from)?;
        state.rename_now(NameChange::Rename(from.to_path_buf(), to.to_path_buf()));
        Ok(())
    }

    fn link(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut state = self.shared.state.lock();
        state.strike(Operation::Create)?;
        let inode = state.find(from)?;
        if state.names.contains_key(to) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        state.rename_now(NameChange::Link(to.to_path_buf(), inode));
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let mut state = self.shared.state.lock();
        state.strike(Operation::Remove)?;
        state.find(path)?;
        state.rename_now(NameChange::Unlink(path.to_path_buf()));
        Ok(())
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        let mut guard = self.shared.state.lock();
        guard.strike(Operation::SyncDir)?;
        let state = &mut *guard;
        for change in state.names_pending.extract_if(.., |change| change.is_in(dir)) {
            change.apply(&mut state.names_durable);
        }
        Ok(())
    }
}

impl SimFile {
    fn with<T>(&self, work: impl FnOnce(&mut State) -> io::Result<T>) -> io::Result<T> {
        let mut state = self.shared.state.lock();
        self.check_alive(&state)?;
        work(&mut state)
    }

    fn check_alive(&self, state: &State) -> io::Result<()> {
        if state.boot == self.boot {
            return Ok(());
        }
        Err(io::Error::other("simulated power cut: this handle is of an earlier boot"))
    }
}

impl DiskFile for SimFile {
    fn bytes(&self) -> io::Result<u64> {
        self.with(|state| Ok(state.inode_mut(self.inode)?.bytes()))
    }

    fn reserve(&self, bytes: u64) -> io::Result<()> {
        self.with(|state| {
            state.strike(Operation::Create)?;
            let now = state.inode_mut(self.inode)?.bytes();
            state.check_capacity(bytes.saturating_sub(now))?;
            state.inode_mut(self.inode)?.reserve(bytes);
            Ok(())
        })
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        self.with(|state| {
            state.strike(Operation::Read)?;
            Ok(state.inode_mut(self.inode)?.read(buffer, offset))
        })
    }

    fn write_all_at(&self, slices: &[IoSlice<'_>], offset: u64) -> io::Result<()> {
        self.with(|state| {
            let data: Vec<u8> = slices.iter().flat_map(|slice| slice.iter().copied()).collect();
            state.stamp += 1;
            let stamp = state.stamp;
            let struck = state.strike(Operation::Write);
            let half = data.len() / SECTOR_BYTES / 2 * SECTOR_BYTES;
            let written = if struck.is_ok() { &data[..] } else { &data[..half] };
            state.inode_mut(self.inode)?.write(written, offset, stamp);
            struck
        })
    }

    fn sync_data(&self) -> io::Result<()> {
        let mut state = self.shared.state.lock();
        state.syncs_waiting += 1;
        while state.syncs_held && state.boot == self.boot {
            self.shared.syncs_released.wait(&mut state);
        }
        state.syncs_waiting -= 1;
        self.check_alive(&state)?;
        state.strike(Operation::Sync)?;
        state.inode_mut(self.inode)?.sync();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(disk: &SimDisk, path: &Path) -> Vec<u8> {
        let file = disk.open(path).expect("open");
        let mut bytes = vec![0; file.bytes().expect("length") as usize];
        file.read_at(&mut bytes, 0).expect("read");
        bytes
    }

    fn write(file: &dyn DiskFile, byte: u8, count: usize, offset: u64) {
        file.write_all_at(&[IoSlice::new(&vec![byte; count])], offset).expect("write");
    }

    #[test]
    fn synced_bytes_survive_and_unsynced_ones_survive_by_sector() {
        let (dir, path) = (Path::new("/d"), Path::new("/d/f"));
        let mut outcomes = std::collections::BTreeSet::new();
        for seed in 0..200 {
            let disk = SimDisk::new();
            let file = disk.create(path, 2_048).expect("create");
            write(&*file, 1, 2_048, 0);
            file.sync_data().expect("sync");
            disk.sync_dir(dir).expect("sync the directory");
            write(&*file, 2, 1_024, 512);
            write(&*file, 3, 512, 1_024);
            disk.crash(seed);
            assert!(file.sync_data().is_err(), "an old handle is dead");
            let bytes = read(&disk, path);
            let sectors: Vec<u8> = bytes.chunks(512).map(|sector| sector[0]).collect();
            assert!(bytes.chunks(512).all(|sector| sector.iter().all(|byte| *byte == sector[0])));
            assert_eq!((sectors[0], sectors[3]), (1, 1));
            outcomes.insert(sectors);
        }
        assert_eq!(
            outcomes.len(),
            6,
            "two versions of one sector, three of the other: {outcomes:?}"
        );
    }

    #[test]
    fn names_survive_once_the_directory_is_synced() {
        let dir = Path::new("/d");
        let mut counts = std::collections::BTreeSet::new();
        for seed in 0..100 {
            let disk = SimDisk::new();
            disk.create(Path::new("/d/a"), 1).expect("create");
            disk.sync_dir(dir).expect("sync the directory");
            disk.create(Path::new("/d/b"), 1).expect("create");
            disk.rename(Path::new("/d/a"), Path::new("/d/c")).expect("rename");
            disk.crash(seed);
            let mut names = disk.list(dir).expect("list");
            names.sort();
            counts.insert(names);
        }
        assert_eq!(counts.len(), 3, "nothing, the first, or both changes: {counts:?}");
    }

    #[test]
    fn faults_strike_when_armed_and_space_is_counted() {
        let disk = SimDisk::new();
        disk.limit_capacity(Some(1_000));
        let file = disk.create(Path::new("/d/a"), 900).expect("fits");
        let error = disk.create(Path::new("/d/b"), 200).map(drop).expect_err("full");
        assert!(crate::is_disk_full(&error));
        let fault =
            Fault { operation: Operation::Sync, kind: FaultKind::Broken, skip: 1, times: 1 };
        disk.inject(fault);
        file.sync_data().expect("skipped");
        assert!(file.sync_data().is_err());
        file.sync_data().expect("struck once only");
    }
}
