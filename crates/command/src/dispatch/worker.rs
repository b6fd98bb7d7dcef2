//! HOT PATH
//! A network thread's own part in running commands.

use crate::server::Server;
use basalt_config::Settings;
use basalt_engine::Changes;
use basalt_observe::counters::ThreadCounters;
use basalt_resp::Output;
use std::sync::Arc;

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
    pub(super) fn renew_settings(&mut self, server: &Server) {
        let version = server.config.version();
        if version != self.settings_version {
            self.settings_version = version;
            self.settings = server.config.settings();
        }
    }

    #[inline]
    pub(super) fn times_every_command(&self) -> bool {
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
