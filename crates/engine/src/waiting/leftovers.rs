//! Traces of clients in partitions that somebody held for long when the clients went, and of those
//! that watched many keys: to end a million watches takes more than half a second.
//!
//! A client that closes its connection leaves the queues that it waits in and ends its watches. The
//! thread that serves it has others to serve, so it does not wait for the partitions behind a
//! script: what it cannot clear at once, the housekeeping thread does. Meanwhile the traces harm
//! nobody: a watch sets a mark that nobody asks, and a place in a queue is that of a client that
//! does not come; it goes, and the next one is called, as soon as the key can change.
//!
//! So that they do not pile up where clients are faster than the housekeeping, a client that begins
//! to watch keys ends twice as many watches that were left.

use crate::engine::Engine;
use crate::waiting::request::Places;
use crate::waiting::watching::Watching;
use basalt_stdx::short_lock::LockWait;
use std::sync::atomic::Ordering;

/// Watches that a client's thread ends itself: some 2 ms.
const ENDED_AT_ONCE_MAX: usize = 4096;
/// Watches that end between two looks of one thread at what the others have left.
const ENDED_TOGETHER_MAX: usize = 4096;

impl Engine {
    /// Ends the watches of a client: now, or soon if they are many or somebody holds a partition.
    pub fn unwatch_soon(&self, watching: Watching, wait: LockWait) {
        let are_many = watching.len() > ENDED_AT_ONCE_MAX;
        if are_many || self.unwatch(&watching, wait).is_err() {
            self.leftovers.keys.fetch_add(watching.len(), Ordering::Relaxed);
            self.leftovers.watches.lock().push(watching);
        }
    }

    /// Ends at most this many watches that were left; what somebody holds stays.
    #[inline]
    pub fn help_unwatch(&self, keys_max: usize) {
        // Relaxed: a figure by itself. What has just been left is there the next time.
        if self.leftovers.keys.load(Ordering::Relaxed) > 0 {
            self.end_left_watches(keys_max, LockWait::Brief);
        }
    }

    #[cold]
    fn end_left_watches(&self, mut keys_max: usize, wait: LockWait) {
        while keys_max > 0 {
            let Some(mut left) = self.leftovers.watches.lock().pop() else { return };
            let some = left.split_off_some(keys_max.min(ENDED_TOGETHER_MAX));
            if !left.is_empty() {
                self.leftovers.watches.lock().push(left);
            }
            if self.unwatch(&some, wait).is_err() {
                self.leftovers.watches.lock().push(some);
                return;
            }
            keys_max -= some.len();
            self.leftovers.keys.fetch_sub(some.len(), Ordering::Relaxed);
        }
    }

    /// Takes a client out of all queues, now or soon. It does not wait for a key again.
    pub fn stop_waiting_soon(&self, client: u64, places: Places, wait: LockWait) {
        if self.stop_waiting(client, &places, wait).is_err() {
            self.leftovers.places.lock().push((client, places));
        }
    }

    /// Clears what has been left, waiting for the partitions; called by the housekeeping thread.
    pub(crate) fn clear_leftovers(&self) {
        self.end_left_watches(usize::MAX, LockWait::Endless);
        let places = std::mem::take(&mut *self.leftovers.places.lock());
        for (client, places) in places {
            self.stop_waiting_soon(client, places, LockWait::Endless);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::key::Key;
    use crate::testing::engine;

    #[test]
    fn watches_of_many_keys_are_left_to_the_housekeeping() {
        for (count, are_left) in [(ENDED_AT_ONCE_MAX, false), (ENDED_AT_ONCE_MAX + 1, true)] {
            let (engine, _) = engine();
            let names: Vec<String> = (0..count).map(|number| format!("key:{number}")).collect();
            let keys: Vec<Key<'_>> = names.iter().map(|name| engine.key(name.as_bytes())).collect();
            let mut watching = Watching::default();
            let mut locked = engine.lock(&keys);
            for key in &keys {
                engine.watch(&mut locked, &mut watching, key, 0, 1);
            }
            drop(locked);
            assert!(engine.is_watched());
            engine.unwatch_soon(watching, LockWait::Brief);
            assert_eq!(engine.is_watched(), are_left, "{count} keys");
            engine.help_unwatch(count - 1);
            assert_eq!(engine.is_watched(), are_left, "all but one have ended");
            engine.clear_leftovers();
            assert!(!engine.is_watched());
            assert_eq!(engine.leftovers.keys.load(Ordering::Relaxed), 0);
        }
    }
}
