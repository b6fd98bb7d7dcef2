//! HOT PATH
//! A network thread's own part in running commands.

use crate::server::Server;
use basalt_config::Settings;
use basalt_engine::{Changes, Gating};
use basalt_observe::counters::ThreadCounters;
use basalt_resp::Output;
use basalt_spec::CommandId;
use std::mem::take;
use std::sync::Arc;
use std::time::Duration;

/// Two clock readings cost as much as a GET. Commands flagged `fast` are timed one by one only if the
/// slow log asks for durations below this; they take about a microsecond.
const ALWAYS_TIMED_BELOW_US: i64 = 1000;

/// What one network thread brings to every command that it runs.
pub struct Worker {
    /// This thread's counters.
    pub counters: Arc<ThreadCounters>,
    /// The settings, renewed when the configuration's version changes.
    pub settings: Arc<Settings>,
    settings_version: u64,
    /// Now, in unix milliseconds; renewed every turn.
    pub now_ms: u64,
    pub(super) changes: Changes,
    /// Where replies go that nobody wants.
    pub(crate) discarded: Output,
    /// Every command is timed by itself.
    pub(super) times_every_command: bool,
    /// Whether replies wait for the log, asked once a batch.
    pub(super) gating: Gating,
    /// The log has said in this batch that it takes changes. A batch is little against what it
    /// buffers, so it is not asked before every command.
    pub(super) log_admits: bool,
    tally: Tally,
}

/// What has run in this batch and is not in the counters yet: many calls of one command in a row are
/// counted with one addition.
#[derive(Default)]
struct Tally {
    command: Option<CommandId>,
    calls: u64,
    hits: u64,
    misses: u64,
    /// Calls of this batch that are counted, but not the time that they took.
    untimed: Vec<(CommandId, u64)>,
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
            times_every_command: times_every_command(&server.config.settings()),
            gating: server.engine.gating(),
            log_admits: false,
            tally: Tally::default(),
        }
    }

    /// A turn of the event loop begins.
    pub fn begin_turn(&mut self, server: &Server) {
        self.now_ms = server.engine.clock().unix_ms();
        self.renew_settings(server);
        self.counters.turns.add(1);
        self.begin_batch(server);
    }

    /// Commands that were parsed together are going to run.
    #[inline]
    pub fn begin_batch(&mut self, server: &Server) {
        self.gating = server.engine.gating();
        self.log_admits = false;
    }

    /// A batch of `requests` has run and took this time.
    pub fn end_batch(&mut self, server: &Server, time: Duration, requests: usize) {
        self.settle();
        let share_ns = time.as_nanos() as u64 / requests.max(1) as u64;
        for (id, calls) in self.tally.untimed.drain(..) {
            if server.commands.call(id).shares_time && !self.times_every_command {
                self.counters.by_command[id.index()].nanoseconds.add(share_ns * calls);
            }
        }
    }

    /// Counts a call that has run.
    #[inline]
    pub(super) fn count_call(&mut self, id: CommandId) {
        if self.tally.command != Some(id) {
            self.settle();
            self.tally.command = Some(id);
        }
        self.tally.calls += 1;
    }

    /// Counts keys that a command found and did not find.
    #[inline]
    pub(super) fn count_lookups(&mut self, (hits, misses): (u32, u32)) {
        self.tally.hits += u64::from(hits);
        self.tally.misses += u64::from(misses);
    }

    /// Brings the counters up to date: somebody may look at them.
    #[inline(never)]
    pub(super) fn settle(&mut self) {
        let Tally { command, calls, hits, misses, untimed } = &mut self.tally;
        if let Some(id) = command.take() {
            let calls = take(calls);
            self.counters.commands.add(calls);
            self.counters.by_command[id.index()].calls.add(calls);
            untimed.push((id, calls));
        }
        self.counters.keyspace_hits.add(take(hits));
        self.counters.keyspace_misses.add(take(misses));
    }

    #[inline]
    pub(super) fn renew_settings(&mut self, server: &Server) {
        let version = server.config.version();
        if version != self.settings_version {
            self.settings_version = version;
            self.settings = server.config.settings();
            self.times_every_command = times_every_command(&self.settings);
        }
    }

    /// A turn of the event loop ends: the log may have something to write.
    pub fn end_turn(&mut self, server: &Server) {
        self.settle();
        let changes = self.changes.take_count();
        if changes > 0 {
            self.counters.changes.add(changes);
            server.engine.log().kick();
        }
    }
}

fn times_every_command(settings: &Settings) -> bool {
    (0..ALWAYS_TIMED_BELOW_US).contains(&settings.server.slowlog_slower_than_us)
}
