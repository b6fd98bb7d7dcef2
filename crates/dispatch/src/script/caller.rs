//! What a script's commands go through: each is checked and run on the locks that the script holds.
//!
//! A command that needs more than is held or in memory has the script begin again with that
//! ([`GivenUp`]), unless it has changed something already: then it is told an error, and the script
//! is remembered as one that needs more from the start.

mod elsewhere;
mod let_go;

use self::elsewhere::Elsewhere;
use super::super::dispatcher::Dispatcher;
use super::Publication;
use super::invocation::Invocation;
use crate::access;
use crate::keys::{add_keys, key_session};
use crate::monitor_line::Sender;
use crate::monitors;
use crate::outcome::{fail, note_slow_call};
use crate::queue::shards_of;
use crate::tracking::note_within;
use crate::wants::{Wants, When, wants, when};
use crate::within::read_within;
use crate::worker::{Apart, Worker};
use basalt_call::calls::Call;
use basalt_call::context::Context;
use basalt_call::entry::Run;
use basalt_change::place::ShardSet;
use basalt_engine::{Claims, CommandContext, Gate, Issuer, Key, Missing, Refusal, Transaction};
use basalt_env::Instant;
use basalt_pubsub::{Kind, Outbox, WhenFull};
use basalt_resp::{Output, Protocol, Reply};
use basalt_script::{Denied, Host, KeyScope, Level, Look, Overseer, Words};
use basalt_service::access::denied_to_script;
use basalt_service::args::Args;
use basalt_service::error::CommandError;
use basalt_service::push::Push;
use basalt_service::scripts::{Attendant, EarlierRuns, Running};
use basalt_service::session::{Flow, Session};
use basalt_spec::{Command, CommandId, Flag, Found};
use std::borrow::Cow;
use std::cell::OnceCell;
use std::mem::take;
use std::sync::Arc;
use std::time::Duration;

const UNKNOWN: Denied = denied("ERR Unknown Redis command called from script");
const WRONG_ARITY: Denied = denied("ERR Wrong number of args calling Redis command from script");
const NOT_ALLOWED: Denied = denied("ERR This Redis command is not allowed from script");
const LONG_WORD: Denied = denied("ERR string exceeds maximum allowed size (proto-max-bulk-len)");
const READ_ONLY: Denied = denied("ERR Write commands are not allowed from read-only scripts.");
const BEYOND_KEYS: Denied = denied(
    "ERR the script has changed something and then used a key that it was not called with. It is not \
     going to happen to this script again: from now on it runs with all keys locked",
);
const NOT_IN_MEMORY: Denied = denied(
    "ERR the script has changed something and then used a key that it was not called with and that is \
     not in memory. It is not going to happen to this script again: from now on all keys are read \
     before it runs",
);

/// When other threads do not wait for the keys of a script any more: as long as they would wait at
/// most for one that ends.
const HELD_FOR_LONG: Duration = Duration::from_millis(1);

const fn denied(text: &'static str) -> Denied {
    Denied::Because(Cow::Borrowed(text))
}

/// Why a script has to begin again.
pub(super) enum GivenUp {
    /// It may use any key: every partition is to be held.
    AnyKey,
    /// It is about to change something, and nobody knows which keys it will use then: every
    /// partition is to be held.
    BeforeChange,
    /// All partitions are held, and every key has to be in memory.
    Everything,
    /// These keys have to be in memory.
    Fetch(Missing),
    /// It let others have its keys, and they have changed them.
    Overtaken,
    /// Others are to have its keys, and nobody has noted which these are.
    NotNoted,
}

