//! What is known of checkpoints: those asked for, the one that runs, what the others have done.

use super::floors::Floors;
use crate::error::EngineError;
use crate::log::LogError;
use crate::store::hold::{LongestHold, LongestHolds};
use basalt_change::log_mark::LogMark;
use basalt_cold::ColdError;
use basalt_observe::histogram::{Distribution, Histogram};
use basalt_stdx::lock_rank::RankedMutex;
use parking_lot::{Condvar, Mutex};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// See `docs/concurrency.md`.
const RUNNING_RANK: u8 = 1;

/// Why a checkpoint failed. The data is safe in memory and in the log; it is tried again.
#[derive(Clone, Debug, thiserror::Error)]
pub enum CheckpointError {
    /// The cold tier did not take it.
    #[error("{0}")]
    Cold(#[from] ColdError),
    /// The log failed.
    #[error("{0}")]
    Log(#[from] LogError),
    /// A collection could not be read for which changes of the log wait, or what the row of a key
    /// that was put unread begins with.
    #[error("{0}")]
    Read(#[from] EngineError),
}

/// What checkpoints have done so far.
#[derive(Clone, Debug, Default)]
pub struct CheckpointStats {
    /// Checkpoints that completed.
    pub completed: u64,
    /// Checkpoints that failed.
    pub failed: u64,
    /// How long the complete ones took.
    pub durations: Distribution,
    /// One is running.
    pub running: bool,
    /// Unix time in milliseconds of the end of the last complete one, 0 for none.
    pub last_ms: u64,
    /// Why the last one failed, if it did.
    pub last_error: Option<String>,
    /// Partitions that the last one left out because a row of theirs cannot be read. The log keeps
    /// their changes.
    pub partitions_left_out: u64,
    /// The last one failed because the disk has no room.
    pub is_out_of_space: bool,
    /// How long the last complete one took.
    pub last_duration: Duration,
    /// Rows that the last complete one wrote.
    pub last_rows: u64,
    /// The longest time that one partition was held, of all.
    pub longest_hold: LongestHold,
}

/// Called when a requested checkpoint has ended.
pub type Done = Box<dyn FnOnce(Result<(), CheckpointError>) + Send>;

pub(crate) struct Checkpointing {
    pub(super) requests: Mutex<Vec<Done>>,
    pub(super) requested: Condvar,
    /// Held while a checkpoint runs.
    pub(super) running: RankedMutex<Floors, RUNNING_RANK>,
    /// What the last one could not have trimmed, for a partition that was left out.
    pub(super) held_back_bytes: AtomicU64,
    /// Databases were flushed since one began: their rows are to go, and with them their space.
    pub(crate) flushed: AtomicBool,
    /// Changes that were told of, and how many of them when the last one that completed began.
    pub(super) changes: AtomicU64,
    pub(super) changes_saved: AtomicU64,
    /// How long the complete ones took, written by one at a time.
    pub(super) durations: Histogram,
    pub(super) stats: RankedMutex<CheckpointStats>,
    /// How often the cold tier has taken rows.
    pub(super) ingests: AtomicU64,
    /// Keys that were copied and are not in the cold tier yet.
    in_flight: AtomicU64,
    /// Of partitions.
    pub(super) holds: LongestHolds,
}

/// Where checkpoints are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct UnderWay {
    pub(crate) is_running: bool,
    pub(crate) is_requested: bool,
    /// The last one did.
    pub(crate) has_failed: bool,
}

/// What a checkpoint did.
impl Checkpointing {
    /// Goes on from what a start has found of the log.
    pub(crate) fn after(log: Option<LogMark>) -> Checkpointing {
        Checkpointing {
            requests: Mutex::default(),
            requested: Condvar::default(),
            running: RankedMutex::new(Floors::after(log)),
            held_back_bytes: AtomicU64::default(),
            flushed: AtomicBool::default(),
            changes: AtomicU64::default(),
            changes_saved: AtomicU64::default(),
            durations: Histogram::default(),
            stats: RankedMutex::default(),
            ingests: AtomicU64::default(),
            in_flight: AtomicU64::default(),
            holds: LongestHolds::default(),
        }
    }

    /// How often the cold tier has taken rows.
    pub(crate) fn ingests(&self) -> u64 {
        self.ingests.load(Ordering::Relaxed)
    }

    /// Keys that are on their way to the cold tier.
    pub(crate) fn in_flight(&self) -> u64 {
        self.in_flight.load(Ordering::Relaxed)
    }

    /// More keys have been copied.
    pub(crate) fn note_in_flight(&self, keys: u64) {
        // Relaxed: a figure, written by one thread at a time.
        self.in_flight.fetch_add(keys, Ordering::Relaxed);
    }

    /// What was on its way has arrived, or will not.
    pub(crate) fn note_landed(&self) {
        self.in_flight.store(0, Ordering::Relaxed);
    }

    /// Where checkpoints are.
    pub(crate) fn under_way(&self) -> UnderWay {
        let is_requested = !self.requests.lock().is_empty();
        let stats = self.stats.lock();
        UnderWay { is_running: stats.running, is_requested, has_failed: stats.last_error.is_some() }
    }
}

#[cfg(test)]
mod tests {
    use crate::checkpoint::rows::Rows;
    use crate::engine::Options;
    use crate::testing::{opened, put};
    use basalt_change::place::PartitionId;
    use basalt_cold::{Fault, MemoryDisk};
    use basalt_env::ManualClock;
    use std::path::Path;
    use std::sync::Arc;

    #[test]
    fn keys_are_in_flight_from_their_copy_to_the_end_of_the_ingest() {
        let (clock, disk) = (Arc::new(ManualClock::at_unix_ms(1)), Arc::new(MemoryDisk::new()));
        let engine = opened(&clock, Options::default(), &disk, &[]).expect("opens");
        let in_flight = || engine.checkpointing.in_flight();
        let names = ["one", "two", "three"];
        names.iter().for_each(|name| put(&engine, name.as_bytes(), 0));
        let mut rows = Rows::default();
        for id in PartitionId::all() {
            engine.collect(id, &mut rows).expect("copies");
        }
        assert_eq!(in_flight(), 3);
        for fault in [Fault::PrepareNoSpace, Fault::CommitNoSpace] {
            put(&engine, b"four", 0);
            disk.inject(Path::new("cold"), fault);
            assert!(engine.checkpoint().is_err());
            assert_eq!(in_flight(), 0, "{fault:?}");
        }
        engine.checkpoint().expect("a checkpoint");
        assert_eq!(in_flight(), 0);
    }
}
