//! Which segments there are.
//!
//! A segment that has become superfluous stays as long as a scan runs that began before: its rows
//! are of that moment, and so are their pointers.

use crate::error::io_error;
use crate::locator::SEGMENT_MAX;
use crate::segment::{HEADER_BYTES, Segment, header};
use basalt_cold::ColdError;
use basalt_env::Disk;
use basalt_stdx::lock_rank::{LeafRwLock, RankedMutex};
use std::collections::{BTreeMap, BTreeSet};
use std::io::ErrorKind::NotFound;
use std::io::IoSlice;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

const NAME_END: &str = ".vlog";

/// See the head of this file.
pub(crate) struct Segments {
    disk: Arc<dyn Disk>,
    dir: PathBuf,
    table: LeafRwLock<BTreeMap<u32, Arc<Segment>>>,
    /// Those that are not full, for the next writer.
    unfinished: RankedMutex<Vec<Arc<Segment>>>,
    next_number: AtomicU32,
    scans: RankedMutex<Scans>,
}

#[derive(Default)]
struct Scans {
    next: u64,
    running: BTreeSet<u64>,
    /// Segments that are superfluous for scans from a number on.
    superfluous: Vec<(u64, Arc<Segment>)>,
}

/// A scan runs.
pub(crate) struct Scanning<'a> {
    segments: &'a Segments,
    number: u64,
}

impl Segments {
    /// Finds those of earlier starts.
    pub(crate) fn open(disk: Arc<dyn Disk>, dir: PathBuf) -> Result<Segments, ColdError> {
        let failed = |error: std::io::Error| io_error(&error, "open", &dir);
        let mut table = BTreeMap::new();
        for name in disk.list(&dir).map_err(failed)? {
            let Some(number) = number_of(&name) else { continue };
            let path = dir.join(&name);
            let file = disk.open(&path).map_err(failed)?;
            let bytes = file.bytes().map_err(failed)?;
            table.insert(number, Arc::new(Segment::sealed(number, path, file, bytes)));
        }
        let last = table.last_key_value().map_or(0, |(&number, _)| number);
        Ok(Segments {
            disk,
            dir,
            table: LeafRwLock::new(table),
            unfinished: RankedMutex::default(),
            next_number: AtomicU32::new(last + 1),
            scans: RankedMutex::default(),
        })
    }

    pub(crate) fn get(&self, number: u32) -> Option<Arc<Segment>> {
        self.table.read().get(&number).cloned()
    }

    pub(crate) fn all(&self) -> Vec<Arc<Segment>> {
        self.table.read().values().cloned().collect()
    }

    /// There is a number for another.
    pub(crate) fn has_numbers(&self) -> bool {
        self.next_number.load(Ordering::Relaxed) < SEGMENT_MAX
    }

    /// One to add records to: that of somebody who has stopped, or a new one.
    pub(crate) fn begin(&self) -> Result<Arc<Segment>, ColdError> {
        let unfinished = self.unfinished.lock().pop();
        let segment = match unfinished {
            Some(segment) => segment,
            None => self.create()?,
        };
        segment.begin_writing();
        Ok(segment)
    }

    /// It may be gone on with.
    pub(crate) fn put_back(&self, segment: Arc<Segment>) {
        self.unfinished.lock().push(segment);
    }

    fn create(&self) -> Result<Arc<Segment>, ColdError> {
        let number = self.next_number.fetch_add(1, Ordering::Relaxed);
        let path = self.dir.join(file_name(number));
        let failed = |error: std::io::Error| io_error(&error, "begin a segment of values", &path);
        if number > SEGMENT_MAX {
            return Err(failed(std::io::Error::other("there are no more numbers")));
        }
        let file = self.disk.create(&path, HEADER_BYTES).map_err(failed)?;
        let written = file
            .write_all_at(&[IoSlice::new(&header(number))], 0)
            .and_then(|()| self.disk.sync_dir(&self.dir));
        if let Err(error) = written {
            // Best effort: what stays has nothing in it, and goes when the tier is opened next.
            let _ = self.disk.remove(&path);
            return Err(failed(error));
        }
        let segment = Arc::new(Segment::new(number, path, file));
        self.table.write().insert(number, Arc::clone(&segment));
        Ok(segment)
    }

    /// No row points to it any more.
    pub(crate) fn remove(&self, segment: &Arc<Segment>) -> Result<(), ColdError> {
        let mut scans = self.scans.lock();
        if !scans.running.is_empty() {
            let next = scans.next;
            segment.leave_alone();
            scans.superfluous.push((next, Arc::clone(segment)));
            return Ok(());
        }
        drop(scans);
        self.unlink(segment)
    }

    fn unlink(&self, segment: &Segment) -> Result<(), ColdError> {
        self.table.write().remove(&segment.number);
        let removed = self.disk.remove(&segment.path);
        removed.map_err(|error| io_error(&error, "remove a segment of values", &segment.path))
    }

    /// Keeps what there is until the scan has ended.
    pub(crate) fn begin_scan(&self) -> Scanning<'_> {
        let mut scans = self.scans.lock();
        let number = scans.next;
        scans.next += 1;
        scans.running.insert(number);
        Scanning { segments: self, number }
    }

    /// Makes the same segments appear in another directory.
    pub(crate) fn link_to(&self, dir: &Path) -> Result<(), ColdError> {
        let failed = |error: std::io::Error| io_error(&error, "back up", dir);
        self.disk.create_dir(dir).map_err(failed)?;
        for segment in self.all() {
            if let Some(name) = segment.path.file_name() {
                match self.disk.link(&segment.path, &dir.join(name)) {
                    // A scan has ended that had kept it.
                    Err(error)
                        if error.kind() == NotFound && self.get(segment.number).is_none() => {}
                    linked => linked.map_err(failed)?,
                }
            }
        }
        self.disk.sync_dir(dir).map_err(failed)
    }
}

impl Drop for Scanning<'_> {
    fn drop(&mut self) {
        let mut scans = self.segments.scans.lock();
        scans.running.remove(&self.number);
        let first = scans.running.first().copied().unwrap_or(u64::MAX);
        let free: Vec<_> = scans.superfluous.extract_if(.., |(from, _)| *from <= first).collect();
        drop(scans);
        for (_, segment) in free {
            // What cannot be removed now goes when the tier is opened next.
            let _ = self.segments.unlink(&segment);
        }
    }
}

fn file_name(number: u32) -> String {
    format!("{number:08}{NAME_END}")
}

fn number_of(name: &str) -> Option<u32> {
    let digits = name.strip_suffix(NAME_END)?;
    let number = digits.parse().ok()?;
    // As `create` names them, and none that the locator has no room for.
    (file_name(number) == name && (1..=SEGMENT_MAX).contains(&number)).then_some(number)
}
