//! HOT PATH
//! The one way in which every command runs: lookup ▸ arity ▸ auth ▸ route ▸ admit ▸ run ▸ reply.
//!
//! A batch of requests goes through in stages, so that memory is fetched while other requests are
//! looked at: [`prepare`] finds the command and hashes its first key; [`Prepared::prefetch_bucket`]
//! and [`Prepared::prefetch_entry`] bring in what it will touch; [`execute`] runs it.

use crate::args::Args;
use crate::commands::{Commands, Run};
use crate::error::CommandError;
use crate::redact::redact;
use crate::server::Server;
use crate::session::{Flow, Replies, Session};
use crate::silence;
use crate::unknown::unknown;
use crate::wait::{Afterwards, Wait};
use basalt_change::place::PartitionId;
use basalt_config::Settings;
use basalt_engine::{Changes, Engine, Key, Refusal, Session as KeySession, Txn, View, Walk};
use basalt_observe::counters::ThreadCounters;
use basalt_observe::slow_log;
use basalt_resp::{Arg, Output, Reply};
use basalt_spec::{Command, CommandId, Flag, Found, KeyFlag};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Two clock readings cost as much as a GET. Commands flagged `fast` are timed one by one only if the
/// slow log asks for durations below this; they take about a microsecond.
const ALWAYS_TIMED_BELOW_US: i64 = 1000;

pub use crate::silence::finish_wait;

/// What one network thread brings to every command that it runs.
pub struct Worker {
    /// This thread's counters.
    pub counters: Arc<ThreadCounters>,
    /// The settings, renewed when the configuration's version changes.
    pub settings: Arc<Settings>,
    settings_version: u64,
    /// Now, in unix milliseconds; renewed every turn.
    pub now_ms: u64,
    changes: Changes,
    /// Where replies go that nobody wants.
    pub(crate) discarded: Output,
}

/// What a session command sees.
pub struct Context<'a> {
    /// What all connections share.
    pub server: &'a Server,
    /// Its connection.
    pub session: &'a mut Session,
    /// This moment's settings.
    pub settings: &'a Settings,
    /// Now, in unix milliseconds.
    pub now_ms: u64,
}

/// A request whose command has been found.
#[derive(Clone, Copy)]
pub struct Prepared {
    command: Option<CommandId>,
    first_key: Option<(u64, PartitionId)>,
    /// Its time is its share of the batch's.
    shares_time: bool,
}

impl Context<'_> {
    /// A walk over the selected database.
    pub fn walk(&self) -> Walk {
        Walk { db: self.session.db, now_ms: self.now_ms }
    }

    /// Asks the log before a change of whole databases: what to wait for if it is not ready for one.
    ///
    /// # Errors
    /// The log takes no changes.
    pub fn admit_change(&self) -> Result<Option<Wait>, CommandError> {
        match self.server.engine.log().admit() {
            Ok(()) => Ok(None),
            Err(Refusal::Busy) => Ok(Some(Wait::LogRoom)),
            Err(refusal) => Err(CommandError::log_refused(&refusal)),
        }
    }

    /// The reply saw keys all over a database: it waits for every change so far.
    pub fn gate_reads_of_everything(&mut self) {
        let log = self.server.engine.log();
        if log.gates_replies() {
            log.latest(&mut self.session.gate);
        }
    }
}

impl Worker {
    /// A thread's worker.
    pub fn new(server: &Server, counters: Arc<ThreadCounters>) -> Worker {
        Worker {
            settings_version: server.config.version(),
            settings: server.config.settings(),
            now_ms: server.engine.clock().unix_ms(),
            counters,
            changes: Changes::default(),
            discarded: Output::new(),
        }
    }

    /// A turn of the event loop begins.
    pub fn begin_turn(&mut self, server: &Server) {
        self.now_ms = server.engine.clock().unix_ms();
        self.renew_settings(server);
        self.counters.turns.add(1);
    }

    #[inline]
    fn renew_settings(&mut self, server: &Server) {
        let version = server.config.version();
        if version != self.settings_version {
            self.settings_version = version;
            self.settings = server.config.settings();
        }
    }

    #[inline]
    fn times_every_command(&self) -> bool {
        (0..ALWAYS_TIMED_BELOW_US).contains(&self.settings.server.slowlog_slower_than_us)
    }

    /// A turn of the event loop ends: the log may have something to write.
    pub fn end_turn(&mut self, server: &Server) {
        let changes = self.changes.take_count();
        if changes > 0 {
            self.counters.changes.add(changes);
            server.engine.log().kick();
        }
    }
}

/// Finds a request's command and hashes its first key.
#[inline]
pub fn prepare(commands: &Commands, engine: &Engine, buffer: &[u8], words: &[Arg]) -> Prepared {
    let second = words.get(1).map(|word| word.of(buffer));
    let Found::Command(command) = commands.table.resolve(words[0].of(buffer), second) else {
        return Prepared { command: None, first_key: None, shares_time: false };
    };
    let first = command.key_range.first;
    let first_key = match words.get(first as usize) {
        Some(word) if first > 0 => {
            let key = engine.key(word.of(buffer));
            Some((key.hash, key.partition))
        }
        _ => None,
    };
    let shares_time = command.flags.has(Flag::Fast);
    Prepared { command: Some(command.id), first_key, shares_time }
}

