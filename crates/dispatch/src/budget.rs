//! HOT PATH
//! What a turn of a network thread may still cost, over all clients and batches.
//!
//! A client with many requests fills batches of its own, and each may reply much: were a budget one
//! batch's, a turn would cost that for each such client, and everybody else would wait for the sum.
//! Whom a spent budget puts off comes first in the next turn.

use basalt_env::Instant;
use std::time::Duration;

/// Bytes of replies after which requests of further clients wait for the next turn: some 3 ms of
/// copying.
const REPLY_BYTES_MAX: usize = 16 << 20;

/// Time after which they do.
const TIME_MAX: Duration = Duration::from_millis(10);

/// How long requests that may take long run one behind the other. Each may end just before its
/// thread's other clients would have been served beside it.
const LONG_TIME_MAX: Duration = Duration::from_millis(2);

/// Bytes of replies between two looks at the clock: copying them takes some 10 µs, making JSON of
/// them some 200.
const LOOK_EVERY_BYTES: usize = 64 << 10;

/// See the head of this file.
#[derive(Debug)]
pub struct Budget {
    /// Bytes of replies, also of those that a form has put something shorter in the place of.
    bytes: usize,
    /// Of these the next look at the clock is due.
    look_at_bytes: usize,
    /// When the time is over; known when the first batch has begun.
    until: Option<Instant>,
    /// When no more request begins that may take long; known when the first one has begun.
    long_until: Option<Instant>,
    /// The client that was the last to spend much of it.
    spender: Option<u32>,
    has_put_off: bool,
}

impl Default for Budget {
    fn default() -> Budget {
        Budget {
            bytes: REPLY_BYTES_MAX,
            look_at_bytes: REPLY_BYTES_MAX - LOOK_EVERY_BYTES,
            until: None,
            long_until: None,
            spender: None,
            has_put_off: false,
        }
    }
}

impl Budget {
    /// Whether nothing of it is left.
    #[inline(always)]
    pub fn is_spent(&self) -> bool {
        self.bytes == 0
    }

    /// Behind whom clients were put off, because nothing was left for them.
    #[inline]
    pub fn put_off_behind(&self) -> Option<u32> {
        self.spender.filter(|_| self.has_put_off)
    }

    /// A batch begins at this time.
    #[inline(always)]
    pub(crate) fn begin(&mut self, now: Instant) {
        self.until.get_or_insert(now + TIME_MAX);
    }

    /// It is this late.
    #[inline(always)]
    pub(crate) fn look(&mut self, now: Instant) {
        if self.until.is_some_and(|until| now > until) {
            self.bytes = 0;
        }
    }

    /// A client was replied this much.
    #[inline(always)]
    pub(crate) fn spend(&mut self, client: u32, bytes: usize, now: impl Fn() -> Instant) {
        self.bytes = self.bytes.saturating_sub(bytes);
        if self.bytes <= self.look_at_bytes {
            self.look_at_bytes = self.bytes.saturating_sub(LOOK_EVERY_BYTES);
            self.spender = Some(client);
            self.look(now());
        }
    }

    /// Whether one more request of this client begins that may take long. The first one always
    /// does.
    pub(crate) fn admits_long(&mut self, client: u32, now: Instant) -> bool {
        let is_admitted = now < *self.long_until.get_or_insert(now + LONG_TIME_MAX);
        if is_admitted {
            self.spender = Some(client);
        } else {
            self.put_off();
        }
        is_admitted
    }

    /// A client's requests wait for the next turn.
    pub(crate) fn put_off(&mut self) {
        self.has_put_off = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use basalt_env::{Clock, ManualClock};

    #[test]
    fn bytes_are_those_of_all_clients_and_those_behind_are_put_off() {
        let clock = ManualClock::default();
        let mut budget = Budget::default();
        budget.begin(clock.now());
        budget.spend(3, 10 << 20, || clock.now());
        assert!(!budget.is_spent());
        budget.spend(7, 6 << 20, || clock.now());
        assert!(budget.is_spent());
        assert_eq!(budget.put_off_behind(), None, "nobody has asked for more");
        budget.put_off();
        assert_eq!(budget.put_off_behind(), Some(7));
    }

    #[test]
    fn time_is_looked_at_when_much_was_replied() {
        let clock = ManualClock::default();
        let mut budget = Budget::default();
        budget.begin(clock.now());
        clock.advance_ms(20);
        budget.spend(1, LOOK_EVERY_BYTES - 1, || clock.now());
        assert!(!budget.is_spent());
        budget.spend(2, 1, || clock.now());
        assert!(budget.is_spent());
    }

    #[test]
    fn of_what_may_take_long_the_first_always_begins() {
        let clock = ManualClock::default();
        let mut budget = Budget::default();
        assert!(budget.admits_long(1, clock.now()));
        clock.advance_ms(1);
        assert!(budget.admits_long(2, clock.now()));
        clock.advance_ms(1);
        assert!(!budget.admits_long(3, clock.now()));
        assert_eq!(budget.put_off_behind(), Some(2));
    }
}
