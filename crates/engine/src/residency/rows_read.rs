//! Rows that are read for a walk over keys: what is wanted, and what was found.

use basalt_change::place::PartitionId;
use basalt_value::Kind;

/// Rows that a walk needs to go on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RowsWanted {
    pub(crate) db: u8,
    pub(crate) partition: PartitionId,
    /// The hash where the walk stands.
    pub(crate) from: u64,
    /// How many.
    pub(crate) rows: usize,
}

/// Rows that were read for a walk, of one partition or of several that follow each other.
#[derive(Debug, Default)]
pub struct WalkedRows {
    pub(crate) pages: Vec<Page>,
}

/// Rows of a partition.
#[derive(Debug)]
pub(crate) struct Page {
    pub(crate) db: u8,
    pub(crate) partition: PartitionId,
    pub(crate) generation: u64,
    pub(crate) cold_version: u64,
    /// From this hash on …
    pub(crate) from: u64,
    /// … to this one, which is not among them; `None` for the end of the partition.
    pub(crate) to: Option<u64>,
    pub(crate) rows: Vec<WalkedRow>,
}

#[derive(Debug)]
pub(crate) struct WalkedRow {
    pub(crate) key: Box<[u8]>,
    pub(crate) kind: Option<Kind>,
    pub(crate) expire_ms: u64,
    /// When all fields of a hash have expired, if its row says so; all ones else.
    pub(crate) gone_ms: u64,
}
