//! Letting other programs have a thread's core.
//!
//! A thread that does not sleep, since a script runs on it or parts of large requests go on and on,
//! answers others in between. The system wakes a program that has been sent something on the
//! sender's core, as if that were to sleep soon, and the program waits there for the rest of the
//! thread's slice: for up to 4 ms. So such a thread yields now and then.

use basalt_env::{Clock, Instant};
use std::thread::yield_now;
use std::time::Duration;

/// Longer than a program takes for some replies: something else has had the core.
const GONE_FOR_LONG: Duration = Duration::from_micros(500);
/// For how many times as long the thread keeps its core then.
const RUNS_FOR_GONE: u32 = 10;

/// When a thread has given way, and whether it may again.
#[derive(Debug, Default)]
pub(crate) struct GiveWay {
    from: Instant,
}

impl GiveWay {
    /// Lets programs run that have been sent something. Where something else keeps the core then,
    /// the thread would hardly get on, so it does not give way again soon.
    pub(crate) fn give_way(&mut self, clock: &dyn Clock) {
        let before = clock.now();
        if before < self.from {
            return;
        }
        yield_now();
        let gone = clock.since(before);
        if gone > GONE_FOR_LONG {
            self.from = before + gone * (1 + RUNS_FOR_GONE);
        }
    }
}
