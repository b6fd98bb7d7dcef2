//! A moment on the monotonic clock.
//!
//! It is used as [`std::time::Instant`] is, but only a [`Clock`](crate::Clock) makes one, so that a
//! test or a simulator decides what time it is. Moments of different clocks have nothing to do with
//! each other: a process has one clock and hands it down.

use std::ops::{Add, Sub};
use std::time::Duration;

/// See the head of this file. The default is the clock's start.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Instant(u64);

impl Instant {
    /// The moment this many nanoseconds after the clock's start.
    #[inline]
    pub const fn from_ns(ns: u64) -> Instant {
        Instant(ns)
    }

    /// How long after `earlier` it is; zero if it is before it.
    #[inline]
    pub const fn saturating_duration_since(self, earlier: Instant) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }

    /// The moment this much later; `None` if that is more than 584 years after the clock's start.
    pub fn checked_add(self, time: Duration) -> Option<Instant> {
        let ns = u64::try_from(time.as_nanos()).ok()?;
        self.0.checked_add(ns).map(Instant)
    }
}

impl Add<Duration> for Instant {
    type Output = Instant;

    /// The last moment that the clock can say, if the sum is beyond it.
    fn add(self, time: Duration) -> Instant {
        self.checked_add(time).unwrap_or(Instant(u64::MAX))
    }
}

impl Sub for Instant {
    type Output = Duration;

    #[inline]
    fn sub(self, earlier: Instant) -> Duration {
        self.saturating_duration_since(earlier)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_reckons_without_going_over_its_ends() {
        let (first, second) = (Instant::from_ns(5), Instant::from_ns(1_000_000_005));
        assert_eq!(second - first, Duration::from_secs(1));
        assert_eq!(first - second, Duration::ZERO);
        assert_eq!(first + Duration::from_secs(1), second);
        assert_eq!(second.checked_add(Duration::MAX), None);
        assert_eq!(second.checked_add(Duration::from_nanos(u64::MAX)), None);
        assert_eq!(second + Duration::MAX, Instant::from_ns(u64::MAX));
    }
}
