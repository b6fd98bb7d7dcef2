//! Time as tests of commands want it.

use basalt_env::{Clock, ManualClock, SystemClock};
use std::sync::Arc;

/// The date is set by hand; what takes long takes as long as it does.
pub struct TestClock {
    pub by_hand: Arc<ManualClock>,
    pub system: SystemClock,
}

impl Clock for TestClock {
    fn unix_ms(&self) -> u64 {
        self.by_hand.unix_ms()
    }

    fn monotonic_ns(&self) -> u64 {
        self.by_hand.monotonic_ns() + self.system.monotonic_ns()
    }
}
