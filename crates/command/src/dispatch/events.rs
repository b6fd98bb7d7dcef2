//! HOT PATH
//! Key events around a command: keys whose time has come before it, what it did after it.
//!
//! All of it costs one test as long as nobody wants events.

use super::Worker;
use super::execute::Request;
use super::keys::{key_session, several_keys};
use crate::entry::Run;
use crate::push::{Outbox, PubSub, Push};
use crate::server::Server;
use crate::session::Session;
use basalt_config::Config;
use basalt_engine::{EventClass, EventClasses, EventSink, Gate, Key, KeyEvent, Ticket, Txn, View};
use basalt_pubsub::{Kind, WhenFull};
use std::fmt::Write;
use std::sync::Arc;

/// Before a command on keys: whether it has to wait for subscribers, who are behind with earlier events;
/// if not, removes those of its keys whose time has come, and says so.
///
/// Without events such keys are left to the expiry cycle, since they look absent already; but who counts
/// on `expired` counts on it before what a command does to the key afterwards.
#[cold]
pub(super) fn must_wait(request: &Request<'_>, worker: &mut Worker, session: &mut Session) -> bool {
    match request.call.run {
        Run::Session(_) => return false,
        Run::Write(_) | Run::Exec | Run::Script(_) if request.server.pubsub.is_congested() => {
            return true;
        }
        Run::Exec | Run::Script(_) => return false,
        Run::Write(_) | Run::Read(_) | Run::Point(_) => {}
    }
    expire_keys(request, worker, session);
    // From here on a miss is this command's.
    worker.settle();
    false
}

fn expire_keys(request: &Request<'_>, worker: &mut Worker, session: &mut Session) {
    let engine = &*request.server.engine;
    let (keys, now_ms) = (several_keys(request), worker.now_ms);
    let locked = engine.lock(&keys);
    let is_due = |key| engine.is_due(&locked, session.db, now_ms, key);
    if !keys.iter().any(is_due) || engine.log().admit_removal().is_err() {
        return;
    }
    let key_session = key_session(worker, session);
    let mut txn = Txn::new(engine, locked, key_session, &mut worker.changes);
    let expired = keys.iter().filter(|key| txn.expire(key)).count();
    if let Some(ticket) = txn.commit() {
        session.gate.add(ticket);
    }
    engine.count_expired(expired as u64);
    publish(request.server, worker, session);
}

/// After a command on keys: publishes what it did, and which keys it has looked for in vain.
#[cold]
pub(super) fn announce(request: &Request<'_>, worker: &mut Worker, session: &Session) {
    if worker.has_looked_in_vain() && worker.changes.event_classes().has(EventClass::Miss) {
        note_misses(request, worker, session);
    }
    publish(request.server, worker, session);
}

/// Notes which keys a read command has looked for in vain. Each of its keys is looked up once.
fn note_misses(request: &Request<'_>, worker: &mut Worker, session: &Session) {
    if request.traits().inspects_keys {
        return;
    }
    let engine = &*request.server.engine;
    let keys = several_keys(request);
    let view = View::new(engine, engine.lock(&keys), key_session(worker, session));
    let absent = keys.iter().filter(|key| view.peek(key).is_none());
    let event =
        |key: &Key<'_>| KeyEvent { db: session.db, name: "keymiss", key: key.bytes.to_vec() };
    worker.changes.events().extend(absent.map(event));
}

/// Publishes the events of the command that has run, or of the transaction. They wait for what its reply
/// waits for.
pub(super) fn publish(server: &Server, worker: &mut Worker, session: &Session) {
    let classes = worker.changes.event_classes();
    let announcement = Announcement { pubsub: &server.pubsub, classes, after: &session.gate };
    for event in worker.changes.events().drain(..) {
        announcement.announce(&event, &mut worker.outbox);
    }
}

struct Announcement<'a> {
    pubsub: &'a PubSub,
    classes: EventClasses,
    after: &'a Gate,
}

impl Announcement<'_> {
    fn announce(&self, event: &KeyEvent, outbox: &mut Outbox) {
        let KeyEvent { db, name, key } = event;
        let mut channel = String::new();
        if self.classes.by_key() {
            // Writing to a string cannot fail.
            let _ = write!(channel, "__keyspace@{db}__:");
            let mut channel = std::mem::take(&mut channel).into_bytes();
            channel.extend_from_slice(key);
            self.send(&channel, name.as_bytes(), outbox);
        }
        if self.classes.by_event() {
            let _ = write!(channel, "__keyevent@{db}__:{name}");
            self.send(channel.as_bytes(), key, outbox);
        }
    }

    fn send(&self, channel: &[u8], payload: &[u8], outbox: &mut Outbox) {
        let kind = Kind::Channel;
        // What has happened cannot wait: commands that cause events wait before they run.
        let _ = self.pubsub.publish(outbox, kind, channel, WhenFull::Exceed, &mut |matched| {
            Push::new(kind, channel, payload, matched, self.after.clone())
        });
    }
}

/// Announces what happens without a command.
pub(crate) struct Announcer {
    config: Arc<Config>,
    pubsub: Arc<PubSub>,
}

impl Announcer {
    pub(crate) fn new(config: Arc<Config>, pubsub: Arc<PubSub>) -> Announcer {
        Announcer { config, pubsub }
    }
}

impl EventSink for Announcer {
    fn classes(&self) -> EventClasses {
        EventClasses::from_letters(&self.config.settings().server.key_event_letters)
    }

    fn publish(&self, events: &mut Vec<KeyEvent>, after: Option<Ticket>) {
        let classes = self.classes();
        let mut gate = Gate::default();
        after.into_iter().for_each(|ticket| gate.add(ticket));
        let announcement = Announcement { pubsub: &self.pubsub, classes, after: &gate };
        let mut outbox = Outbox::default();
        for event in events.drain(..) {
            announcement.announce(&event, &mut outbox);
        }
        outbox.flush(&self.pubsub);
    }
}