impl Prepared {
    /// Brings the bucket of the first key into the cache.
    #[inline]
    pub fn prefetch_bucket(&self, engine: &Engine, db: u8) {
        if let Some((hash, partition)) = self.first_key {
            engine.prefetch_bucket(db, hash, partition);
        }
    }

    /// Brings the entry of the first key into the cache.
    #[inline]
    pub fn prefetch_entry(&self, engine: &Engine, db: u8) {
        if let Some((hash, partition)) = self.first_key {
            engine.prefetch_entry(db, hash, partition);
        }
    }

    /// Counts the time of a command that was not timed by itself.
    #[inline]
    pub fn count_time(&self, worker: &Worker, share: Duration) {
        if let Some(id) = self.command
            && self.shares_time
            && !worker.times_every_command()
        {
            worker.counters.by_command[id.index()].nanoseconds.add(share.as_nanos() as u64);
        }
    }
}

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
    worker.counters.commands.add(1);
    if session.replies == Replies::On {
        return run_and_reply(server, worker, session, buffer, words, prepared, out);
    }
    silence::execute(worker, session, out, |worker, session, out| {
        run_and_reply(server, worker, session, buffer, words, prepared, out)
    })
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

/// Runs a command that reads its keys.
#[inline]
fn read(
    server: &Server,
    worker: &mut Worker,
    session: &mut Session,
    command: &Command,
    args: &Args<'_>,
    prepared: Prepared,
    run: impl FnOnce(&View<'_>, &Args<'_>) -> Result<(), CommandError>,
) -> Result<Flow, CommandError> {
    let engine = &*server.engine;
    with_keys(engine, command, args, prepared, |args| {
        let keys = args.keys();
        let mut locked = engine.lock(keys);
        if let Some(missing) = engine.missing(&mut locked, session.db, keys) {
            worker.counters.cold_reads.add(1);
            return Ok(Flow::Wait(Wait::Keys(missing)));
        }
        if engine.log().gates_replies() {
            engine.gate_reads(&locked, keys, &mut session.gate);
        }
        let view = View::new(engine, locked, key_session(worker, session));
        let result = run(&view, args);
        let (hits, misses) = view.hits_and_misses();
        worker.counters.keyspace_hits.add(u64::from(hits));
        worker.counters.keyspace_misses.add(u64::from(misses));
        result.map(|()| Flow::Done)
    })
}

/// Runs a command that changes its keys.
#[inline]
fn write(
    server: &Server,
    worker: &mut Worker,
    session: &mut Session,
    command: &Command,
    args: &Args<'_>,
    prepared: Prepared,
    run: impl FnOnce(&mut Txn<'_>, &Args<'_>) -> Result<(), CommandError>,
) -> Result<Flow, CommandError> {
    let engine = &*server.engine;
    match engine.log().admit() {
        Ok(()) => {}
        Err(Refusal::Busy) => return Ok(Flow::Wait(Wait::LogRoom)),
        Err(refusal) => return Err(CommandError::log_refused(&refusal)),
    }
    let key_session = key_session(worker, session);
    with_keys(engine, command, args, prepared, |args| {
        let keys = args.keys();
        let mut locked = engine.lock(keys);
        if let Some(missing) = engine.missing(&mut locked, session.db, keys) {
            worker.counters.cold_reads.add(1);
            return Ok(Flow::Wait(Wait::Keys(missing)));
        }
        if engine.log().gates_replies() {
            engine.gate_reads(&locked, keys, &mut session.gate);
        }
        let mut txn = Txn::new(engine, locked, key_session, &mut worker.changes);
        let result = run(&mut txn, args);
        // Even after an error: what has changed in memory must be in the log.
        if let Some(ticket) = txn.commit() {
            session.gate.add(ticket);
        }
        if let Some(missing) = worker.changes.take_missing() {
            worker.counters.cold_reads.add(1);
            return Ok(Flow::Wait(Wait::Keys(missing)));
        }
        result.map(|()| Flow::Done)
    })
}

#[inline]
fn key_session(worker: &Worker, session: &Session) -> KeySession {
    KeySession {
        db: session.db,
        now_ms: worker.now_ms,
        touch: session.touch,
        value_bytes_max: worker.settings.network.bulk_bytes_max,
    }
}

/// Finds the command's keys and calls `run` with them.
#[inline]
fn with_keys<R>(
    engine: &Engine,
    command: &Command,
    args: &Args<'_>,
    prepared: Prepared,
    run: impl FnOnce(&Args<'_>) -> Result<R, CommandError>,
) -> Result<R, CommandError> {
    let range = command.key_range;
    if range.first == range.last
        && !command.flags.has(Flag::Movablekeys)
        && let Some((hash, partition)) = prepared.first_key
    {
        let key = [Key { bytes: args.word(range.first as usize), hash, partition }];
        return run(&args.with_keys(&key));
    }
    let mut keys = Vec::new();
    if command.flags.has(Flag::Movablekeys) {
        command
            .visit_keys(args, |position, flags| {
                if !flags.has(KeyFlag::NotKey) {
                    keys.push(engine.key(args.word(position)));
                }
            })
            .map_err(CommandError::because)?;
    } else {
        let words = args.len();
        keys.extend(range.positions(words).map(|position| engine.key(args.word(position))));
    }
    run(&args.with_keys(&keys))
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
