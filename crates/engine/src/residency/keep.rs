//! What is kept in memory for commands, and what is too much to be.
//!
//! What few keys need is left out: they stand at the young end of their ring. What is more than an
//! eighth of the memory is refused, since it could not be kept.

use crate::engine::Engine;
use crate::error::EngineError;
use crate::residency::queue::Done;
use basalt_change::place::PartitionId;
use std::sync::Arc;
use std::time::Duration;

/// Keys from which on their partitions are kept.
const KEYS_MIN: usize = 8;
/// Keys from which on is asked whether they are too much.
const KEYS_WEIGHED: u64 = 256;
/// What is fetched at once may take this part of the target.
const TARGET_PART: u64 = 8;
/// How long after the reads the command may take to run.
const KEPT_FOR: Duration = Duration::from_millis(100);

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
    /// The keys are more than may come into memory at once.
    pub(super) fn weigh(&self, keys: u64) -> Result<(), EngineError> {
        if keys < KEYS_WEIGHED {
            return Ok(());
        }
        let usage = self.usage();
        self.weigh_bytes(keys, usage.bytes / usage.keys.max(1) * keys, TARGET_PART)
    }

    /// # Errors
    /// What these keys take at once, some `bytes`, is more than one of `parts` of the target.
    pub(super) fn weigh_bytes(&self, keys: u64, bytes: u64, parts: u64) -> Result<(), EngineError> {
        let Some(target) = self.memory_target().filter(|_| keys >= KEYS_WEIGHED) else {
            return Ok(());
        };
        let bytes_max = target / parts;
        if bytes <= bytes_max {
            Ok(())
        } else {
            Err(EngineError::TooMuch { keys, bytes, bytes_max })
        }
    }
}
