//! Letting requests gather while the log syncs.
//!
//! Many clients with one request each trickle in while their predecessors wait for the log. To wake
//! for every one of them costs more than to serve it, on this side and on the client's; and their
//! changes wait for the next sync in any case. So a thread with little to do sleeps a moment before
//! it polls. What is ready meanwhile waits that much longer, with some tens of microseconds on top
//! that the system takes.

use std::time::Duration;

/// Connections that wait for the log.
const WAITING_MIN: usize = 16;
/// Events of a poll that are work enough.
const EVENTS_ENOUGH: usize = 8;
const REST: Duration = Duration::from_micros(50);

/// Whether to rest, with this number of connections that wait for the log, after a poll with this
/// number of events.
pub(crate) fn pays(waiting: usize, events: usize) -> bool {
    waiting >= WAITING_MIN && events < EVENTS_ENOUGH
}

/// Lets requests gather.
pub(crate) fn rest() {
    std::thread::sleep(REST);
}
