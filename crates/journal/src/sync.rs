//! `fdatasync`: which thread calls it, and what may be announced afterwards.
//!
//! Under `Always` the writer syncs after each group. Otherwise the syncer thread does, once per
//! interval, when a segment is complete, or when a group is wanted on disk for which somebody
//! waits; and a caller that wants certainty does it on its own thread. All go through
//! [`sync_files`] one at a time: the kernel reports a lost write once, to one caller only, and
//! nobody may announce a group after another was told that it is lost.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use basalt_env::{DiskFile, priority};
use basalt_stdx::lock_rank::RankedMutex;
use parking_lot::{Condvar, Mutex};

use crate::error::JournalError;
use crate::options::{Acknowledge, FsyncPolicy};
use crate::shared::{Marks, Shared};

/// How long a journal that lies lets a group wait after it has acknowledged it.
const LATE_BY: Duration = Duration::from_millis(10);

/// Files with groups that may not be on disk yet, oldest first.
#[derive(Default)]
pub(crate) struct SyncState {
    /// For the rank see `docs/concurrency.md`.
    turn: RankedMutex<(), 4>,
    files: RankedMutex<VecDeque<UnsyncedFile>>,
    /// What the syncer thread waits for.
    request: Mutex<Request>,
    requested: Condvar,
    /// Whether the syncer knows already that there is something to sync.
    dirty: AtomicBool,
    /// The latest group that somebody wants on disk before the interval is over.
    wanted: AtomicU64,
}

#[derive(Clone)]
struct UnsyncedFile {
    segment: u64,
    file: Arc<dyn DiskFile>,
    last_group: u64,
}

#[derive(Default)]
struct Request {
    written: bool,
    /// Something that was written is wanted on disk now.
    wanted: bool,
    segment_complete: bool,
}

/// How much to sync.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SyncScope {
    /// Everything written so far.
    All,
    /// Complete segments, not the one being written.
    CompleteSegments,
}

impl SyncState {
    /// The writer has written a group to this file.
    fn note(&self, segment: u64, file: &Arc<dyn DiskFile>, group: u64) {
        let mut files = self.files.lock();
        match files.back_mut() {
            Some(newest) if newest.segment == segment => newest.last_group = group,
            _ => {
                files.push_back(UnsyncedFile { segment, file: Arc::clone(file), last_group: group })
            }
        }
    }

    /// Files to sync, and whether the last of them is left out.
    fn pending(&self, scope: SyncScope) -> Vec<UnsyncedFile> {
        let files = self.files.lock();
        let count = match scope {
            SyncScope::All => files.len(),
            SyncScope::CompleteSegments => files.len().saturating_sub(1),
        };
        files.iter().take(count).cloned().collect()
    }

    fn forget_through(&self, group: u64) {
        let mut files = self.files.lock();
        while files.front().is_some_and(|file| file.last_group <= group) {
            files.pop_front();
        }
    }

    pub(crate) fn wake(&self) {
        drop(self.request.lock());
        self.requested.notify_all();
    }

    /// Asks for a sync of everything when the interval is over.
    pub(crate) fn ask(&self) {
        self.request.lock().written = true;
        self.requested.notify_all();
    }

    /// Somebody waits for this group, whatever the policy.
    pub(crate) fn want(&self, marks: &Marks, group: u64) {
        // Either the writer, which looks here when it has written, sees that it is wanted, or it is
        // seen here that it has written: the four accesses have one order.
        self.wanted.fetch_max(group, Ordering::SeqCst);
        if marks.written.load(Ordering::SeqCst) >= group {
            self.hurry();
        }
    }

    /// Asks for a sync of everything now.
    fn hurry(&self) {
        self.request.lock().wanted = true;
        self.requested.notify_all();
    }

    /// The writer has gone on to the next segment.
    pub(crate) fn segment_complete(&self) {
        self.request.lock().segment_complete = true;
        self.requested.notify_all();
    }
}

/// The lie of [`Acknowledge::BeforeSyncForCrashTest`]. What the kernel has survives a kill, so that
/// the lie would not show: the group is written late, too.
pub(crate) fn acknowledge_too_early(shared: &Shared, group: u64) {
    if shared.options.acknowledge == Acknowledge::BeforeSyncForCrashTest {
        shared.marks.durable.fetch_max(group, Ordering::Release);
        shared.announce();
        std::thread::sleep(LATE_BY);
    }
}

