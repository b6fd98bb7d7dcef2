//! What a queue is told about itself.

use basalt_stdx::varint;

/// What happens to a message for which there is no room.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Full {
    /// It is refused.
    #[default]
    Reject,
    /// The oldest ready message of the lowest lane goes.
    DropOldest,
}

/// What a queue does not do for the time being.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Paused {
    /// It does everything.
    #[default]
    Nothing,
    /// It takes no messages.
    Put,
    /// It delivers none: those who want one wait.
    Get,
    /// Neither.
    All,
}

impl Paused {
    /// It takes no messages.
    #[inline]
    pub fn stops_puts(self) -> bool {
        matches!(self, Paused::Put | Paused::All)
    }

    /// It delivers none.
    #[inline]
    pub fn stops_gets(self) -> bool {
        matches!(self, Paused::Get | Paused::All)
    }
}

/// The settings of a queue. A limit of 0 is none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Settings {
    /// How long a delivery is held if the consumer does not say.
    pub lease_ms: u64,
    /// After that number of deliveries without an acknowledgement a message is dead.
    pub deliveries_max: u64,
    /// How many messages there may be, of all states.
    pub max: u64,
    /// How many bytes their bodies may have together.
    pub max_bytes: u64,
    /// What happens beyond those two.
    pub full: Full,
    /// How many messages may be leased at a time.
    pub inflight_max: u64,
    /// What it does not do for the time being.
    pub paused: Paused,
    /// Messages that return are delivered before all others, not in their old place.
    pub overdue_first: bool,
    /// How long the name of a message is remembered.
    pub dedup_window_ms: u64,
    /// How many names are remembered; one more, and the one is forgotten whose time is over first.
    pub dedup_max: u64,
    /// Replies about changes wait until these are on disk, whatever the log's policy.
    pub durable: bool,
}

/// Bits of the number that holds what is on or off.
const OVERDUE_FIRST: u64 = 1;
const DURABLE: u64 = 2;

impl Settings {
    /// What holds for a queue that was told nothing.
    pub const DEFAULT: Settings = Settings {
        lease_ms: 30_000,
        deliveries_max: 0,
        max: 0,
        max_bytes: 0,
        full: Full::Reject,
        inflight_max: 0,
        paused: Paused::Nothing,
        overdue_first: false,
        dedup_window_ms: 300_000,
        dedup_max: 100_000,
        durable: false,
    };

    pub(super) fn put(&self, out: &mut Vec<u8>) {
        let numbers = [
            self.lease_ms,
            self.deliveries_max,
            self.max,
            self.max_bytes,
            self.full as u64,
            self.inflight_max,
            self.paused as u64,
            u64::from(self.overdue_first) * OVERDUE_FIRST + u64::from(self.durable) * DURABLE,
            self.dedup_window_ms,
            self.dedup_max,
        ];
        numbers.into_iter().for_each(|number| varint::put(out, number));
    }

    pub(super) fn take(rest: &mut &[u8]) -> Option<Settings> {
        let mut next = || varint::take(rest);
        let mut settings = Settings {
            lease_ms: next()?,
            deliveries_max: next()?,
            max: next()?,
            max_bytes: next()?,
            full: match next()? {
                0 => Full::Reject,
                1 => Full::DropOldest,
                _ => return None,
            },
            inflight_max: next()?,
            paused: match next()? {
                0 => Paused::Nothing,
                1 => Paused::Put,
                2 => Paused::Get,
                3 => Paused::All,
                _ => return None,
            },
            ..Settings::DEFAULT
        };
        let switches = next()?;
        if switches > OVERDUE_FIRST + DURABLE {
            return None;
        }
        settings.overdue_first = switches & OVERDUE_FIRST != 0;
        settings.durable = switches & DURABLE != 0;
        (settings.dedup_window_ms, settings.dedup_max) = (next()?, next()?);
        Some(settings)
    }
}

impl Default for Settings {
    fn default() -> Settings {
        Settings::DEFAULT
    }
}
