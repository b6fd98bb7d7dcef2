//! HOT PATH
//! Keys that a client reads and keeps copies of (`CLIENT TRACKING`).
//!
//! A client whose reads are tracked has its commands go the long way, as if it listened for key
//! events, so others pay nothing. Its keys are noted before a command reads them and again after.
//! Of two notes one always holds: a change before the read may take the first note, and the second
//! remains for what was read; a change after the read finds the first or the second, or takes the
//! first and tells the client, which hears of it behind the reply
//! (`docs/decisions/0028-client-tracking.md`). Within EXEC and scripts the locks are held, and one
//! note does.

use super::dispatcher::Dispatcher;
use super::keys::several_keys;
use super::request::Request;
use super::worker::Worker;
use basalt_engine::{Held, Key, OutdatedCopies, Transaction};
use basalt_service::draws::draw;
use basalt_service::session::Session;
use basalt_service::wait::Wait;
use basalt_spec::{CommandId, Flag, Group};

/// Keys that are tracked no longer for the sake of `tracking-table-max-keys`, at one command.
const SHED_MAX: usize = 1000;

/// A command begins of a client whose reads are tracked: `CLIENT CACHING` holds for one of them.
#[cold]
pub(super) fn choose(request: &Request<'_>, worker: &mut Worker, session: &mut Session) {
    let is_queueing = session.is_queueing();
    let Some(tracking) = &mut session.read_tracking else { return };
    let spec = request.command().spec;
    // What a client says of itself does not count, and a transaction counts as one command.
    let is_own_affair = spec.group == Group::Connection && spec.container_and_name().is_some();
    if !is_queueing && !is_own_affair {
        tracking.begin();
    }
    shed(request.server, worker);
}

/// Before a command reads its keys.
#[cold]
pub(super) fn begin(request: &Request<'_>, worker: &mut Worker, session: &Session) -> Option<Wait> {
    note(request, worker, session).is_err().then_some(Wait::Held)
}

/// After a command has read its keys.
#[cold]
pub(super) fn end(request: &Request<'_>, worker: &mut Worker, session: &Session) {
    if !session.tracks_reads() {
        return;
    }
    if note(request, worker, session).is_err() {
        // A script has taken the keys, and may have changed them before the first note was made.
        let keys = several_keys(request);
        let names: Vec<&[u8]> = keys.iter().map(|key| key.bytes).collect();
        let (trackers, pubsub) = (&request.server.trackers, &request.server.pubsub);
        trackers.tell_one(pubsub, session.client.id, &names, &mut worker.outbox);
    }
    shed(request.server, worker);
}

fn note(request: &Request<'_>, worker: &mut Worker, session: &Session) -> Result<(), Held> {
    if !session.tracks_reads() || !request.command().flags.has(Flag::Readonly) {
        return Ok(());
    }
    let keys = several_keys(request);
    let server = request.server;
    let is_live = |id| server.trackers.is_reader(id);
    let reader = (session.client.id, &is_live as &dyn Fn(u64) -> bool);
    server.engine.track(&keys, reader, worker.lock_wait, &mut worker.changes)
}

/// A command of a transaction or a script has read its keys, which are held.
pub(super) fn note_within(
    server: &Dispatcher,
    session: &Session,
    transaction: &mut Transaction<'_>,
    id: CommandId,
    keys: &[Key<'_>],
) {
    if session.tracks_reads() && server.commands.table.command(id).flags.has(Flag::Readonly) {
        let is_live = |id| server.trackers.is_reader(id);
        transaction.track(keys, session.client.id, &is_live);
    }
}

/// Sees to it that no more keys are tracked than `tracking-table-max-keys` says.
fn shed(server: &Dispatcher, worker: &mut Worker) {
    let keys_max = worker.settings.clients.tracked_keys_max;
    if keys_max != 0 && server.engine.tracked().0 > keys_max {
        let limits = (keys_max, SHED_MAX);
        server.engine.shed_tracked(limits, &mut draw, worker.lock_wait, &mut worker.changes);
    }
}

/// Tells clients of copies that are out of date. No partition is held.
#[cold]
pub(super) fn tell(server: &Dispatcher, worker: &mut Worker, copies: &OutdatedCopies) {
    if server.trackers.is_empty() {
        return;
    }
    let after = server.engine.gate_of_outdated(copies);
    server.trackers.tell(&server.pubsub, copies, &after, &mut worker.outbox);
}
