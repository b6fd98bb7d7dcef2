//! HOT PATH
//! Running one request: admit ▸ run ▸ reply ▸ count.

use super::access;
use super::admission::Admission;
use super::copies;
use super::dispatcher::Dispatcher;
use super::events;
use super::exec;
use super::keys::{Obstacle, Stop, read, write};
use super::memory;
use super::monitors;
use super::outcome::{self, fail, note_slow_call};
use super::prepare::Incoming;
use super::queue;
use super::queue::Held;
use super::request::Request;
use super::script;
use super::silence;
use super::worker::{Apart, Worker};
use basalt_call::context::Context;
use basalt_call::entry::{Run, SessionFn, WriteFn};
use basalt_call::unknown::unknown;
use basalt_env::Instant;
use basalt_resp::{Output, Reply};
use basalt_service::args::Args;
use basalt_service::error::CommandError;
use basalt_service::scripts::{Attendant, Nobody};
use basalt_service::session::{Flow, Session, SessionResult};
use basalt_service::wait::Wait;
use basalt_service::web_guard::is_http;
use basalt_spec::CommandId;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// A call that takes longer is not counted with its share of its batch's time, the slow log is
/// asked, and for the batch's next call it is later. Shorter than any duration for which the slow
/// log would have every call timed.
const SHARED_TIME_MAX: Duration = Duration::from_micros(100);

/// A call that may be slight and has more bytes of reply may take long after all.
pub(super) const SLIGHT_REPLY_BYTES_MAX: usize = 1024;

/// Runs one request and writes its reply to `out`. `admission` is what is known of its client, and
/// renewed after what may change that.
pub(super) fn execute(
    server: &Dispatcher,
    worker: &mut Worker,
    session: &mut Session,
    request: Incoming<'_>,
    admission: &mut Admission,
    out: &mut Output,
) -> Flow {
    execute_attended(server, worker, session, request, (admission, &mut Nobody), out)
}

/// Runs one request as [`execute`] does; a script that takes long calls `attendant`, so that the
/// thread's other clients are served.
#[inline]
pub(super) fn execute_attended(
    server: &Dispatcher,
    worker: &mut Worker,
    session: &mut Session,
    request: Incoming<'_>,
    (admission, attendant): (&mut Admission, &mut dyn Attendant),
    out: &mut Output,
) -> Flow {
    let before = Reply::new(out, session.protocol).mark();
    let command = request.prepared.command;
    let flow = if !admission.has(Admission::ASIDE) {
        run_and_reply(server, worker, session, request, (admission, attendant), out)
    } else {
        run_with_asides(server, worker, session, request, (admission, attendant), out)
    };
    if (session.has_told_monitors || server.unusual.any())
        && !flow.runs_again()
        && let Some(id) = command
    {
        let args = Args::new(request.buffer, request.words);
        monitors::end(server, (id, &args), worker, session);
    }
    if out.is_over() {
        let reply = &mut Reply::new(out, session.protocol);
        return outcome::take_back(server, worker, (command, flow), before, reply);
    }
    flow
}

/// Runs a request of a client whose replies are not simply sent, or which has waited for keys that
/// were held.
#[cold]
fn run_with_asides(
    server: &Dispatcher,
    worker: &mut Worker,
    session: &mut Session,
    request: Incoming<'_>,
    (admission, attendant): (&mut Admission, &mut dyn Attendant),
    out: &mut Output,
) -> Flow {
    let is_silent = admission.has(Admission::SILENT);
    let mut run = |worker: &mut Worker, session: &mut Session, out: &mut Output| {
        run_and_reply(server, worker, session, request, (&mut *admission, attendant), out)
    };
    let flow = match is_silent {
        true => silence::execute(worker, session, out, run),
        false => run(worker, session, out),
    };
    outcome::note_lock_wait(server, worker, session, &flow);
    *admission = Admission::of(server, worker, session);
    flow
}

