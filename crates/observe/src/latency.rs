//! The latency monitor: events that took long, by name.
//!
//! Of each event the latest durations are kept, one a second: the longest. Nothing comes here that
//! was shorter than `latency-monitor-threshold`, so the lock is taken rarely.

use parking_lot::Mutex;
use std::collections::{BTreeMap, VecDeque};

/// Durations kept of an event, as in Redis.
pub const SAMPLES_MAX: usize = 160;

/// An event of a command that is not flagged `fast`.
pub const COMMAND: &str = "command";
/// An event of a command that is flagged `fast`.
pub const FAST_COMMAND: &str = "fast-command";
/// A round of the expiry cycle.
pub const EXPIRE_CYCLE: &str = "expire-cycle";
/// A command's wait for keys that a script or a transaction holds for long.
pub const LOCK_WAIT: &str = "lock-wait";
/// A checkpoint.
pub const CHECKPOINT: &str = "checkpoint";
/// A sync of the journal under `appendfsync always`.
pub const SYNC_ALWAYS: &str = "aof-fsync-always";
/// A sync of the journal under another policy.
pub const SYNC: &str = "aof-fsync";

/// One duration.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Sample {
    /// When it ended, in unix seconds.
    pub unix_s: u64,
    /// How long it was, in milliseconds.
    pub ms: u64,
}

/// The latest durations of an event.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Series {
    /// The oldest first.
    samples: VecDeque<Sample>,
    max_ms: u64,
}

impl Series {
    /// The durations, the oldest first.
    pub fn samples(&self) -> impl ExactSizeIterator<Item = &Sample> {
        self.samples.iter()
    }

    /// The latest.
    pub fn latest(&self) -> Sample {
        self.samples.back().copied().unwrap_or_default()
    }

    /// The longest since the last reset, whether it is still kept or not.
    pub fn max_ms(&self) -> u64 {
        self.max_ms
    }

    fn add(&mut self, sample: Sample) {
        self.max_ms = self.max_ms.max(sample.ms);
        match self.samples.back_mut() {
            Some(last) if last.unix_s == sample.unix_s => last.ms = last.ms.max(sample.ms),
            _ => {
                self.samples.push_back(sample);
                if self.samples.len() > SAMPLES_MAX {
                    self.samples.pop_front();
                }
            }
        }
    }
}

/// What took long, by event.
#[derive(Debug, Default)]
pub struct LatencyMonitor(Mutex<BTreeMap<&'static str, Series>>);

impl LatencyMonitor {
    /// Keeps a duration. The caller has compared it with the threshold.
    #[cold]
    pub fn add(&self, event: &'static str, sample: Sample) {
        self.0.lock().entry(event).or_default().add(sample);
    }

    /// All events with their durations, by name.
    pub fn all(&self) -> Vec<(&'static str, Series)> {
        self.0.lock().iter().map(|(event, series)| (*event, series.clone())).collect()
    }

    /// The durations of an event, if it has any.
    pub fn of(&self, event: &[u8]) -> Option<Series> {
        let events = self.0.lock();
        events.iter().find(|(name, _)| name.as_bytes() == event).map(|(_, series)| series.clone())
    }

    /// Forgets an event; returns false if there was none.
    pub fn reset(&self, event: &[u8]) -> bool {
        let mut events = self.0.lock();
        let before = events.len();
        events.retain(|name, _| name.as_bytes() != event);
        events.len() < before
    }

    /// Forgets all events; returns how many there were.
    pub fn reset_all(&self) -> usize {
        std::mem::take(&mut *self.0.lock()).len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_duration_a_second_is_kept_and_the_longest_of_all() {
        let monitor = LatencyMonitor::default();
        for unix_s in 0..200 {
            monitor.add(COMMAND, Sample { unix_s, ms: 1000 - unix_s });
            monitor.add(COMMAND, Sample { unix_s, ms: 5 });
        }
        let series = monitor.of(b"command").expect("it was added");
        assert_eq!(series.samples().len(), SAMPLES_MAX);
        assert_eq!(series.latest(), Sample { unix_s: 199, ms: 801 });
        assert_eq!((series.max_ms(), monitor.of(b"fork")), (1000, None));
        assert!(!monitor.reset(b"fork") && monitor.reset(b"command"));
        assert_eq!(monitor.reset_all(), 0);
    }
}
