//! HOT PATH
//! A network thread's own part in running commands.

use super::dispatcher::Dispatcher;
use super::halt::Halt;
use super::left_heads::LeftHeads;
use super::monitor_line::LineHead;
use super::recent_programs::RecentPrograms;
use super::spare_keys::SpareKeys;
use basalt_change::place::{ShardId, ShardSet};
use basalt_config::{ClientClass, Settings};
use basalt_engine::{ChangeSet, EventClasses, Gating, LockWait, Refusal};
use basalt_env::{Clock, Instant};
use basalt_observe::counters::ThreadCounters;
use basalt_pubsub::{Leaving, Left};
use basalt_resp::{COPIED_BYTES_MAX, Output};
use basalt_service::push::Outbox;
use basalt_service::server::LOGGED_BYTES_MIN;
use basalt_service::session::Session;
use basalt_service::unusual::Reason;
use basalt_service::wait::Wait;
use basalt_spec::CommandId;
use std::mem::take;
use std::sync::Arc;
use std::time::Duration;

/// Two clock readings cost as much as a GET. Commands flagged `fast` are timed one by one only if
/// the slow log asks for durations below this; they take about a microsecond. One that takes long
/// all the same is noticed by a single reading, in `execute.rs`.
const ALWAYS_TIMED_BELOW_US: i64 = 1000;
/// How long what runs apart takes so that replies of others are sent before the next such thing
/// runs: they would wait this long, or longer.
const APART_TIME_LONG: Duration = Duration::from_micros(100);
/// Calls in a row for which the clock is not read, because they cannot take long: together some
/// tens of microseconds.
const UNTIMED_CALLS_MAX: u32 = 16;
/// Subscriptions of connections that have gone, ended in one turn: about 50 µs.
const SUBSCRIPTIONS_ENDED_MAX: usize = 256;

/// How much may be copied into replies, where `client-output-buffer-limit` does not say it.
#[derive(Clone, Copy, Debug)]
pub struct ReplyBounds {
    /// Into one reply.
    pub reply_bytes_max: usize,
    /// Into those of a transaction before it reads no more.
    pub transaction_bytes_max: usize,
}

impl Default for ReplyBounds {
    fn default() -> ReplyBounds {
        ReplyBounds { reply_bytes_max: COPIED_BYTES_MAX, transaction_bytes_max: 128 << 20 }
    }
}

/// What one network thread brings to every command that it runs.
pub struct Worker {
    pub(super) clock: Arc<dyn Clock>,
    /// This thread's counters.
    pub counters: Arc<ThreadCounters>,
    /// The settings, renewed when the configuration's version changes.
    pub settings: Arc<Settings>,
    settings_version: u64,
    /// Now, in unix milliseconds; renewed every turn, and after a call that has taken long or
    /// waited.
    pub now_ms: u64,
    /// How much may be copied into replies.
    pub reply_bounds: ReplyBounds,
    /// How long it waits for a partition. After the first that is held for long it waits for no
    /// other one in its turn, so that many commands behind one script do not add their waits up.
    pub(super) lock_wait: LockWait,
    /// It serves clients while their thread is busy with a long command: everything is looked at
    /// more closely.
    stands_in: Option<Reason>,
    /// What runs now may take long: its thread lends its event loop meanwhile.
    runs_apart: bool,
    /// What ran apart latest has taken long.
    expects_long: bool,
    /// Of the command that runs: behind a pointer, since those that run others take it out
    /// ([`Worker::take_changes`]), and it is half a kilobyte.
    pub(super) changes: Box<ChangeSet>,
    /// What stands in its place meanwhile.
    spare_changes: Option<Box<ChangeSet>>,
    /// Room for the keys that a script is called with.
    pub(super) claimed_keys: SpareKeys,
    pub(super) outbox: Outbox,
    /// What the latest line for those who monitor began with.
    pub(super) line_head: LineHead,
    /// Connections that have gone and whose subscriptions have not all been ended.
    leaving: Vec<Leaving>,
    /// Where replies go that nobody wants.
    pub(crate) discarded: Output,
    /// The scripts that it has called latest.
    pub(super) recent_scripts: RecentPrograms,
    /// The functions.
    pub(super) recent_functions: RecentPrograms,
    /// Every command is timed by itself.
    pub(super) times_every_command: bool,
    /// Whether replies wait for the log, asked once a batch.
    pub(super) gating: Gating,
    /// Shards of which the log has said in this batch that it takes changes. A batch is little
    /// against what it buffers, so it is asked once.
    log_admits: ShardSet,
    tally: Tally,
    turn_requests: TurnRequests,
    /// When the latest call ended for which the clock was read, or the batch began.
    call_ended: Instant,
    /// Calls since then for which it was not read.
    untimed_calls: u32,
    /// What rows begin with that requests to come will ask for.
    pub(super) left_heads: LeftHeads,
}

