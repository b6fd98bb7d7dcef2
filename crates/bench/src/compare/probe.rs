//! A client that looks for pauses: PING and GET in turn, one each millisecond, each counted from
//! the moment at which it was due.
//!
//! It runs with real-time priority, since the load is on its cpu, and the question is how long the
//! server paused and not how long the probe slept.

use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::compare::absences::{self, Span};
use crate::error::BenchError;
use crate::target::{Client, Target};

const EVERY: Duration = Duration::from_millis(1);

/// What the probe saw.
#[derive(Debug, Clone, Copy, Serialize)]
pub(super) struct Pauses {
    pub(super) probes: usize,
    pub(super) p999_ms: f64,
    pub(super) longest_ms: f64,
    /// The longest without the time in which a cpu was not there.
    pub(super) longest_own_ms: f64,
    /// How long one of the cpus was not there, in all.
    pub(super) absent_ms: f64,
}

/// Asks until told to stop; says from when until when it waited each time.
pub(super) fn probe(
    target: &Target,
    keys: u64,
    stop: &AtomicBool,
) -> Result<Vec<Span>, BenchError> {
    let mut client = Client::connect(target)?;
    let mut waits = Vec::new();
    let mut due = Instant::now();
    // A flag on its own.
    while !stop.load(Ordering::Relaxed) {
        thread::sleep(due.saturating_duration_since(Instant::now()));
        let number = waits.len() as u64;
        match number % 2 {
            0 => client.call(&["PING"])?,
            // Any key will do, as long as they differ.
            _ => client.call(&["GET", &format!("key:{:012}", number * 7919 % keys)])?,
        };
        due = note(due, Instant::now(), &mut waits);
    }
    Ok(waits)
}

/// Notes the wait of a request that was due then, and of those that were due while it was waited
/// for: they would have been answered then, too. Returns when the next one is due.
fn note(mut due: Instant, answered: Instant, waits: &mut Vec<Span>) -> Instant {
    while due < answered {
        waits.push((due, answered));
        due += EVERY;
    }
    due
}

impl Pauses {
    pub(super) fn new(waits: &[Span], absences: Vec<Span>) -> Pauses {
        let absences = absences::union(absences);
        let ms = |time: Duration| time.as_secs_f64() * 1e3;
        let length = |&(from, to): &Span| to.saturating_duration_since(from);
        let mut lengths: Vec<Duration> = waits.iter().map(length).collect();
        lengths.sort();
        let own = waits.iter().map(|wait| length(wait) - absences::covered(*wait, &absences));
        let rank = lengths.len() * 999 / 1000;
        Pauses {
            probes: waits.len(),
            p999_ms: lengths.get(rank).copied().map_or(0.0, ms),
            longest_ms: lengths.last().copied().map_or(0.0, ms),
            longest_own_ms: own.max().map_or(0.0, ms),
            absent_ms: absences.iter().map(|span| ms(length(span))).sum(),
        }
    }
}

/// Has the calling thread, and those that it starts, run before any thread without real-time
/// priority. Niceness would not do: a thread that wakes waits for the end of the other one's slice,
/// whatever their niceness, which are some milliseconds.
pub(super) fn ask_for_real_time() -> bool {
    let thread = rustix::thread::gettid().as_raw_nonzero().to_string();
    let status = Command::new("chrt").args(["--fifo", "--pid", "1", &thread]).status();
    status.is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_that_were_due_meanwhile_waited_too() {
        let base = Instant::now();
        let at = |us: u64| base + Duration::from_micros(us);
        let mut waits = Vec::new();
        assert_eq!(note(at(0), at(2_500), &mut waits), at(3_000));
        assert_eq!(note(at(3_000), at(3_200), &mut waits), at(4_000));
        let expected = [(0, 2_500), (1_000, 2_500), (2_000, 2_500), (3_000, 3_200)];
        assert_eq!(waits, expected.map(|(from, to)| (at(from), at(to))));
    }

    #[test]
    fn what_the_host_took_is_no_pause_of_the_server() {
        let base = Instant::now();
        let span = |from: u64, to: u64| {
            (base + Duration::from_millis(from), base + Duration::from_millis(to))
        };
        let waits = [span(0, 1), span(10, 40), span(50, 54)];
        let pauses = Pauses::new(&waits, vec![span(12, 38), span(20, 30)]);
        assert_eq!((pauses.probes, pauses.longest_ms.round()), (3, 30.0));
        assert_eq!(pauses.longest_own_ms.round(), 4.0);
        assert_eq!(pauses.absent_ms.round(), 26.0);
    }
}
