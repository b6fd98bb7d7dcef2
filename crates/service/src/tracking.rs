//! The clients that keep copies of keys (`CLIENT TRACKING`), and telling them which of these are
//! out of date.
//!
//! What a client has read stands in the partitions of the keys (`engine/src/tracking.rs`), under
//! the client's number. Here are the clients by their numbers, how each wants to be told, and the
//! prefixes of those that want to hear of keys that they have not read. A client that goes leaves
//! this at once, and its number stays in the partitions until these come across it.
//!
//! What is out of date is told through the mailbox of the client's thread, so it comes after every
//! reply that the client's commands have been given before the change. A thread that is behind gets
//! one message for a client instead of many: all copies are out of date.

use crate::clients::ClientHandle;
use crate::push::{Outbox, PubSub, Push};
use crate::read_tracking::{Choosing, ReadTracking};
use crate::session::Session;
use basalt_engine::{Cause, Engine, Gate, Held, LockWait, Outdated, OutdatedCopies, Transaction};
use basalt_pubsub::{Address, Serial};
use basalt_stdx::lock_rank::LeafRwLock;
use basalt_tracking::Prefixes;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};

/// How the partitions are reached where it is noted what clients keep copies of.
pub enum Partitions<'a, 't> {
    /// They are locked for it, waiting for as long as this.
    Free(LockWait),
    /// A transaction holds all of them.
    Held(&'a mut Transaction<'t>),
}

/// All clients that keep copies of keys.
#[derive(Debug, Default)]
pub struct Trackers {
    state: LeafRwLock<State>,
    /// How many of them want to hear of keys that they have not read.
    broadcasters: AtomicUsize,
}

#[derive(Debug, Default)]
struct State {
    by_id: BTreeMap<u64, Arc<Tracker>>,
    prefixes: Prefixes,
}

/// A client that keeps copies.
#[derive(Debug)]
pub struct Tracker {
    /// Its number.
    pub id: u64,
    /// Where it gets messages.
    pub address: Address,
    /// The client that gets them in its place.
    pub redirect: Option<Redirect>,
    /// It is not told of its own changes.
    pub noloop: bool,
    /// The keys that it wants to hear of.
    pub scope: Scope,
    /// It was to be told something, and the client that gets its messages had gone.
    is_broken: AtomicBool,
    /// It is about to be told that all copies are out of date.
    is_renewing: Arc<AtomicBool>,
}

/// The client that gets another one's messages.
#[derive(Clone, Debug)]
pub struct Redirect {
    /// Its number.
    pub id: u64,
    /// The client; it may be there a little longer than it is connected.
    pub client: Weak<ClientHandle>,
}

/// The keys that a client wants to hear of.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Scope {
    /// Those that it has read.
    Read(Choosing),
    /// Those with one of these prefixes (`BCAST`).
    Broadcast(Vec<Box<[u8]>>),
}

impl Tracker {
    /// A client with its ways; it has not been told anything yet.
    pub fn new(
        session: &Session,
        redirect: Option<Redirect>,
        noloop: bool,
        scope: Scope,
    ) -> Tracker {
        Tracker {
            id: session.client.id,
            address: session.address,
            redirect,
            noloop,
            scope,
            is_broken: AtomicBool::new(false),
            is_renewing: Arc::default(),
        }
    }

    /// The client that was to get its messages has gone, and that has come up.
    pub fn is_broken(&self) -> bool {
        self.is_broken.load(Ordering::Relaxed)
    }

    /// The prefixes of the keys that it wants to hear of.
    pub fn prefixes(&self) -> &[Box<[u8]>] {
        match &self.scope {
            Scope::Read(_) => &[],
            Scope::Broadcast(prefixes) => prefixes,
        }
    }

    fn wants(&self, cause: Cause) -> bool {
        !self.noloop || cause != Cause::Change(self.id)
    }
}

/// The number that stands for how a client's messages are redirected.
pub fn redirection_of(tracker: Option<&Tracker>) -> i64 {
    let Some(tracker) = tracker else { return -1 };
    tracker.redirect.as_ref().map_or(0, |redirect| redirect.id as i64)
}

impl Trackers {
    /// How many clients keep copies.
    pub fn len(&self) -> usize {
        self.state.read().by_id.len()
    }

    /// None does.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many different prefixes there are.
    pub fn prefixes(&self) -> usize {
        self.state.read().prefixes.len()
    }

