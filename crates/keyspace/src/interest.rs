//! The clients that want to know when a key of a partition changes: transactions that watch it,
//! clients whose command waits for it, and clients that keep a copy of it.
//!
//! Of those who wait for a key to take something from it, only the one that has waited longest is
//! called; it passes the call on when it goes (`waiters.rs`). Others see every change. A client
//! that is called is only noted here, and woken when the partition is no longer locked.
//!
//! A partition has an [`Interest`] only while somebody is interested in one of its keys, so that a
//! write asks one pointer, in a line that its lock has brought in. A key is known by its hash here:
//! two keys with one hash would be told of each other's changes, which makes a transaction fail
//! that need not, once in 2^64, and nothing else.

use crate::calls::Calls;
use crate::holds::Holds;
pub use crate::waiters::{Call, Called, Cause, KeyId, Outdated};
use crate::waiters::{Service, Waiter, Waiters};
use basalt_tracking::TrackedKeys;
use basalt_value::queue::MessageId;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The clients that are interested in the keys of one partition.
#[derive(Debug, Default)]
pub struct Interest {
    watches: BTreeMap<KeyId, Vec<Watch>>,
    waiting: BTreeMap<KeyId, Waiters>,
    calls: Calls,
    holds: Holds,
    /// The keys of which clients keep copies, in whatever database they have read them.
    pub tracked: TrackedKeys,
    /// Some client wants to hear of changes of keys that it has not read.
    pub broadcasts: bool,
}

/// What a client that watches keys is told. Written under the lock of the partition that changed.
#[derive(Debug, Default)]
pub struct WatchMark {
    changed: AtomicBool,
}

/// One client's watch over one key.
#[derive(Debug)]
pub struct Watch {
    /// Whom to tell.
    pub mark: Arc<WatchMark>,
    /// The key, to be found in another database when two change places.
    pub key: Box<[u8]>,
    /// What was under the key.
    pub seen: WatchedState,
}

/// What a key holds, as far as one who watches it is concerned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WatchedState {
    /// An object.
    Live,
    /// An object that has expired and takes memory still.
    Expired,
    /// Nothing.
    Absent,
}

/// What happens to a key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Event {
    /// It gets an object, whatever was there.
    Made,
    /// Its object changes.
    Changed,
    /// It is deleted.
    Deleted,
    /// What is left of it is removed: it had expired.
    ExpiredRemoved,
}

/// What a client leaves under a key that it has waited for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rest {
    /// The next in turn may find something.
    Something,
    /// There is nothing.
    Nothing,
}

impl WatchMark {
    /// A watched key has changed.
    #[inline]
    pub fn is_changed(&self) -> bool {
        // Relaxed: a thread that must not miss a change holds the key's partition, which orders it.
        self.changed.load(Ordering::Relaxed)
    }

    fn set(&self) {
        self.changed.store(true, Ordering::Relaxed);
    }
}

impl Interest {
    /// Nobody is interested: the partition need not have it.
    pub fn is_empty(&self) -> bool {
        let is_unwatched = self.watches.is_empty() && self.waiting.is_empty();
        let is_unwaited = self.calls.is_empty() && self.holds.is_empty();
        is_unwatched && is_unwaited && self.tracked.is_empty() && !self.broadcasts
    }

    /// Tells this client of the next change of a key, once.
    pub fn watch(&mut self, place: KeyId, watch: Watch) {
        self.watches.entry(place).or_default().push(watch);
    }

    /// Tells this client nothing more about a key.
    pub fn unwatch(&mut self, place: KeyId, mark: &Arc<WatchMark>) {
        if let Some(watches) = self.watches.get_mut(&place) {
            watches.retain(|watch| !Arc::ptr_eq(&watch.mark, mark));
            if watches.is_empty() {
                self.watches.remove(&place);
            }
        }
    }

