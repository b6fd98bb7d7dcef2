//! Slows those who append while the log is longer than a recovery should have to read.
//!
//! What the log holds can be trimmed when it has been stored elsewhere. If records come faster than that
//! goes, the log grows without end, and with it the time of the next start: with 170 MB/s against 130 a
//! log that should have had 512 MB had 2.7 GB after fifteen seconds. So after each group the writer refuses
//! records for a share of the time since it last did:
//!
//! ```text
//! length of the log      ≤ from    1¼ × from    1½ × from    ≥ 2¾ × from
//! refused : accepted        0 : 1         1 : 1        2 : 1         7 : 1
//! ```
//! Both are a few milliseconds, so appends get slower and do not stop. Where they are more than eight times
//! as fast as what stores them, it is not enough; a limit that always is would stop everything
//! when storing fails.

use std::time::Duration;

/// Refused per accepted time, for each `from` that the log is longer than that; and at most.
const SHARE_PER_LENGTH: f64 = 4.0;
const SHARE_MAX: f64 = 7.0;
/// The longest time that records are refused at a stretch.
const REFUSED_MAX: Duration = Duration::from_millis(8);

/// For how long records are to be refused when the log has `log_bytes`, should not have more than
/// `from_bytes`, and records were accepted for the time `accepted`.
pub(crate) fn refused_for(log_bytes: u64, from_bytes: u64, accepted: Duration) -> Duration {
    let over = log_bytes.saturating_sub(from_bytes);
    let share = (over as f64 / from_bytes.max(1) as f64 * SHARE_PER_LENGTH).min(SHARE_MAX);
    accepted.min(REFUSED_MAX).mul_f64(share).min(REFUSED_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_grows_with_the_log_and_never_becomes_long() {
        let ms = Duration::from_millis;
        for (log_bytes, expected) in
            [(0, ms(0)), (100, ms(0)), (125, ms(1)), (150, ms(2)), (275, ms(7)), (u64::MAX, ms(7))]
        {
            assert_eq!(refused_for(log_bytes, 100, ms(1)), expected, "{log_bytes}");
        }
        assert_eq!(refused_for(110, 100, ms(3_600_000)).as_micros(), 3200, "after an idle hour");
        assert_eq!(refused_for(400, 100, ms(3_600_000)), REFUSED_MAX);
        assert_eq!(refused_for(u64::MAX, u64::MAX, ms(2)), ms(0), "without a limit");
    }
}