/// Whether a call that was timed would have shared its batch's time.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Apart {
    Yes,
    No,
}

/// What has run in this batch and is not in the counters yet: many calls of one command in a row
/// are counted with one addition.
#[derive(Default)]
struct Tally {
    command: Option<CommandId>,
    calls: u64,
    /// The command that was called before that, and how often: a script and what it calls take
    /// turns.
    before: (Option<CommandId>, u64),
    hits: u64,
    misses: u64,
    /// Calls of this batch that took long and are not counted with a share of its time, and their
    /// time.
    apart: (usize, Duration),
    /// Calls of this batch that are counted, but not the time that they took.
    untimed: Vec<(CommandId, u64)>,
}

/// The requests of this turn, by the form of their replies.
#[derive(Default)]
struct TurnRequests {
    /// When the first batch of the turn began to run; `None` if none has.
    began: Option<Instant>,
    resp: u64,
    of_fronts: u64,
}

impl Worker {
    /// A thread's worker.
    pub fn new(server: &Dispatcher, counters: Arc<ThreadCounters>) -> Worker {
        let mut worker = Worker {
            settings_version: server.config.version(),
            settings: server.config.settings(),
            now_ms: server.env.clock.unix_ms(),
            reply_bounds: ReplyBounds::default(),
            lock_wait: LockWait::Brief,
            stands_in: None,
            runs_apart: false,
            expects_long: false,
            clock: Arc::clone(&server.env.clock),
            counters,
            changes: Box::default(),
            spare_changes: None,
            claimed_keys: SpareKeys::default(),
            outbox: Outbox::default(),
            line_head: LineHead::default(),
            leaving: Vec::new(),
            discarded: Output::new(),
            recent_scripts: RecentPrograms::default(),
            recent_functions: RecentPrograms::default(),
            times_every_command: times_every_command(&server.config.settings()),
            gating: server.engine.gating(),
            log_admits: ShardSet::EMPTY,
            tally: Tally::default(),
            turn_requests: TurnRequests::default(),
            call_ended: server.env.clock.now(),
            untimed_calls: 0,
            left_heads: LeftHeads::default(),
        };
        worker.listen_for_events();
        worker
    }

    /// Bytes that may be copied into what a client is owed.
    pub fn copied_bytes_max(&self) -> usize {
        let limit = self.settings.clients.output_limits.of(ClientClass::Normal);
        match usize::try_from(limit.hard_bytes) {
            Ok(bytes @ 1..) => bytes,
            _ => self.reply_bounds.reply_bytes_max,
        }
    }

    /// A worker for the other clients of a thread that is in the midst of a script. It waits for no
    /// partition: the script may hold it.
    pub fn standing_in(server: &Dispatcher, counters: Arc<ThreadCounters>) -> Worker {
        let stands_in = Some(server.unusual.raise());
        Worker { stands_in, lock_wait: LockWait::Spinning, ..Worker::new(server, counters) }
    }

    /// Takes the changes out, for something that needs the worker beside them. They are due back
    /// ([`Worker::put_changes_back`]); what would be noted here meanwhile is lost.
    pub(super) fn take_changes(&mut self) -> Box<ChangeSet> {
        let spare = self.spare_changes.take().unwrap_or_default();
        std::mem::replace(&mut self.changes, spare)
    }

