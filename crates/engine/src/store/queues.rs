//! Queues under keys: what time does to them, and the clients that wait for them.

use crate::store::collections::Absent;
use crate::store::key::Key;
use crate::store::txn::Txn;
use crate::store::view::View;
use basalt_keyspace::database::Database;
use basalt_keyspace::interest::{KeyId, Rest};
use basalt_keyspace::workers::Workers;
use basalt_value::{Queue, ValueRef, Variant};

/// When a queue is looked at again that could not be settled.
const RETRY_MS: u64 = 100;

impl Txn<'_> {
    /// Does what time has done to the queue under a key, to at most that many messages. Clients
    /// that watch the key are not told: nobody has changed it.
    pub(crate) fn settle_queue(&mut self, key: &Key<'_>, messages_max: usize) {
        let now_ms = self.now_ms();
        // Something else under the key has nothing to settle.
        let _ = self.edit_aside::<Queue, _>(key, Absent::Skip, |queue, edits| {
            queue.settle(now_ms, messages_max, edits)
        });
        self.note_field_expiry(key);
    }

    /// After a change of the queue under a key: calls the first of the clients that wait for it if
    /// it has something for them, and has it looked at when it may have.
    #[inline]
    pub fn signal_waiters_of_queue(&mut self, key: &Key<'_>) {
        if self.locked.partition(key.partition).interest.is_some() {
            self.signal_or_note(key);
        }
    }

    #[cold]
    fn signal_or_note(&mut self, key: &Key<'_>) {
        let (db, now_ms) = (self.session.db, self.session.now_ms);
        let database = self.locked.partition(key.partition).database(db);
        match rest_of(database, key.hash, key.bytes, now_ms) {
            Rest::Something => self.signal(key),
            Rest::Nothing => {
                let place = KeyId { hash: key.hash, db };
                let next_ms = next_time(database, key.hash, key.bytes);
                if next_ms != u64::MAX {
                    // What is due and could not be settled now is looked at again, not at once.
                    let is_late = next_ms <= now_ms;
                    let time_ms = if is_late { now_ms + RETRY_MS } else { next_ms };
                    self.engine.timers.note(key.partition, place, key.bytes, time_ms);
                }
            }
        }
    }

    /// A consumer of this name has asked for messages of the queue under a key.
    pub fn note_worker(&mut self, key: &Key<'_>, name: &[u8]) {
        let (place, now_ms) = (KeyId { hash: key.hash, db: self.session.db }, self.session.now_ms);
        let workers = &mut self.locked.partition_mut(key.partition).workers;
        workers.get_or_insert_default().note(place, name, now_ms);
    }
}

impl View<'_> {
    /// Visits the consumers of the queue under a key that have asked for messages lately, and when
    /// they did.
    pub fn visit_workers(&self, key: &Key<'_>, visit: &mut dyn FnMut(&[u8], u64)) {
        let place = KeyId { hash: key.hash, db: self.session.db };
        if let Some(workers) = &self.locked.partition(key.partition).workers {
            let workers: &Workers = workers;
            workers.visit(place, self.session.now_ms, visit);
        }
    }
}

/// The queue under a key, if that is in memory.
fn queue_at<'a>(database: &'a Database, hash: u64, key: &[u8]) -> Option<&'a Queue> {
    let table = database.table();
    Queue::of(table.entry(table.find(hash, key)?).collection()?)
}

/// Whether a client that waits for a key, which holds something, may find something there. Of
/// anything but a queue, what is there says so.
pub(crate) fn rest_of(database: &Database, hash: u64, key: &[u8], now_ms: u64) -> Rest {
    match queue_at(database, hash, key) {
        Some(queue) if !queue.has_ready(now_ms) => Rest::Nothing,
        _ => Rest::Something,
    }
}

/// When a queue has something that it has not now, all ones for never.
pub(crate) fn next_time(database: &Database, hash: u64, key: &[u8]) -> u64 {
    queue_at(database, hash, key).map_or(u64::MAX, |queue| ValueRef::Queue(queue).next_expiry_ms())
}
