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

use crate::log::Gate;
use crate::outdated::OutdatedCopies;

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
    fn publish(&self, events: &mut Vec<KeyEvent>, after: &Gate);

    /// Tells clients that keep copies of keys which of these are out of date. Nobody may hear of
    /// that before the log has acknowledged `after`. No partition is held.
    fn tell_outdated(&self, copies: &OutdatedCopies, after: &Gate);
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
