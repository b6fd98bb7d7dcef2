//! What is to be read for commands that wait.

use crate::error::EngineError;
use basalt_change::place::PartitionId;
use basalt_observe::log_limit::LogLimit;
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

/// Work for the pool.
#[derive(Default)]
pub(crate) struct MissQueue {
    pub(super) jobs: Mutex<VecDeque<Job>>,
    pub(super) added: Condvar,
    pub(super) failures: Mutex<LogLimit>,
}
