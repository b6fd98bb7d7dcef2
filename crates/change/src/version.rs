//! Versions of keys: numbers that tell whether a key has changed.
//!
//! A key that was once written under a condition has one, and each change of it gives it a new one.
//! A number is milliseconds (48 bits) and a count (16 bits): the next is the time, or one more than
//! the last that the partition has given, whichever is more. So none is given twice, whatever
//! becomes of a key in between, and nothing has to be kept of a key that is gone but the
//! partition's last number. A start adds a random number below 2 to the 40th (four and a half
//! hours), because the log may have lost the last ones.

const COUNT_BITS: u32 = 16;
/// A start goes on within 2 to the power of this of the last number that it knows, by chance.
const START_BITS: u32 = 40;

/// See the head of this file.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Version(u64);

impl Version {
    /// What a key has that was never written under a condition.
    pub const NONE: Version = Version(0);
    /// The version with this number.
    #[inline]
    pub const fn new(number: u64) -> Version {
        Version(number)
    }

    /// Its number, 0 for none.
    #[inline]
    pub const fn number(self) -> u64 {
        self.0
    }

    /// There is none.
    #[inline]
    pub const fn is_none(self) -> bool {
        self.0 == 0
    }

    /// The one that counts on from this one.
    pub fn counted(self) -> Version {
        Version(self.0.saturating_add(1))
    }

    /// The one that follows the last one given, at this time.
    pub fn next(self, now_ms: u64) -> Version {
        self.counted().max(Version(now_ms.saturating_mul(1 << COUNT_BITS)))
    }

    /// Where a partition goes on that is started at this time, and whose log or mark ends with this
    /// version. A power cut may have taken back later ones that clients have seen: they were given
    /// before now, or not far behind this one. `random` keeps those lives apart that go on from the
    /// same version, and makes it as good as impossible that one is met if the clock has been set
    /// back.
    pub fn at_start(self, now_ms: u64, random: u64) -> Version {
        let Version(next) = self.next(now_ms);
        Version(next.saturating_add(random >> (u64::BITS - START_BITS)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_go_up_whatever_the_clock_does() {
        let mut last = Version::NONE;
        for now_ms in [1_000, 1_000, 1_000, 999, 0, 1_001, u64::MAX] {
            let next = last.next(now_ms);
            assert!(next > last, "{next:?} after {last:?} at {now_ms}");
            last = next;
        }
        assert_eq!(Version::NONE.next(1), Version(1 << 16));
        assert_eq!(Version(5 << 16).next(4), Version((5 << 16) + 1));
    }

    #[test]
    fn a_start_goes_on_behind_what_is_known_and_the_time() {
        for random in [0, 1, u64::MAX] {
            let (before, now_ms) = (Version(7 << 16), 9);
            assert!(before.at_start(now_ms, random) >= Version(9 << 16));
            assert!(before.at_start(0, random) > before);
            assert!(before.at_start(0, random).number() - before.number() <= 1 << START_BITS);
        }
        assert_ne!(Version::NONE.at_start(1, 0), Version::NONE.at_start(1, u64::MAX));
        assert_eq!(Version(u64::MAX).at_start(u64::MAX, u64::MAX), Version(u64::MAX));
    }
}
