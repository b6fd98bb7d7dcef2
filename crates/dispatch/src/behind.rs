//! What may take long lets commands go first that wait for its keys.

use super::dispatcher::Dispatcher;
use super::keys::several_keys;
use super::prepare::Incoming;
use super::request::Request;
use basalt_call::entry::Run;
use basalt_engine::{ChangeSet, Claims, LockWait, Transaction, Unready, Watching};
use basalt_service::session::Session;

/// Whether commands wait for keys of this one that are to go first. Scripts and transactions find
/// that out when they lock what they claim.
pub(super) fn is_behind(server: &Dispatcher, session: &Session, request: Incoming<'_>) -> bool {
    // It may have a million keys.
    if server.contested.is_empty() || has_let_go(session) {
        return false;
    }
    let Incoming { prepared, buffer, words } = request;
    let Some(id) = prepared.command else { return false };
    let call = server.commands.call(id);
    match call.run {
        Run::Read(_) | Run::Point(_) | Run::Write(_) => {
            let request = Request { server, id, call, buffer, words, prepared };
            server.contested.take_of(&several_keys(&request))
        }
        Run::Session(_) | Run::Exec | Run::Script(_) => false,
    }
}

/// Locks what a script or a transaction claims, unless commands wait for some of it that are to go
/// first, or somebody holds it for longer than this thread waits.
pub(super) fn lock<'e>(
    server: &'e Dispatcher,
    session: &Session,
    claims: &Claims<'_>,
    (watching, wait): (Option<&Watching>, LockWait),
    changes: &'e mut ChangeSet,
) -> Result<Transaction<'e>, Unready> {
    if !has_let_go(session) && server.contested.take(claims) {
        return Err(Unready::Held);
    }
    let locked = Transaction::lock(&server.engine, claims, watching, wait, changes);
    if matches!(locked, Err(Unready::Held)) {
        server.contested.note_claims(&server.engine, claims);
    }
    locked
}

/// Whether its command has waited for keys that others held: once is enough.
fn has_let_go(session: &Session) -> bool {
    session.held_since.is_some()
}
