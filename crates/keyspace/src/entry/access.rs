//! When and how often an entry was used.
//!
//! The frequency is Redis' counter: it grows with uses by chance, the more slowly the higher it is,
//! and falls by a point for each minute without a use. Redis draws at each use. A use here must not
//! cost that: at most one a second is noted at all, since the second is written anyway; and of
//! those, one in [`COUNTED_IN`] counts, and for that many, so that the counter still grows as that
//! of a key which Redis sees used once a second. Which second counts goes by the entry's address,
//! so that there is nothing to draw and no counter of the thread's to keep. The first use of a key
//! counts in any second, as it does in Redis: that a key was used at all says most about it.

/// When and how often an entry was used, for `OBJECT IDLETIME`, `OBJECT FREQ` and eviction.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Access(pub(super) u32);

impl Access {
    pub(super) const SECONDS_MASK: u32 = 0x00FF_FFFF;
    /// What a new key's frequency is, as Redis': stands in the byte as 0.
    const FREQUENCY_NEW: u8 = 5;

    /// Redis' `lfu-log-factor`: how slowly a frequency grows.
    const GROWTH: u32 = 10;
    /// Redis' `lfu-decay-time`: seconds without a use after which a frequency is a point less.
    const DECAY_SECONDS: u32 = 60;
    /// Threads read the clock once a turn: a use may seem to be this much later than now.
    const CLOCK_LAG_SECONDS: u32 = 60;

    /// Accessed now, for the first time.
    #[inline]
    pub fn at(unix_seconds: u32) -> Access {
        Access(unix_seconds & Access::SECONDS_MASK)
    }

    /// Seconds since the last access. Wraps after 194 days, as Redis' clock does.
    pub fn idle_seconds(self, unix_seconds: u32) -> u32 {
        let idle = unix_seconds.wrapping_sub(self.0) & Access::SECONDS_MASK;
        if idle > Access::SECONDS_MASK - Access::CLOCK_LAG_SECONDS { 0 } else { idle }
    }

    /// Accessed in a later second than this one, and by less than half of the time that can be
    /// told.
    pub(crate) fn is_later_than(self, other: Access) -> bool {
        let later = self.0.wrapping_sub(other.0) & Access::SECONDS_MASK;
        (1..=Access::SECONDS_MASK / 2).contains(&later)
    }

    /// Not accessed for these seconds, or for the longest time that can be told.
    pub fn idle_for(unix_seconds: u32, idle_seconds: u64) -> Access {
        let idle = idle_seconds.min(Access::SECONDS_MASK.into()) as u32;
        Access::at(unix_seconds.wrapping_sub(idle))
    }

    /// Accessed now or before, and this often on Redis' logarithmic scale.
    pub fn with_frequency(self, frequency: u8) -> Access {
        let byte = u32::from(frequency ^ Access::FREQUENCY_NEW);
        Access(self.0 & Access::SECONDS_MASK | byte << 24)
    }

    /// How often it was used on Redis' logarithmic scale, a point less for each minute since the
    /// last access.
    pub fn frequency(self, unix_seconds: u32) -> u8 {
        let frequency = (self.0 >> 24) as u8 ^ Access::FREQUENCY_NEW;
        let periods = self.idle_seconds(unix_seconds) / Access::DECAY_SECONDS;
        frequency.saturating_sub(periods.min(u8::MAX.into()) as u8)
    }

    /// Returns true if the key has been used in a later second than that in which it came into
    /// memory.
    pub fn has_uses(self) -> bool {
        self.0 > Access::SECONDS_MASK
    }

    /// Accessed when it was, and used once.
    pub fn used_once(self) -> Access {
        self.with_frequency(Access::FREQUENCY_NEW + 1)
    }

    /// Accessed at the time of `now`, as often as before.
    pub fn renewed(self, now: Access) -> Access {
        let frequency = self.frequency(now.0);
        now.with_frequency(if self.has_uses() { told_from_new(frequency) } else { frequency })
    }

    /// What an access at the time of `now` makes of it, which is in another second. `address` is
    /// the entry's.
    #[inline(always)]
    pub(super) fn used(self, now: Access, address: usize) -> Access {
        let changed = (self.0 ^ now.0) & Access::SECONDS_MASK;
        let is_first = self.0 <= Access::SECONDS_MASK;
        let counts =
            is_first | (now.0 ^ (address >> ADDRESS_SHIFT) as u32).is_multiple_of(COUNTED_IN);
        // What has decayed must be known before the second is written over.
        if counts || changed >= DECAYS_FROM {
            return self.counted(now, address, counts);
        }
        Access(self.0 ^ changed)
    }