/// Publishes a written group.
pub(crate) fn note_written(shared: &Shared, segment: u64, file: &Arc<dyn DiskFile>, group: u64) {
    shared.sync.note(segment, file, group);
    shared.marks.written.store(group, Ordering::SeqCst);
    if shared.policy() == FsyncPolicy::EverySecond
        && !shared.sync.dirty.swap(true, Ordering::Relaxed)
    {
        shared.sync.ask();
    }
    if shared.sync.wanted.load(Ordering::SeqCst) > shared.marks.synced.load(Ordering::Relaxed) {
        shared.sync.hurry();
    }
}

/// Syncs and announces; a failure poisons the journal.
pub(crate) fn sync_files(shared: &Shared, scope: SyncScope) -> Result<(), JournalError> {
    let turn = shared.sync.turn.lock();
    if let Some(failure) = shared.failure() {
        return Err(failure);
    }
    let pending = shared.sync.pending(scope);
    let Some(through) = pending.last().map(|file| file.last_group) else { return Ok(()) };
    if let Err(reason) = sync_each(shared, &pending) {
        // Poisoned before the next caller's turn, announced after ours: no lock is held meanwhile.
        let failure = shared.poison(reason);
        drop(turn);
        shared.announce_failure();
        return Err(failure);
    }
    shared.sync.forget_through(through);
    shared.marks.synced.store(through, Ordering::Release);
    shared.marks.durable.fetch_max(through, Ordering::Release);
    drop(turn);
    shared.announce();
    Ok(())
}

fn sync_each(shared: &Shared, files: &[UnsyncedFile]) -> Result<(), String> {
    for unsynced in files {
        let start_ns = shared.env.clock.monotonic_ns();
        let synced = unsynced.file.sync_data();
        synced
            .map_err(|error| format!("cannot sync segment {:016x}: {error}", unsynced.segment))?;
        shared.counters.synced(shared.env.clock.monotonic_ns() - start_ns);
    }
    Ok(())
}

/// What a syncer has to do.
enum Due {
    Sync(SyncScope),
    /// Not before this time has passed, unless something changes.
    In(Duration),
    Nothing,
}

/// The work of the syncer thread.
#[derive(Default)]
pub(crate) struct Syncer {
    last_sync_ns: u64,
}

impl Syncer {
    /// The thread: syncs until the journal ends.
    pub(crate) fn run(&mut self, shared: &Shared) {
        // Of a sync, the kernel's share is milliseconds of CPU.
        priority::step_back();
        while let Some(scope) = self.wait(shared) {
            if self.sync(shared, scope).is_err() {
                return;
            }
        }
    }

    /// Syncs what is due now; returns false if nothing is.
    pub(crate) fn step(&mut self, shared: &Shared) -> Result<bool, JournalError> {
        let due = self.next(shared, &mut shared.sync.request.lock());
        let Due::Sync(scope) = due else { return Ok(false) };
        self.sync(shared, scope).map(|()| true)
    }

    /// Waits until something is due; `None` when the journal ends.
    fn wait(&self, shared: &Shared) -> Option<SyncScope> {
        let mut request = shared.sync.request.lock();
        loop {
            if shared.is_stopping() || shared.failure().is_some() {
                return None;
            }
            match self.next(shared, &mut request) {
                Due::Sync(scope) => return Some(scope),
                Due::In(time) => {
                    shared.sync.requested.wait_for(&mut request, time);
                }
                Due::Nothing => shared.sync.requested.wait(&mut request),
            }
        }
    }

    fn next(&self, shared: &Shared, request: &mut Request) -> Due {
        if std::mem::take(&mut request.segment_complete) {
            return Due::Sync(SyncScope::CompleteSegments);
        }
        if std::mem::take(&mut request.wanted) {
            request.written = false;
            return Due::Sync(SyncScope::All);
        }
        if !request.written {
            return Due::Nothing;
        }
        let since = Duration::from_nanos(shared.env.clock.monotonic_ns() - self.last_sync_ns);
        let wait = shared.options.sync_interval.saturating_sub(since);
        if !wait.is_zero() {
            return Due::In(wait);
        }
        request.written = false;
        Due::Sync(SyncScope::All)
    }

    fn sync(&mut self, shared: &Shared, scope: SyncScope) -> Result<(), JournalError> {
        if scope == SyncScope::All {
            self.last_sync_ns = shared.env.clock.monotonic_ns();
            // Before the sync: what is written from here on asks for the next one.
            shared.sync.dirty.store(false, Ordering::Relaxed);
        }
        sync_files(shared, scope)
    }
}
