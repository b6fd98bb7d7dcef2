//! Warming the server up after a start, and what that takes before: the thread `warm-up`.
//!
//! ```text
//! start ▸ the keys of the list ▸ with `all`: all others ▸ filters of keys on disk, for ever
//!                                                         every 10 minutes, at the end: a list
//! ```
//! After a start nothing is in memory but what the log has. The keys that were hot before are
//! listed in a file (`file.rs`, `format.rs`), and brought in first (`bring_in.rs`), so that the
//! server is as fast as before long before it has read all that fits. The list is derived data: one
//! that is old, damaged or missing costs warmth and nothing else.
//!
//! No list is written before this thread has done with the one that it found. Memory would be
//! emptier than before, and a second start would find less than the first.

mod bring_in;
pub(crate) mod file;
mod format;
mod heat;
pub(crate) mod progress;
#[cfg(test)]
mod tests;
mod write;

use crate::engine::Engine;
use crate::error::EngineError;
use basalt_change::place::PartitionId;
use basalt_env::Instant;
use bring_in::BroughtIn;
use progress::{WarmUp, WarmUpStats};
use std::time::Duration;
use write::Pace;

/// How often the hot keys are listed.
const LIST_EVERY: Duration = Duration::from_secs(600);
/// How long the second list comes after the first; each pause is twice the one before. A server
/// that has not run for long learns much in a short time.
const FIRST_PAUSE: Duration = Duration::from_secs(30);
/// Time for a list that the end of the server waits for. The one before is at most ten minutes old.
const LAST_LIST_TIME: Duration = Duration::from_secs(2);

/// When the next list is due.
struct Lists {
    due: Instant,
    /// From the next list to the one after it.
    pause: Duration,
    /// What is in memory is worth a list when the engine stops.
    is_warm: bool,
}

impl Engine {
    /// How far the warm-up has come.
    pub fn warm_up_stats(&self) -> WarmUpStats {
        self.warm_up_progress.stats()
    }

    /// The thread that warms up is about to start.
    pub(crate) fn begin_warm_up(&self, warm_up: WarmUp) {
        self.warm_up_progress.set_running(warm_up != WarmUp::No);
    }

    /// The thread. Returns when the engine stops.
    pub(crate) fn run_warm_up_thread(&self, warm_up: WarmUp) {
        if warm_up != WarmUp::No {
            self.bring_in_listed();
        }
        if warm_up == WarmUp::All {
            self.load_all();
        }
        self.warm_up_progress.set_running(false);
        if self.is_stopping() {
            return;
        }
        let mut lists = Lists::after(warm_up, self.env.clock.now());
        self.keep_cold_filters(|| lists.look(self));
        lists.end(self);
    }

    fn bring_in_listed(&self) {
        let Some(place) = &self.options.hot_keys else { return };
        let start = self.env.clock.now();
        let brought = match self.bring_in_hot_keys(place) {
            Ok(None) => return tracing::info!("there is no list of hot keys to warm up with"),
            Ok(Some(brought)) => brought,
            Err((brought, error)) => {
                tracing::warn!(%error, path = %place.path().display(), "not all hot keys are known");
                brought
            }
        };
        let BroughtIn { keys, outdated, unreadable, is_full } = brought;
        let ms = self.env.clock.since(start).as_millis();
        tracing::info!(
            keys,
            outdated,
            unreadable,
            is_full,
            ms,
            "hot keys were brought into memory"
        );
    }

    /// Makes all keys resident, partition by partition, as long as there is room.
    fn load_all(&self) {
        let mut unreadable = 0;
        for id in PartitionId::all() {
            if self.is_nearly_full() {
                return;
            }
            match self.load_partition(id) {
                Ok(()) => {}
                Err(EngineError::Stopping) => return,
                Err(error) => {
                    unreadable += 1;
                    if unreadable == 1 {
                        tracing::error!(%error, "keys could not be brought back into memory");
                    }
                }
            }
        }
        if unreadable > 0 {
            tracing::error!(
                partitions = unreadable,
                "not all keys could be brought back into memory"
            );
        }
    }

    fn list_hot_keys(&self, pace: Pace) {
        let Some(place) = &self.options.hot_keys else { return };
        let start = self.env.clock.now();
        match self.write_hot_keys(place, pace) {
            Ok(Some(bytes)) => {
                let ms = self.env.clock.since(start).as_millis();
                tracing::debug!(bytes, ms, "hot keys were listed");
            }
            Ok(None) => tracing::debug!("hot keys were not listed: there was no time"),
            Err(error) => {
                let path = place.path();
                tracing::warn!(%error, path = %path.display(), "hot keys could not be listed");
            }
        }
    }
}

impl Lists {
    fn after(warm_up: WarmUp, now: Instant) -> Lists {
        match warm_up {
            WarmUp::No => Lists { due: now + LIST_EVERY, pause: LIST_EVERY, is_warm: false },
            WarmUp::Hot | WarmUp::All => Lists { due: now, pause: FIRST_PAUSE, is_warm: true },
        }
    }

    fn look(&mut self, engine: &Engine) {
        if engine.env.clock.now() >= self.due && !engine.is_stopping() {
            engine.list_hot_keys(Pace::Background);
            self.due = engine.env.clock.now() + self.pause;
            self.pause = LIST_EVERY.min(self.pause * 2);
            self.is_warm = true;
        }
    }

    fn end(&self, engine: &Engine) {
        if self.is_warm {
            engine.list_hot_keys(Pace::Until(engine.env.clock.now() + LAST_LIST_TIME));
        }
    }
}
