//! Numbers for the operator.

use basalt_observe::histogram::{Distribution, Histogram};
use std::sync::atomic::{AtomicU64, Ordering};

/// What the journal has done since it was opened, and what it holds now.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stats {
    /// Segments in the log, the current one included.
    pub segments: u64,
    /// Bytes of log in them: what a recovery would read.
    pub log_bytes: u64,
    /// Segment files that stand ready.
    pub prepared_files: u64,
    /// Groups written.
    pub groups: u64,
    /// Bytes of groups written, padding not counted.
    pub written_bytes: u64,
    /// Bytes not yet handed to the kernel; known to within a step per stream.
    pub buffered_bytes: u64,
    /// Calls of `fdatasync` for data.
    pub fsyncs: u64,
    /// Duration of the last one, in microseconds.
    pub fsync_us_last: u64,
    /// Duration of the longest one, in microseconds.
    pub fsync_us_max: u64,
    /// How long they took.
    pub fsync_durations: Distribution,
}

/// The counters behind [`Stats`]. Relaxed: each is a number of its own.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(crate) groups: AtomicU64,
    pub(crate) written_bytes: AtomicU64,
    fsyncs: AtomicU64,
    fsync_us_last: AtomicU64,
    fsync_us_max: AtomicU64,
    /// Written under the lock of [`crate::sync`] that lets one thread sync at a time.
    fsync_durations: Histogram,
}

impl Counters {
    pub(crate) fn group_written(&self, bytes: u64) {
        self.groups.fetch_add(1, Ordering::Relaxed);
        self.written_bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    pub(crate) fn synced(&self, duration_ns: u64) {
        let us = duration_ns / 1_000;
        self.fsyncs.fetch_add(1, Ordering::Relaxed);
        self.fsync_us_last.store(us, Ordering::Relaxed);
        self.fsync_us_max.fetch_max(us, Ordering::Relaxed);
        self.fsync_durations.add(duration_ns, 1);
    }

    pub(crate) fn snapshot(&self) -> Stats {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Stats {
            groups: read(&self.groups),
            written_bytes: read(&self.written_bytes),
            fsyncs: read(&self.fsyncs),
            fsync_us_last: read(&self.fsync_us_last),
            fsync_us_max: read(&self.fsync_us_max),
            fsync_durations: self.fsync_durations.distribution(),
            ..Stats::default()
        }
    }
}
