//! Waking connections after a time.

use crate::mailbox::ConnectionId;
use basalt_env::{Clock, Instant};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

/// Connections that wait for time to pass, earliest first.
pub(crate) struct Timers {
    clock: Arc<dyn Clock>,
    waiting: BTreeSet<(Instant, ConnectionId)>,
}

impl Timers {
    /// No connection waits.
    pub(crate) fn new(clock: Arc<dyn Clock>) -> Timers {
        Timers { clock, waiting: BTreeSet::new() }
    }

    /// Wakes a connection after a time; returns the moment. A time beyond what the clock can say
    /// never passes.
    pub(crate) fn add(&mut self, after: Duration, connection: ConnectionId) -> Option<Instant> {
        let at = self.clock.now().checked_add(after)?;
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
        Some(at.saturating_duration_since(self.clock.now()))
    }

    /// The earliest, if its time has come.
    pub(crate) fn pop_due(&mut self) -> Option<ConnectionId> {
        let (at, _) = self.waiting.first()?;
        if *at > self.clock.now() {
            return None;
        }
        self.waiting.pop_first().map(|(_, connection)| connection)
    }
}
