//! How much larger than what lives in them the segments may be.
//!
//! Values that are overwritten faster than their space is given back would make the log longer
//! without end. So writers are slowed once it is longer than the collector aims at: by nothing
//! there, and the more the longer it gets.

use crate::segment::Segment;
use std::sync::Arc;

/// Once all segments are larger than what lives in them by this many percent, the worst is
/// collected although little of it is garbage. More would be more space, less would move more: of
/// uniform overwrites, the worst has about half.
const EXCESS_PERCENT: u64 = 39;
/// From here on the collector is behind, and there by 100 hundredths: writers come to rest between
/// the two, so that what they leave is no more than they were promised.
const BEHIND_PERCENT: u64 = 39;
const TWICE_BEHIND_PERCENT: u64 = 41;
/// Segments of garbage that may stand in a small log.
const SLACK_SEGMENTS: u64 = 4;

/// What segments take.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(crate) struct Space {
    pub(crate) used_bytes: u64,
    pub(crate) live_bytes: u64,
}

impl Space {
    pub(crate) fn of_all(segments: &[Arc<Segment>]) -> Space {
        Space::of(segments.iter().map(|segment| &**segment))
    }

    /// Of those that the collector has to read and write for their space: not of those that are
    /// being written, nor of those of which nothing lives, which only have to be removed, nor of
    /// those that it leaves alone.
    pub(crate) fn to_collect(segments: &[Arc<Segment>]) -> Space {
        let has_work = |segment: &&Segment| segment.may_be_collected() && segment.live_bytes() > 0;
        Space::of(segments.iter().map(|segment| &**segment).filter(has_work))
    }

    fn of<'a>(segments: impl Iterator<Item = &'a Segment>) -> Space {
        segments.fold(Space::default(), |sum, segment| Space {
            used_bytes: sum.used_bytes + segment.used_bytes(),
            live_bytes: sum.live_bytes + segment.live_bytes(),
        })
    }

    /// Whether there is so much garbage that it does not matter where.
    pub(crate) fn is_large(self) -> bool {
        self.used_bytes > self.live_bytes + of_percent(self.live_bytes, EXCESS_PERCENT)
    }

    /// How far the collector is behind; see [`basalt_cold::Pressure::behind_percent`].
    pub(crate) fn behind_percent(self, segment_bytes: u64) -> u32 {
        let slack = SLACK_SEGMENTS * segment_bytes;
        let garbage = self.used_bytes.saturating_sub(self.live_bytes);
        let allowed = of_percent(self.live_bytes, BEHIND_PERCENT).max(slack);
        let twice = of_percent(self.live_bytes, TWICE_BEHIND_PERCENT).max(2 * slack);
        let behind = garbage.saturating_sub(allowed);
        u32::try_from(behind.saturating_mul(100) / (twice - allowed).max(1)).unwrap_or(u32::MAX)
    }
}

fn of_percent(bytes: u64, percent: u64) -> u64 {
    bytes / 100 * percent
}

#[cfg(test)]
mod tests {
    use super::*;

    const GIB: u64 = 1 << 30;

    fn behind(used_bytes: u64, live_bytes: u64) -> u32 {
        Space { used_bytes, live_bytes }.behind_percent(64 << 20)
    }

    #[test]
    fn writers_are_slowed_smoothly_once_the_collector_is_behind() {
        assert_eq!(behind(0, 0), 0);
        assert_eq!(behind(130 * GIB, 100 * GIB), 0);
        let at = |percent| behind((100 + percent) * GIB, 100 * GIB);
        assert_eq!(at(BEHIND_PERCENT), 0);
        assert!((48..=51).contains(&at(u64::midpoint(BEHIND_PERCENT, TWICE_BEHIND_PERCENT))));
        assert!((99..=101).contains(&at(TWICE_BEHIND_PERCENT)));
        assert!(behind(u64::MAX, 100 * GIB) > 1_000_000);
    }

    #[test]
    fn a_small_log_may_have_garbage() {
        assert_eq!(behind(256 << 20, 0), 0);
        assert_eq!(behind(356 << 20, 100 << 20), 0);
        assert_eq!(behind(512 << 20, 0), 100);
        // Where percents take over, nothing jumps.
        let slack = 256 << 20;
        let live = (slack * 100 / BEHIND_PERCENT).next_multiple_of(100);
        assert!(behind(live + slack + (1 << 20), live) <= 2);
    }
}
