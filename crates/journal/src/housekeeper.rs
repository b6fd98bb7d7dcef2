//! The housekeeper thread: it has the next segment file ready before the writer needs it, and gives
//! back files that nobody needs any more. It is the only thread that makes, renames or removes
//! files.

use std::io;
use std::sync::atomic::Ordering;
use std::time::Duration;

use basalt_env::is_disk_full;

use crate::error::JournalError;
use crate::gate::Closed;
use crate::segment_file::{create, path_of};
use crate::segments::{Inner, PreparedFile};
use crate::shared::Shared;

/// How long to wait before a full disk is tried again.
const FULL_DISK_RETRY: Duration = Duration::from_secs(1);

enum Task {
    Prepare,
    Trim { through: Box<[u64]>, ticket: u64 },
}

/// Whether a full disk may be tried again now.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Retry {
    Now,
    Later,
}

/// The work of the thread.
pub(crate) struct Housekeeper {
    retry: Retry,
}

impl Housekeeper {
    pub(crate) fn new() -> Self {
        Self { retry: Retry::Now }
    }

    /// The thread: works until the journal ends.
    pub(crate) fn run(&mut self, shared: &Shared) {
        while let Some(task) = self.wait_for_task(shared) {
            self.work(shared, task);
        }
    }

    /// Does all that there is to do now; returns false if there was nothing, or the disk is full.
    pub(crate) fn step(&mut self, shared: &Shared) -> bool {
        let mut has_worked = false;
        loop {
            let task = next_task(shared, &shared.segments.inner.lock(), self.retry);
            let Some(task) = task else { break };
            has_worked |= self.work(shared, task);
        }
        // The caller decides when the next step is.
        self.retry = Retry::Now;
        has_worked
    }

    /// Waits for something to do; `None` when the journal ends.
    fn wait_for_task(&mut self, shared: &Shared) -> Option<Task> {
        let segments = &shared.segments;
        let mut inner = segments.inner.lock();
        loop {
            if shared.is_stopping() || shared.failure().is_some() {
                return None;
            }
            if let Some(task) = next_task(shared, &inner, self.retry) {
                return Some(task);
            }
            if inner.prepared.is_empty() {
                let waited = segments.changed.wait_for(&mut inner, FULL_DISK_RETRY);
                self.retry = if waited.timed_out() { Retry::Now } else { self.retry };
            } else {
                segments.changed.wait(&mut inner);
            }
        }
    }

    /// Returns true if it did the task.
    fn work(&mut self, shared: &Shared, task: Task) -> bool {
        match task {
            Task::Prepare => {
                self.retry = Retry::Later;
                prepare(shared)
            }
            Task::Trim { through, ticket } => {
                let error = trim(shared, &through).err();
                // It may have freed space without leaving a file to recycle.
                self.retry = Retry::Now;
                let mut inner = shared.segments.inner.lock();
                inner.trim.done = ticket;
                inner.trim.error = error;
                drop(inner);
                shared.segments.changed.notify_all();
                true
            }
        }
    }
}

fn next_task(shared: &Shared, inner: &Inner, retry: Retry) -> Option<Task> {
    if inner.trim.asked > inner.trim.done {
        let (through, ticket) = (inner.trim.through.clone(), inner.trim.asked);
        return Some(Task::Trim { through, ticket });
    }
    let disk_was_full = shared.front.gate.has(Closed::NoNextSegment);
    let may_prepare = !disk_was_full || retry == Retry::Now;
    (inner.prepared.is_empty() && may_prepare).then_some(Task::Prepare)
}

/// Makes the next file; returns true if there is one now.
fn prepare(shared: &Shared) -> bool {
    let segments = &shared.segments;
    let bytes = shared.options.segment_bytes;
    let id = segments.inner.lock().next_id;
    match create(&*segments.disk, &segments.dir, id, bytes) {
        Ok(file) => {
            segments.inner.lock().next_id += 1;
            segments.add_prepared(PreparedFile { id, file, bytes });
            shared.open_gate(Closed::NoNextSegment);
            return true;
        }
        Err(error) if is_disk_full(&error) => shared.close_gate(Closed::NoNextSegment),
        Err(error) => shared.fail(format!("cannot prepare segment {id:016x}: {error}")),
    }
    false
}

/// Frees the segments that no stream needs, oldest first.
fn trim(shared: &Shared, through: &[u64]) -> Result<(), JournalError> {
    let segments = &shared.segments;
    loop {
        let synced = shared.marks.synced.load(Ordering::Acquire);
        let inner = segments.inner.lock();
        let Some(oldest) = inner.history.trimmable(through, synced) else { return Ok(()) };
        let (id, bytes) = (oldest.id, oldest.file_bytes);
        let recycle = bytes == shared.options.segment_bytes
            && inner.prepared.len() < shared.options.recycle_files_max;
        drop(inner);
        let given_back = if recycle { recycle_file(shared, id, bytes) } else { remove(shared, id) };
        if let Err(error) = given_back {
            // It stays in line: removing a younger one first would leave a hole in the log.
            let file = path_of(&segments.dir, id);
            return Err(JournalError::Trim { file, reason: error.to_string() });
        }
        segments.inner.lock().history.forget_oldest();
    }
}

fn remove(shared: &Shared, id: u64) -> io::Result<()> {
    let segments = &shared.segments;
    ignore_missing(segments.disk.remove(&path_of(&segments.dir, id)))?;
    segments.disk.sync_dir(&segments.dir)
}

/// Renames the file to the next id. Its content stays and means nothing under the new name.
fn recycle_file(shared: &Shared, old_id: u64, bytes: u64) -> io::Result<()> {
    let segments = &shared.segments;
    let mut inner = segments.inner.lock();
    let id = inner.next_id;
    inner.next_id += 1;
    drop(inner);
    let (old_path, path) = (path_of(&segments.dir, old_id), path_of(&segments.dir, id));
    ignore_missing(segments.disk.rename(&old_path, &path))?;
    segments.disk.sync_dir(&segments.dir)?;
    match segments.disk.open(&path) {
        // The first attempt renamed it to an earlier id; the next start finds and uses it.
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        opened => segments.add_prepared(PreparedFile { id, file: opened?, bytes }),
    }
    shared.open_gate(Closed::NoNextSegment);
    Ok(())
}

/// A second attempt finds that the first one did its work before it failed.
fn ignore_missing(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}
