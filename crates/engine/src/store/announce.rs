//! HOT PATH
//! How commands, and the engine by itself, say what has become of keys ([`super::events`]).

use crate::engine::Engine;
use crate::store::changes::TooLarge;
use crate::store::events::{EventClass, EventSink};
use crate::store::key::Key;
use crate::store::transfer::Destination;
use crate::store::txn::Txn;
use basalt_keyspace::keyspace::Locked;
use basalt_value::{Kind, Value};

impl Txn<'_> {
    /// Says what has become of a key of the selected database. Say so after the change.
    #[inline]
    pub fn notify(&mut self, class: EventClass, name: &'static str, key: &Key<'_>) {
        if self.changes.classes.has(class) {
            self.changes.note_event(self.session.db, name, key.bytes);
        }
    }

    /// Says of each of these keys that the command reads, as commands do that only read, if it is
    /// not there.
    #[inline]
    pub fn notify_missing(&mut self, keys: &[Key<'_>]) {
        if self.changes.classes.has(EventClass::Miss) {
            for key in keys {
                if self.get(key).is_none() {
                    self.notify(EventClass::Miss, "keymiss", key);
                }
            }
        }
    }

    /// Says what has become of a key of any database.
    #[inline]
    pub fn notify_at(&mut self, class: EventClass, name: &'static str, at: Destination<'_>) {
        if self.changes.classes.has(class) {
            self.changes.note_event(at.db, name, at.key.bytes);
        }
    }

    /// Says that elements have been taken out of a collection, and that it has gone if they were
    /// the last.
    #[inline]
    pub fn notify_taken(&mut self, class: EventClass, name: &'static str, key: &Key<'_>) {
        if !self.changes.classes.is_empty() {
            self.notify(class, name, key);
            if self.get(key).is_none() {
                self.notify(EventClass::Generic, "del", key);
            }
        }
    }

    /// Puts the result of a command under a key, whatever was there, and says so; an empty one
    /// removes what was there.
    ///
    /// # Errors
    /// It is too large for the log; nothing has changed.
    pub fn put_result(
        &mut self,
        key: &Key<'_>,
        result: Value,
        name: &'static str,
    ) -> Result<(), TooLarge> {
        let class = match result.kind() {
            Kind::List => EventClass::List,
            Kind::Set => EventClass::Set,
            Kind::SortedSet => EventClass::SortedSet,
            Kind::Hash => EventClass::Hash,
            Kind::Stream => EventClass::Stream,
            // Redis has no letter for queues: they are as a module's type.
            Kind::Queue => EventClass::Module,
        };
        if !result.is_gone() {
            self.put_value(key, result, 0)?;
            self.notify(class, name, key);
        } else if self.delete(key) {
            self.notify(EventClass::Generic, "del", key);
        }
        Ok(())
    }

    /// Removes a key whose time has come, and announces that; returns true if there was one.
    pub fn expire(&mut self, key: &Key<'_>) -> bool {
        let due = self.engine.is_due(&self.locked, self.session.db, self.session.now_ms, key);
        if due {
            self.delete(key);
            self.notify(EventClass::Expired, "expired", key);
        }
        due
    }
}

impl Engine {
    /// Whether a key is in memory and its time has come, so that it counts as absent.
    pub fn is_due(&self, locked: &Locked<'_>, db: u8, now_ms: u64, key: &Key<'_>) -> bool {
        let table = locked.partition(key.partition).database(db).table();
        let Some(found) = table.find(key.hash, key.bytes) else { return false };
        let entry = table.entry(found);
        !entry.is_tombstone() && entry.expire_ms() != 0 && entry.expire_ms() <= now_ms
    }

    /// Counts keys that were removed because their time had come.
    pub fn count_expired(&self, keys: u64) {
        self.expired_keys.fetch_add(keys, std::sync::atomic::Ordering::Relaxed);
    }

    /// From now on events of expiry go to `sink`. The first one counts.
    pub fn announce_events_to(&self, sink: Box<dyn EventSink>) {
        // A second sink would come from a second server over the same engine, which there is not.
        let _ = self.event_sink.set(sink);
    }
}
