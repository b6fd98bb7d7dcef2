//! What the caller chooses, and the limits that nobody chooses.

use std::time::Duration;

use crate::error::OpenError;
use crate::format::PAGE_BYTES;
use crate::types::JournalId;

/// Most streams that a journal can have.
pub const STREAMS_MAX: u16 = 1024;
/// Longest record. Appending a longer one is a bug of the caller and panics.
pub const RECORD_BYTES_MAX: usize = 2 << 30;
/// Longest hard state of a stream: every segment's header carries a copy of each.
pub const HARD_STATE_BYTES_MAX: usize = 4096;

/// When a written group is forced to the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FsyncPolicy {
    /// After every group. Callers end each turn with [`Journal::kick`](crate::Journal::kick).
    Always,
    /// Once per `sync_interval`, on a thread of its own, so that writes go on.
    EverySecond,
    /// When the operating system likes, when a segment is full, and on request.
    Never,
}

/// When a group is announced as durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Acknowledge {
    /// When it is on disk: the truth.
    AfterSync,
    /// Before it is written, let alone synced, and then it is written late: a lie. It exists for
    /// one purpose, the canary of the crash tests: a test that does not catch this journal losing
    /// acknowledged records tests nothing.
    BeforeSyncForCrashTest,
}

/// What makes the steps that the work of a journal consists of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Driver {
    /// Threads of the journal's own.
    Threads,
    /// The caller, by [`Journal::step`](crate::Journal::step) and every call that waits for the
    /// journal: for tests and simulators that run in one thread. Whatever is a pause of a thread,
    /// such as slowing writers down while the log is long, does not happen then.
    Caller,
}

/// How a journal is opened.
#[derive(Debug, Clone)]
pub struct Options {
    /// Number of streams, 1 to [`STREAMS_MAX`]; fixed when the journal is created.
    pub streams: u16,
    /// Size of a segment file; rounded up to whole pages of 4 KiB, and to one header and one page
    /// more.
    pub segment_bytes: u64,
    /// When to sync; can be changed later.
    pub policy: FsyncPolicy,
    /// Under `EverySecond` and `Never`: how long the writer lets records gather. It bounds what a
    /// killed process loses.
    pub idle_write_delay: Duration,
    /// Under `EverySecond`: how long a written group waits for its sync at most.
    pub sync_interval: Duration,
    /// Above this many bytes not yet handed to the kernel, `accepting` is false. At most three
    /// quarters of a segment, so that what gathers seldom needs a segment larger than the others.
    pub buffered_bytes_max: u64,
    /// From this length of the log on, records are refused part of the time, so that trimming keeps
    /// up; `u64::MAX` for never.
    pub pace_from_bytes: u64,
    /// How many trimmed segment files are kept for reuse; the others are deleted.
    pub recycle_files_max: usize,
    /// The name of a journal whose files have none yet, as those of format 1: what the caller has
    /// noted elsewhere. `None` for a new one.
    pub adopt: Option<JournalId>,
    /// Opens a log that is known to have lost durable groups, and ends it where the first of them
    /// was.
    pub accept_loss: bool,
    /// Leave at `AfterSync`.
    pub acknowledge: Acknowledge,
    /// Leave at `Threads`.
    pub driver: Driver,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            streams: 64,
            segment_bytes: 64 << 20,
            policy: FsyncPolicy::EverySecond,
            idle_write_delay: Duration::from_millis(2),
            sync_interval: Duration::from_secs(1),
            buffered_bytes_max: 64 << 20,
            pace_from_bytes: u64::MAX,
            recycle_files_max: 4,
            adopt: None,
            accept_loss: false,
            acknowledge: Acknowledge::AfterSync,
            driver: Driver::Threads,
        }
    }
}

impl Options {
    /// Checks the limits and rounds the segment size.
    pub(crate) fn checked(mut self) -> Result<Self, OpenError> {
        if self.streams == 0 || self.streams > STREAMS_MAX {
            return Err(OpenError::Options("choose 1 to 1024 streams"));
        }
        if self.segment_bytes > 1 << 40 {
            return Err(OpenError::Options("choose a segment size of at most 1 TiB"));
        }
        self.segment_bytes = self.segment_bytes.max(4 * PAGE_BYTES).next_multiple_of(PAGE_BYTES);
        self.buffered_bytes_max = self.buffered_bytes_max.min(self.segment_bytes / 4 * 3);
        Ok(self)
    }

    /// A stream reports its growth in steps of this size, so that appends share no counter: small
    /// enough that all streams together cannot hide more than a quarter of the limit.
    pub(crate) fn account_step(&self) -> usize {
        let share = self.buffered_bytes_max / (4 * u64::from(self.streams));
        share.clamp(1, 64 * 1024) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::Options;

    #[test]
    fn what_gathers_fits_a_segment() {
        for segment_bytes in [0, 1 << 20, 64 << 20, 1 << 30] {
            let chosen = Options { segment_bytes, ..Options::default() };
            let checked = chosen.checked().expect("good options");
            assert!(checked.buffered_bytes_max < checked.segment_bytes, "{checked:?}");
        }
    }
}
