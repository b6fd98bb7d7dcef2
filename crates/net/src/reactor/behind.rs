//! Connections whose next request cannot run beside a command that takes long.
//!
//! ```text
//! a turn beside it ▸ held ▸ out of the thread's lists ▸ the command has ended ▸ ready again
//!                              ▲                  │ some milliseconds
//!                              └────── held ◂─────┘
//! ```
//! Such a request waits for the command's end, and not for a time: the command may end in the next
//! moment. A few connections at a time are ready again then, before all others. If a further
//! command takes long before their requests have run, they go back without being parsed for
//! nothing. So where many clients call scripts of less than a millisecond each, a script costs the
//! thread a few moves, and not a turn of all that wait.

use crate::mailbox::ConnectionId;
use basalt_env::Instant;
use std::collections::VecDeque;
use std::time::Duration;

/// How long a command waits that has come to a partition which is held for long, before it tries
/// again …
pub(super) const HELD_PAUSE: Duration = Duration::from_millis(2);
/// … and how much longer for each such command before it in the turn: ten thousand of them take
/// their turns rather than all of the thread's time.
const HELD_PAUSE_EACH: Duration = Duration::from_micros(20);
const HELD_COUNT_MAX: usize = 10_000;

/// How many are ready again in one turn after the command's end.
const READY_A_TURN: usize = 16;

/// See the head of this file.
#[derive(Debug, Default)]
pub(super) struct Behind {
    /// The one that has waited longest first. Some may have gone, or may not wait any more.
    waiting: VecDeque<ConnectionId>,
    /// When they were tried last beside a command, or the first of them began to wait.
    tried: Instant,
}

impl Behind {
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// A command takes long from now on. It is not the first for those that wait already: else
    /// many short ones in turn would keep them from ever being tried.
    pub(super) fn begin(&mut self, now: Instant) {
        if self.is_empty() {
            self.tried = now;
        }
    }

    /// The connection's request cannot run beside it.
    pub(super) fn add(&mut self, id: ConnectionId) {
        self.waiting.push_back(id);
    }

    /// These were ready and have not had their turn: they have waited for longer than the others.
    pub(super) fn put_back(&mut self, ids: Vec<ConnectionId>) {
        for id in ids.into_iter().rev() {
            self.waiting.push_front(id);
        }
    }

    /// Those that are to be ready now: all of them now and then while a command takes long, in
    /// case they can run beside it or are refused by now, and a few after its end.
    pub(super) fn next(&mut self, takes_long: bool, now: Instant) -> Vec<ConnectionId> {
        let all = self.waiting.len();
        let count = match takes_long {
            false => READY_A_TURN.min(all),
            true if now - self.tried >= pause(all) => all,
            true => 0,
        };
        if takes_long && count > 0 {
            self.tried = now;
        }
        self.waiting.drain(..count).collect()
    }
}

/// How long a command waits before it is tried again if this number of others wait, too.
pub(super) fn pause(count: usize) -> Duration {
    HELD_PAUSE + HELD_PAUSE_EACH * count.min(HELD_COUNT_MAX) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_has_waited_longest_is_first_and_few_are_at_a_time() {
        let mut behind = Behind::default();
        let id = |index| ConnectionId { index, generation: 1 };
        let indexes = |ids: Vec<ConnectionId>| ids.iter().map(|id| id.index).collect::<Vec<_>>();
        let now = Instant::default();
        (0..READY_A_TURN + 2).for_each(|index| behind.add(id(index)));
        let first = behind.next(false, now);
        assert_eq!(indexes(first.clone()), (0..READY_A_TURN).collect::<Vec<_>>());
        behind.put_back(first[1..].to_vec());
        behind.begin(now);
        assert!(behind.next(true, now + HELD_PAUSE).is_empty(), "many wait for longer");
        behind.begin(now + HELD_PAUSE);
        let later = now + pause(READY_A_TURN + 1);
        assert_eq!(indexes(behind.next(true, later)), (1..READY_A_TURN + 2).collect::<Vec<_>>());
        assert!(behind.is_empty());
        behind.add(id(0));
        assert!(behind.next(true, later).is_empty(), "they were tried just now");
    }
}
