//! What is noted of calls that failed or took long.

use super::dispatcher::Dispatcher;
use super::worker::Worker;
use crate::redact::redact;
use basalt_call::entry::Run;
use basalt_config::ClientClass;
use basalt_observe::latency::{self, Sample};
use basalt_observe::slow_log;
use basalt_resp::{Reply, ReplyMark};
use basalt_service::args::Args;
use basalt_service::error::CommandError;
use basalt_service::session::{Flow, Session};
use basalt_service::wait::Wait;
use basalt_spec::{CommandId, Flag};

/// Answers and counts an error.
#[cold]
pub(super) fn fail(
    worker: &Worker,
    id: CommandId,
    error: &CommandError,
    reply: &mut Reply<'_>,
) -> Flow {
    worker.counters.by_command[id.index()].failed.add(1);
    worker.counters.count_error(error.text());
    reply.error(error.text());
    Flow::Done
}

/// Takes back a reply that takes more memory than replies may, and is not whole.
///
/// In its place, a command that has changed nothing has an error. The client of any other command
/// is disconnected, for it must not be told a part of what has changed. So is every client where
/// `client-output-buffer-limit` is how much one may be owed.
#[cold]
pub(super) fn take_back(
    server: &Dispatcher,
    worker: &Worker,
    (id, flow): (Option<CommandId>, Flow),
    before: ReplyMark,
    reply: &mut Reply<'_>,
) -> Flow {
    reply.cut(before);
    match (id, flow) {
        (_, flow @ Flow::Wait(_)) => flow,
        (Some(id), Flow::Done) if may_fail_late(server, worker, id) => {
            fail(worker, id, &CommandError::REPLY_TOO_LARGE, reply)
        }
        _ => {
            worker.counters.output_limit_disconnections.add(1);
            Flow::Close
        }
    }
}

/// Whether a command whose reply is too large is answered with an error.
pub(super) fn may_fail_late(server: &Dispatcher, worker: &Worker, id: CommandId) -> bool {
    let limit = worker.settings.clients.output_limits.of(ClientClass::Normal);
    limit.hard_bytes == 0 && is_read(server, id)
}

/// Whether a command only reads data.
pub(super) fn is_read(server: &Dispatcher, id: CommandId) -> bool {
    let is_several = matches!(server.commands.call(id).run, Run::Exec | Run::Script(_));
    !is_several && server.commands.table.command(id).flags.has(Flag::Readonly)
}

/// Tells the slow log and the latency monitor of a call that took long.
pub(super) fn note_slow_call(
    server: &Dispatcher,
    worker: &Worker,
    session: &Session,
    id: CommandId,
    args: &Args<'_>,
    duration_us: u64,
) {
    let settings = &worker.settings.server;
    if settings.latency_threshold_ms != 0 {
        note_latency(server, worker, id, duration_us / 1000);
    }
    let limit_us = settings.slowlog_slower_than_us;
    let spec = server.commands.table.command(id).spec;
    if limit_us < 0
        || duration_us < limit_us as u64
        || spec.flags.has(Flag::SkipSlowlog)
        || settings.slowlog_entries_max == 0
    {
        return;
    }
    let entry = slow_log::Entry {
        id: 0,
        unix_s: worker.now_ms / 1000,
        duration_us,
        arguments: slow_log::shorten(
            redact(server.commands.traits(id).secrets, args.from(0)).into_iter(),
        ),
        client_address: session.client.address.clone(),
        client_name: session.client.names.lock().name.clone(),
    };
    server.slow_log.push(entry, settings.slowlog_entries_max);
}

/// Tells the latency monitor how long a command has waited for keys that somebody held, if that is
/// over.
pub(super) fn note_lock_wait(
    server: &Dispatcher,
    worker: &Worker,
    session: &mut Session,
    flow: &Flow,
) {
    if matches!(flow, Flow::Wait(Wait::Held) | Flow::RunApart) {
        return;
    }
    let Some(since) = session.held_since.take() else { return };
    session.has_given_way = false;
    let threshold_ms = worker.settings.server.latency_threshold_ms;
    let ms = server.env.clock.since(since).as_millis() as u64;
    if threshold_ms != 0 && ms >= threshold_ms {
        server.latency.add(latency::LOCK_WAIT, Sample { unix_s: worker.now_ms / 1000, ms });
    }
}

fn note_latency(server: &Dispatcher, worker: &Worker, id: CommandId, ms: u64) {
    if ms < worker.settings.server.latency_threshold_ms {
        return;
    }
    let is_fast = server.commands.table.command(id).flags.has(Flag::Fast);
    let event = if is_fast { latency::FAST_COMMAND } else { latency::COMMAND };
    server.latency.add(event, Sample { unix_s: worker.now_ms / 1000, ms });
}
