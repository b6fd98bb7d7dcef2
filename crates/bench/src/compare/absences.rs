//! When a cpu was not there: the host of a virtual machine had it.
//!
//! A thread with real-time priority sleeps on the cpu, half a millisecond at a time. It goes before
//! everything else that wants to run there, so when it wakes late, nothing else ran either: no
//! server could have answered, however well it is made. (The kernel itself may be late, too, where
//! it lets go of a cpu for nobody; that is counted as well. How much the host says that it took
//! stands beside it.)

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::compare::server::pin;
use crate::error::BenchError;

const LOOK_EVERY: Duration = Duration::from_micros(500);
/// What waking takes at most on a cpu that is there.
const LATE: Duration = Duration::from_micros(500);

/// From when until when.
pub(super) type Span = (Instant, Instant);

/// Watches a cpu until told to stop; the calling thread stays pinned to it.
pub(super) fn watch(cpu: usize, stop: &AtomicBool) -> Result<Vec<Span>, BenchError> {
    pin(cpu)?;
    super::probe::ask_for_real_time();
    let mut absences = Vec::new();
    // A flag on its own.
    while !stop.load(Ordering::Relaxed) {
        let due = Instant::now() + LOOK_EVERY;
        thread::sleep(LOOK_EVERY);
        let awake = Instant::now();
        if awake > due + LATE {
            absences.push((due, awake));
        }
    }
    Ok(absences)
}

/// Sorts the spans and joins those that meet.
pub(super) fn union(mut spans: Vec<Span>) -> Vec<Span> {
    spans.sort();
    let mut union: Vec<Span> = Vec::new();
    for span in spans {
        match union.last_mut() {
            Some(last) if span.0 <= last.1 => last.1 = last.1.max(span.1),
            _ => union.push(span),
        }
    }
    union
}

/// How much of a span others take up, of which no two meet.
pub(super) fn covered((from, to): Span, by: &[Span]) -> Duration {
    let overlap = |&(start, end): &Span| end.min(to).saturating_duration_since(start.max(from));
    by.iter().map(overlap).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_joined_and_counted_once() {
        let base = Instant::now();
        let span = |from: u64, to: u64| {
            (base + Duration::from_millis(from), base + Duration::from_millis(to))
        };
        let spans = union(vec![span(10, 20), span(40, 50), span(15, 30), span(30, 31)]);
        assert_eq!(spans, [span(10, 31), span(40, 50)]);
        let covered_ms = |from, to| covered(span(from, to), &spans).as_millis();
        assert_eq!(covered_ms(0, 100), 31);
        assert_eq!(covered_ms(12, 14), 2);
        assert_eq!(covered_ms(25, 45), 11);
        assert_eq!(covered_ms(31, 40), 0);
        assert_eq!(covered_ms(60, 70), 0);
    }
}
