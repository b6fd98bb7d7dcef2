//! The journal's words: stream, sequence number, group, health.

use basalt_env::Entropy;
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

/// The name of a journal: random, made with it, and in every segment since format 2.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct JournalId(pub [u8; 16]);

impl JournalId {
    /// A name that no other journal has.
    pub(crate) fn new(entropy: &dyn Entropy) -> Self {
        let halves = [(); 2].map(|()| entropy.seed().to_le_bytes());
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&halves.concat());
        Self(bytes)
    }
}

impl std::fmt::Display for JournalId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:032x}", u128::from_be_bytes(self.0))
    }
}

/// The number of a group commit: global, increasing by one, 0 means "none yet".
///
/// A group is a consistent cut: if an append happened before another, its group is not the later
/// one.
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
