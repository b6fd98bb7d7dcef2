//! What the journal's threads and its callers share.
//!
//! Locks, in the order in which a thread may hold them (none is held while a subscriber is called):
//! 1. a stream's buffer; several only in ascending order of streams, all of them only by the cut;
//! 2. `sync::SyncState::turn`, the one lock held across a disk call: it lets one thread sync at a
//!    time;
//! 3. `segments::Segments::inner`, `sync::SyncState::files`, `progress`, `subscribers`: leaves.

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use basalt_env::Env;
use basalt_stdx::lock_rank::RankedMutex;
use basalt_stdx::sleeper::Sleeper;
use parking_lot::{Condvar, Mutex};

use crate::cache_padded::CachePadded;
use crate::error::JournalError;
use crate::gate::{Closed, Gate};
use crate::options::{FsyncPolicy, Options};
use crate::pace::Backlog;
use crate::segments::Segments;
use crate::stats::Counters;
use crate::stream::StreamBuffer;
use crate::sync::SyncState;
use crate::types::{Health, Wake};

/// From this many gathered bytes on, the writer does not wait out its delay.
const WRITE_EARLY_BYTES: u64 = 4 << 20;

/// A stream's buffer; its number is the stream's. For the rank see `docs/concurrency.md`.
pub(crate) type StreamLock = RankedMutex<StreamBuffer, 3>;

pub(crate) struct Shared {
    pub(crate) options: Options,
    pub(crate) env: Env,
    pub(crate) streams: Box<[CachePadded<StreamLock>]>,
    /// Read by every append, seldom written.
    pub(crate) front: CachePadded<Front>,
    pub(crate) marks: CachePadded<Marks>,
    /// Bytes reported by the streams and not yet handed to the kernel.
    pub(crate) buffered_bytes: CachePadded<AtomicU64>,
    pub(crate) counters: Counters,
    pub(crate) backlog: Backlog,
    pub(crate) sync: SyncState,
    pub(crate) segments: Segments,
    progress: Mutex<()>,
    progressed: Condvar,
    subscribers: RankedMutex<Arc<[Wake]>>,
    failure: OnceLock<String>,
}

#[derive(Default)]
pub(crate) struct Front {
    pub(crate) sleeper: Sleeper,
    pub(crate) gate: Gate,
    policy: AtomicU8,
}

/// How far the writer has come. Stored with `Release` after the fact, loaded with `Acquire`.
#[derive(Default)]
pub(crate) struct Marks {
    pub(crate) written: AtomicU64,
    /// What callers are told; equal to `synced` but for the lying test mode.
    pub(crate) durable: AtomicU64,
    /// What is on disk for certain.
    pub(crate) synced: AtomicU64,
    /// Requests to write what has gathered, and the last one that was served.
    pub(crate) flush_asked: AtomicU64,
    pub(crate) flush_done: AtomicU64,
    /// The writer shall finish; then the other threads shall stop.
    pub(crate) closing: AtomicBool,
    pub(crate) stopping: AtomicBool,
}

impl Shared {
    pub(crate) fn new(
        env: Env,
        options: Options,
        streams: Box<[CachePadded<StreamLock>]>,
        segments: Segments,
        last_group: u64,
    ) -> Self {
        let shared = Self {
            env,
            streams,
            front: CachePadded::default(),
            marks: CachePadded::default(),
            buffered_bytes: CachePadded::default(),
            counters: Counters::default(),
            backlog: Backlog::default(),
            sync: SyncState::default(),
            segments,
            progress: Mutex::new(()),
            progressed: Condvar::new(),
            subscribers: RankedMutex::new(Arc::new([])),
            failure: OnceLock::new(),
            options,
        };
        shared.store_policy(shared.options.policy);
        for mark in [&shared.marks.written, &shared.marks.durable, &shared.marks.synced] {
            mark.store(last_group, Ordering::Release);
        }
        shared
    }

    pub(crate) fn policy(&self) -> FsyncPolicy {
        match self.front.policy.load(Ordering::Relaxed) {
            0 => FsyncPolicy::Always,
            1 => FsyncPolicy::EverySecond,
            _ => FsyncPolicy::Never,
        }
    }

