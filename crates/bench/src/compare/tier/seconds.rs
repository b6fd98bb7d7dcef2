//! What became of each second of a load.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use crate::run::Observer;
use crate::shared::Shared;

/// A second of a load, or as much longer as nobody looked.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Second {
    /// When it ended, since the load began.
    pub(super) ended: Duration,
    pub(super) lasted: Duration,
    pub(super) requests: u64,
    /// Of the requests that were answered in it.
    pub(super) longest: Duration,
}

/// Cuts a load into seconds, by totals that are looked at several times a second.
#[derive(Debug, Default)]
pub(super) struct Cutter {
    begun: Duration,
    requests_before: u64,
    longest: Duration,
}

impl Cutter {
    /// Looks at the totals; `longest` is since the last look. Returns a second that is over.
    pub(super) fn look(
        &mut self,
        now: Duration,
        requests: u64,
        longest: Duration,
    ) -> Option<Second> {
        self.longest = self.longest.max(longest);
        let lasted = now - self.begun;
        if lasted < Duration::from_secs(1) {
            return None;
        }
        let second = Second {
            ended: now,
            lasted,
            requests: requests - self.requests_before,
            longest: self.longest,
        };
        *self = Cutter { begun: now, requests_before: requests, longest: Duration::ZERO };
        Some(second)
    }
}

/// How many seconds went by without an answer.
pub(super) fn without_progress(seconds: &[Second]) -> u64 {
    let stalled = seconds.iter().filter(|second| second.requests == 0);
    stalled.map(|second| second.lasted.as_secs()).sum()
}

/// Watches a load without a warm-up, and says each second.
pub(super) struct Seconds<F: FnMut(Second)> {
    pub(super) begun: Instant,
    pub(super) cutter: Cutter,
    pub(super) on_second: F,
}

impl<F: FnMut(Second)> Observer for Seconds<F> {
    fn measuring(&mut self) {
        self.begun = Instant::now();
    }

    fn tick(&mut self, shared: &Shared) {
        let (mut requests, mut longest_ns) = (0, 0);
        // Numbers of their own: a request that is counted a look later does no harm.
        for meter in &shared.meters {
            requests += meter.completed.load(Ordering::Relaxed);
            longest_ns = longest_ns.max(meter.latency_ns_max.swap(0, Ordering::Relaxed));
        }
        let longest = Duration::from_nanos(longest_ns);
        if let Some(second) = self.cutter.look(self.begun.elapsed(), requests, longest) {
            (self.on_second)(second);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    #[test]
    fn a_second_has_what_came_since_the_last_one() {
        let mut cutter = Cutter::default();
        assert_eq!(cutter.look(ms(400), 40, ms(7)), None);
        let first = cutter.look(ms(1_050), 100, ms(3)).expect("a second is over");
        let expected =
            Second { ended: ms(1_050), lasted: ms(1_050), requests: 100, longest: ms(7) };
        assert_eq!(first, expected);
        assert_eq!(cutter.look(ms(2_000), 150, ms(1)), None);
        let second = cutter.look(ms(2_060), 160, ms(2)).expect("another one is over");
        assert_eq!((second.requests, second.longest), (60, ms(2)));
    }

    #[test]
    fn a_look_that_comes_late_makes_a_long_second() {
        let mut cutter = Cutter::default();
        let stalled = cutter.look(ms(3_700), 0, ms(0)).expect("seconds are over");
        let going = cutter.look(ms(4_700), 5, ms(3_600)).expect("a second is over");
        assert_eq!(without_progress(&[stalled, going]), 3);
        assert_eq!(without_progress(&[going]), 0);
    }
}
