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
//! A group takes at least the 2 ms for which records gather under `everysec`, and in each one a
//! client gets through what it has under way at a time, which is little. Appends get slower and do
//! not stop: a limit that is always kept would stop everything when storing fails.

use std::time::Duration;

/// Refused per accepted time, for each `from` that the log is longer than that; and at most.
const SHARE_PER_LENGTH: f64 = 8.0;
const SHARE_MAX: f64 = 32.0;
/// The longest time that records are refused at a stretch, likewise.
const REFUSED_PER_LENGTH: Duration = Duration::from_millis(16);
const REFUSED_MAX: Duration = Duration::from_millis(64);

/// For how long records are to be refused when the log has `log_bytes`, should not have more than
/// `from_bytes`, and records were accepted for the time `accepted`.
pub(crate) fn refused_for(log_bytes: u64, from_bytes: u64, accepted: Duration) -> Duration {
    let over = log_bytes.saturating_sub(from_bytes) as f64 / from_bytes.max(1) as f64;
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
