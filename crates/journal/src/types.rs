//! The journal's words: stream, sequence number, group, health.

use std::sync::Arc;

/// One of the journal's streams; counted from zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StreamId(pub u16);

impl StreamId {
    #[inline]
    pub(crate) fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// A position in one stream: the first record has 1, and 0 means "nothing yet".
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Seq(pub u64);

/// The number of a group commit: global, increasing by one, 0 means "none yet".
///
/// A group is a consistent cut: if an append happened before another, its group is not the later one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Group(pub u64);

/// Whether the journal can take and keep records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Health {
    /// All is well.
    Ok,
    /// The disk has no room for the next segment. The journal tries again every second and when
    /// [`Journal::trim`](crate::Journal::trim) frees a segment, and recovers by itself.
    DiskFull,
    /// A write or a sync failed, or one of the journal's threads panicked. This is for ever: the
    /// process must restart and recover from what is on disk.
    Failed(String),
}

/// Called by one of the journal's threads when there is news; must be quick and must not block.
pub type Wake = Arc<dyn Fn() + Send + Sync>;
