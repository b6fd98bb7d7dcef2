//! HOT PATH
//! What time does to a queue.
//!
//! Nothing happens by itself: a lease that has ended *is* a ready message for all who look, and a
//! change that depends on what time has done writes SETTLE with the time first, once for whatever
//! has come due. So replay needs no clock, and makes the same of the same edits; and a queue that
//! nobody looks at writes nothing, whatever ends in it.

use super::edit;
use super::entry::Entry;
use super::id::MessageId;
use super::native::{Native, Queue};
use super::state::State;
use super::totals::Gone;
use crate::edits::Edits;
use basalt_stdx::varint;

/// What time has made of a message that is due.
pub(super) enum Came {
    /// It is in this state now.
    To(State),
    /// It has gone.
    Expired,
}

/// Messages and names that one change settles at most, about 2 ms: the queue is locked meanwhile.
/// The others are settled by the next ones, and by the housekeeping.
pub const SETTLED_MAX: usize = 4_096;

impl Queue {
    /// Does what time has done by now, to at most that many messages and names; returns true if
    /// anything was.
    pub fn settle(&mut self, now_ms: u64, max: usize, edits: &mut Edits<'_>) -> bool {
        let native = self.native();
        // One that is not due is not made native.
        native.next_ms() <= native.time(now_ms) && self.native_mut().settle(now_ms, max, edits)
    }
}

impl Native {
    /// The time that it is for this queue.
    #[inline]
    pub(super) fn time(&self, now_ms: u64) -> u64 {
        now_ms.max(self.clock_ms)
    }

    /// Settles before a change that depends on it.
    #[inline]
    pub(super) fn advance(&mut self, now_ms: u64, edits: &mut Edits<'_>) {
        self.settle(now_ms, SETTLED_MAX, edits);
    }

    fn settle(&mut self, now_ms: u64, max: usize, edits: &mut Edits<'_>) -> bool {
        let now_ms = self.time(now_ms);
        let is_due = self.next_ms() <= now_ms;
        if is_due {
            edits.write(|out| {
                out.push(edit::SETTLE);
                varint::put(out, now_ms);
                varint::put(out, max as u64);
            });
            self.do_settle(now_ms, max as u64, edits);
        }
        is_due
    }

    pub(super) fn do_settle(&mut self, now_ms: u64, max: u64, edits: &mut Edits<'_>) {
        self.clock_ms = self.clock_ms.max(now_ms);
        let mut left = max;
        while left > 0
            && let Some(note @ (due_ms, id)) = self.due.first()
            && due_ms <= now_ms
        {
            // Whatever becomes of the message: its note is not met again.
            self.due.remove(note);
            self.come_due(id, now_ms, edits);
            left -= 1;
        }
        while left > 0
            && let Some((due_ms, name)) = self.known_due.first()
            && *due_ms <= now_ms
        {
            let name = name.clone();
            self.forget(&name, edits);
            left -= 1;
        }
    }

    fn come_due(&mut self, id: MessageId, now_ms: u64, edits: &mut Edits<'_>) {
        match self.state_when_due(id, now_ms) {
            Came::Expired => {
                self.remove(id, Gone::Expired, edits);
            }
            Came::To(State::Dead) => self.bury(id, edits),
            Came::To(state) => {
                self.with_entry(id, edits, |entry| Entry { state, until_ms: 0, ..entry });
            }
        }
    }

    /// What has become of a message by now that is due. It does not depend on how often somebody
    /// has looked since.
    pub(super) fn state_when_due(&self, id: MessageId, now_ms: u64) -> Came {
        // A fresh message has only one thing to come.
        let Some((record, Some(entry))) = self.message(id) else { return Came::Expired };
        let expire_ms = record.expire_ms();
        let state = match entry.state {
            State::Leased => entry.state_after_lease(self.settings.deliveries_max),
            State::Delayed | State::Ready => State::Ready,
            State::Dead => State::Dead,
        };
        // A message expires before it is buried if its time was over when its lease ended.
        let expires_by = if state == State::Dead { entry.until_ms } else { now_ms };
        if expire_ms <= expires_by { Came::Expired } else { Came::To(state) }
    }
}
