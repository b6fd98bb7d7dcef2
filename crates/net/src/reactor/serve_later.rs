//! HOT PATH
//! Serving those that come behind the others of a turn (`later.rs`).

use super::Reactor;
use crate::turn::Turn;
use std::sync::atomic::Ordering;

impl Reactor {
    /// Whether somebody is served behind the others.
    #[inline]
    pub(crate) fn has_later(&self) -> bool {
        !self.later.is_empty()
    }

    /// One connection of each kind is going to be served; returns false if there is none.
    pub(crate) fn serve_next_later(&mut self, turn: &mut Turn) -> bool {
        if let Some(new) = self.later.next_arrival() {
            self.adopt(turn, new);
        }
        self.serving.extend(self.later.next());
        !self.serving.is_empty()
    }

    /// Those that were served are closed, or served again if they have more to do.
    pub(crate) fn end_serving_later(&mut self, turn: &mut Turn) {
        let mut served = std::mem::take(&mut self.serving);
        for index in served.drain(..) {
            if let Some(connection) = &mut self.connections[index] {
                connection.scheduled = false;
            }
            self.after_turn(turn, index);
        }
        self.serving = served;
    }

    /// Those that have come are not let in any more.
    pub(super) fn turn_arrivals_away(&mut self) {
        let count = self.later.drop_arrivals();
        self.mailbox.connections.fetch_sub(count, Ordering::Relaxed);
    }
}