    /// Something happens to a key: tells those who watch it, and calls those who wait for it. A
    /// client that watched and has been told is forgotten.
    pub fn note(&mut self, place: KeyId, event: Event, called: &mut Called) {
        self.retain(place, |watch| match (event, watch.seen) {
            (Event::ExpiredRemoved, WatchedState::Expired | WatchedState::Absent) => {
                Some(WatchedState::Absent)
            }
            _ => None,
        });
        match event {
            Event::Made => self.signal(place, called),
            Event::Changed => {}
            Event::Deleted | Event::ExpiredRemoved => {
                if let Some(waiters) = self.waiting.get_mut(&place) {
                    waiters.call_for_end(called);
                }
            }
        }
        if event != Event::Changed {
            self.calls.call_all_of(place, called);
            self.holds.call_all_of(place, called);
        }
    }

    /// A key changes, of which clients may keep copies. Returns how many have read it, if any has.
    pub fn outdate(
        &mut self,
        (hash, key): (u64, &[u8]),
        cause: Cause,
        called: &mut Called,
    ) -> Option<usize> {
        let untracked = self.tracked.take(hash, key);
        let readers = untracked.map(|untracked| untracked.readers);
        let count = readers.as_ref().map(Vec::len);
        let is_new = || match called.last() {
            // A command that changes its key in many steps says so once.
            Some(Call::Outdated(last)) => last.cause != cause || *last.key != *key,
            _ => true,
        };
        if count.is_some() || self.broadcasts && is_new() {
            let readers = readers.unwrap_or_default();
            called.push(Call::Outdated(Outdated { key: key.into(), readers, cause }));
        }
        count
    }

    /// A key has something for those who wait for it.
    pub fn signal(&mut self, place: KeyId, called: &mut Called) {
        if let Some(waiters) = self.waiting.get_mut(&place) {
            waiters.call(called);
        }
    }

    /// A database is replaced by another one: `now` says what that has under a key.
    pub fn note_replaced(
        &mut self,
        db: u8,
        mut now: impl FnMut(u64, &[u8]) -> WatchedState,
        called: &mut Called,
    ) {
        let places: Vec<KeyId> = self.watches.keys().filter(|at| at.db == db).copied().collect();
        for place in places {
            self.retain(place, |watch| {
                let is_live = watch.seen == WatchedState::Live;
                (!is_live)
                    .then(|| now(place.hash, &watch.key))
                    .filter(|now| *now != WatchedState::Live)
            });
        }
        for (_, waiters) in self.waiting.iter_mut().filter(|(at, _)| at.db == db) {
            waiters.call(called);
            waiters.call_for_end(called);
        }
        self.calls.call_all_in(db, called);
        self.holds.call_all_in(db, called);
    }

    /// A client waits for a key, or still waits: then it keeps its place.
    pub fn wait(&mut self, place: KeyId, waiter: &Arc<dyn Waiter>, service: Service) {
        match service {
            Service::Answer(message) => self.calls.join(place, message, waiter),
            _ => self.waiting.entry(place).or_default().join(waiter, service),
        }
    }

    /// A client waits until one of these messages of a queue is released, or still waits.
    pub fn wait_for_release(
        &mut self,
        queue: KeyId,
        messages: &[MessageId],
        waiter: &Arc<dyn Waiter>,
    ) {
        self.holds.join(queue, messages, waiter);
    }

    /// A message of a queue is held by nobody: calls those who wait for that.
    pub fn release(&mut self, queue: KeyId, message: MessageId, called: &mut Called) {
        self.holds.release(queue, message, called);
    }

    /// All messages of a queue are.
    pub fn release_all(&mut self, queue: KeyId, called: &mut Called) {
        self.holds.call_all_of(queue, called);
    }

    /// Whether nobody has waited longer for a turn of this kind at the key than this client.
    pub fn is_in_turn(&self, place: KeyId, client: u64, service: Service) -> bool {
        self.waiting.get(&place).is_none_or(|waiters| waiters.is_in_turn(client, service))
    }

    /// A client waits for a key no longer. If it had been called, and `rest` says that it leaves
    /// something, the next one is. Returns the message that it waited to be answered.
    pub fn leave(
        &mut self,
        place: KeyId,
        client: u64,
        rest: Rest,
        called: &mut Called,
    ) -> Option<MessageId> {
        self.holds.leave(client);
        let message = self.calls.leave(client);
        let Some(waiters) = self.waiting.get_mut(&place) else { return message };
        let called_in = waiters.leave(client);
        if waiters.is_empty() {
            self.waiting.remove(&place);
        } else if let (Some(service), Rest::Something) = (called_in, rest) {
            waiters.call_next(service, called);
        }
        message
    }

