//! Keeping in memory what a command has had read until it has run: else the first of a thousand keys
//! could leave while the last are read, and the command would have them read again and again.
//!
//! What few keys need is left out: they stand at the young end of their ring. What is more than an
//! eighth of the memory is refused, since it could not be kept. Above the target's hard limit
//! nothing is kept: memory comes first, and the command is slow.

use crate::engine::Engine;
use crate::error::EngineError;
use crate::residency::queue::Done;
use basalt_change::place::{PARTITIONS, PartitionId};
use basalt_env::Instant;
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// Keys from which on their partitions are kept.
const KEYS_MIN: usize = 8;
/// Keys from which on is asked whether they are too much.
const KEYS_WEIGHED: u64 = 256;
/// What is fetched at once may take this part of the target.
const TARGET_PART: u64 = 8;
/// How long after the reads the command may take to run.
const KEPT_FOR: Duration = Duration::from_millis(100);

/// Partitions that nothing leaves.
pub(crate) struct Holds {
    /// How many commands need each. Relaxed: one that is seen a round later costs a read.
    counts: Box<[AtomicU32]>,
    /// What ends, and when, in that order.
    ending: Mutex<VecDeque<(Instant, Vec<PartitionId>)>>,
}

impl Default for Holds {
    fn default() -> Holds {
        let counts = (0..PARTITIONS).map(|_| AtomicU32::default()).collect();
        Holds { counts, ending: Mutex::default() }
    }
}

impl Holds {
    pub(super) fn has(&self, id: PartitionId) -> bool {
        self.counts[id.index()].load(Ordering::Relaxed) > 0
    }

    fn begin(&self, ids: &[PartitionId]) {
        for id in ids {
            self.counts[id.index()].fetch_add(1, Ordering::Relaxed);
        }
    }

    fn end_later(&self, ids: Vec<PartitionId>, at: Instant) {
        self.ending.lock().push_back((at, ids));
    }

    /// Ends those whose time has come.
    pub(super) fn end_due(&self, now: Instant) {
        let mut ending = self.ending.lock();
        while let Some((_, ids)) = ending.pop_front_if(|(at, _)| *at <= now) {
            for id in ids {
                self.counts[id.index()].fetch_sub(1, Ordering::Relaxed);
            }
        }
    }
}

impl Engine {
    /// Keeps partitions from losing what comes into them now: until a while after the call of what
    /// this returns.
    pub(super) fn keep(
        self: &Arc<Engine>,
        mut ids: Vec<PartitionId>,
        keys: usize,
        done: Done,
    ) -> Done {
        if keys < KEYS_MIN || self.memory_target().is_none() {
            return done;
        }
        ids.sort_unstable();
        ids.dedup();
        self.budget.holds.begin(&ids);
        let engine = Arc::clone(self);
        Box::new(move |result| {
            let at = engine.env.clock.now() + KEPT_FOR;
            engine.budget.holds.end_later(ids, at);
            done(result);
        })
    }

    /// # Errors
    /// So many keys are more than may come into memory at once.
    pub(super) fn weigh(&self, keys: u64) -> Result<(), EngineError> {
        let Some(target) = self.memory_target().filter(|_| keys >= KEYS_WEIGHED) else {
            return Ok(());
        };
        let usage = self.usage();
        let bytes = usage.bytes / usage.keys.max(1) * keys;
        let bytes_max = target / TARGET_PART;
        if bytes <= bytes_max {
            Ok(())
        } else {
            Err(EngineError::TooMuch { keys, bytes, bytes_max })
        }
    }
}