/// See the head of this file. It stays where it is made: it is half a kilobyte.
pub(super) struct Caller<'a, 't> {
    pub(super) server: &'a Dispatcher,
    pub(super) worker: &'a mut Worker,
    session: &'a mut Session,
    transaction: &'a mut Transaction<'t>,
    invocation: &'a Invocation<'a>,
    /// What it may touch: with the keys that it was called with.
    claims: &'a Claims<'a>,
    /// When this run began.
    pub(super) began: Instant,
    /// What the runs before this one have come to.
    pub(super) earlier: EarlierRuns,
    /// Since when it has had its keys.
    held_since: Instant,
    /// It has said that it holds them for long.
    holds_for_long: bool,
    /// The whole may run again from the start, as long as it has changed nothing.
    may_begin_again: bool,
    /// Shards whose changes the log refuses, and why.
    log_refusal: Option<&'a (Refusal, ShardSet)>,
    /// Serves others while the script takes long.
    attendant: &'a mut dyn Attendant,
    /// What the client had selected.
    db: u8,
    /// What TIME says, whenever it is asked.
    now_us: OnceCell<u64>,
    running: Option<Running<'a>>,
    given_up: Option<GivenUp>,
    /// It has used a key that it was not called with.
    went_beyond: bool,
    /// What it has looked at besides the keys that it was called with, in its client's database.
    elsewhere: Elsewhere,
    publications: Vec<Publication>,
}

/// What is called: what it may touch, how, and the shards whose changes the log refuses, and why.
pub(super) type Called<'a> = (&'a Claims<'a>, &'a Invocation<'a>, Option<&'a (Refusal, ShardSet)>);

impl<'a, 't> Caller<'a, 't> {
    pub(super) fn new(
        server: &'a Dispatcher,
        worker: &'a mut Worker,
        session: &'a mut Session,
        transaction: &'a mut Transaction<'t>,
        (claims, invocation, log_refusal): Called<'a>,
        attendant: &'a mut dyn Attendant,
    ) -> Caller<'a, 't> {
        Caller {
            claims,
            began: Instant::default(),
            earlier: EarlierRuns::default(),
            held_since: Instant::default(),
            holds_for_long: false,
            db: session.db,
            now_us: OnceCell::new(),
            server,
            worker,
            session,
            transaction,
            invocation,
            may_begin_again: true,
            log_refusal,
            attendant,
            running: None,
            given_up: None,
            went_beyond: false,
            elsewhere: Elsewhere::Nothing,
            publications: Vec::new(),
        }
    }

    pub(super) fn begins(&mut self, now: Instant, earlier: EarlierRuns) {
        (self.began, self.held_since, self.earlier) = (now, now, earlier);
        self.elsewhere = Elsewhere::nothing(earlier.note_keys);
    }

    pub(super) fn cannot_begin_again(&mut self) {
        self.may_begin_again = false;
    }

    pub(super) fn runs_as(&mut self, running: Running<'a>) {
        self.running = Some(running);
    }

    /// The script has ended: why it was given up, if it was, and what it has published.
    pub(super) fn end(&mut self) -> (Option<GivenUp>, Vec<Publication>) {
        self.running = None;
        self.session.select(self.db);
        if self.given_up.is_none() && !self.went_beyond {
            self.invocation.program.trust().kept_to_its_keys();
        }
        (self.given_up.take(), take(&mut self.publications))
    }