    /// The changes that were taken out are back.
    pub(super) fn put_changes_back(&mut self, changes: Box<ChangeSet>) {
        let mut spare = std::mem::replace(&mut self.changes, changes);
        let is_as_new = !spare.has_called() && spare.events().is_empty() && spare.take_count() == 0;
        self.spare_changes = is_as_new.then_some(spare);
    }

    /// Whether what runs next runs apart from its batch, so that it may take long.
    pub(super) fn set_apart(&mut self, runs_apart: bool) {
        self.runs_apart = runs_apart;
        self.changes.set_apart(runs_apart);
    }

    pub(super) fn runs_apart(&self) -> bool {
        self.runs_apart
    }

    /// Something has run apart, this long.
    pub(super) fn note_apart(&mut self, took: Duration) {
        self.expects_long = took > APART_TIME_LONG;
    }

    /// Whether what runs apart next is likely to take long, as the one before did.
    pub(super) fn expects_long(&self) -> bool {
        self.expects_long
    }

    pub(super) fn stands_in(&self) -> bool {
        self.stands_in.is_some()
    }

    /// The worker that stood in for this one has gone: what it has left undone is this one's.
    pub(super) fn take_over(&mut self, mut stand_in: Worker, server: &Dispatcher) {
        self.leaving.append(&mut stand_in.leaving);
        // Time has passed.
        self.begin_turn(server);
    }

    /// A turn of the event loop begins.
    pub fn begin_turn(&mut self, server: &Dispatcher) {
        self.renew_time();
        self.lock_wait = if self.stands_in() { LockWait::Spinning } else { LockWait::Brief };
        self.renew_settings(server);
        self.counters.turns.add(1);
        self.begin_batch(server);
    }

    /// Time has passed.
    pub(super) fn renew_time(&mut self) {
        self.now_ms = self.clock.unix_ms();
    }

    /// How long it waits for a partition.
    pub fn lock_wait(&self) -> LockWait {
        self.lock_wait
    }

    /// A command waits: if for a partition that is held for long, the turn's others do not add to
    /// the wait.
    pub(super) fn note_halt(&mut self, session: &mut Session, halt: &Halt) {
        if matches!(halt, Halt::Waits { wait: Wait::Held, .. }) {
            session.held_since.get_or_insert_with(|| self.clock.now());
            self.lock_wait = LockWait::Spinning;
        }
    }

    /// Commands that were parsed together are going to run.
    #[inline]
    pub fn begin_batch(&mut self, server: &Dispatcher) {
        self.gating = server.engine.gating();
        self.log_admits = ShardSet::EMPTY;
    }

    /// A batch begins to run at this moment.
    #[inline]
    pub(super) fn note_start(&mut self, start: Instant) {
        self.turn_requests.began.get_or_insert(start);
        self.end_call(start);
    }

    /// Requests of one client are about to run.
    #[inline]
    pub(super) fn note_requests(&mut self, count: usize, has_form: bool) {
        let TurnRequests { resp, of_fronts, .. } = &mut self.turn_requests;
        *(if has_form { of_fronts } else { resp }) += count as u64;
    }

    /// The turn's replies have been sent; it is now.
    #[inline]
    pub fn count_requests(&mut self, now: Instant) {
        let Some(began) = self.turn_requests.began.take() else { return };
        let nanoseconds = now.saturating_duration_since(began).as_nanos() as u64;
        let TurnRequests { resp, of_fronts, .. } = take(&mut self.turn_requests);
        let times = &self.counters.requests;
        if resp > 0 {
            times.resp.add(nanoseconds, resp);
        }
        if of_fronts > 0 {
            times.of_fronts.add(nanoseconds, of_fronts);
        }
    }

