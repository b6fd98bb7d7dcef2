//! Commands between MULTI and EXEC: what may be queued, and what runs at once.

use super::dispatcher::Dispatcher;
use super::keys::{add_keys, several_keys};
use super::long::{may_take_long, works_on_much_held};
use super::prepare::Incoming;
use super::request::Request;
use super::script;
use super::worker::Worker;
use basalt_call::entry::Run;
use basalt_change::place::{PartitionId, ShardSet};
use basalt_engine::{Claims, Refusal};
use basalt_service::args::Args;
use basalt_service::error::CommandError;
use basalt_service::prepared::Prepared;
use basalt_service::session::{Flow, Session};
use basalt_service::transaction::Effects;
use basalt_service::transaction::Writes;
use basalt_service::wait::Wait;
use basalt_spec::{Command, CommandId, Flag, Group};

/// Queues a command that has been admitted. A client whose queue takes more memory than
/// `client-query-buffer-limit` is disconnected, as by the bytes of a single request.
///
/// # Errors
/// It cannot be part of a transaction, or could not run now.
#[cold]
pub(super) fn push(
    server: &Dispatcher,
    worker: &Worker,
    session: &mut Session,
    command: &Command,
    args: &Args<'_>,
    prepared: Prepared,
) -> Result<Flow, CommandError> {
    if command.flags.has(Flag::NoMulti) {
        return Err(CommandError::fixed("ERR Command not allowed inside a transaction"));
    }
    if server.commands.traits(command.id).asks_another_server {
        let name = command.spec.name;
        let text = format!("ERR '{name}' waits and cannot do that inside a transaction");
        return Err(CommandError::new(text));
    }
    // Whatever the command does, queueing it takes memory.
    if server.is_out_of_memory(&worker.settings) {
        return Err(CommandError::OUT_OF_MEMORY);
    }
    if command.flags.has(Flag::Write)
        && let Some(refusal) = refusal(server, command, *args)
    {
        return Err(CommandError::log_refused(&refusal));
    }
    let Some(queue) = &mut session.transaction else { return Ok(Flow::Done) };
    queue.push(command, args, prepared, effects(server, command, *args));
    session.client.show_transaction(Some(queue));
    if queue.memory_bytes() > worker.settings.clients.query_buffer_bytes_max {
        worker.counters.query_limit_disconnections.add(1);
        return Ok(Flow::Close);
    }
    Ok(Flow::Done)
}

/// Why the log takes no changes of a command for longer than a moment. Its keys are looked at only
/// if some shard takes none: they have been hashed once, and will be again when it runs.
fn refusal(server: &Dispatcher, command: &Command, args: Args<'_>) -> Option<Refusal> {
    let log = server.engine.log();
    if log.admitting() == ShardSet::ALL {
        return None;
    }
    let refusal = log.admit_all(shards_of(server, command, args)).err();
    refusal.filter(|refusal| *refusal != Refusal::Busy)
}

/// The shards of its keys; all, if it names none.
pub(super) fn shards_of(server: &Dispatcher, command: &Command, args: Args<'_>) -> ShardSet {
    let mut claims = Claims::default();
    add_keys(&server.engine, command, args, &mut claims.keys);
    claims.everything = claims.keys.is_empty();
    claims.shards()
}

/// What a call of a command may do, as a replica would see it.
fn effects(server: &Dispatcher, command: &Command, args: Args<'_>) -> Effects {
    let flags = command.flags;
    let mut writes = flags.has(Flag::Write) || flags.has(Flag::MayReplicate);
    let script = match server.commands.call(command.id).run {
        Run::Script(call) => Some(call),
        _ => None,
    };
    if let Some(declared) = script.and_then(|call| script::declared(server, args, call)) {
        writes = !declared.no_writes;
    }
    let writes = if writes { Writes::Yes } else { Writes::No };
    Effects { writes, runs_script: script.is_some() }
}

/// What keeps a command from running now.
pub(super) enum Held {
    /// A pause of all clients.
    Until(Wait),
    /// A script takes long that holds what the command needs: it is refused rather than waits for
    /// the lock, which would keep its thread from everything else.
    BehindScript,
}

/// What keeps a command from running now, if something does.
#[cold]
pub(super) fn hold(request: &Request<'_>, worker: &Worker, session: &Session) -> Option<Held> {
    let Request { server, call, .. } = request;
    if !server.unusual.may_hold() {
        return None;
    }
    let command = request.command();
    if server.pauses.scope().is_some() {
        let is_exec = matches!(call.run, Run::Exec);
        let queue_writes = session.transaction.as_ref().is_some_and(|queue| queue.is_pausable());
        let writes = match is_exec && queue_writes {
            true => Writes::Yes,
            false => effects(server, command, request.args(&[])).writes,
        };
        if let Some(time) = server.pauses.hold(&session.client, writes) {
            return Some(Held::Until(Wait::Pause(time)));
        }
    }
    if session.is_queueing() && !request.traits().runs_in_multi {
        return None;
    }
    // A command that waits for its keys waits on.
    let waits = worker.stands_in() && !runs_beside(request, command, session);
    if session.waiting.is_none() && (waits || is_behind_script(request, command)) {
        let is_busy = server.scripts.any_is_busy();
        return Some(if is_busy { Held::BehindScript } else { Held::Until(Wait::Held) });
    }
    waits.then_some(Held::Until(Wait::Held))
}

/// Whether a worker that stands in can run a command: it takes no locks but its keys', for which
/// such a worker does not wait, and it does not take long itself.
fn runs_beside(request: &Request<'_>, command: &Command, session: &Session) -> bool {
    match request.call.run {
        Run::Read(_) | Run::Point(_) | Run::Write(_) => {
            let Request { server, prepared, buffer, words, .. } = *request;
            let incoming = Incoming { prepared, buffer, words };
            !may_take_long(server, session, incoming, 0)
        }
        Run::Session(_) => {
            let is_short = !works_on_much_held(request.call, session, request.words.len());
            let is_meant =
                command.flags.has(Flag::AllowBusy) || command.spec.group == Group::Connection;
            is_short && is_meant
        }
        Run::Exec | Run::Script(_) => false,
    }
}

fn is_behind_script(request: &Request<'_>, command: &Command) -> bool {
    let scripts = &request.server.scripts;
    if command.flags.has(Flag::AllowBusy) || !scripts.any_is_busy() {
        return false;
    }
    match request.call.run {
        Run::Read(_) | Run::Point(_) | Run::Write(_) => {
            let partitions: Vec<PartitionId> =
                several_keys(request).iter().map(|key| key.partition).collect();
            scripts.holds_one_of(&partitions)
        }
        Run::Session(_) => {
            let walks = command.flags.has(Flag::Readonly) || command.flags.has(Flag::Write);
            walks || request.traits().locks_partitions
        }
        Run::Exec | Run::Script(_) => true,
    }
}

/// A command was refused: the transaction that it was to be part of fails, or, if it is EXEC
/// itself, is dropped now. Returns the error to answer with.
#[cold]
pub(super) fn refused(
    server: &Dispatcher,
    worker: &Worker,
    session: &mut Session,
    id: Option<CommandId>,
    error: CommandError,
) -> CommandError {
    if id.is_some_and(|id| matches!(server.commands.call(id).run, Run::Exec)) {
        session.discard_transaction(&server.engine, worker.lock_wait);
        return error.discarding_transaction();
    }
    if let Some(queue) = &mut session.transaction {
        queue.spoil();
    }
    error
}
