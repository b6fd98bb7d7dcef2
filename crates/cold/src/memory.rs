//! The reference: a cold tier in memory, on an imaginary disk that outlives it.
//!
//! Idea: committed rows are one immutable `BTreeMap` behind an `Arc`. A reader takes the `Arc` and
//! lets go of the lock; a commit copies the map only if a reader still holds it. What was committed
//! belongs to the [`MemoryDisk`], what was only prepared to the [`MemoryTier`]: dropping the tier
//! and opening it again is a crash.
//!
//! It is for tests of everything above it. It never forgets, never evicts and is not fast.

use std::{
    collections::BTreeMap,
    ops::Bound,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use parking_lot::{Mutex, RwLock};

use crate::{
    error::ColdError,
    order::RowCheck,
    tier::{
        CheckpointWriter, ColdStats, ColdTier, KeyRange, PreparedCheckpoint, Pressure, Probe, Visit,
    },
};

type Rows = BTreeMap<Vec<u8>, Arc<[u8]>>;

/// An imaginary disk: directories that survive the tiers which open them.
#[derive(Debug, Default)]
pub struct MemoryDisk {
    dirs: Mutex<BTreeMap<PathBuf, Arc<Directory>>>,
}

#[derive(Debug, Default)]
struct Directory {
    rows: RwLock<Arc<Rows>>,
    fault: Mutex<Option<Fault>>,
    committed: Mutex<ColdStats>,
}

/// What shall go wrong next, once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The next `prepare` finds the disk full.
    PrepareNoSpace,
    /// The next `commit` finds the disk full.
    CommitNoSpace,
}

/// What a probe of an existing key says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Residency {
    /// As if every block were cached: [`Probe::Present`].
    Cached,
    /// As if none were: [`Probe::Unknown`].
    Uncached,
}

impl MemoryDisk {
    /// An empty disk.
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes the next operation of that kind on the tier at `dir` fail.
    pub fn inject(&self, dir: &Path, fault: Fault) {
        *self.directory(dir).fault.lock() = Some(fault);
    }

    /// Another disk with what is committed on this one, as a crash would leave it. A tier that is
    /// open on this one does not change it.
    pub fn copied(&self) -> MemoryDisk {
        let copied = |dir: &Arc<Directory>| Directory {
            rows: RwLock::new(dir.snapshot()),
            fault: Mutex::default(),
            committed: Mutex::new(dir.committed.lock().clone()),
        };
        let dirs = self.dirs.lock();
        let dirs = dirs.iter().map(|(path, dir)| (path.clone(), Arc::new(copied(dir)))).collect();
        MemoryDisk { dirs: Mutex::new(dirs) }
    }

    fn directory(&self, dir: &Path) -> Arc<Directory> {
        Arc::clone(self.dirs.lock().entry(dir.to_path_buf()).or_default())
    }
}

impl Directory {
    fn snapshot(&self) -> Arc<Rows> {
        Arc::clone(&self.rows.read())
    }

    fn fails_with(&self, fault: Fault) -> Result<(), ColdError> {
        let mut next = self.fault.lock();
        if *next != Some(fault) {
            return Ok(());
        }
        *next = None;
        Err(ColdError::NoSpace { detail: format!("injected: {fault:?}") })
    }
}

/// A [`ColdTier`] in memory.
#[derive(Debug)]
pub struct MemoryTier {
    disk: Arc<MemoryDisk>,
    dir: Arc<Directory>,
    residency: Residency,
    closed: AtomicBool,
}

impl MemoryTier {
    /// Opens the tier at `dir` of an imaginary disk, with the rows committed there before.
    pub fn open(disk: &Arc<MemoryDisk>, dir: &Path, residency: Residency) -> Self {
        Self {
            disk: Arc::clone(disk),
            dir: disk.directory(dir),
            residency,
            closed: AtomicBool::new(false),
        }
    }

    fn open_or_error(&self) -> Result<(), ColdError> {
        // Relaxed: a flag on its own; a call that races with `close` may go either way.
        if self.closed.load(Ordering::Relaxed) { Err(ColdError::Closed) } else { Ok(()) }
    }
}

impl ColdTier for MemoryTier {
    fn probe(&self, key: &[u8]) -> Probe {
        if self.open_or_error().is_err() {
            return Probe::Unknown;
        }
        match (self.dir.rows.read().get(key), self.residency) {
            (None, _) => Probe::Absent,
            (Some(value), Residency::Cached) => Probe::Present(value.to_vec()),
            (Some(_), Residency::Uncached) => Probe::Unknown,
        }
    }

    fn read_many(&self, keys: &[Vec<u8>]) -> Result<Vec<Option<Vec<u8>>>, ColdError> {
        self.open_or_error()?;
        let rows = self.dir.snapshot();
        Ok(keys.iter().map(|key| rows.get(key).map(|value| value.to_vec())).collect())
    }

    fn scan(&self, from: &[u8], to: &[u8], visit: &mut Visit<'_>) -> Result<(), ColdError> {
        self.open_or_error()?;
        if from >= to {
            return Ok(());
        }
        let rows = self.dir.snapshot();
        for (key, value) in rows.range::<[u8], _>(half_open(from, to)) {
            if visit(key, value).is_break() {
                break;
            }
        }
        Ok(())
    }

