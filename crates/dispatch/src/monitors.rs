//! HOT PATH
//! What clients that have said MONITOR are told: each command that runs, one line each.
//!
//! While nobody monitors, nothing is asked: that somebody does is
//! [unusual](basalt_service::unusual). While somebody does, a row that has gone a short way is told
//! of when it has ended, and any other command comes by here before it runs. The lines that a
//! thread's commands make one after the other are one message, until something else is published
//! or the thread hands over what it has. Commands of transactions and scripts are told with what
//! these publish, when that is known to happen.

use super::dispatcher::Dispatcher;
use super::monitor_line::Sender;
use super::prepare::Incoming;
use super::publication::Publication;
use super::request::Request;
use super::worker::Worker;
use basalt_call::entry::{Run, Secrets};
use basalt_pubsub::Kind;
use basalt_service::args::Args;
use basalt_service::push::{Outbox, Push};
use basalt_service::session::{Flow, Session};
use basalt_spec::{CommandId, Flag};

/// Tells of a command that is about to run, unless it has been told of: it may run again.
#[cold]
pub(super) fn tell(request: &Request<'_>, worker: &mut Worker, session: &mut Session) {
    let is_queued = session.is_queueing() && !request.traits().runs_in_multi;
    let is_last = matches!(request.call.run, Run::Exec);
    if !has_any(request.server) || session.has_told_monitors || is_queued || is_last {
        return;
    }
    session.has_told_monitors = true;
    let (server, args) = (request.server, request.args(&[]));
    if is_shown(server, request.id) {
        add_line(server, worker, session, (request.id, &args));
    }
}

/// Tells of the first of these requests, in that order: as many as have run in a row, and the one
/// behind them if it has begun.
#[cold]
pub(super) fn tell_row<'a>(
    server: &Dispatcher,
    worker: &mut Worker,
    session: &mut Session,
    (ran, next): (usize, Option<&Flow>),
    requests: impl Iterator<Item = Incoming<'a>>,
) {
    let begun = ran + usize::from(next.is_some());
    if begun == 0 || !has_any(server) {
        return;
    }
    session.has_told_monitors = next.is_some_and(Flow::runs_again);
    let mut requests = requests.take(begun).peekable();
    // They have one command.
    let id = requests.peek().and_then(|first| first.prepared.command);
    let Some(id) = id.filter(|id| is_shown(server, *id)) else { return };
    begin_lines(server, worker, session);
    let (head, secrets) = (&worker.line_head, secrets(server, id));
    for Incoming { buffer, words, .. } in requests {
        let Some(lines) = lines(server, &mut worker.outbox) else { return };
        head.write(secrets, &Args::new(buffer, words), lines);
    }
}

/// A command has run, or will not: the next one is told of. A transaction comes after its commands.
#[cold]
pub(super) fn end(
    server: &Dispatcher,
    call: (CommandId, &Args<'_>),
    worker: &mut Worker,
    session: &mut Session,
) {
    session.has_told_monitors = false;
    if matches!(server.commands.call(call.0).run, Run::Exec) && has_any(server) {
        add_line(server, worker, session, call);
    }
}

/// A command of a transaction or a script, as something to be published with the rest.
#[cold]
pub(super) fn publication(
    server: &Dispatcher,
    worker: &mut Worker,
    session: &Session,
    call: (CommandId, &Args<'_>),
    sender: Sender,
) -> Option<Publication> {
    if !has_any(server) || !is_shown(server, call.0) {
        return None;
    }
    // What runs others may take its time.
    let clock_was_read = worker.clock_was_read();
    worker.line_head.read_clock(server.engine.clock(), clock_was_read);
    worker.line_head.turn_to(session, sender);
    let mut line = Vec::new();
    worker.line_head.write(secrets(server, call.0), call.1, &mut line);
    Some(Publication { kind: Kind::Monitor, channel: Vec::new(), payload: line })
}

/// Publishes a line.
pub(super) fn publish(server: &Dispatcher, worker: &mut Worker, line: &[u8]) {
    if let Some(lines) = lines(server, &mut worker.outbox) {
        lines.extend_from_slice(line);
    }
}

/// Whether somebody monitors.
pub(super) fn has_any(server: &Dispatcher) -> bool {
    server.pubsub.count(Kind::Monitor) > 0
}

/// Whether a command is shown: not those for operators. Scripts and transactions are, though their
/// flags say otherwise: that is about the order.
fn is_shown(server: &Dispatcher, id: CommandId) -> bool {
    let flags = server.commands.table.command(id).flags;
    let is_several = matches!(server.commands.call(id).run, Run::Script(_));
    !flags.has(Flag::Admin) && (is_several || !flags.has(Flag::SkipMonitor))
}

fn secrets(server: &Dispatcher, id: CommandId) -> Secrets {
    server.commands.traits(id).secrets
}

/// Adds the line of a client's call to what the thread publishes.
fn add_line(
    server: &Dispatcher,
    worker: &mut Worker,
    session: &Session,
    (id, args): (CommandId, &Args<'_>),
) {
    begin_lines(server, worker, session);
    if let Some(lines) = lines(server, &mut worker.outbox) {
        worker.line_head.write(secrets(server, id), args, lines);
    }
}

/// The lines that are added next are of this client's calls.
fn begin_lines(server: &Dispatcher, worker: &mut Worker, session: &Session) {
    let clock_was_read = worker.clock_was_read();
    worker.line_head.follow_clock(server.engine.clock(), clock_was_read);
    worker.line_head.turn_to(session, Sender::Client);
}

/// Where lines go. What has happened cannot wait for a reader; one that is slow has its limit.
fn lines<'a>(server: &Dispatcher, outbox: &'a mut Outbox) -> Option<&'a mut Vec<u8>> {
    server.pubsub.gather(outbox, Kind::Monitor, b"", Push::lines)
}