    /// A client that keeps copies.
    pub fn by_id(&self, id: u64) -> Option<Arc<Tracker>> {
        self.state.read().by_id.get(&id).cloned()
    }

    /// Whether a client still keeps copies of what it reads.
    pub fn is_reader(&self, id: u64) -> bool {
        self.state.read().by_id.get(&id).is_some_and(|it| matches!(it.scope, Scope::Read(_)))
    }

    /// A client keeps copies from now on, or in another way.
    ///
    /// # Errors
    /// It wants to hear of keys that it has not read, and somebody holds a partition for long.
    pub fn start(
        &self,
        engine: &Engine,
        session: &mut Session,
        tracker: Tracker,
        partitions: Partitions<'_, '_>,
    ) -> Result<(), Held> {
        let Scope::Read(choosing) = tracker.scope else {
            // Nothing changes while it is put down: it hears of all that comes after.
            match partitions {
                Partitions::Free(wait) => {
                    let flags = engine.hold_broadcasts(wait)?;
                    self.put(tracker);
                    flags.set();
                }
                Partitions::Held(transaction) => {
                    self.put(tracker);
                    transaction.set_broadcasts();
                }
            }
            (session.is_tracked, session.read_tracking) = (true, None);
            return Ok(());
        };
        self.put(tracker);
        session.is_tracked = true;
        session.read_tracking = Some(ReadTracking::new(choosing));
        Ok(())
    }

    fn put(&self, tracker: Tracker) {
        let mut state = self.state.write();
        let id = tracker.id;
        // It has kept those that it had, in front of its new ones.
        let known = state.by_id.get(&id).map_or(0, |before| before.prefixes().len());
        for prefix in tracker.prefixes().iter().skip(known) {
            state.prefixes.add(prefix, id);
        }
        let is_broadcaster = matches!(tracker.scope, Scope::Broadcast(_));
        let before = state.by_id.insert(id, Arc::new(tracker));
        if is_broadcaster && before.is_none() {
            // Relaxed: stored and asked under partitions' locks, which order it.
            self.broadcasters.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// A client keeps no copies any more. The last one leaves nothing in the partitions.
    pub fn stop(&self, engine: &Engine, session: &mut Session, partitions: Partitions<'_, '_>) {
        session.read_tracking = None;
        if std::mem::take(&mut session.is_tracked) && self.take(session.client.id) {
            let has_broadcasts = || self.broadcasters.load(Ordering::Relaxed) > 0;
            let is_live = |id| self.is_reader(id);
            match partitions {
                Partitions::Free(wait) => engine.sweep_tracked(&is_live, &has_broadcasts, wait),
                Partitions::Held(transaction) => {
                    transaction.sweep_tracked(&is_live, &has_broadcasts);
                }
            }
        }
    }

    /// Returns true if the client was the last of its kind.
    fn take(&self, id: u64) -> bool {
        let mut state = self.state.write();
        let Some(tracker) = state.by_id.remove(&id) else { return false };
        for prefix in tracker.prefixes() {
            state.prefixes.remove(prefix, id);
        }
        let is_broadcaster = matches!(tracker.scope, Scope::Broadcast(_));
        let was_last_broadcaster =
            is_broadcaster && self.broadcasters.fetch_sub(1, Ordering::Relaxed) == 1;
        was_last_broadcaster || state.by_id.is_empty()
    }

    /// Tells clients which of their copies are out of date. Nobody hears of it before the log has
    /// acknowledged `after`.
    pub fn tell(
        &self,
        pubsub: &PubSub,
        copies: &OutdatedCopies,
        after: &Gate,
        outbox: &mut Outbox,
    ) {
        let mut sender = Sender { pubsub, after, outbox };
        if copies.all {
            let all: Vec<_> = self.state.read().by_id.values().cloned().collect();
            all.iter().for_each(|tracker| sender.renew(tracker));
        }
        for outdated in &copies.keys {
            self.tell_readers(outdated, &mut sender);
        }
        self.broadcast(&copies.keys, &mut sender);
    }

    fn tell_readers(&self, outdated: &Outdated, sender: &mut Sender<'_>) {
        let readers: Vec<_> = {
            let state = self.state.read();
            let readers = outdated.readers.iter().filter_map(|id| state.by_id.get(id));
            let reads = |it: &&Arc<Tracker>| matches!(it.scope, Scope::Read(_));
            readers.filter(reads).filter(|it| it.wants(outdated.cause)).cloned().collect()
        };
        readers.iter().for_each(|tracker| sender.send(tracker, &[&outdated.key]));
    }

    /// Tells of keys with the prefixes that clients have named: each client once for each prefix.
    fn broadcast(&self, keys: &[Outdated], sender: &mut Sender<'_>) {
        if self.broadcasters.load(Ordering::Relaxed) == 0 {
            return;
        }
        let mut messages: BTreeMap<(Box<[u8]>, u64), Message<'_>> = BTreeMap::new();
        {
            let state = self.state.read();
            for outdated in keys.iter().filter(|it| it.cause != Cause::Forgotten) {
                state.prefixes.visit(&outdated.key, |prefix, clients| {
                    let trackers = clients.iter().filter_map(|id| state.by_id.get(id));
                    for tracker in trackers.filter(|it| it.wants(outdated.cause)) {
                        let message = messages.entry((prefix.into(), tracker.id));
                        let (_, keys) =
                            message.or_insert_with(|| (Arc::clone(tracker), BTreeSet::new()));
                        keys.insert(&outdated.key);
                    }
                });
            }
        }
        for (tracker, keys) in messages.values() {
            sender.send(tracker, &keys.iter().copied().collect::<Vec<_>>());
        }
    }

    /// Tells one client that its copies of some keys are out of date.
    pub fn tell_one(&self, pubsub: &PubSub, id: u64, keys: &[&[u8]], outbox: &mut Outbox) {
        if let Some(tracker) = self.by_id(id) {
            Sender { pubsub, after: &Gate::default(), outbox }.send(&tracker, keys);
        }
    }
}

/// A client, and the keys with one of its prefixes.
type Message<'a> = (Arc<Tracker>, BTreeSet<&'a [u8]>);

/// Sends messages to clients that keep copies.
struct Sender<'a> {
    pubsub: &'a PubSub,
    after: &'a Gate,
    outbox: &'a mut Outbox,
}

