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
use crate::segments::PreparedFile;
use crate::shared::Shared;

/// How long to wait before a full disk is tried again.
const FULL_DISK_RETRY: Duration = Duration::from_secs(1);

enum Task {
    Prepare,
    Trim { through: Box<[u64]>, ticket: u64 },
}

/// The housekeeper thread.
pub(crate) fn run_housekeeper(shared: &Shared) {
    let mut retry_at_once = true;
    while let Some(task) = next_task(shared, retry_at_once) {
        match task {
            Task::Prepare => {
                prepare(shared);
                retry_at_once = false;
            }
            Task::Trim { through, ticket } => {
                let error = trim(shared, &through).err();
                // It may have freed space without leaving a file to recycle.
                retry_at_once = true;
                let mut inner = shared.segments.inner.lock();
                inner.trim.done = ticket;
                inner.trim.error = error;
                drop(inner);
                shared.segments.changed.notify_all();
            }
        }
    }
}

/// Waits for something to do; `None` when the journal ends.
fn next_task(shared: &Shared, retry_at_once: bool) -> Option<Task> {
    let segments = &shared.segments;
    let mut inner = segments.inner.lock();
    let mut waited = retry_at_once;
    loop {
        if shared.is_stopping() || shared.failure().is_some() {
            return None;
        }
        if inner.trim.asked > inner.trim.done {
            let (through, ticket) = (inner.trim.through.clone(), inner.trim.asked);
            return Some(Task::Trim { through, ticket });
        }
        let disk_was_full = shared.front.gate.has(Closed::NoNextSegment);
        if inner.prepared.is_empty() && (!disk_was_full || waited) {
            return Some(Task::Prepare);
        }
        if disk_was_full && inner.prepared.is_empty() {
            waited = segments.changed.wait_for(&mut inner, FULL_DISK_RETRY).timed_out();
        } else {
            segments.changed.wait(&mut inner);
        }
    }
}

fn prepare(shared: &Shared) {
    let segments = &shared.segments;
    let bytes = shared.options.segment_bytes;
    let id = segments.inner.lock().next_id;
    match create(&*segments.disk, &segments.dir, id, bytes) {
        Ok(file) => {
            segments.inner.lock().next_id += 1;
            segments.add_prepared(PreparedFile { id, file, bytes });
            shared.open_gate(Closed::NoNextSegment);
        }
        Err(error) if is_disk_full(&error) => shared.close_gate(Closed::NoNextSegment),
        Err(error) => shared.fail(format!("cannot prepare segment {id:016x}: {error}")),
    }
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
