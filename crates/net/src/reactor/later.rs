//! HOT PATH
//! Connections that are served behind the others of a turn: those that come, those of which nothing
//! has been read yet, those that send a request in parts, and those whose client ends.
//!
//! ```text
//! poll ▸ those that are ready ▸ what they are owed is sent ▸ some of these ▸ poll …
//! ```
//! Thousands that come at once, send byte by byte or go at once take a tenth of a millisecond at a
//! time, and a client with a request waits for no more of them than that.

use crate::mailbox::NewConnection;
use std::collections::VecDeque;

/// See the head of this file.
#[derive(Default)]
pub(super) struct Later {
    /// Accepted, and not known to the poll yet.
    arrivals: VecDeque<NewConnection>,
    /// Those of which nothing has been read yet.
    newcomers: VecDeque<usize>,
    /// Those of which a part of a request is there, and more has come, those that linger, and those
    /// whose client has ended its side.
    unfinished: VecDeque<usize>,
}

impl Later {
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.unfinished.is_empty() && self.newcomers.is_empty() && self.arrivals.is_empty()
    }

    pub(super) fn add_arrival(&mut self, new: NewConnection) {
        self.arrivals.push_back(new);
    }

    pub(super) fn add_newcomer(&mut self, index: usize) {
        self.newcomers.push_back(index);
    }

    pub(super) fn add_unfinished(&mut self, index: usize) {
        self.unfinished.push_back(index);
    }

    pub(super) fn next_arrival(&mut self) -> Option<NewConnection> {
        self.arrivals.pop_front()
    }

    /// The next one of each other kind.
    pub(super) fn next(&mut self) -> impl Iterator<Item = usize> + use<> {
        let next = [self.newcomers.pop_front(), self.unfinished.pop_front()];
        next.into_iter().flatten()
    }

    /// Those that have come are not let in any more; returns how many they are.
    pub(super) fn drop_arrivals(&mut self) -> usize {
        self.arrivals.drain(..).count()
    }

    /// The connection has gone.
    pub(super) fn forget(&mut self, index: usize) {
        self.newcomers.retain(|&newcomer| newcomer != index);
        self.unfinished.retain(|&unfinished| unfinished != index);
    }
}
