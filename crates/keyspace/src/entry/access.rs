//! When an entry was used.

/// When and how often an entry was used, for `OBJECT IDLETIME`, `OBJECT FREQ` and eviction.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Access(pub(super) u32);

impl Access {
    pub(super) const SECONDS_MASK: u32 = 0x00FF_FFFF;
    /// What a new key's frequency is, as Redis': stands in the byte as 0.
    const FREQUENCY_NEW: u8 = 5;

    /// Accessed now, for the first time.
    #[inline]
    pub fn at(unix_seconds: u32) -> Access {
        Access(unix_seconds & Access::SECONDS_MASK)
    }

    /// Seconds since the last access. Wraps after 194 days, as Redis' clock does.
    pub fn idle_seconds(self, unix_seconds: u32) -> u32 {
        unix_seconds.wrapping_sub(self.0) & Access::SECONDS_MASK
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

    /// How often it was used on Redis' logarithmic scale, a point less for each of these periods
    /// since the last access.
    pub fn frequency(self, unix_seconds: u32, period_seconds: u32) -> u8 {
        let frequency = (self.0 >> 24) as u8 ^ Access::FREQUENCY_NEW;
        let periods = self.idle_seconds(unix_seconds) / period_seconds;
        frequency.saturating_sub(periods.min(u8::MAX.into()) as u8)
    }
}