    /// The message that a client waits to be answered.
    pub fn message_of(&self, client: u64) -> Option<MessageId> {
        self.calls.message_of(client)
    }

    /// The answer that a client waits for, if it is there.
    pub fn take_answer(&mut self, client: u64) -> Option<Box<[u8]>> {
        self.calls.take_answer(client)
    }

    /// Answers a message of a queue; false if nobody waits for that.
    pub fn answer(
        &mut self,
        queue: KeyId,
        message: MessageId,
        answer: &[u8],
        called: &mut Called,
    ) -> bool {
        self.calls.answer(queue, message, answer, called)
    }

    /// How many clients wait for this key.
    pub fn waiters_of(&self, place: KeyId) -> usize {
        self.waiting.get(&place).map_or(0, Waiters::count)
    }

    /// Somebody waits for this key.
    pub fn is_waited_for(&self, place: KeyId) -> bool {
        self.waiting.contains_key(&place)
    }

    /// Keys that somebody waits for; of those, keys of which somebody awaits the end.
    pub fn waited_for(&self) -> (usize, usize) {
        let for_end = self.waiting.values().filter(|waiters| waiters.await_end()).count();
        (self.waiting.len(), for_end)
    }

    /// Keeps the watches of a key for which `sees` returns what they see from now on, and tells the
    /// others of a change.
    fn retain(&mut self, place: KeyId, mut sees: impl FnMut(&Watch) -> Option<WatchedState>) {
        let Some(watches) = self.watches.get_mut(&place) else { return };
        watches.retain_mut(|watch| match sees(watch) {
            Some(seen) => {
                watch.seen = seen;
                true
            }
            None => {
                watch.mark.set();
                false
            }
        });
        if watches.is_empty() {
            self.watches.remove(&place);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: KeyId = KeyId { hash: 7, db: 0 };

    fn watched(seen: WatchedState) -> (Interest, Arc<WatchMark>) {
        let (mut interest, mark) = (Interest::default(), Arc::new(WatchMark::default()));
        let key = b"k"[..].into();
        interest.watch(HERE, Watch { mark: Arc::clone(&mark), key, seen });
        (interest, mark)
    }

    #[test]
    fn a_change_is_told_once_and_then_forgotten() {
        let (mut interest, mark) = watched(WatchedState::Live);
        interest.note(KeyId { hash: 8, ..HERE }, Event::Changed, &mut Called::new());
        interest.note(KeyId { db: 1, ..HERE }, Event::Changed, &mut Called::new());
        assert!(!mark.is_changed() && !interest.is_empty());
        interest.note(HERE, Event::Changed, &mut Called::new());
        assert!(mark.is_changed() && interest.is_empty());
    }

    #[test]
    fn what_had_expired_may_go_and_what_expires_may_not() {
        for (seen, changed) in [
            (WatchedState::Live, true),
            (WatchedState::Expired, false),
            (WatchedState::Absent, false),
        ] {
            let (mut interest, mark) = watched(seen);
            interest.note(HERE, Event::ExpiredRemoved, &mut Called::new());
            assert_eq!(mark.is_changed(), changed, "{seen:?}");
            interest.note(HERE, Event::Made, &mut Called::new());
            assert!(mark.is_changed());
        }
    }

    #[test]
    fn another_database_changes_what_is_live_before_or_after() {
        use WatchedState::{Absent, Expired, Live};
        for before in [Live, Expired, Absent] {
            for after in [Live, Expired, Absent] {
                let (mut interest, mark) = watched(before);
                interest.note_replaced(1, |_, _| Live, &mut Called::new());
                assert!(!mark.is_changed());
                interest.note_replaced(0, |_, _| after, &mut Called::new());
                assert_eq!(mark.is_changed(), before == Live || after == Live);
                interest.unwatch(HERE, &mark);
                assert!(interest.is_empty());
            }
        }
    }
}