    fn share_percent(&self, ranges: &[KeyRange]) -> Option<u64> {
        let rows = self.dir.snapshot();
        let bytes = |(key, value): (&Vec<u8>, &Arc<[u8]>)| (key.len() + value.len()) as u64;
        let of_range = |(from, to): &KeyRange| match from < to {
            true => rows.range::<[u8], _>(half_open(from, to)).map(bytes).sum(),
            false => 0,
        };
        let all: u64 = rows.iter().map(bytes).sum();
        Some((ranges.iter().map(of_range).sum::<u64>() * 100 / all.max(1)).min(100))
    }

    fn checkpoint_writer(&self) -> Result<Box<dyn CheckpointWriter<'_> + '_>, ColdError> {
        self.open_or_error()?;
        Ok(Box::new(MemoryCheckpoint {
            tier: self,
            check: RowCheck::default(),
            rows: Vec::new(),
            ranges: Vec::new(),
            bytes: 0,
        }))
    }

    fn backup(&self, dir: &Path) -> Result<(), ColdError> {
        self.open_or_error()?;
        let rows = self.dir.snapshot();
        let mut dirs = self.disk.dirs.lock();
        if dirs.contains_key(dir) {
            let detail = format!("{} exists", dir.display());
            return Err(ColdError::Failed { operation: "back up", detail });
        }
        let copy = Directory { rows: RwLock::new(rows), ..Directory::default() };
        dirs.insert(dir.to_path_buf(), Arc::new(copy));
        Ok(())
    }

    fn stats(&self) -> ColdStats {
        let rows = self.dir.snapshot();
        ColdStats {
            rows_estimate: rows.len() as u64,
            table_bytes: rows.iter().map(|(key, value)| (key.len() + value.len()) as u64).sum(),
            ..self.dir.committed.lock().clone()
        }
    }

    fn pressure(&self) -> Pressure {
        Pressure::default()
    }

    fn close(&self) {
        self.closed.store(true, Ordering::Relaxed);
    }
}

/// A key with its new value, or none when it is deleted.
type ChangedRow = (Vec<u8>, Option<Arc<[u8]>>);

/// A checkpoint in the making and, once `prepare` has said yes, a prepared one.
struct MemoryCheckpoint<'tier> {
    tier: &'tier MemoryTier,
    check: RowCheck,
    rows: Vec<ChangedRow>,
    ranges: Vec<KeyRange>,
    bytes: u64,
}

impl<'tier> CheckpointWriter<'tier> for MemoryCheckpoint<'tier> {
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<(), ColdError> {
        self.check.check(key, value.len())?;
        self.bytes += (key.len() + value.len()) as u64;
        self.rows.push((key.to_vec(), Some(value.into())));
        Ok(())
    }

    fn delete(&mut self, key: &[u8]) -> Result<(), ColdError> {
        self.check.check(key, 0)?;
        self.bytes += key.len() as u64;
        self.rows.push((key.to_vec(), None));
        Ok(())
    }

    fn delete_range(&mut self, from: &[u8], to: &[u8]) -> Result<(), ColdError> {
        if from < to {
            self.bytes += (from.len() + to.len()) as u64;
            self.ranges.push((from.to_vec(), to.to_vec()));
        }
        Ok(())
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn prepare(self: Box<Self>) -> Result<Box<dyn PreparedCheckpoint + 'tier>, ColdError> {
        self.tier.dir.fails_with(Fault::PrepareNoSpace)?;
        Ok(self)
    }
}

impl PreparedCheckpoint for MemoryCheckpoint<'_> {
    fn commit(self: Box<Self>) -> Result<(), ColdError> {
        self.tier.open_or_error()?;
        let dir = &self.tier.dir;
        dir.fails_with(Fault::CommitNoSpace)?;
        let entries = (self.rows.len() + self.ranges.len()) as u64;
        {
            let mut guard = dir.rows.write();
            let rows = Arc::make_mut(&mut guard);
            for (from, to) in &self.ranges {
                remove_range(rows, from, to);
            }
            for (key, value) in self.rows {
                match value {
                    Some(value) => rows.insert(key, value),
                    None => rows.remove(&key),
                };
            }
        }
        let mut committed = dir.committed.lock();
        committed.checkpoints_committed += 1;
        committed.checkpoint_rows += entries;
        committed.checkpoint_bytes += self.bytes;
        Ok(())
    }

    fn discard(self: Box<Self>) {}
}

fn half_open<'a>(from: &'a [u8], to: &'a [u8]) -> (Bound<&'a [u8]>, Bound<&'a [u8]>) {
    (Bound::Included(from), Bound::Excluded(to))
}

fn remove_range(rows: &mut Rows, from: &[u8], to: &[u8]) {
    // Splitting the map would be shorter and costs a walk over all of it, a thousand times a flush.
    rows.extract_if(from.to_vec()..to.to_vec(), |_, _| true).for_each(drop);
}
