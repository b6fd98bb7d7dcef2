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
pub(super) fn is_behind(server: &Dispatcher, session: &mut Session, request: Incoming<'_>) -> bool {
    // It may have a million keys.
    if server.contested.is_empty() || session.has_given_way {
        return false;
    }
    let Incoming { prepared, buffer, words } = request;
    let Some(id) = prepared.command else { return false };
    let call = server.commands.call(id);
    let is_behind = match call.run {
        Run::Read(_) | Run::Point(_) | Run::Write(_) => {
            let request = Request { server, id, call, buffer, words, prepared };
            server.contested.take_of(&several_keys(&request))
        }
        Run::Session(_) | Run::Exec | Run::Script(_) => false,
    };
    session.has_given_way = is_behind;
    is_behind
}

/// Locks what a script or a transaction claims, unless commands wait for some of it that are to go
/// first, or somebody holds it for longer than this thread waits. A command lets others go first
/// once ([`Session::has_given_way`]).
pub(super) fn lock<'e>(
    server: &'e Dispatcher,
    claims: &Claims<'_>,
    (watching, wait, has_given_way): (Option<&Watching>, LockWait, &mut bool),
    changes: &'e mut ChangeSet,
) -> Result<Transaction<'e>, Unready> {
    if !*has_given_way && server.contested.take(claims) {
        *has_given_way = true;
        return Err(Unready::Held);
    }
    let locked = Transaction::lock(&server.engine, claims, watching, wait, changes);
    if matches!(locked, Err(Unready::Held)) {
        server.contested.note_claims(&server.engine, claims);
    }
    locked
}