    fn find(&self, args: &Args<'_>) -> Result<&'a Command, Denied> {
        match self.server.commands.table.resolve(args.word(0), args.opt(1)) {
            Found::Command(command) => Ok(command),
            Found::NoSubcommand(_) | Found::Nothing => Err(UNKNOWN),
        }
    }

    /// Whether a command may be part of a script, and of this one.
    fn admit(&self, command: &Command, call: &Call, args: &Args<'_>) -> Result<(), Denied> {
        let (flags, traits) = (command.flags, self.server.commands.traits(command.id));
        if !call.accepts_words(args.len()) {
            return Err(WRONG_ARITY);
        }
        // As of a request: what is logged of one word must fit one record, what is kept of it one
        // row.
        let word_bytes_max = self.worker.settings.network.bulk_bytes_max;
        let all_bytes = args.ranges(0).0.len();
        if all_bytes > word_bytes_max
            && (0..args.len()).any(|index| args.word(index).len() > word_bytes_max)
        {
            return Err(LONG_WORD);
        }
        let is_foreign = when(&self.server.commands, command) == When::Late
            && !traits.is_harmless
            && traits.publishes.is_none();
        if flags.has(Flag::Noscript) || is_foreign || traits.asks_another_server {
            return Err(NOT_ALLOWED);
        }
        let explain = |denied| denied_to_script(denied, (self.session.rights.user(), command));
        let (asks, called) = ((&*self.worker, &*self.session), (command, args));
        access::permit(self.server, asks, called, basalt_acl::Context::Lua, explain)
            .map_err(because)?;
        let may_replicate = flags.has(Flag::Write) || flags.has(Flag::MayReplicate);
        if may_replicate && self.invocation.is_read_only() {
            return Err(READ_ONLY);
        }
        if flags.has(Flag::Write)
            && let Some((refusal, shards)) = self.log_refusal
            && shards.meets(shards_of(self.server, command, *args))
        {
            return Err(because(CommandError::log_refused(refusal)));
        }
        // What has begun is not stopped half-way.
        let needs_memory = call.takes_memory
            && !self.invocation.program.flags().allow_oom
            && !self.transaction.has_changes();
        if needs_memory && self.server.is_out_of_memory(&self.worker.settings) {
            return Err(because(CommandError::OUT_OF_MEMORY));
        }
        Ok(())
    }

    /// Has other threads not wait for its keys, once it has held them for long.
    fn say_that_it_holds_for_long(&mut self) {
        if !self.holds_for_long && self.server.env.clock.since(self.held_since) >= HELD_FOR_LONG {
            self.holds_for_long = true;
            self.transaction.hold_for_long();
        }
    }

    /// A key as it was declared, with its hash; `None` if it was not.
    fn declared_as(&self, key: &[u8]) -> Option<Key<'a>> {
        self.claims.keys.iter().find(|declared| declared.bytes == key).copied()
    }

