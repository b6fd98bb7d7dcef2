//! Waking connections after a time.

use crate::mailbox::ConnectionId;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::{Duration, Instant};

/// Connections that wait for time to pass, earliest first.
#[derive(Debug, Default)]
pub(crate) struct Timers {
    heap: BinaryHeap<Reverse<(Instant, ConnectionId)>>,
}

impl Timers {
    pub(crate) fn add(&mut self, after: Duration, connection: ConnectionId) {
        self.heap.push(Reverse((Instant::now() + after, connection)));
    }

    /// Time until the earliest, or `None` if there is none.
    pub(crate) fn next(&self) -> Option<Duration> {
        let Reverse((at, _)) = self.heap.peek()?;
        Some(at.saturating_duration_since(Instant::now()))
    }

    /// The earliest, if its time has come.
    pub(crate) fn pop_due(&mut self) -> Option<ConnectionId> {
        let Reverse((at, connection)) = *self.heap.peek()?;
        if at > Instant::now() {
            return None;
        }
        self.heap.pop();
        Some(connection)
    }
}
