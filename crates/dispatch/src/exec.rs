//! EXEC: the queued commands as one.
//!
//! ```text
//! lock all partitions ▸ has a watched key changed? ▸ is everything in memory? ▸ run each in turn
//!                     ▸ append one ChangeSet ▸ unlock ▸ run what concerns the server
//! ```
//! Nothing has been changed when the look into memory fails: the client waits and EXEC begins
//! again. After that nothing waits. The replies stand in the order of the commands, whatever ran
//! last. [`super::claims`] says which partitions and which databases that are, and what runs last.

use super::access;
use super::behind;
use super::claims::{Plan, Step};
use super::dispatcher::Dispatcher;
use super::events;
use super::keys::key_session;
use super::monitor_line::Sender;
use super::monitors;
use super::outcome::{fail, may_fail_late, note_slow_call};
use super::script;
use super::tracking;
use super::wants::When;
use super::within::read_within;
use super::worker::Worker;
use basalt_call::context::Context;
use basalt_call::entry::Run;
use basalt_change::place::PartitionId;
use basalt_config::ClientClass;
use basalt_engine::{Key, Refusal, Transaction, Watching};
use basalt_env::Instant;
use basalt_resp::{Output, Reply};
use basalt_service::access::denied_since_queued;
use basalt_service::error::CommandError;
use basalt_service::scripts::Attendant;
use basalt_service::session::{Flow, Replies, Session};
use basalt_service::transaction::Queue;
use basalt_service::wait::Wait;
use std::sync::Arc;

const ABORTED: CommandError =
    CommandError::fixed("EXECABORT Transaction discarded because of previous errors.");

/// How often a command that runs late asks for a partition that somebody holds: each time it waits
/// about a millisecond.
const LATE_ATTEMPTS: usize = 20;

/// Runs what the client has queued.
#[cold]
pub(super) fn execute(
    server: &Dispatcher,
    worker: &mut Worker,
    session: &mut Session,
    attendant: &mut dyn Attendant,
    reply: &mut Reply<'_>,
) -> Result<Flow, CommandError> {
    let Some(queue) = session.transaction.take() else {
        return Err(CommandError::fixed("ERR EXEC without MULTI"));
    };
    // What is changed stays with the worker until it is committed.
    let mut changes = worker.take_changes();
    let plan = admit(server, worker, &queue).map(|()| Plan::new(server, &queue, session.db));
    let admitted = plan.and_then(|plan| match room(server, &queue, &plan)? {
        Some(wait) => Ok(Err(wait)),
        None => Ok(Ok(plan)),
    });
    let outcome = match admitted {
        Ok(Ok(plan)) => {
            let once = &mut session.has_given_way;
            let how = (session.watching.as_deref(), worker.lock_wait, once);
            match behind::lock(server, &plan.claims, how, &mut changes) {
                Ok(transaction) => {
                    let runner = (&mut *worker, &mut *session, attendant);
                    run(server, runner, &plan, transaction, reply)
                }
                Err(unready) => Ok(Flow::Wait(Wait::from(unready))),
            }
        }
        Ok(Err(wait)) => Ok(Flow::Wait(wait)),
        Err(error) => Err(error),
    };
    worker.put_changes_back(changes);
    events::publish(server, worker, session);
    if matches!(outcome, Ok(Flow::Wait(_))) {
        session.transaction = Some(queue);
    } else {
        session.discard_transaction(&server.engine, worker.lock_wait);
        if let Some(tracking) = &mut session.read_tracking {
            // CLIENT CACHING within it was for its commands.
            tracking.end();
        }
    }
    outcome
}

/// Whether the queue may run as a whole.
fn admit(server: &Dispatcher, worker: &Worker, queue: &Queue) -> Result<(), CommandError> {
    if queue.is_spoiled() {
        return Err(ABORTED);
    }
    if queue.needs_memory() && server.is_out_of_memory(&worker.settings) {
        return Err(CommandError::OUT_OF_MEMORY.discarding_transaction());
    }
    Ok(())
}