    /// A batch of `requests` has run and took this time.
    pub fn end_batch(&mut self, server: &Dispatcher, time: Duration, requests: usize) {
        self.settle();
        let logged = self.changes.take_appended_bytes();
        server.note_logged(&self.settings, logged);
        let (calls_apart, time_apart) = take(&mut self.tally.apart);
        let sharing = requests.saturating_sub(calls_apart).max(1) as u64;
        let share_ns = time.saturating_sub(time_apart).as_nanos() as u64 / sharing;
        for (id, calls) in self.tally.untimed.drain(..) {
            let call = server.commands.call(id);
            if call.shares_time && !self.times_every_command {
                self.counters.by_command[id.index()].nanoseconds.add(share_ns * calls);
                self.counters.by_family[usize::from(call.family)].add(share_ns, calls);
                if self.settings.server.latency_tracking {
                    self.counters.by_command[id.index()].add_times(share_ns, calls);
                }
            }
        }
    }

    /// Whether the batch has logged so much that memory may be used up since it began; tells the
    /// server.
    #[inline]
    pub(super) fn has_logged_much(&mut self, server: &Dispatcher) -> bool {
        let much = self.changes.appended_bytes() >= LOGGED_BYTES_MIN as usize;
        if much {
            let logged = self.changes.take_appended_bytes();
            server.note_logged(&self.settings, logged);
        }
        much
    }

    /// A call has ended, or the batch begins; returns when the clock was read before.
    #[inline]
    pub(super) fn end_call(&mut self, now: Instant) -> Instant {
        self.untimed_calls = 0;
        std::mem::replace(&mut self.call_ended, now)
    }

    /// When the clock was read for the latest call, or for the batch.
    pub(super) fn clock_was_read(&self) -> Instant {
        self.call_ended
    }

    /// When the next call starts: when the one before it ended, if the clock was read then.
    pub(super) fn start_of_call(&self, server: &Dispatcher) -> Instant {
        if self.untimed_calls == 0 { self.call_ended } else { server.env.clock.now() }
    }

    /// Whether the clock need not be read for a call that cannot have taken long: not for too many
    /// in a row, or together they would be taken for a long one.
    #[inline]
    pub(super) fn leaves_untimed(&mut self) -> bool {
        let untimed = self.untimed_calls < UNTIMED_CALLS_MAX;
        self.untimed_calls += u32::from(untimed);
        untimed
    }

    /// Counts a call that has run and its time; `apart` if it would have shared its batch's time.
    pub(super) fn count_timed_call(
        &mut self,
        (id, family): (CommandId, u8),
        time: Duration,
        apart: Apart,
    ) {
        match apart {
            Apart::No => self.count_call(id),
            Apart::Yes => {
                self.counters.commands.add(1);
                self.counters.by_command[id.index()].calls.add(1);
                self.tally.apart.0 += 1;
                self.tally.apart.1 += time;
            }
        }
        let nanoseconds = time.as_nanos() as u64;
        self.counters.by_command[id.index()].nanoseconds.add(nanoseconds);
        self.counters.by_family[usize::from(family)].add(nanoseconds, 1);
        self.add_times(id, nanoseconds, 1);
    }

    /// Adds to how long calls of a command take.
    pub(super) fn add_times(&self, id: CommandId, nanoseconds: u64, calls: u64) {
        if self.settings.server.latency_tracking {
            self.counters.by_command[id.index()].add_times(nanoseconds, calls);
        }
    }

    /// Counts a call that has run.
    #[inline]
    pub(super) fn count_call(&mut self, id: CommandId) {
        self.count_calls(id, 1);
    }

    /// Counts calls that have run.
    #[inline]
    pub(super) fn count_calls(&mut self, id: CommandId, calls: u64) {
        if self.tally.command != Some(id) {
            self.turn_tally_to(id);
        }
        self.tally.calls += calls;
    }

    #[inline(never)]
    fn turn_tally_to(&mut self, id: CommandId) {
        if self.tally.before.0 != Some(id) {
            self.settle_calls();
        }
        let Tally { command, calls, before, .. } = &mut self.tally;
        let latest = (command.take(), take(calls));
        let (known, known_calls) = std::mem::replace(before, latest);
        (*command, *calls) = (Some(id), if known == Some(id) { known_calls } else { 0 });
    }

