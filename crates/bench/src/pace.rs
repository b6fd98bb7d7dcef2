//! The timetable of an open loop.
//!
//! Request number k of a worker is due at `start + k * interval`, whatever happened to request
//! k - 1. It goes to connection `k mod connections`, so that a connection's own timetable is a
//! formula too, and requests that could not be sent yet need no queue: their due times are computed
//! when their turn comes.

use std::ops::Range;

/// Due times of one worker's requests.
#[derive(Debug, Clone)]
pub(crate) struct Pace {
    start_ns: f64,
    interval_ns: f64,
    /// Requests that have been reported as due.
    arrived: u64,
}

impl Pace {
    pub(crate) fn new(start_ns: f64, requests_per_second: f64) -> Self {
        Self { start_ns, interval_ns: 1e9 / requests_per_second, arrived: 0 }
    }

    pub(crate) fn due_ns(&self, arrival: u64) -> u64 {
        (self.start_ns + arrival as f64 * self.interval_ns) as u64
    }

    pub(crate) fn next_due_ns(&self) -> u64 {
        self.due_ns(self.arrived)
    }

    /// The requests that have fallen due by `now_ns` and were not reported before.
    pub(crate) fn due(&mut self, now_ns: u64) -> Range<u64> {
        let from = self.arrived;
        if self.next_due_ns() <= now_ns {
            let passed = ((now_ns as f64 - self.start_ns) / self.interval_ns) as u64;
            self.arrived = passed.max(from);
            while self.next_due_ns() <= now_ns {
                self.arrived += 1;
            }
        }
        from..self.arrived
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_request_is_due_once_and_none_early() {
        let mut pace = Pace::new(100.0, 3e6);
        let mut seen = 0;
        for now_ns in [0, 99, 100, 101, 5_000, 5_001, 1_000_100] {
            for arrival in pace.due(now_ns) {
                assert_eq!(arrival, seen);
                assert!(pace.due_ns(arrival) <= now_ns);
                seen += 1;
            }
            assert!(pace.next_due_ns() > now_ns);
        }
        assert_eq!(seen, 3001);
    }
}
