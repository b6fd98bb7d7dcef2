//! Slows those who append while the log is longer than a recovery should have to read.
//!
//! What the log holds can be trimmed when it has been stored elsewhere. If records come faster than
//! that goes, the log grows without end, and with it the time of the next start: on two cores that
//! had other work as well, a log that should have had 512 MB had 4.5 GB after the load of 4 GB. So
//! after each group the writer refuses records for a while:
//!
//! ```text
//! length of the log     ≤ from    1¼ × from   1½ × from   2 × from   ≥ 5 × from
//! refused after each        –          4 ms        8 ms      16 ms        64 ms     at most
//! refused : accepted        –         2 : 1       4 : 1      8 : 1       32 : 1     at most
//! ```
//! What it is stored in may itself be behind with its work ([`Backlog`]). That counts as the length
//! of the log does: 100 hundredths of it as a log of 2 × from. What is further behind counts.
//!
//! A group takes at least the 2 ms for which records gather under `everysec`, and in each one a
//! client gets through what it has under way at a time, which is little. Appends get slower and do
//! not stop: a limit that is always kept would stop everything when storing fails.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// Refused per accepted time, for each `from` that the log is longer than that; and at most.
const SHARE_PER_LENGTH: f64 = 8.0;
const SHARE_MAX: f64 = 32.0;
/// The longest time that records are refused at a stretch, likewise.
const REFUSED_PER_LENGTH: Duration = Duration::from_millis(16);
const REFUSED_MAX: Duration = Duration::from_millis(64);

/// How far behind is what the log is stored in, in hundredths of how far it may be; 0 if it is not.
#[derive(Default)]
pub(crate) struct Backlog(AtomicU32);

impl Backlog {
    pub(crate) fn set(&self, percent: u32) {
        // Relaxed: a figure by itself, looked at once a group.
        self.0.store(percent, Ordering::Relaxed);
    }

    /// By how much more it is behind than it may be: 1 for twice as far.
    pub(crate) fn over(&self) -> f64 {
        f64::from(self.0.load(Ordering::Relaxed)) / 100.0
    }
}

/// By how much a log is longer than it should be: 1 for twice as long.
pub(crate) fn over_length(log_bytes: u64, from_bytes: u64) -> f64 {
    log_bytes.saturating_sub(from_bytes) as f64 / from_bytes.max(1) as f64
}

/// For how long records are to be refused when the log is longer than it should be, or what it is
/// stored in further behind, by this much, and records were accepted for the time `accepted`.
pub(crate) fn refused_for(over: f64, accepted: Duration) -> Duration {
    let longest = REFUSED_PER_LENGTH.mul_f64(over.min(4.0)).min(REFUSED_MAX);
    let share = (over * SHARE_PER_LENGTH).min(SHARE_MAX);
    accepted.min(longest).mul_f64(share).min(longest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_grows_with_the_log_and_has_bounds() {
        let ms = Duration::from_millis;
        let refused_for = |log_bytes, from_bytes, accepted| {
            refused_for(over_length(log_bytes, from_bytes), accepted)
        };
        for (log_bytes, expected) in
            [(0, 0), (100, 0), (125, 2), (150, 4), (200, 8), (500, 32), (u64::MAX, 32)]
        {
            assert_eq!(refused_for(log_bytes, 100, ms(1)), ms(expected), "{log_bytes}");
        }
        assert_eq!(refused_for(125, 100, ms(3_600_000)), ms(4), "after an idle hour");
        assert_eq!(refused_for(200, 100, ms(3_600_000)), ms(16));
        assert_eq!(refused_for(u64::MAX, 100, ms(3_600_000)), REFUSED_MAX);
        assert_eq!(refused_for(u64::MAX, u64::MAX, ms(2)), ms(0), "without a limit");
    }
}