/// Whether the log takes the changes of the queue: what to wait for if it does not yet.
fn room(server: &Dispatcher, queue: &Queue, plan: &Plan<'_>) -> Result<Option<Wait>, CommandError> {
    if !queue.writes() && !queue.has_scripts() {
        return Ok(None);
    }
    let mut shards = plan.claims.shards();
    if plan.has_late_steps {
        // They may change libraries.
        shards.insert(PartitionId::LIBRARIES.shard());
    }
    match server.engine.log().admit_all(shards) {
        Ok(()) => Ok(None),
        Err(Refusal::Busy) => Ok(Some(Wait::LogRoom(shards))),
        // Scripts are told when they want to change something.
        Err(_) if !queue.writes() => Ok(None),
        Err(refusal) => Err(CommandError::log_refused(&refusal).discarding_transaction()),
    }
}

fn run(
    server: &Dispatcher,
    (worker, session, attendant): (&mut Worker, &mut Session, &mut dyn Attendant),
    plan: &Plan<'_>,
    mut transaction: Transaction<'_>,
    reply: &mut Reply<'_>,
) -> Result<Flow, CommandError> {
    let is_changed = |watching: &Watching| watching.is_changed(worker.now_ms);
    if session.watching.as_deref().is_some_and(is_changed) {
        reply.null_array();
        return Ok(Flow::Done);
    }
    if let Err(unready) = transaction.check_resident(&plan.claims) {
        worker.counters.cold_reads.add(1);
        return Ok(Flow::Wait(Wait::from(unready)));
    }
    transaction.gate_reads(&plan.claims, &mut session.gate);
    // Held as they are, the partitions need not be locked again to end the watch.
    if let Some(watching) = session.watching.take() {
        transaction.unwatch(&watching);
    }
    if plan.claims.keys.len() > 1 {
        transaction.txn(key_session(worker, session)).prefetch(&plan.claims.keys);
    }
    let before = reply.mark();
    if speaks(session.replies) {
        reply.array(plan.count());
    }
    let reply_bytes_max = reply_bytes_max(worker);
    let mut runner = Runner {
        server,
        worker,
        session,
        attendant,
        closes: false,
        reply_bytes: 0,
        reply_bytes_max,
        copied_bytes: 0,
        publications: Vec::new(),
        since: server.env.clock.now(),
    };
    if plan.has_late_steps {
        runner.run_in_two_rounds(plan, transaction, reply);
    } else {
        for step in plan.steps() {
            runner.answer(plan, &step, Some(&mut transaction), reply);
        }
        runner.commit(transaction);
    }
    if runner.is_cut() {
        // What a part of the replies would tell could not be told from the whole.
        reply.cut(before);
        runner.worker.counters.output_limit_disconnections.add(1);
        return Ok(Flow::Close);
    }
    Ok(if runner.closes { Flow::Close } else { Flow::Done })
}

/// Bytes of replies beyond which the client of a transaction is disconnected instead of answered:
/// its commands run as one, so that it cannot be made to read in between. What has been written
/// cannot be said in part; what only reads is an error before it comes to that.
fn reply_bytes_max(worker: &Worker) -> usize {
    let limits = &worker.settings.clients.output_limits;
    match usize::try_from(limits.of(ClientClass::Normal).hard_bytes) {
        Ok(limit @ 1..) => limit,
        _ => REPLY_BYTES_MAX,
    }
}

/// [`reply_bytes_max`] if `client-output-buffer-limit` sets none: as much as
/// `client-query-buffer-limit` lets a client send.
const REPLY_BYTES_MAX: usize = 1 << 30;

/// Runs the commands of one EXEC.
struct Runner<'a> {
    server: &'a Dispatcher,
    worker: &'a mut Worker,
    session: &'a mut Session,
    attendant: &'a mut dyn Attendant,
    /// One of them wants the connection closed.
    closes: bool,
    /// Bytes of all replies so far.
    reply_bytes: usize,
    reply_bytes_max: usize,
    /// Bytes of all replies so far that were copied.
    copied_bytes: usize,
    /// What scripts have published.
    publications: Vec<script::Publication>,
    /// When the running command began.
    since: Instant,
}

