//! HOT PATH
//! The door to the log: what the engine asks of whatever makes changes durable.
//!
//! Alone, the journal is behind it; in a cluster, consensus will be. The engine therefore assumes
//! nothing that only a journal gives: acknowledgement is asked for per shard and position, comes
//! asynchronously and may never come; see `docs/commit-log.md`.

use basalt_change::place::ShardId;
use std::sync::Arc;

/// What a reply waits for: an acknowledgement by the log of one shard's stream. Tickets of one
/// stream are ordered; 0 is always acknowledged.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Ticket(pub u64);

/// Why the log does not take changes now.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Refusal {
    /// The disk is full. It is tried again; reads go on.
    #[error("No space left on device")]
    DiskFull,
    /// Changes come faster than the disk takes them; wait for a wake-up and try again.
    #[error("the log's buffers are full")]
    Busy,
    /// The log failed for good: the process must be restarted.
    #[error("the log failed and takes no more changes until a restart: {0}")]
    Failed(String),
}

/// A log operation that failed.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub struct LogError(pub String);

/// Takes ChangeSet records, one stream a shard, and acknowledges them.
pub trait CommitLog: Send + Sync {
    /// Appends one record. The caller holds the lock of the record's partition, so that the order of
    /// calls is the order of changes. Gives the record's position in the stream and the ticket that
    /// its reply waits for.
    fn append(&self, shard: ShardId, record: &[u8]) -> (u64, Ticket);

    /// Appends records that must survive together or not at all. Positions go to `positions` in the
    /// order of `records`.
    fn append_atomically(&self, records: &[(ShardId, &[u8])], positions: &mut Vec<u64>) -> Ticket;

    /// Whether replies and dirty reads wait for tickets at all. Constant while the log is open,
    /// except that an operator may switch it; a change takes effect with the next command.
    fn gates_replies(&self) -> bool;

    /// Everything that waits for this ticket may go.
    fn is_acknowledged(&self, ticket: Ticket) -> bool;

    /// The ticket of the latest change of any stream.
    fn latest(&self) -> Ticket;

    /// Whether a change may be appended now.
    fn admit(&self) -> Result<(), Refusal>;

    /// A thread has appended all that it had at hand and is about to wait.
    fn kick(&self);

    /// Calls `wake` from the log's own thread whenever more is acknowledged or `admit` may answer
    /// differently.
    fn subscribe(&self, wake: Arc<dyn Fn() + Send + Sync>);

    /// Waits until everything appended so far can no longer be taken back: on disk, or committed.
    fn sync(&self) -> Result<(), LogError>;

    /// The position of each shard's latest record.
    fn positions(&self) -> Vec<u64>;

    /// Records up to these positions, one a shard, are not needed for recovery any more.
    fn trim(&self, through: &[u64]);

    /// Bytes that recovery would have to read now.
    fn bytes_to_replay(&self) -> u64;
}
