//! What is to be read for commands that wait.

use crate::error::EngineError;
use basalt_change::place::PartitionId;
use basalt_observe::histogram::{Distribution, Histogram};
use basalt_observe::log_limit::LogLimit;
use basalt_stdx::lock_rank::RankedMutex;
use parking_lot::{Condvar, Mutex};
use std::collections::VecDeque;

/// Called when a fetch is over, from a thread of the pool.
pub type Done = Box<dyn FnOnce(Result<(), EngineError>) + Send>;

/// Keys that have to be fetched before their command can run.
#[derive(Debug)]
pub struct Missing {
    pub(super) misses: Vec<Miss>,
}

#[derive(Debug)]
pub(super) struct Miss {
    pub(super) partition: PartitionId,
    pub(super) db: u8,
    pub(super) cold_version: u64,
    pub(super) hash: u64,
    pub(super) row_key: Vec<u8>,
}

pub(super) enum Job {
    Keys(Missing, Done),
    Partitions(Vec<PartitionId>, Done),
}

/// What the pool has done, and what it still has to do.
#[derive(Clone, Debug, Default)]
pub struct MissStats {
    /// Reads that wait for a thread.
    pub queued: usize,
    /// How long the others took, each from when a thread took it.
    pub durations: Distribution,
}

/// Work for the pool.
#[derive(Default)]
pub(crate) struct MissQueue {
    pub(super) jobs: Mutex<VecDeque<Job>>,
    pub(super) added: Condvar,
    pub(super) failures: Mutex<LogLimit>,
    /// How long reads took; several threads read, so it has a lock.
    pub(super) durations: RankedMutex<Histogram>,
}
