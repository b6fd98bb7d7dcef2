//! HOT PATH
//! What a client's user may do: asked before each command of a client whose user may not do
//! everything ([`super::admission::Admission::RESTRICTED`]), and of no other.

use super::dispatcher::Dispatcher;
use super::request::Request;
use super::worker::Worker;
use basalt_acl::{Context, Denied};
use basalt_service::access::{Denial, denied_to_client};
use basalt_service::args::Args;
use basalt_service::error::CommandError;
use basalt_service::session::Session;
use basalt_spec::Command;

/// Whether a request may run, or be queued.
///
/// # Errors
/// It may not; that is counted and logged.
#[inline(never)]
pub(super) fn admit(
    request: &Request<'_>,
    worker: &Worker,
    session: &Session,
) -> Result<(), CommandError> {
    let (server, command, args) = (request.server, request.command(), request.args(&[]));
    let context = if session.is_queueing() { Context::Multi } else { Context::TopLevel };
    match session.rights.check(command, &args) {
        Ok(()) => check_reach(server, session, command, &args),
        Err(denied) => {
            note(server, worker, session, (denied, context), command, &args);
            Err(denied_to_client(denied, (session.rights.user(), command)))
        }
    }
}

/// Whether a command may run that does not come by itself: a queued one when EXEC comes to it, or
/// one that a script calls.
///
/// # Errors
/// It may not; that is counted and logged. `explain` says why to the one that asked for it.
pub(super) fn permit(
    server: &Dispatcher,
    (worker, session): (&Worker, &Session),
    (command, args): (&Command, &Args<'_>),
    context: Context,
    explain: impl FnOnce(Denied) -> CommandError,
) -> Result<(), CommandError> {
    if !session.rights.is_restricted() {
        return Ok(());
    }
    let Err(denied) = session.rights.check(command, args) else {
        return check_reach(server, session, command, args);
    };
    note(server, worker, session, (denied, context), command, args);
    Err(explain(denied))
}

/// A command that reads keys which are not among its words takes the right to read all.
fn check_reach(
    server: &Dispatcher,
    session: &Session,
    command: &Command,
    args: &Args<'_>,
) -> Result<(), CommandError> {
    let Some(error_of) = server.commands.traits(command.id).reads_any_key else { return Ok(()) };
    match error_of(args) {
        Some(error) if !session.rights.user().reads_any_key(command, args) => Err(error),
        _ => Ok(()),
    }
}

#[cold]
fn note(
    server: &Dispatcher,
    worker: &Worker,
    session: &Session,
    (denied, context): (Denied, Context),
    command: &Command,
    args: &Args<'_>,
) {
    let mut client = String::new();
    let tracker = server.trackers.by_id(session.client.id);
    session.client.describe(
        tracker.as_deref(),
        (worker.now_ms, &server.commands.table),
        &mut client,
    );
    let (now_ms, client) = (worker.now_ms, &client[..]);
    let denial = Denial { denied, context, command, client, now_ms };
    server.access.deny(&worker.settings, &session.rights, denial, args);
}