impl Sender<'_> {
    fn send(&mut self, tracker: &Tracker, keys: &[&[u8]]) {
        let Some((address, id)) = self.destination(tracker) else { return };
        if self.pubsub.is_behind(self.outbox, address) {
            return self.renew(tracker);
        }
        let push = Push::outdated(Some(keys), tracker.redirect.is_some(), self.after.clone());
        self.put(address, id, push);
    }

    /// All copies of a client are out of date. It need not be told twice.
    fn renew(&mut self, tracker: &Tracker) {
        let Some((address, id)) = self.destination(tracker) else { return };
        // AcqRel pairs with the store of the thread that writes the message: what is told after
        // that comes after that.
        if !tracker.is_renewing.swap(true, Ordering::AcqRel) {
            let push = Push::outdated(None, tracker.redirect.is_some(), self.after.clone());
            self.put(address, id, push.ending(&tracker.is_renewing));
        }
    }

    /// Where messages for a client go. If that has gone, the client hears of it.
    fn destination(&mut self, tracker: &Tracker) -> Option<(Address, u64)> {
        let Some(redirect) = &tracker.redirect else { return Some((tracker.address, tracker.id)) };
        let client = redirect.client.upgrade().filter(|client| client.can_be_told());
        if let Some(address) = client.and_then(|client| client.inbox.get().copied()) {
            return Some((address, redirect.id));
        }
        tracker.is_broken.store(true, Ordering::Relaxed);
        if !self.pubsub.is_behind(self.outbox, tracker.address) {
            let push = Push::broken_redirection(redirect.id, self.after.clone());
            self.put(tracker.address, tracker.id, push);
        }
        None
    }

    fn put(&mut self, address: Address, id: u64, push: Push) {
        self.pubsub.send(self.outbox, address, Serial::of_subscriber(id), Arc::new(push));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::access::Access;
    use crate::clients::Clients;
    use crate::clients::tests::unreachable;
    use crate::push::{Delivery, Receipt};
    use basalt_pubsub::Sink;
    use basalt_resp::{Output, Protocol};
    use parking_lot::Mutex;
    use std::io::IoSlice;

    /// A thread that does not get on.
    #[derive(Default)]
    struct Behind {
        deliveries: Mutex<Vec<Delivery>>,
        is_behind: AtomicBool,
    }

    impl Sink<Push> for Behind {
        fn take(&self, deliveries: &mut Vec<Delivery>) {
            self.deliveries.lock().append(deliveries);
        }

        fn is_congested(&self) -> bool {
            self.is_behind.load(Ordering::Relaxed)
        }
    }

    fn outdated(key: &[u8], reader: u64) -> OutdatedCopies {
        let readers = vec![reader];
        let keys = vec![Outdated { key: key.into(), readers, cause: Cause::Change(0) }];
        OutdatedCopies { all: false, keys }
    }

    #[test]
    fn a_thread_that_is_behind_gets_one_message_for_a_client_until_that_is_written() {
        let (pubsub, trackers) = (PubSub::new(1), Trackers::default());
        let thread = Arc::<Behind>::default();
        let sink = pubsub.add_sink(Arc::clone(&thread) as Arc<dyn Sink<Push>>);
        let client = Clients::default().add(unreachable());
        let rights = Access::default().rights_of_new_client(true);
        let mut session = Session::new(client, rights);
        session.speak(Protocol::Resp3);
        session.receive_at(Address { sink, place: 0 });
        let id = session.client.id;
        trackers.put(Tracker::new(&session, None, false, Scope::Read(Choosing::All)));
        let mut outbox = Outbox::default();
        let mut tell = |key: &[u8]| {
            trackers.tell(&pubsub, &outdated(key, id), &Gate::default(), &mut outbox);
            outbox.flush(&pubsub);
            std::mem::take(&mut *thread.deliveries.lock())
        };
        let mut heard = |deliveries: Vec<Delivery>| {
            let mut out = Output::new();
            for delivery in &deliveries {
                let serial = delivery.subscribers[0].serial;
                assert_eq!(session.receive(delivery, serial, &mut out), Receipt::Written);
            }
            let mut slices = [IoSlice::new(&[]); 1];
            assert_eq!(out.io_slices(&mut slices), 1);
            slices[0].to_vec()
        };
        assert_eq!(heard(tell(b"k")), b">2\r\n$10\r\ninvalidate\r\n*1\r\n$1\r\nk\r\n");
        thread.is_behind.store(true, Ordering::Relaxed);
        let waits = tell(b"k");
        for _ in 0..100 {
            assert!(tell(b"l").is_empty(), "what waits says it, too");
        }
        assert_eq!(heard(waits), b">2\r\n$10\r\ninvalidate\r\n_\r\n");
        assert_eq!(tell(b"k").len(), 1, "what comes after that is told");
    }

    #[test]
    fn a_client_that_has_gone_gets_no_messages_though_somebody_lists_it() {
        let (pubsub, trackers, clients) = (PubSub::new(1), Trackers::default(), Clients::default());
        let sink = pubsub.add_sink(Arc::<Behind>::default() as Arc<dyn Sink<Push>>);
        let listed = clients.add(unreachable());
        listed.inbox.set(Address { sink, place: 1 }).expect("it has none");
        let rights = Access::default().rights_of_new_client(true);
        let mut session = Session::new(clients.add(unreachable()), rights);
        session.receive_at(Address { sink, place: 0 });
        let id = session.client.id;
        let redirect = Redirect { id: listed.id, client: Arc::downgrade(&listed) };
        trackers.put(Tracker::new(&session, Some(redirect), false, Scope::Read(Choosing::All)));
        let is_broken = || {
            let mut outbox = Outbox::default();
            trackers.tell(&pubsub, &outdated(b"k", id), &Gate::default(), &mut outbox);
            trackers.by_id(id).expect("it keeps copies").is_broken()
        };
        assert!(!is_broken());
        clients.remove(listed.id);
        assert!(is_broken());
    }

    #[test]
    fn a_choice_holds_for_one_command() {
        for choosing in [Choosing::All, Choosing::In, Choosing::Out] {
            let mut tracking = ReadTracking::new(choosing);
            let usually = choosing != Choosing::In;
            tracking.begin();
            assert_eq!(tracking.is_on(), usually);
            if choosing == Choosing::All {
                continue;
            }
            tracking.choose();
            for _ in 0..2 {
                tracking.begin();
                assert_eq!(tracking.is_on(), !usually, "{choosing:?}: the command behind");
                tracking.take_back();
            }
            tracking.begin();
            assert!(tracking.is_chosen(), "the command that has waited begins again");
            tracking.begin();
            assert_eq!(tracking.is_on(), usually, "{choosing:?}: the one behind that");
            tracking.choose();
            tracking.end();
            tracking.begin();
            assert_eq!(tracking.is_on(), usually, "{choosing:?}: nothing came of the command");
        }
    }
}