fn run_and_reply(
    server: &Dispatcher,
    worker: &mut Worker,
    session: &mut Session,
    Incoming { prepared, buffer, words }: Incoming<'_>,
    (admission, attendant): (&mut Admission, &mut dyn Attendant),
    out: &mut Output,
) -> Flow {
    let mut reply = Reply::new(out, session.protocol);
    let Some(id) = prepared.command else {
        let args = Args::new(buffer, words);
        if is_http(&args) {
            server.web_guard.warn(&session.client.address, worker.now_ms);
            return Flow::Close;
        }
        let error = unknown(&server.commands.table, &args);
        return refuse(server, worker, session, None, error, &mut reply);
    };
    let call = server.commands.call(id);
    let request = Request { server, id, call, buffer, words, prepared };
    if let Err(error) = admit(&request, worker, session, *admission) {
        let flow = refuse(server, worker, session, Some(id), error, &mut reply);
        // An EXEC that is refused ends the transaction.
        *admission = Admission::of(server, worker, session);
        return flow;
    }
    if admission.has(Admission::MEMORY_LATER) && memory::waits(&request, session) {
        return Flow::Wait(Wait::Memory);
    }
    if server.unusual.any()
        && let Some(held) = queue::hold(&request, worker, session)
    {
        return match held {
            Held::Until(wait) => Flow::Wait(wait),
            Held::BehindScript => {
                let error = server.scripts.busy_error();
                let flow = refuse(server, worker, session, Some(id), error, &mut reply);
                *admission = Admission::of(server, worker, session);
                flow
            }
        };
    }
    if server.unusual.any() {
        monitors::tell(&request, worker, session);
    }
    if admission.has(Admission::QUEUEING)
        && let Some(flow) = enqueue(&request, worker, session, &mut reply)
    {
        return flow;
    }
    session.client.last_command.store(id.index() as u16 + 1, Ordering::Relaxed);
    let owed_bytes = reply.bytes_owed();
    let timed = !call.shares_time || worker.times_every_command;
    let start = timed.then(|| worker.start_of_call(server));
    let listening = admission.has(Admission::LISTENING);
    if listening && let Some(wait) = events::begin(&request, worker, session) {
        return stopped(&request, worker, session, (Box::new(Stop::Wait(wait)), start), &mut reply);
    }
    let obstacle = match call.run {
        run @ (Run::Read(_) | Run::Point(_)) => read(&request, worker, session, run, &mut reply),
        Run::Write(run) => {
            let obstacle = write(&request, worker, session, run, &mut reply);
            let obstacle = copies::go_on(&request, worker, session, run, obstacle, &mut reply);
            if worker.has_logged_much(server) {
                *admission = Admission::of(server, worker, session);
            }
            obstacle
        }
        Run::Session(run) => {
            let result = run_session(&request, worker, session, run, &mut reply);
            *admission = Admission::of(server, worker, session);
            return finish(&request, worker, session, result, start, &mut reply);
        }
        Run::Exec | Run::Script(_) => {
            let result = run_several(&request, worker, session, attendant, &mut reply);
            worker.has_logged_much(server);
            *admission = Admission::of(server, worker, session);
            return finish(&request, worker, session, result, start, &mut reply);
        }
    };
    if listening {
        events::announce(&request, worker, session);
    }
    if let Some(stop) = obstacle {
        return stopped(&request, worker, session, (stop, start), &mut reply);
    }
    if start.is_none() {
        count_sharing(&request, worker, session, reply.bytes_owed().saturating_sub(owed_bytes));
    } else {
        count(&request, worker, session, start);
    }
    Flow::Done
}

/// Ends a command that changes one key and has met an obstacle.
#[cold]
#[inline(never)]
pub(super) fn end_obstructed(
    request: &Request<'_>,
    worker: &mut Worker,
    session: &mut Session,
    (run, obstacle): (WriteFn, Obstacle),
    reply: &mut Reply<'_>,
) -> Flow {
    match copies::go_on(request, worker, session, run, obstacle, reply) {
        Some(stop) => stopped(request, worker, session, (stop, None), reply),
        None => {
            count(request, worker, session, None);
            Flow::Done
        }
    }
}

