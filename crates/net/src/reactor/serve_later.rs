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

    /// One connection of each kind is going to be served; returns how many that are, none if all
    /// are served. They are the last ones of [`Reactor::serving`].
    pub(crate) fn serve_next_later(&mut self, turn: &mut Turn) -> usize {
        if let Some(new) = self.later.next_arrival() {
            self.adopt(turn, new);
        }
        let before = self.serving.len();
        self.serving.extend(self.later.next());
        self.serving.len() - before
    }

    /// Those that were served behind the others are ready if they have more to do.
    pub(crate) fn end_serving_later(&mut self) {
        self.touched.extend_from_slice(&self.serving);
        for at in 0..self.serving.len() {
            let index = self.serving[at];
            if let Some(connection) = &mut self.connections[index] {
                connection.scheduled = false;
                if connection.has_more() {
                    self.schedule(index);
                }
            }
        }
        self.serving.clear();
    }

    /// Those that have come are not let in any more.
    pub(super) fn turn_arrivals_away(&mut self) {
        let count = self.later.drop_arrivals();
        self.mailbox.connections.fetch_sub(count, Ordering::Relaxed);
    }
}
