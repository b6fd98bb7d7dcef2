//! Log lines that clients or a failing disk could cause by the thousand: one a second, which says
//! how many it stands for.

use basalt_env::Instant;
use std::time::Duration;

const EVERY: Duration = Duration::from_secs(1);

/// Limits one kind of log line.
#[derive(Debug, Default)]
pub struct LogLimit {
    logged: Option<Instant>,
    left_out: u64,
}

impl LogLimit {
    /// Whether to log now, and how often it happened since the last line, this time included.
    pub fn admit(&mut self, now: Instant) -> Option<u64> {
        self.left_out += 1;
        if self.logged.is_some_and(|logged| now - logged < EVERY) {
            return None;
        }
        self.logged = Some(now);
        Some(std::mem::take(&mut self.left_out))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_a_second_stands_for_all() {
        let start = Instant::from_ns(7);
        let mut limit = LogLimit::default();
        assert_eq!(limit.admit(start), Some(1));
        for ms in 1..1000 {
            assert_eq!(limit.admit(start + Duration::from_millis(ms)), None);
        }
        assert_eq!(limit.admit(start + EVERY), Some(1000));
        assert_eq!(limit.admit(start + EVERY * 3), Some(1));
    }
}