/// Ends a command that has not been done with.
#[cold]
fn stopped(
    request: &Request<'_>,
    worker: &mut Worker,
    session: &mut Session,
    (stop, start): (Box<Stop>, Option<Instant>),
    reply: &mut Reply<'_>,
) -> Flow {
    let result = match *stop {
        Stop::Error(error) => Err(error),
        Stop::Wait(wait) => Ok(Flow::Wait(wait)),
        Stop::RunApart => Ok(Flow::RunApart),
        Stop::Reach(_) => unreachable!("what has one fixed key asks for no other"),
        Stop::Copy(_) => unreachable!("a command that writes has been run again"),
    };
    finish(request, worker, session, result, start, reply)
}

/// Counts a call that has run, has replied this much and shares its batch's time. One that cannot
/// have taken long leaves the clock unread.
#[inline(always)]
pub(super) fn count_sharing(
    request: &Request<'_>,
    worker: &mut Worker,
    session: &Session,
    reply_bytes: usize,
) {
    let is_slight = request.words.len() <= usize::from(request.call.slight_words_max)
        || worker.changes.take_made_short();
    let is_slight = is_slight && reply_bytes <= SLIGHT_REPLY_BYTES_MAX;
    if is_slight && worker.leaves_untimed() {
        worker.count_call(request.id);
    } else {
        count(request, worker, session, None);
    }
}

/// Runs a command that runs others.
#[inline(never)]
fn run_several(
    request: &Request<'_>,
    worker: &mut Worker,
    session: &mut Session,
    attendant: &mut dyn Attendant,
    reply: &mut Reply<'_>,
) -> SessionResult {
    match request.call.run {
        Run::Script(call) => script::execute(request, worker, session, (call, attendant), reply),
        _ => exec::execute(request.server, worker, session, attendant, reply),
    }
}

/// Queues a command of a transaction; `None` if it is one that runs at once.
#[cold]
fn enqueue(
    request: &Request<'_>,
    worker: &Worker,
    session: &mut Session,
    reply: &mut Reply<'_>,
) -> Option<Flow> {
    let command = request.command();
    if request.traits().runs_in_multi {
        return None;
    }
    let Request { server, prepared, .. } = request;
    Some(match queue::push(server, worker, session, command, &request.args(&[]), **prepared) {
        Ok(flow) => {
            worker.counters.commands.add(1);
            reply.simple("QUEUED");
            flow
        }
        Err(error) => refuse(server, worker, session, Some(request.id), error, reply),
    })
}

/// Answers an error and counts the call, unless it has to run again.
#[inline(never)]
fn finish(
    request: &Request<'_>,
    worker: &mut Worker,
    session: &mut Session,
    result: SessionResult,
    start: Option<Instant>,
    reply: &mut Reply<'_>,
) -> Flow {
    let flow = result.unwrap_or_else(|error| {
        session.leave_queues(&request.server.engine, worker.lock_wait);
        fail(worker, request.id, &error, reply)
    });
    if let Flow::Wait(Wait::Sleep(time)) = flow {
        count_sleep(request, worker, session, time);
    } else if !flow.runs_again() {
        count(request, worker, session, start);
    } else if !session.is_queueing()
        && let Some(tracking) = &mut session.read_tracking
    {
        tracking.take_back();
    }
    flow
}

/// Counts a call that has run. One that shares its batch's time is measured against the end of the
/// call before it: one reading of the clock tells whether it has taken long after all.
#[inline(always)]
fn count(request: &Request<'_>, worker: &mut Worker, session: &Session, start: Option<Instant>) {
    let now = request.server.env.clock.now();
    let before = worker.end_call(now);
    let elapsed = now.saturating_duration_since(start.unwrap_or(before));
    if start.is_none() && elapsed < SHARED_TIME_MAX {
        return worker.count_call(request.id);
    }
    if elapsed >= SHARED_TIME_MAX {
        // Time stands still for a batch only as long as nobody notices.
        worker.renew_time();
    }
    let apart = if start.is_none() { Apart::Yes } else { Apart::No };
    worker.count_timed_call((request.id, request.call.family), elapsed, apart);
    note_if_slow(request, worker, session, elapsed.as_micros() as u64);
}

