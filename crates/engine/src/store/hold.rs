//! For how long a partition was held by one step of background work.
//!
//! By the clock that is what others may have waited for. But a thread that the system has others
//! run before holds its partition meanwhile, for milliseconds where cores are busy. So the time
//! that the step itself has run counts apart: it says how much is done under one lock.

use basalt_env::thread::cpu_time;
use basalt_env::{Clock, Instant};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Steps that took less by the clock are not asked how long they have run: it takes a call of the
/// system, and they are not the longest.
const ASKED_FROM: Duration = Duration::from_micros(200);
/// No step is to run for longer. Some do: an interrupt counts as theirs, and so does what the host
/// of a virtual machine takes. If few of very many do, it is not their work.
const LONG: Duration = Duration::from_millis(2);

/// A step that holds a partition.
pub(crate) struct Hold {
    start: Instant,
    ran_before: Duration,
}

/// The longest steps of some kind.
#[derive(Default)]
pub(crate) struct LongestHolds {
    clock_ns: AtomicU64,
    cpu_ns: AtomicU64,
    steps: AtomicU64,
    long_steps: AtomicU64,
}

/// The longest that a step has held a partition.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct LongestHold {
    /// By the clock.
    pub by_clock: Duration,
    /// The time that it has run, of the step that has run for longest; no step of less than 0.2 ms
    /// counts.
    pub of_cpu: Duration,
    /// How many steps there were.
    pub steps: u64,
    /// How many of them have run for longer than 2 ms.
    pub long_steps: u64,
}

impl Hold {
    /// The partition has just been locked, by the calling thread.
    pub(crate) fn begin(clock: &dyn Clock) -> Hold {
        Hold { start: clock.now(), ran_before: cpu_time() }
    }
}

impl LongestHolds {
    /// The step is over.
    pub(crate) fn note(&self, clock: &dyn Clock, hold: &Hold) {
        let held = clock.since(hold.start);
        // Relaxed: figures by themselves.
        self.clock_ns.fetch_max(held.as_nanos() as u64, Ordering::Relaxed);
        self.steps.fetch_add(1, Ordering::Relaxed);
        if held >= ASKED_FROM {
            // What came between the two readings is not the step's.
            let ran = cpu_time().saturating_sub(hold.ran_before).min(held);
            self.cpu_ns.fetch_max(ran.as_nanos() as u64, Ordering::Relaxed);
            self.long_steps.fetch_add(u64::from(ran > LONG), Ordering::Relaxed);
        }
    }

    pub(crate) fn longest(&self) -> LongestHold {
        let figure = |figure: &AtomicU64| figure.load(Ordering::Relaxed);
        let time = |ns| Duration::from_nanos(figure(ns));
        let (steps, long_steps) = (figure(&self.steps), figure(&self.long_steps));
        let (by_clock, of_cpu) = (time(&self.clock_ns), time(&self.cpu_ns));
        LongestHold { by_clock, of_cpu, steps, long_steps }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use basalt_env::ManualClock;

    #[test]
    fn the_longest_step_is_kept_by_the_clock_and_by_what_it_has_run() {
        let (clock, holds) = (ManualClock::at_unix_ms(1), LongestHolds::default());
        let hold = Hold::begin(&clock);
        clock.advance_ms(5);
        holds.note(&clock, &hold);
        let first = holds.longest();
        assert_eq!(first.by_clock, Duration::from_millis(5));
        let hold = Hold::begin(&clock);
        while cpu_time() - hold.ran_before < Duration::from_millis(7) {}
        clock.advance_ms(6);
        holds.note(&clock, &hold);
        // It has run for longer than the clock says that it took: what is beyond is not its own.
        let both = Duration::from_millis(6);
        let longest = LongestHold { by_clock: both, of_cpu: both, steps: 2, long_steps: 1 };
        assert_eq!(holds.longest(), longest);
        let hold = Hold::begin(&clock);
        holds.note(&clock, &hold);
        assert_eq!(holds.longest(), LongestHold { steps: 3, ..longest });
    }
}
