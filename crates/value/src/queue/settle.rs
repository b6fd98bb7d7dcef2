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
use crate::edits::Edits;
use basalt_stdx::varint;

/// What time has made of a message that is due.
pub(super) enum Came {
    /// It is in this state now.
    To(State),
    /// It has gone.
    Expired,
}

impl Queue {
    /// Does what time has done by now; returns true if anything was.
    pub fn settle(&mut self, now_ms: u64, edits: &mut Edits<'_>) -> bool {
        // One that is not due is not made native.
        let native = self.native();
        native.next_ms() <= native.time(now_ms) && self.native_mut().advance(now_ms, edits)
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
    pub(super) fn advance(&mut self, now_ms: u64, edits: &mut Edits<'_>) -> bool {
        let now_ms = self.time(now_ms);
        let is_due = self.next_ms() <= now_ms;
        if is_due {
            edits.write(|out| {
                out.push(edit::SETTLE);
                varint::put(out, now_ms);
            });
            self.settle_at(now_ms, edits);
        }
        is_due
    }

    pub(super) fn settle_at(&mut self, now_ms: u64, edits: &mut Edits<'_>) {
        self.clock_ms = self.clock_ms.max(now_ms);
        while let Some(&(due_ms, id)) = self.due.first()
            && due_ms <= now_ms
        {
            // Whatever becomes of the message: its note is not met again.
            self.due.pop_first();
            self.come_due(id, now_ms, edits);
        }
        while let Some((due_ms, name)) = self.known_due.first()
            && *due_ms <= now_ms
        {
            let name = name.clone();
            self.forget(&name, edits);
        }
    }

    fn come_due(&mut self, id: MessageId, now_ms: u64, edits: &mut Edits<'_>) {
        match self.state_when_due(id, now_ms) {
            Came::Expired => {
                self.remove(id, edits);
                self.totals.expired += 1;
            }
            Came::To(State::Dead) => self.bury(id, edits),
            Came::To(state) => {
                let Some(entry) = self.entries.get(&id).cloned() else { return };
                self.set_entry(id, Entry { state, until_ms: 0, ..entry }, edits);
            }
        }
    }

    /// What has become of a message by now that is due. It does not depend on how often somebody
    /// has looked since.
    pub(super) fn state_when_due(&self, id: MessageId, now_ms: u64) -> Came {
        let expire_ms = self.record(id).map_or(0, |record| record.expire_ms());
        // A fresh message has only one thing to come.
        let Some(entry) = self.entries.get(&id) else { return Came::Expired };
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
