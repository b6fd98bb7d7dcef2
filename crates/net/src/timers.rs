//! Waking connections after a time.

use crate::mailbox::ConnectionId;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// Connections that wait for time to pass, earliest first.
#[derive(Debug, Default)]
pub(crate) struct Timers {
    waiting: BTreeSet<(Instant, ConnectionId)>,
}

impl Timers {
    /// Wakes a connection after a time; returns the moment. A time beyond what the clock can say
    /// never passes.
    pub(crate) fn add(&mut self, after: Duration, connection: ConnectionId) -> Option<Instant> {
        let at = Instant::now().checked_add(after)?;
        self.waiting.insert((at, connection));
        Some(at)
    }

    /// The connection need not be woken at that moment.
    pub(crate) fn cancel(&mut self, at: Instant, connection: ConnectionId) {
        self.waiting.remove(&(at, connection));
    }

    /// Time until the earliest, or `None` if there is none.
    pub(crate) fn next(&self) -> Option<Duration> {
        let (at, _) = self.waiting.first()?;
        Some(at.saturating_duration_since(Instant::now()))
    }

    /// The earliest, if its time has come.
    pub(crate) fn pop_due(&mut self) -> Option<ConnectionId> {
        let (at, _) = self.waiting.first()?;
        if *at > Instant::now() {
            return None;
        }
        self.waiting.pop_first().map(|(_, connection)| connection)
    }
}