    /// Sees to it that all is held and in memory that a command touches.
    fn reach(
        &mut self,
        command: &Command,
        args: &Args<'_>,
        (keys, are_declared): (&[Key<'_>], bool),
    ) -> Result<(), Denied> {
        let Wants { everything, reads_everything } = wants(&self.server.commands, command, *args);
        let is_beyond = everything || !are_declared;
        self.went_beyond |= is_beyond;
        if everything {
            self.elsewhere = Elsewhere::Everything;
        } else if is_beyond || self.session.db != self.db {
            self.elsewhere.add(self.session.db, keys);
        }
        let is_held = self.claims.everything
            || !everything && keys.iter().all(|key| self.transaction.holds(key));
        if !is_held {
            self.invocation.program.trust().went_beyond_its_keys();
            // Too late to begin again: it gets what it asks for if nobody holds that for long.
            let gets_more = !everything && !self.can_begin_again();
            if !gets_more || !self.transaction.hold_more(keys) {
                return Err(self.give_up(GivenUp::AnyKey, BEYOND_KEYS));
            }
        }
        if reads_everything && !self.transaction.reach_everything(self.session.db) {
            self.invocation.program.trust().needs_all_in_memory();
            return Err(self.give_up(GivenUp::Everything, NOT_IN_MEMORY));
        }
        let databases = match self.server.commands.traits(command.id).names_databases {
            true => 0..self.server.engine.databases(),
            false => self.session.db..self.session.db + 1,
        };
        for db in databases {
            if let Some(missing) = self.transaction.missing(db, keys) {
                if !self.can_begin_again() {
                    self.invocation.program.trust().needs_all_in_memory();
                }
                return Err(self.give_up(GivenUp::Fetch(missing), NOT_IN_MEMORY));
            }
        }
        if is_beyond {
            self.transaction.gate_reads_of(keys, &mut self.session.gate);
        }
        Ok(())
    }

    /// Has the script begin again, or tells it that it is too late for that.
    fn give_up(&mut self, given_up: GivenUp, too_late: Denied) -> Denied {
        if !self.can_begin_again() {
            return too_late;
        }
        self.given_up = Some(given_up);
        Denied::GiveUp
    }

    fn can_begin_again(&self) -> bool {
        self.may_begin_again && !self.has_effects()
    }

    fn has_effects(&self) -> bool {
        let has_published = |it: &Publication| it.kind != Kind::Monitor;
        self.transaction.has_changes() || self.publications.iter().any(has_published)
    }

    fn run(
        &mut self,
        id: CommandId,
        args: &Args<'_>,
        reply: &mut Reply<'_>,
    ) -> Result<Flow, CommandError> {
        if self.server.unusual.any() {
            let told = monitors::publication(
                self.server,
                self.worker,
                self.session,
                (id, args),
                Sender::Script,
            );
            self.publications.extend(told);
        }
        let issuer = Issuer::Script;
        let key_session = CommandContext { issuer, ..key_session(self.worker, self.session) };
        note_within(self.server, self.session, self.transaction, id, args.keys());
        match self.server.commands.call(id).run {
            run @ (Run::Read(_) | Run::Point(_)) => {
                let traits = self.server.commands.traits(id);
                let view = (&mut *self.transaction, key_session);
                read_within(self.worker, view, (traits, run), args, reply).map(|()| Flow::Done)
            }
            Run::Write(run) => {
                let mut txn = self.transaction.write(key_session)?;
                run(&mut txn, args, reply).map(|()| Flow::Done)
            }
            Run::Session(run) => {
                let settings = Arc::clone(&self.worker.settings);
                let frozen_us = self.frozen_us();
                let mut context = Context {
                    server: self.server,
                    session: self.session,
                    outbox: &mut self.worker.outbox,
                    settings: &settings,
                    now_ms: self.worker.now_ms,
                    lock_wait: self.worker.lock_wait,
                    frozen_us,
                    runs_alone: false,
                    transaction: Some(self.transaction.lend()),
                };
                run(&mut context, args, reply)
            }
            // They are flagged `noscript`.
            Run::Exec | Run::Script(_) => Err(CommandError::fixed("ERR a script runs none")),
        }
    }

    /// What TIME says: time stands still until others know that the script takes long.
    fn frozen_us(&self) -> Option<u64> {
        let is_busy = self.running.as_ref().is_some_and(|running| running.is_busy());
        let now_us = || self.server.engine.clock().unix_us();
        (!is_busy).then(|| *self.now_us.get_or_init(now_us))
    }

    /// Before the first change of a script of which is not known yet whether it keeps to its keys:
    /// afterwards it could not begin again.
    fn hold_before_change(&mut self, command: &Command) -> Result<(), Denied> {
        let changes = command.flags.has(Flag::Write)
            || self.server.commands.traits(command.id).publishes.is_some();
        let is_unknown = self.invocation.program.trust().scope() == KeyScope::Unknown;
        if !changes || self.claims.everything || !is_unknown || !self.can_begin_again() {
            return Ok(());
        }
        self.given_up = Some(GivenUp::BeforeChange);
        Err(Denied::GiveUp)
    }

    fn find_and_run(
        &mut self,
        words: &Words,
        protocol: Protocol,
        out: &mut Output,
    ) -> Result<(), Denied> {
        let args = Args::new(words.bytes(), words.words());
        let command = self.find(&args)?;
        let id = command.id;
        let call = self.server.commands.call(id);
        if let Err(denied) = self.admit(command, call, &args) {
            self.worker.counters.by_command[id.index()].rejected.add(1);
            return Err(denied);
        }
        let (only, mut several);
        let (keys, are_declared) = match call.position_of_one_key(args.len()) {
            0 => {
                several = Vec::new();
                add_keys(&self.server.engine, command, args, &mut several);
                (&several[..], several.iter().all(|key| self.declared_as(key.bytes).is_some()))
            }
            position => {
                let word = args.word(position);
                let declared = self.declared_as(word);
                only = [declared.unwrap_or_else(|| self.server.engine.key(word))];
                (&only[..], declared.is_some())
            }
        };
        self.reach(command, &args, (keys, are_declared))?;
        self.hold_before_change(command)?;
        let mut reply = Reply::new(out, protocol);
        // Those that are fast by their flags are timed where every call is.
        let is_timed = !call.shares_time || self.worker.times_every_command;
        let start = is_timed.then(|| self.server.env.clock.now());
        let result = match self.server.commands.traits(id).publishes {
            Some(kind) => {
                self.publish(kind, &args, &mut reply);
                Ok(Flow::Done)
            }
            None => self.run(id, &args.with_keys(keys), &mut reply),
        };
        match start {
            Some(start) => self.count_timed(id, &args, start),
            None => self.worker.count_call(id),
        }
        if self.has_effects()
            && let Some(running) = &self.running
        {
            running.has_effects();
        }
        match result {
            Ok(Flow::Done) => Ok(()),
            Ok(Flow::Close | Flow::Wait(_) | Flow::RunApart) => Err(NOT_ALLOWED),
            Err(error) => {
                fail(self.worker, id, &error, &mut reply);
                Ok(())
            }
        }
    }

    /// Counts a call, and tells the slow log of it if it took long.
    fn count_timed(&mut self, id: CommandId, args: &Args<'_>, start: Instant) {
        let elapsed = self.server.env.clock.since(start);
        let family = self.server.commands.call(id).family;
        self.worker.count_timed_call((id, family), elapsed, Apart::No);
        let micros = elapsed.as_micros() as u64;
        note_slow_call(self.server, self.worker, self.session, id, args, micros);
    }

    /// Notes a message to be sent when the script has ended, and tells how many will get it.
    fn publish(&mut self, kind: Kind, args: &Args<'_>, reply: &mut Reply<'_>) {
        let (channel, payload) = (args.word(1), args.word(2));
        let mut nowhere = Outbox::default();
        let mut message = |matched: basalt_pubsub::Matched<'_>| {
            Push::new(kind, channel, &[], matched, Gate::default())
        };
        let pubsub = &self.server.pubsub;
        let receivers = pubsub.publish(&mut nowhere, kind, channel, WhenFull::Exceed, &mut message);
        reply.integer(receivers.unwrap_or(0) as i64);
        let (channel, payload) = (channel.to_vec(), payload.to_vec());
        self.publications.push(Publication { kind, channel, payload });
    }
}

impl Overseer for Caller<'_, '_> {
    fn look(&self) -> Look {
        match self.running.as_ref().map_or(Look::GoOn, Overseer::look) {
            // One that is to end does not begin again.
            end @ Look::End(_) => end,
            _ if self.given_up.is_some() => Look::GiveUp,
            look => look,
        }
    }

    fn log(&self, level: Level, text: &[u8]) {
        if let Some(running) = &self.running {
            running.log(level, text);
        }
    }
}

impl Host for Caller<'_, '_> {
    fn call(&mut self, words: &Words, protocol: Protocol, out: &mut Output) -> Result<(), Denied> {
        let result = self.find_and_run(words, protocol, out);
        if let Err(Denied::Because(text)) = &result {
            self.worker.counters.count_error(text);
        }
        result
    }

    fn attend(&mut self) {
        if let Some(running) = self.running.as_ref().filter(|running| running.is_to_be_described())
            && let Some((name, words)) = self.invocation.call_of_function()
        {
            running.describe(name, words);
        }
        self.attendant.attend();
        self.say_that_it_holds_for_long();
        self.let_others_first();
    }

    fn may_call(&self, words: &Words) -> Option<bool> {
        let args = Args::new(words.bytes(), words.words());
        let command = if args.is_empty() { None } else { self.find(&args).ok() };
        command.map(|command| self.session.rights.check(command, &args).is_ok())
    }
}

fn because(error: CommandError) -> Denied {
    Denied::Because(Cow::Owned(error.text().to_owned()))
}
