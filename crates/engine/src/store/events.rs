//! HOT PATH
//! Key events: what has become of which key, for those who subscribe to that.
//!
//! A command says what it did beside the change (`txn.notify(EventClass::String, "set", key)`). As
//! long as nobody wants the class that is one test of a number that the thread has at hand. Else
//! the event joins the thread's [`ChangeSet`](crate::ChangeSet), whose owner publishes it once the
//! partitions are unlocked and the change is in the log. What happens without a command, expiry,
//! goes through an [`EventSink`].
//!
//! Events of one key from two threads may be published in another order than that of the changes:
//! the locks that order those are gone by then.

use crate::engine::Engine;
use crate::log::Ticket;
use crate::store::changes::TooLarge;
use crate::store::key::Key;
use crate::store::transfer::Destination;
use crate::store::txn::Txn;
use basalt_keyspace::keyspace::Locked;
use basalt_value::{Kind, Value};

/// What kind of change an event is about: a letter of `notify-keyspace-events`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EventClass {
    /// `g`: commands on keys of any type.
    Generic = 1 << 0,
    /// `$`
    String = 1 << 1,
    /// `l`
    List = 1 << 2,
    /// `s`
    Set = 1 << 3,
    /// `h`
    Hash = 1 << 4,
    /// `z`
    SortedSet = 1 << 5,
    /// `x`: a key was removed because its time had come.
    Expired = 1 << 6,
    /// `e`: a key was removed for lack of memory.
    Evicted = 1 << 7,
    /// `t`
    Stream = 1 << 8,
    /// `d`: types of modules.
    Module = 1 << 9,
    /// `n`: a key was made. Not part of `A`.
    New = 1 << 10,
    /// `m`: a key was looked for and not there. Not part of `A`.
    Miss = 1 << 11,
}

/// Events that somebody wants, and where they are announced.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct EventClasses(u16);

const BY_KEY: u16 = 1 << 12;
const BY_EVENT: u16 = 1 << 13;
/// `A`
const ALL: u16 = (1 << 10) - 1;

impl EventClasses {
    /// No events.
    pub const NONE: EventClasses = EventClasses(0);

    /// Reads the value of `notify-keyspace-events`. Without `K` and `E` nobody would hear of
    /// anything.
    pub fn from_letters(letters: &[u8]) -> EventClasses {
        let bits = letters.iter().fold(0, |bits, letter| {
            bits | match letter {
                b'A' => ALL,
                b'g' => EventClass::Generic as u16,
                b'$' => EventClass::String as u16,
                b'l' => EventClass::List as u16,
                b's' => EventClass::Set as u16,
                b'h' => EventClass::Hash as u16,
                b'z' => EventClass::SortedSet as u16,
                b'x' => EventClass::Expired as u16,
                b'e' => EventClass::Evicted as u16,
                b't' => EventClass::Stream as u16,
                b'd' => EventClass::Module as u16,
                b'n' => EventClass::New as u16,
                b'm' => EventClass::Miss as u16,
                b'K' => BY_KEY,
                b'E' => BY_EVENT,
                _ => 0,
            }
        });
        if bits & (BY_KEY | BY_EVENT) == 0 { EventClasses::NONE } else { EventClasses(bits) }
    }

    /// Whether events of this class are wanted.
    #[inline]
    pub fn has(self, class: EventClass) -> bool {
        self.0 & class as u16 != 0
    }

    /// Nobody wants any.
    #[inline]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// `K`: a key's events are announced under its name.
    pub fn by_key(self) -> bool {
        self.0 & BY_KEY != 0
    }

    /// `E`: an event's keys are announced under its name.
    pub fn by_event(self) -> bool {
        self.0 & BY_EVENT != 0
    }
}

/// Something has become of a key.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KeyEvent {
    /// Number of the key's database.
    pub db: u8,
    /// What it was, in Redis' words.
    pub name: &'static str,
    /// The key.
    pub key: Vec<u8>,
}

/// Where events go that happen without a command.
pub trait EventSink: Send + Sync {
    /// Which are wanted.
    fn classes(&self) -> EventClasses;

    /// Publishes events, in order, and leaves `events` empty. Nobody may hear of them before the
    /// log has acknowledged `after`.
    fn publish(&self, events: &mut Vec<KeyEvent>, after: Option<Ticket>);
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_choose_classes_and_channels() {
        let all = EventClasses::from_letters(b"AKE");
        assert!(all.has(EventClass::Generic) && all.has(EventClass::Module));
        assert!(!all.has(EventClass::New) && !all.has(EventClass::Miss));
        assert!(all.by_key() && all.by_event());
        let few = EventClasses::from_letters(b"$nE");
        assert!(few.has(EventClass::String) && few.has(EventClass::New));
        assert!(!few.has(EventClass::Generic) && !few.by_key() && few.by_event());
        assert_eq!(EventClasses::from_letters(b"A"), EventClasses::NONE);
        assert_eq!(EventClasses::from_letters(b""), EventClasses::NONE);
    }
}
