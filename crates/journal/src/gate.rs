//! Whether records are welcome: one byte that every writer of records reads and almost nobody
//! writes.

use std::sync::atomic::{AtomicU8, Ordering};

/// A reason to refuse records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Closed {
    /// Too many bytes wait to be written.
    OverBuffer = 1,
    /// The next segment could not be preallocated.
    NoNextSegment = 2,
    /// The current group could not be written for want of space: the writer stands still.
    NoSpaceToWrite = 4,
    /// The journal is poisoned.
    Failed = 8,
    /// The log is long, see [`crate::pace`].
    Paced = 16,
    /// Space that was kept back is in use, see [`crate::Journal::set_on_reserve`].
    OnReserve = 32,
}

/// The set of reasons that hold now.
///
/// Relaxed everywhere: the gate is advice to callers, and a caller that must not miss a change
/// takes a lock that orders it (the stream's for `OverBuffer`, the progress lock for the others).
#[derive(Debug, Default)]
pub(crate) struct Gate(AtomicU8);

impl Gate {
    #[inline]
    pub(crate) fn is_open(&self) -> bool {
        self.0.load(Ordering::Relaxed) == 0
    }

    /// Whether records are welcome that are short and make data smaller: what is left of the
    /// current segment is for them.
    pub(crate) fn is_open_for_removals(&self) -> bool {
        let removals_pass = Closed::NoNextSegment as u8 | Closed::OnReserve as u8;
        self.0.load(Ordering::Relaxed) & !removals_pass == 0
    }

    pub(crate) fn has(&self, reason: Closed) -> bool {
        self.0.load(Ordering::Relaxed) & reason as u8 != 0
    }

    pub(crate) fn disk_is_full(&self) -> bool {
        [Closed::NoNextSegment, Closed::NoSpaceToWrite, Closed::OnReserve]
            .into_iter()
            .any(|reason| self.has(reason))
    }

    /// Adds a reason; true if it is new.
    pub(crate) fn close(&self, reason: Closed) -> bool {
        self.0.fetch_or(reason as u8, Ordering::Relaxed) & reason as u8 == 0
    }

    /// Removes a reason; true if it held.
    pub(crate) fn open(&self, reason: Closed) -> bool {
        self.has(reason) && self.0.fetch_and(!(reason as u8), Ordering::Relaxed) & reason as u8 != 0
    }
}