/// Counts a call whose client is answered when this time is over, as if it had run as long.
#[cold]
fn count_sleep(request: &Request<'_>, worker: &mut Worker, session: &Session, time: Duration) {
    worker.end_call(request.server.env.clock.now());
    worker.count_timed_call((request.id, request.call.family), time, Apart::No);
    note_if_slow(request, worker, session, time.as_micros() as u64);
}

#[inline(never)]
fn run_session(
    request: &Request<'_>,
    worker: &mut Worker,
    session: &mut Session,
    run: SessionFn,
    reply: &mut Reply<'_>,
) -> SessionResult {
    let server = request.server;
    // It may show the counters, or save.
    worker.settle();
    worker.settle_changes(server);
    let settings = Arc::clone(&worker.settings);
    let (now_ms, lock_wait) = (worker.now_ms, worker.lock_wait);
    let result = {
        let (outbox, settings) = (&mut worker.outbox, &settings);
        let mut context = Context {
            server,
            session,
            outbox,
            settings,
            now_ms,
            lock_wait,
            frozen_us: None,
            runs_alone: true,
            transaction: None,
        };
        run(&mut context, &request.args(&[]), reply)
    };
    // CONFIG SET holds for the very next command.
    worker.renew_settings(server);
    worker.begin_batch(server);
    result
}

/// Whether the command may run at all: arity, authentication, rights, memory.
#[inline(always)]
fn admit(
    request: &Request<'_>,
    worker: &Worker,
    session: &Session,
    admission: Admission,
) -> Result<(), CommandError> {
    let call = request.call;
    if !call.accepts_words(request.words.len()) {
        return Err(CommandError::wrong_arity(request.command().spec.name));
    }
    if !call.for_anybody && admission.has(Admission::UNAUTHENTICATED) {
        return Err(CommandError::fixed("NOAUTH Authentication required."));
    }
    if admission.has(Admission::RESTRICTED) {
        access::admit(request, worker, session)?;
    }
    if call.takes_memory && admission.has(Admission::OUT_OF_MEMORY) {
        return Err(CommandError::OUT_OF_MEMORY);
    }
    if admission.has(Admission::SUBSCRIBED) {
        return admit_subscriber(request);
    }
    Ok(())
}

/// In RESP2 a reply could not be told from a message.
#[cold]
fn admit_subscriber(request: &Request<'_>) -> Result<(), CommandError> {
    if request.traits().is_for_subscribers {
        return Ok(());
    }
    Err(CommandError::for_subscribers_only(request.command().spec.name))
}

/// A command that is not run, and not queued either: the transaction that it was to be part of will
/// fail.
#[cold]
fn refuse(
    server: &Dispatcher,
    worker: &Worker,
    session: &mut Session,
    id: Option<CommandId>,
    error: CommandError,
    reply: &mut Reply<'_>,
) -> Flow {
    if session.stop_waiting(&server.engine, worker.lock_wait).is_err() {
        return Flow::Wait(Wait::Held);
    }
    session.script_runs = None;
    if !session.is_queueing()
        && let Some(tracking) = &mut session.read_tracking
    {
        tracking.end();
    }
    session.walking = None;
    worker.counters.commands.add(1);
    if let Some(id) = id {
        worker.counters.by_command[id.index()].rejected.add(1);
    }
    let error = queue::refused(server, worker, session, id, error);
    worker.counters.count_error(error.text());
    reply.error(error.text());
    Flow::Done
}

/// Tells the slow log of a call that took long.
#[cold]
fn note_if_slow(request: &Request<'_>, worker: &Worker, session: &Session, duration_us: u64) {
    note_slow_call(request.server, worker, session, request.id, &request.args(&[]), duration_us);
}
