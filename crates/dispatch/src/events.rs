//! HOT PATH
//! Key events around a command: keys whose time has come before it, what it did after it.
//!
//! All of it costs one test as long as nobody wants events.

use super::dispatcher::Dispatcher;
use super::keys::{key_session, several_keys};
use super::request::Request;
use super::tracking;
use super::worker::Worker;
use basalt_call::entry::Run;
use basalt_engine::{EventClass, Key, KeyEvent, Txn, View};
use basalt_service::announce::Announcement;
use basalt_service::session::Session;
use basalt_service::wait::Wait;

/// Before a command on keys: returns what it has to wait for, such as subscribers that are behind
/// with earlier events. If for nothing, removes those of its keys whose time has come, and says so.
///
/// Without events such keys are left to the expiry cycle, since they look absent already; but who
/// counts on `expired` counts on it before what a command does to the key afterwards.
#[cold]
pub(super) fn begin(
    request: &Request<'_>,
    worker: &mut Worker,
    session: &mut Session,
) -> Option<Wait> {
    tracking::choose(request, worker, session);
    match request.call.run {
        Run::Session(_) => return None,
        Run::Write(_) | Run::Exec | Run::Script(_) if request.server.pubsub.is_congested() => {
            return Some(Wait::Subscribers);
        }
        Run::Exec | Run::Script(_) => return None,
        Run::Write(_) | Run::Read(_) | Run::Point(_) => {}
    }
    if !expire_keys(request, worker, session) {
        return Some(Wait::Held);
    }
    // From here on a miss is this command's.
    worker.settle();
    tracking::begin(request, worker, session)
}

/// Returns false, having done nothing, if somebody holds the keys for long: when the command ran,
/// they might be free again, and the event would be missing.
fn expire_keys(request: &Request<'_>, worker: &mut Worker, session: &mut Session) -> bool {
    let engine = &*request.server.engine;
    let (keys, now_ms) = (several_keys(request), worker.now_ms);
    let Some(locked) = engine.lock_within(&keys, worker.lock_wait) else { return false };
    let is_due = |key| engine.is_due(&locked, session.db, now_ms, key);
    let takes = |key: &Key<'_>| engine.log().admit_removal(key.partition.shard()).is_ok();
    if !keys.iter().any(is_due) || !keys.iter().all(takes) {
        return true;
    }
    let key_session = key_session(worker, session);
    let mut txn = Txn::new(engine, locked, key_session, &mut worker.changes);
    let expired = keys.iter().filter(|key| txn.expire(key)).count();
    txn.commit(&mut session.gate);
    engine.count_expired(expired as u64);
    publish(request.server, worker, session);
    true
}

/// After a command on keys: publishes what it did, and which keys it has not found.
#[cold]
pub(super) fn announce(request: &Request<'_>, worker: &mut Worker, session: &Session) {
    if worker.has_looked_in_vain() && worker.changes.event_classes().has(EventClass::Miss) {
        note_misses(request, worker, session);
    }
    tracking::end(request, worker, session);
    publish(request.server, worker, session);
}

/// Notes which keys a read command has not found. Each of its keys is looked up once.
fn note_misses(request: &Request<'_>, worker: &mut Worker, session: &Session) {
    if request.traits().inspects_keys {
        return;
    }
    let engine = &*request.server.engine;
    let keys = several_keys(request);
    let key_session = key_session(worker, session);
    // Behind a script that has begun since, the event comes too late to be true.
    let Some(locked) = engine.lock_within(&keys, key_session.lock_wait) else { return };
    let view = View::new(engine, locked, key_session);
    let absent = keys.iter().filter(|key| view.peek(key).is_none());
    let event =
        |key: &Key<'_>| KeyEvent { db: session.db, name: "keymiss", key: key.bytes.to_vec() };
    worker.changes.events().extend(absent.map(event));
}

/// Publishes the events of the command that has run, or of the transaction. They wait for what its
/// reply waits for.
pub(super) fn publish(server: &Dispatcher, worker: &mut Worker, session: &Session) {
    let classes = worker.changes.event_classes();
    let announcement = Announcement { pubsub: &server.pubsub, classes, after: &session.gate };
    for event in worker.changes.events().drain(..) {
        announcement.announce(&event, &mut worker.outbox);
    }
}
