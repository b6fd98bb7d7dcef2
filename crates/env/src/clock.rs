//! Time. Nothing outside this file asks the operating system what time it is.

use crate::instant::Instant;
use rustix::time::{ClockId, Timespec, clock_gettime};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// A source of time.
pub trait Clock: Send + Sync {
    /// Milliseconds since 1970-01-01 UTC. May jump when an operator or NTP sets the clock.
    fn unix_ms(&self) -> u64;
    /// Unix time in microseconds, as exactly as this clock knows.
    fn unix_us(&self) -> u64 {
        self.unix_ms() * 1000
    }
    /// Nanoseconds since an arbitrary start. Never goes back; stands still while the machine
    /// sleeps.
    fn monotonic_ns(&self) -> u64;
    /// This moment on the monotonic clock.
    #[inline]
    fn now(&self) -> Instant {
        Instant::from_ns(self.monotonic_ns())
    }
    /// How much time has passed since an earlier moment of this clock.
    #[inline]
    fn since(&self, earlier: Instant) -> Duration {
        self.now() - earlier
    }
}

/// The operating system's clocks. They are read several times for each batch of requests: the
/// standard library's arithmetic costs three times as much as the reading.
#[derive(Debug, Clone, Copy)]
pub struct SystemClock {
    start_ns: u64,
}

impl SystemClock {
    /// A clock whose monotonic reading starts at zero now.
    pub fn new() -> Self {
        Self { start_ns: ns(clock_gettime(ClockId::Monotonic)) }
    }
}

impl Default for SystemClock {
    fn default() -> Self {
        Self::new()
    }
}

impl Clock for SystemClock {
    fn unix_ms(&self) -> u64 {
        ns(clock_gettime(ClockId::Realtime)) / 1_000_000
    }

    fn unix_us(&self) -> u64 {
        ns(clock_gettime(ClockId::Realtime)) / 1_000
    }

    fn monotonic_ns(&self) -> u64 {
        ns(clock_gettime(ClockId::Monotonic)) - self.start_ns
    }
}

/// What a clock shows, until the year 2554.
#[inline]
fn ns(time: Timespec) -> u64 {
    // A wall clock set before 1970 reads as 1970: better than a crash, and expiry then waits.
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    seconds * 1_000_000_000 + time.tv_nsec as u64
}

/// A clock that moves only when a test moves it.
#[derive(Debug, Default)]
pub struct ManualClock {
    unix_ms: AtomicU64,
    monotonic_ns: AtomicU64,
}

impl ManualClock {
    /// A clock that stands at the given wall time, with a monotonic reading of zero.
    pub fn at_unix_ms(unix_ms: u64) -> Self {
        Self { unix_ms: AtomicU64::new(unix_ms), monotonic_ns: AtomicU64::new(0) }
    }

    /// Lets this many milliseconds pass on both clocks.
    pub fn advance_ms(&self, ms: u64) {
        self.unix_ms.fetch_add(ms, Ordering::Relaxed);
        self.monotonic_ns.fetch_add(ms * 1_000_000, Ordering::Relaxed);
    }

    /// Sets the wall clock alone, as an operator would.
    pub fn set_unix_ms(&self, unix_ms: u64) {
        self.unix_ms.store(unix_ms, Ordering::Relaxed);
    }
}

// Relaxed: a test that moves the clock and another thread that reads it need their own ordering.
impl Clock for ManualClock {
    fn unix_ms(&self) -> u64 {
        self.unix_ms.load(Ordering::Relaxed)
    }

    fn monotonic_ns(&self) -> u64 {
        self.monotonic_ns.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manual_clock_moves_only_by_hand() {
        let clock = ManualClock::at_unix_ms(1_000);
        assert_eq!((clock.unix_ms(), clock.monotonic_ns()), (1_000, 0));
        clock.advance_ms(5);
        assert_eq!((clock.unix_ms(), clock.monotonic_ns()), (1_005, 5_000_000));
        clock.set_unix_ms(7);
        assert_eq!((clock.unix_ms(), clock.monotonic_ns()), (7, 5_000_000));
    }

    #[test]
    fn the_system_clock_does_not_go_back() {
        let clock = SystemClock::new();
        let first = clock.monotonic_ns();
        assert!(clock.monotonic_ns() >= first);
        assert!(clock.unix_ms() > 1_600_000_000_000);
    }
}
