//! The cold tier's own background work: after a start it learns where its values are, later it
//! gives back the space of what was overwritten and deleted. How is its own matter; this says when.

use crate::engine::Engine;
use basalt_cold::{ColdError, Collecting, IDLE_PERCENT};
use std::sync::atomic::Ordering;
use std::time::Duration;

/// How often the thread looks whether there is something to do. The checkpoint wakes it that
/// follows a flush.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// It rests as long as it has worked, unless it has only removed files, or files are larger than
/// what lives in them by more than this many percent: then writers are about to be slowed for it
/// (`value-log/src/space.rs`).
const EXCESS_PERCENT: u64 = 38;
/// After an error.
const RETRY_AFTER: Duration = Duration::from_secs(5);
/// Percent of a file that have to be garbage while checkpoints come; when none has come for
/// [`IDLE_AFTER`] it is [`IDLE_PERCENT`]: what is moved early might have become garbage by itself.
/// Where there is much garbage in all files together, the cold tier goes by that.
const GARBAGE_PERCENT: u64 = 70;
const IDLE_AFTER: Duration = Duration::from_secs(60);
/// And when the disk is nearly full.
const GARBAGE_PERCENT_SHORT: u64 = 10;

impl Engine {
    /// Whether the disk is nearly full: then space of overwritten values is given back early.
    pub fn set_short_of_space(&self, is_short: bool) {
        // Relaxed: advice.
        self.is_short_of_space.store(is_short, Ordering::Relaxed);
    }

    /// The thread that has the cold tier do its work. Returns when the engine stops.
    pub(crate) fn run_collect_thread(&self) {
        self.collector.adopt(&std::thread::current());
        let (mut commits, mut last_commit) = (0, self.env.clock.now());
        let mut has_failed = false;
        while !self.is_stopping() {
            let stats = self.cold.stats();
            let start = self.env.clock.now();
            if stats.checkpoints_committed != commits {
                (commits, last_commit) = (stats.checkpoints_committed, start);
            }
            let ends = stats.value_log_live_bytes / 100 * (100 + EXCESS_PERCENT);
            let is_large = stats.locator_is_built && stats.value_log_bytes > ends;
            let is_idle = self.env.clock.since(last_commit) >= IDLE_AFTER;
            let is_short = self.is_short_of_space.load(Ordering::Relaxed);
            let percent = match (is_short, is_idle) {
                (true, _) => GARBAGE_PERCENT_SHORT,
                (false, true) => IDLE_PERCENT,
                (false, false) => GARBAGE_PERCENT,
            };
            let rest = match self.cold.collect(percent) {
                Ok(did) => {
                    has_failed &= did != Collecting::Nothing;
                    rest_after(did, is_large || is_short, self.env.clock.since(start))
                }
                Err(ColdError::Closed) => return,
                Err(error) => {
                    if !has_failed {
                        tracing::error!(%error, "space of what was deleted cannot be given back");
                    }
                    has_failed = true;
                    RETRY_AFTER
                }
            };
            self.collector.sleep(rest);
        }
    }
}

/// How long the thread rests after what it did.
fn rest_after(did: Collecting, hurries: bool, worked: Duration) -> Duration {
    match did {
        Collecting::Removed => Duration::ZERO,
        Collecting::GoesOn if hurries => Duration::ZERO,
        Collecting::GoesOn => worked,
        Collecting::Nothing => LOOK_EVERY,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_rests_after_work_and_not_after_removals() {
        let worked = Duration::from_millis(70);
        for (did, hurries, rest) in [
            (Collecting::Removed, false, Duration::ZERO),
            (Collecting::GoesOn, false, worked),
            (Collecting::GoesOn, true, Duration::ZERO),
            (Collecting::Nothing, true, LOOK_EVERY),
        ] {
            assert_eq!(rest_after(did, hurries, worked), rest, "{did:?}, {hurries}");
        }
    }
}
