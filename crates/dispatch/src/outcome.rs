//! What is noted of calls that failed or took long.

use super::dispatcher::Dispatcher;
use super::worker::Worker;
use crate::redact::redact;
use basalt_observe::slow_log;
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::CommandError;
use basalt_service::session::{Flow, Session};
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

/// Tells the slow log of a call that took long.
pub(super) fn note_slow_call(
    server: &Dispatcher,
    worker: &Worker,
    session: &Session,
    id: CommandId,
    args: &Args<'_>,
    duration_us: u64,
) {
    let settings = &worker.settings.server;
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