    #[cold]
    #[inline(never)]
    fn counted(self, now: Access, address: usize, counts: bool) -> Access {
        let frequency = self.frequency(now.0);
        let above_new = frequency.saturating_sub(Access::FREQUENCY_NEW);
        // One in this many uses makes it grow.
        let odds = u64::from(u32::from(above_new) * Access::GROWTH + 1);
        let draw = (address as u64 ^ u64::from(now.0) << 32).wrapping_mul(DRAW_FACTOR) >> 32;
        let grows = counts && (draw * odds) >> 32 < u64::from(COUNTED_IN);
        now.with_frequency(told_from_new(frequency.saturating_add(u8::from(grows))))
    }
}

/// The frequency that a key which has been used is given: a new key's stands for no use at all. In
/// Redis, too, a key that has fallen so far grows with each use.
fn told_from_new(frequency: u8) -> u8 {
    if frequency == Access::FREQUENCY_NEW { frequency + 1 } else { frequency }
}

/// One in this many seconds counts. A power of two.
const COUNTED_IN: u32 = 8;
/// Bits of an address that tell entries apart begin here.
const ADDRESS_SHIFT: u32 = 4;
/// Two seconds that differ in this bit, or in a higher one, may be a minute apart; no others are.
const DECAYS_FROM: u32 = 32;
/// 2^64 over the golden ratio: spreads what it multiplies over the upper bits.
const DRAW_FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;

#[cfg(test)]
mod tests {
    use super::*;

    const START_S: u32 = 1_704_067_200;

    /// Redis' counter after one use in each of these seconds.
    fn in_redis(uses: u32, random: &mut u64) -> u32 {
        (0..uses).fold(5, |frequency, _| {
            // Knuth's generator is random enough for an average.
            *random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let odds = u64::from((frequency - 5) * Access::GROWTH + 1);
            frequency + u32::from(frequency < 255 && (*random >> 33).is_multiple_of(odds))
        })
    }

    fn used_every_second(uses: u32, address: usize) -> Access {
        (1..=uses).fold(Access::at(START_S), |access, second| {
            access.used(Access::at(START_S + second), address)
        })
    }

    #[test]
    #[cfg_attr(miri, ignore = "it takes Miri minutes, and is about averages")]
    fn a_key_used_once_a_second_grows_as_in_redis() {
        const KEYS: usize = 200;
        let mut random = 1;
        for uses in [100, 1_000, 10_000] {
            let ours = (0..KEYS).map(|key| {
                let access = used_every_second(uses, 0x7f00_0000_0000 + key * 88);
                u32::from(access.frequency(START_S + uses))
            });
            let (ours, redis) = (
                ours.sum::<u32>() / KEYS as u32,
                (0..KEYS).map(|_| in_redis(uses, &mut random)).sum::<u32>() / KEYS as u32,
            );
            assert!(ours.abs_diff(redis) <= 1 + redis / 10, "{uses} uses: {ours}, Redis {redis}");
        }
    }

    #[test]
    fn the_first_use_of_a_key_counts_in_any_second() {
        let new = Access::at(START_S);
        for (address, later) in (0..64).zip(1..) {
            let used = new.used(Access::at(START_S + later % 30 + 1), address * 16);
            assert_eq!(used.frequency(START_S + later % 30 + 1), 6, "address {address}");
            assert!(used.has_uses() && new.used_once().has_uses() && !new.has_uses());
            assert_eq!(new.used_once().frequency(START_S), 6);
        }
    }

    #[test]
    fn a_key_that_has_been_used_is_told_from_a_new_one_however_seldom_it_is_used() {
        for address in (0..64).map(|number| number * 16) {
            let mut access = Access::at(START_S);
            for use_number in 1..=50 {
                access = access.used(Access::at(START_S + use_number * 45), address);
                assert!(access.has_uses(), "use {use_number}");
            }
            let later = Access::at(START_S + 51 * 45);
            assert!(access.with_frequency(6).renewed(later).has_uses());
            assert!(!Access::at(START_S).renewed(Access::at(START_S + 30)).has_uses());
        }
    }

    #[test]
    fn a_frequency_falls_by_a_point_a_minute_also_where_uses_do_not_count() {
        let access = Access::at(START_S).with_frequency(100);
        assert_eq!(access.frequency(START_S + 59), 100);
        assert_eq!(access.frequency(START_S + 10 * 60), 90);
        assert_eq!(access.frequency(START_S + 200 * 60), 0);
        for address in (0..64).map(|number| number * 16) {
            let later = START_S + 10 * 60;
            let used = access.used(Access::at(later), address);
            assert!((90..=91).contains(&used.frequency(later)), "address {address}");
            assert_eq!(used.idle_seconds(later), 0);
        }
    }

    #[test]
    fn a_use_by_a_thread_whose_clock_is_ahead_is_no_use_of_half_a_year_ago() {
        let access = Access::at(START_S + 2).with_frequency(100);
        assert_eq!((access.idle_seconds(START_S), access.frequency(START_S)), (0, 100));
        let used = access.used(Access::at(START_S), 16);
        assert!(used.frequency(START_S) >= 100);
    }
}
