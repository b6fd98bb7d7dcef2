//! Traces of clients in partitions that somebody held for long when the clients went.
//!
//! A client that closes its connection leaves the queues that it waits in and ends its watches. The
//! thread that serves it has others to serve, so it does not wait for the partitions behind a
//! script: what it cannot clear at once, the housekeeping thread does. Meanwhile the traces harm
//! nobody: a watch sets a mark that nobody asks, and a place in a queue is that of a client that
//! does not come; it goes, and the next one is called, as soon as the key can change.

use crate::engine::Engine;
use crate::waiting::request::Places;
use crate::waiting::watching::Watching;
use basalt_stdx::short_lock::LockWait;

impl Engine {
    /// Ends the watches of a client, now or soon.
    pub fn unwatch_soon(&self, watching: Watching, wait: LockWait) {
        if self.unwatch(&watching, wait).is_err() {
            self.left_watches.lock().push(watching);
        }
    }

    /// Takes a client out of all queues, now or soon. It does not wait for a key again.
    pub fn stop_waiting_soon(&self, client: u64, places: Places, wait: LockWait) {
        if self.stop_waiting(client, &places, wait).is_err() {
            self.left_places.lock().push((client, places));
        }
    }

    /// Clears what has been left, waiting for the partitions; called by the housekeeping thread.
    pub(crate) fn clear_leftovers(&self) {
        let watches = std::mem::take(&mut *self.left_watches.lock());
        let places = std::mem::take(&mut *self.left_places.lock());
        for watching in watches {
            self.unwatch_soon(watching, LockWait::Endless);
        }
        for (client, places) in places {
            self.stop_waiting_soon(client, places, LockWait::Endless);
        }
    }
}