impl Runner<'_> {
    /// Every reply is written aside, and all are put in order in the end.
    fn run_in_two_rounds(
        &mut self,
        plan: &Plan<'_>,
        mut transaction: Transaction<'_>,
        reply: &mut Reply<'_>,
    ) {
        let mut replies: Vec<Output> = plan.steps().map(|_| Output::new()).collect();
        let protocols: Vec<_> = plan
            .steps()
            .zip(&mut replies)
            .map(|(step, out)| {
                let protocol = self.session.protocol;
                if step.when == When::InTurn {
                    let mut aside = Reply::new(out, protocol);
                    self.answer(plan, &step, Some(&mut transaction), &mut aside);
                }
                protocol
            })
            .collect();
        self.commit(transaction);
        self.since = self.server.env.clock.now();
        for ((step, out), protocol) in plan.steps().zip(&mut replies).zip(protocols) {
            if step.when == When::Late {
                self.answer(plan, &step, None, &mut Reply::new(out, protocol));
            }
        }
        self.publish();
        replies.into_iter().for_each(|out| reply.append(out));
    }

    fn commit(&mut self, transaction: Transaction<'_>) {
        transaction.commit(&mut self.session.gate);
        self.publish();
    }

    fn publish(&mut self) {
        let publications = std::mem::take(&mut self.publications);
        script::publish(self.server, self.worker, self.session, publications);
    }

    /// There are more replies than the client may be owed: they are thrown away.
    fn is_cut(&self) -> bool {
        self.reply_bytes > self.reply_bytes_max
    }

    /// Whether a command is an error because it would add to replies that are large already. Where
    /// `client-output-buffer-limit` says what is too much, that decides, as in Redis.
    fn reads_no_more(&self, step: &Step<'_>) -> bool {
        let is_much = self.copied_bytes > self.worker.reply_bounds.transaction_bytes_max
            || self.reply_bytes > self.reply_bytes_max / 2;
        is_much && may_fail_late(self.server, self.worker, step.id)
    }

    /// Runs a command whose reply is sent if replies are on, before it or after it.
    fn answer(
        &mut self,
        plan: &Plan<'_>,
        step: &Step<'_>,
        transaction: Option<&mut Transaction<'_>>,
        reply: &mut Reply<'_>,
    ) {
        if speaks(self.session.replies) {
            if step.when == When::InTurn {
                reply.set_protocol(self.session.protocol);
            }
            if self.reads_no_more(step) {
                fail(self.worker, step.id, &CommandError::REPLIES_TOO_LARGE, reply);
                return;
            }
            let (mark, owed, copied) = (reply.mark(), reply.bytes_owed(), reply.bytes_copied());
            self.run(plan, step, transaction, reply);
            if reply.is_over() {
                reply.cut(mark);
                if may_fail_late(self.server, self.worker, step.id) {
                    fail(self.worker, step.id, &CommandError::REPLY_TOO_LARGE, reply);
                } else {
                    self.reply_bytes = usize::MAX;
                }
            }
            self.copied_bytes += reply.bytes_copied() - copied;
            self.reply_bytes = self.reply_bytes.saturating_add(reply.bytes_owed() - owed);
            if self.is_cut() {
                reply.cut(mark);
            }
            return;
        }
        let mut unwanted = Output::new();
        let mut aside = Reply::new(&mut unwanted, self.session.protocol);
        self.run(plan, step, transaction, &mut aside);
        if speaks(self.session.replies) {
            reply.append(unwanted);
        }
    }

    fn run(
        &mut self,
        plan: &Plan<'_>,
        step: &Step<'_>,
        transaction: Option<&mut Transaction<'_>>,
        reply: &mut Reply<'_>,
    ) {
        let command = self.server.commands.table.command(step.id);
        self.session.renew_rights(&self.server.access);
        let (asks, call) = ((&*self.worker, &*self.session), (command, &step.args));
        let permitted = access::permit(
            self.server,
            asks,
            call,
            basalt_acl::Context::Multi,
            denied_since_queued,
        );
        if self.server.unusual.any() {
            let call = (step.id, &step.args);
            let told =
                monitors::publication(self.server, self.worker, self.session, call, Sender::Client);
            self.publications.extend(told);
        }
        let result = match transaction {
            _ if permitted.is_err() => permitted.map(|()| Flow::Done),
            Some(transaction) => {
                let keys = &plan.claims.keys[step.keys.clone()];
                self.run_in_turn(step, keys, transaction, reply)
            }
            None => self.run_late(step, reply),
        };
        let result = match result {
            Ok(Flow::Wait(Wait::Held)) => Err(self.server.scripts.busy_error()),
            Ok(Flow::Wait(_)) => Err(CommandError::new(format!(
                "ERR '{}' waits and cannot do that inside a transaction",
                command.spec.name
            ))),
            result => result,
        };
        match result {
            Ok(flow) => self.closes |= matches!(flow, Flow::Close),
            Err(error) => {
                fail(self.worker, step.id, &error, reply);
            }
        }
        let now = self.server.env.clock.now();
        let elapsed = now - std::mem::replace(&mut self.since, now);
        let counters = &self.worker.counters.by_command[step.id.index()];
        counters.calls.add(1);
        let nanoseconds = elapsed.as_nanos() as u64;
        counters.nanoseconds.add(nanoseconds);
        let family = usize::from(self.server.commands.call(step.id).family);
        self.worker.counters.by_family[family].add(nanoseconds, 1);
        self.worker.add_times(step.id, nanoseconds, 1);
        let micros = elapsed.as_micros() as u64;
        note_slow_call(self.server, self.worker, self.session, step.id, &step.args, micros);
    }

    fn run_in_turn(
        &mut self,
        step: &Step<'_>,
        keys: &[Key<'_>],
        transaction: &mut Transaction<'_>,
        reply: &mut Reply<'_>,
    ) -> Result<Flow, CommandError> {
        let args = step.args.with_keys(keys);
        let key_session = key_session(self.worker, self.session);
        transaction.expire(keys, key_session);
        tracking::note_within(self.server, self.session, transaction, step.id, keys);
        match self.server.commands.call(step.id).run {
            run @ (Run::Read(_) | Run::Point(_)) => {
                let traits = self.server.commands.traits(step.id);
                let view = (&mut *transaction, key_session);
                read_within(self.worker, view, (traits, run), &args, reply).map(|()| Flow::Done)
            }
            Run::Write(run) => {
                let mut txn = transaction.write(key_session)?;
                run(&mut txn, &args, reply).map(|()| Flow::Done)
            }
            Run::Session(_) => self.run_for_session(step, Some(transaction.lend()), reply),
            Run::Script(call) => {
                let into = (&mut self.publications, &mut *reply);
                let Runner { server, worker, session, attendant, .. } = self;
                let attendant: &mut dyn Attendant = &mut **attendant;
                let (step, call) = ((step.id, step.args), (call, attendant));
                script::execute_within(server, worker, session, step, call, transaction, into)
                    .map(|()| Flow::Done)
            }
            Run::Exec => Err(CommandError::fixed("ERR EXEC calls can not be nested")),
        }
    }

    /// It cannot wait for a partition as a command by itself does. Nothing is held any more, so the
    /// holder of the partition gets on meanwhile, unless it is a script.
    fn run_late(&mut self, step: &Step<'_>, reply: &mut Reply<'_>) -> Result<Flow, CommandError> {
        for _ in 1..LATE_ATTEMPTS {
            let result = self.run_for_session(step, None, reply);
            if !matches!(result, Ok(Flow::Wait(Wait::Held))) {
                return result;
            }
        }
        self.run_for_session(step, None, reply)
    }

    fn run_for_session(
        &mut self,
        step: &Step<'_>,
        transaction: Option<Transaction<'_>>,
        reply: &mut Reply<'_>,
    ) -> Result<Flow, CommandError> {
        let Run::Session(run) = self.server.commands.call(step.id).run else {
            return Ok(Flow::Done);
        };
        // It may show the counters.
        self.worker.settle();
        let settings = Arc::clone(&self.worker.settings);
        let flow = {
            let mut context = Context {
                server: self.server,
                session: self.session,
                outbox: &mut self.worker.outbox,
                settings: &settings,
                now_ms: self.worker.now_ms,
                lock_wait: self.worker.lock_wait,
                frozen_us: None,
                runs_alone: false,
                transaction,
            };
            run(&mut context, &step.args, reply)?
        };
        self.worker.renew_settings(self.server);
        self.worker.begin_batch(self.server);
        Ok(flow)
    }
}

/// Whether what is answered now is sent.
fn speaks(replies: Replies) -> bool {
    matches!(replies, Replies::On | Replies::SkipNext)
}