    /// Asks the log whether it takes changes of a shard, unless it has said so in this batch.
    ///
    /// # Errors
    /// It takes none.
    #[inline(always)]
    pub(super) fn admit_changes(
        &mut self,
        server: &Dispatcher,
        shard: ShardId,
    ) -> Result<(), Refusal> {
        if self.log_admits.contains(shard) { Ok(()) } else { self.ask_log(server, shard) }
    }

    #[inline(never)]
    fn ask_log(&mut self, server: &Dispatcher, shard: ShardId) -> Result<(), Refusal> {
        self.log_admits = server.engine.log().admitting();
        if self.log_admits.contains(shard) { Ok(()) } else { server.engine.log().admit(shard) }
    }

    /// Counts keys that a command found and did not find.
    #[inline]
    pub(super) fn count_lookups(&mut self, (hits, misses): (u32, u32)) {
        self.tally.hits += u64::from(hits);
        self.tally.misses += u64::from(misses);
    }

    /// Whether a key was not found since the counters were last brought up to date.
    pub(super) fn has_looked_in_vain(&self) -> bool {
        self.tally.misses > 0
    }

    /// Brings the counters up to date: somebody may look at them.
    #[inline(never)]
    pub(super) fn settle(&mut self) {
        self.settle_calls();
        let (latest, calls) = (self.tally.command.take(), take(&mut self.tally.calls));
        self.tally.before = (latest, calls);
        self.settle_calls();
        let Tally { hits, misses, .. } = &mut self.tally;
        self.counters.keyspace_hits.add(take(hits));
        self.counters.keyspace_misses.add(take(misses));
    }

    /// Brings the counters of the command before the latest one up to date.
    fn settle_calls(&mut self) {
        if let (Some(id), calls) = take(&mut self.tally.before) {
            self.counters.commands.add(calls);
            self.counters.by_command[id.index()].calls.add(calls);
            self.tally.untimed.push((id, calls));
        }
    }

    #[inline]
    pub(super) fn renew_settings(&mut self, server: &Dispatcher) {
        let version = server.config.version();
        if version != self.settings_version {
            self.settings_version = version;
            self.settings = server.config.settings();
            server.access.follow(&self.settings);
            self.times_every_command = times_every_command(&self.settings);
            self.listen_for_events();
        }
    }

    fn listen_for_events(&mut self) {
        let letters = &self.settings.server.key_event_letters;
        self.changes.listen_for(EventClasses::from_letters(letters));
    }

    /// Hands over what was published, before anybody is told of it.
    #[inline]
    pub fn hand_over_messages(&mut self, server: &Dispatcher) {
        self.outbox.flush(&server.pubsub);
    }

    /// A connection has gone: its subscriptions will be ended by and by.
    pub fn end_subscriptions(&mut self, session: &mut Session) {
        self.leaving.extend(session.subscriptions.take().map(|held| held.leave()));
    }

    /// Ends some subscriptions of connections that have gone.
    #[inline]
    pub fn end_some_subscriptions(&mut self, server: &Dispatcher) {
        if let Some(leaving) = self.leaving.last_mut()
            && leaving.go_on(&server.pubsub, SUBSCRIPTIONS_ENDED_MAX) == Left::Nothing
        {
            self.leaving.pop();
        }
    }

    /// There are subscriptions to be ended.
    #[inline]
    pub fn has_subscriptions_to_end(&self) -> bool {
        !self.leaving.is_empty()
    }

    /// A turn of the event loop ends: the log may have something to write.
    pub fn end_turn(&mut self, server: &Dispatcher) {
        self.settle();
        self.settle_changes(server);
    }

    /// Counts what has been changed, and tells the log that it may have something to write.
    pub(super) fn settle_changes(&mut self, server: &Dispatcher) {
        let changes = self.changes.take_count();
        if changes > 0 {
            self.counters.changes.add(changes);
            server.engine.note_changes(changes);
            server.engine.log().kick();
        }
    }
}

fn times_every_command(settings: &Settings) -> bool {
    (0..ALWAYS_TIMED_BELOW_US).contains(&settings.server.slowlog_slower_than_us)
}
