//! HOT PATH
//! What a client's user may do: asked before each command of a client whose user may not do
//! everything ([`super::admission::Admission::RESTRICTED`]), and of no other.

use super::dispatcher::Dispatcher;
use super::prepare::Incoming;
use super::request::Request;
use super::row::Alike;
use super::worker::Worker;
use basalt_acl::{Context, Denied};
use basalt_service::access::{Denial, denial_text};
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
            let text = denial_text(denied, (session.rights.user(), command));
            Err(CommandError::new(format!("NOPERM {text}")))
        }
    }
}

/// How many requests of a row are permitted, before one that is not.
#[inline]
pub(super) fn count_permitted<'a>(
    alike: &Alike<'_>,
    session: &Session,
    requests: impl Iterator<Item = Incoming<'a>>,
) -> usize {
    let traits = alike.server.commands.traits(alike.id);
    if traits.reads_any_key.is_some() {
        return 0;
    }
    let command = alike.server.commands.table.command(alike.id);
    let is_permitted = |request: &Incoming<'_>| {
        let args = Args::new(request.buffer, request.words);
        alike.has(*request) && session.rights.check(command, &args).is_ok()
    };
    requests.take_while(is_permitted).count()
}

/// Whether a queued command may still run when EXEC comes to it.
///
/// # Errors
/// It may not; that is counted and logged.
pub(super) fn permit_queued(
    server: &Dispatcher,
    worker: &Worker,
    session: &Session,
    command: &Command,
    args: &Args<'_>,
) -> Result<(), CommandError> {
    if !session.rights.is_restricted() {
        return Ok(());
    }
    let Err(denied) = session.rights.check(command, args) else {
        return check_reach(server, session, command, args);
    };
    note(server, worker, session, (denied, Context::Multi), command, args);
    let reason = match denied {
        Denied::Command => "no permission to execute the command or subcommand",
        Denied::Key(_) => "no permission to touch the specified keys",
        Denied::Channel(_) => {
            "no permission to access one of the channels used as arguments to the command"
        }
    };
    Err(CommandError::new(format!(
        "NOPERM ACLs rules changed between the moment the transaction was accumulated and the EXEC \
         call. This command is no longer allowed for the following reason: {reason}"
    )))
}

/// Whether a script's caller may run a command that the script calls.
///
/// # Errors
/// It may not; that is counted and logged.
pub(super) fn permit_called(
    server: &Dispatcher,
    worker: &Worker,
    session: &Session,
    command: &Command,
    args: &Args<'_>,
) -> Result<(), CommandError> {
    if !session.rights.is_restricted() {
        return Ok(());
    }
    let Err(denied) = session.rights.check(command, args) else {
        return check_reach(server, session, command, args);
    };
    note(server, worker, session, (denied, Context::Lua), command, args);
    let text = denial_text(denied, (session.rights.user(), command));
    Err(CommandError::new(format!("ERR ACL failure in script: {text}")))
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
