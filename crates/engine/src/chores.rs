//! The engine's background work as steps, for a caller that makes them itself: tests and simulators
//! that run in one thread.
//!
//! The threads of [`Background`](crate::Background) make the same steps in loops.

use crate::checkpoint::CheckpointPace;
use crate::engine::Engine;
use crate::housekeeping::{HOUSEKEEPING_EVERY, Housekeeping};
use basalt_env::Instant;

/// What has to be done, and when.
#[derive(Default)]
pub struct Chores {
    housekeeping: Housekeeping,
    next_round: Instant,
    checkpoints: CheckpointPace,
}

impl Chores {
    /// Does what is due by the engine's clock: reads what commands wait for, makes the round of
    /// housekeeping, runs a checkpoint. Returns false if nothing was.
    pub fn step(&mut self, engine: &Engine) -> bool {
        let mut has_worked = false;
        while engine.answer_next_miss() {
            has_worked = true;
        }
        let now = engine.env().clock.now();
        if now >= self.next_round {
            self.next_round = now + HOUSEKEEPING_EVERY;
            self.housekeeping.round(engine);
            has_worked = true;
        }
        has_worked | engine.checkpoint_now_if_due(&mut self.checkpoints)
    }
}