    pub(crate) fn store_policy(&self, policy: FsyncPolicy) {
        let code = match policy {
            FsyncPolicy::Always => 0,
            FsyncPolicy::EverySecond => 1,
            FsyncPolicy::Never => 2,
        };
        self.front.policy.store(code, Ordering::Relaxed);
    }

    pub(crate) fn is_closing(&self) -> bool {
        self.marks.closing.load(Ordering::Acquire)
    }

    pub(crate) fn is_stopping(&self) -> bool {
        self.marks.stopping.load(Ordering::Acquire)
    }

    pub(crate) fn failure(&self) -> Option<JournalError> {
        self.failure.get().map(|reason| JournalError::Failed(reason.clone()))
    }

    #[inline]
    pub(crate) fn has_failed(&self) -> bool {
        self.failure.get().is_some()
    }

    pub(crate) fn health(&self) -> Health {
        if let Some(reason) = self.failure.get() {
            return Health::Failed(reason.clone());
        }
        if self.front.gate.disk_is_full() { Health::DiskFull } else { Health::Ok }
    }

    /// Poisons the journal and tells everybody.
    pub(crate) fn fail(&self, reason: String) {
        self.poison(reason);
        self.announce_failure();
    }

    /// Poisons the journal; returns the reason, which is the first one ever given.
    pub(crate) fn poison(&self, reason: String) -> JournalError {
        let reason = self.failure.get_or_init(|| reason);
        self.front.gate.close(Closed::Failed);
        JournalError::Failed(reason.clone())
    }

    /// Wakes every thread and every waiting caller, to see the failure.
    pub(crate) fn announce_failure(&self) {
        self.segments.wake_all();
        self.sync.wake();
        self.front.sleeper.wake();
        self.announce();
    }

    /// Adds a reason to refuse records and tells everybody if it is new.
    pub(crate) fn close_gate(&self, reason: Closed) {
        if self.front.gate.close(reason) {
            self.announce();
        }
    }

    /// Removes a reason to refuse records and tells everybody if it held.
    pub(crate) fn open_gate(&self, reason: Closed) {
        if self.front.gate.open(reason) {
            self.announce();
        }
    }

    /// Tells waiting callers and subscribers that a mark or the health has changed.
    pub(crate) fn announce(&self) {
        // A thread that checked the marks under this lock is waiting by now and hears the notice.
        drop(self.progress.lock());
        self.progressed.notify_all();
        let subscribers = Arc::clone(&self.subscribers.lock());
        for wake in subscribers.iter() {
            wake();
        }
    }

    pub(crate) fn subscribe(&self, wake: Wake) {
        let mut subscribers = self.subscribers.lock();
        *subscribers = subscribers.iter().cloned().chain([wake]).collect();
    }

    /// Blocks until `reached` says so; an error if the journal fails or stands still for want of
    /// space.
    pub(crate) fn wait_until(&self, reached: impl Fn(&Marks) -> bool) -> Result<(), JournalError> {
        let mut progress = self.progress.lock();
        loop {
            if reached(&self.marks) {
                return Ok(());
            }
            if let Some(failure) = self.failure() {
                return Err(failure);
            }
            if self.front.gate.has(Closed::NoSpaceToWrite) {
                return Err(JournalError::DiskFull);
            }
            self.progressed.wait(&mut progress);
        }
    }

    /// Takes a stream's report of its growth. The caller holds the stream's lock.
    #[cold]
    pub(crate) fn take_report(&self, buffer: &mut StreamBuffer) {
        if self.failure.get().is_some() {
            buffer.discard();
            return;
        }
        let grown = buffer.report(self.options.account_step()) as u64;
        let total = self.buffered_bytes.fetch_add(grown, Ordering::Relaxed) + grown;
        if total > self.options.buffered_bytes_max {
            self.front.gate.close(Closed::OverBuffer);
        }
        if total > WRITE_EARLY_BYTES {
            self.front.sleeper.wake();
        }
    }

    /// Takes note that the writer has handed over what the streams had reported.
    pub(crate) fn settle_report(&self, bytes: u64) {
        let left = self.buffered_bytes.fetch_sub(bytes, Ordering::Relaxed) - bytes;
        if left <= self.options.buffered_bytes_max / 2 {
            self.open_gate(Closed::OverBuffer);
        }
    }
}
