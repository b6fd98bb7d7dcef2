//! HOT PATH
//! Running one request: admit ▸ run ▸ reply ▸ count.

use super::keys::{read, write};
use super::{Context, Prepared, Worker};
use crate::args::Args;
use crate::commands::Run;
use crate::error::CommandError;
use crate::redact::redact;
use crate::server::Server;
use crate::session::{Flow, Replies, Session};
use crate::silence;
use crate::unknown::unknown;
use crate::wait::Afterwards;
use basalt_observe::slow_log;
use basalt_resp::{Arg, Output, Reply};
use basalt_spec::{Command, CommandId, Flag};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

/// Runs one request and writes its reply to `out`.
#[inline]
pub fn execute(
    server: &Server,
    worker: &mut Worker,
    session: &mut Session,
    buffer: &[u8],
    words: &[Arg],
    prepared: Prepared,
    out: &mut Output,
) -> Flow {
    let run = |worker: &mut Worker, session: &mut Session, out: &mut Output| {
        run_and_reply(server, worker, session, buffer, words, prepared, out)
    };
    let flow = if session.replies == Replies::On {
        run(worker, session, out)
    } else {
        silence::execute(worker, session, out, run)
    };
    if !runs_again(&flow) {
        worker.counters.commands.add(1);
    }
    flow
}

#[inline]
fn run_and_reply(
    server: &Server,
    worker: &mut Worker,
    session: &mut Session,
    buffer: &[u8],
    words: &[Arg],
    prepared: Prepared,
    out: &mut Output,
) -> Flow {
    let args = Args::new(buffer, words);
    let mut reply = Reply::new(out, session.protocol);
    let Some(id) = prepared.command else {
        return refuse(worker, None, unknown(&server.commands, &args), &mut reply);
    };
    let command = server.commands.table.command(id);
    if let Err(error) = admit(server, worker, session, command, &args) {
        return refuse(worker, Some(id), error, &mut reply);
    }
    session.client.last_command.store(id.index() as u16 + 1, Ordering::Relaxed);
    let timed = !prepared.shares_time || worker.times_every_command();
    let start = timed.then(Instant::now);
    let result = match server.commands.run(id) {
        Run::Read(run) => read(server, worker, session, command, &args, prepared, |view, args| {
            run(view, args, &mut reply)
        }),
        Run::Write(run) => write(server, worker, session, command, &args, prepared, |txn, args| {
            run(txn, args, &mut reply)
        }),
        Run::Session(run) => {
            let settings = Arc::clone(&worker.settings);
            let now_ms = worker.now_ms;
            let mut context = Context { server, session, settings: &settings, now_ms };
            let result = run(&mut context, &args, &mut reply);
            // CONFIG SET holds for the very next command.
            worker.renew_settings(server);
            result
        }
    };
    let counters = &worker.counters.by_command[id.index()];
    let flow = match result {
        Ok(flow) => flow,
        Err(error) => {
            counters.failed.add(1);
            worker.counters.count_error(error.text());
            reply.error(error.text());
            Flow::Done
        }
    };
    if !runs_again(&flow) {
        counters.calls.add(1);
        if let Some(start) = start {
            let elapsed = start.elapsed();
            counters.nanoseconds.add(elapsed.as_nanos() as u64);
            note_if_slow(server, worker, session, &args, command, elapsed.as_micros() as u64);
        }
    }
    flow
}

/// The command has not run: it waits for something that it needs, and will be back.
#[inline]
fn runs_again(flow: &Flow) -> bool {
    matches!(flow, Flow::Wait(wait) if wait.afterwards() == Afterwards::RunAgain)
}

/// Whether the command may run at all: arity, authentication, memory, the log.
#[inline]
fn admit(
    server: &Server,
    worker: &Worker,
    session: &Session,
    command: &Command,
    args: &Args<'_>,
) -> Result<(), CommandError> {
    if !command.accepts_words(args.len()) {
        return Err(CommandError::wrong_arity(command.spec.name));
    }
    if !command.flags.has(Flag::NoAuth) && !session.is_admitted(&worker.settings) {
        return Err(CommandError::fixed("NOAUTH Authentication required."));
    }
    if command.flags.has(Flag::Denyoom) && server.is_out_of_memory(&worker.settings) {
        return Err(CommandError::fixed("OOM command not allowed when used memory > 'maxmemory'."));
    }
    Ok(())
}

#[cold]
fn refuse(
    worker: &Worker,
    id: Option<CommandId>,
    error: CommandError,
    reply: &mut Reply<'_>,
) -> Flow {
    if let Some(id) = id {
        worker.counters.by_command[id.index()].rejected.add(1);
    }
    worker.counters.count_error(error.text());
    reply.error(error.text());
    Flow::Done
}

#[cold]
fn note_if_slow(
    server: &Server,
    worker: &Worker,
    session: &Session,
    args: &Args<'_>,
    command: &Command,
    duration_us: u64,
) {
    let settings = &worker.settings.server;
    let limit_us = settings.slowlog_slower_than_us;
    if limit_us < 0
        || duration_us < limit_us as u64
        || command.flags.has(Flag::SkipSlowlog)
        || settings.slowlog_entries_max == 0
    {
        return;
    }
    let entry = slow_log::Entry {
        id: 0,
        unix_s: worker.now_ms / 1000,
        duration_us,
        arguments: slow_log::shorten(redact(command.spec.name, args.from(0)).into_iter()),
        client_address: session.client.address.clone(),
        client_name: session.client.names.lock().name.clone(),
    };
    server.slow_log.push(entry, settings.slowlog_entries_max);
}
