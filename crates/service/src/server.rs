//! What all connections share.

use crate::access::Access;
use crate::announce::Announcer;
use crate::background_latency::BackgroundLatency;
use crate::clients::Clients;
use crate::error::CommandError;
use crate::eviction;
use crate::governed::Governed;
pub use crate::host::{Host, HostCpu, HostFigures, HostIdentity, HostMemory, Shutdown};
use crate::pauses::Pauses;
use crate::push::PubSub;
use crate::reports::Reports;
use crate::sampler::{Sampler, Totals};
use crate::scripts::ScriptService;
use crate::session::Session;
use crate::tracking::{Partitions, Trackers};
use crate::unusual::Unusual;
use crate::web_guard::WebGuard;
use basalt_change::place::ShardId;
use basalt_config::{Config, Settings};
use basalt_engine::{Engine, LockWait, Refusal, Room};
use basalt_env::{Env, Instant, Random};
use basalt_observe::counters::ThreadCounters;
use basalt_observe::latency::LatencyMonitor;
use basalt_observe::slow_log::SlowLog;
use basalt_spec::CommandTable;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The version of Redis whose commands and replies these are.
pub const REDIS_VERSION: &str = "7.2.4";
/// Our own version.
pub const BASALT_VERSION: &str = env!("CARGO_PKG_VERSION");
/// The commit that this was built of, as `BASALT_COMMIT` has said while it was; empty if that was
/// not set.
pub const BASALT_COMMIT: &str = match option_env!("BASALT_COMMIT") {
    Some(commit) => commit,
    None => "",
};

/// Bytes of changes after which memory may be added up again: that takes some 50 us, and this
/// little may pass `maxmemory`.
pub const LOGGED_BYTES_MIN: u64 = 1 << 20;

/// What all connections share.
pub struct Server {
    /// The database.
    pub engine: Arc<Engine>,
    /// The clock and the source of seeds.
    pub env: Env,
    /// The configuration.
    pub config: Arc<Config>,
    /// Names and specs of the commands.
    pub table: Arc<CommandTable>,
    /// The users, and what was denied to them.
    pub access: Access,
    /// The connected clients.
    pub clients: Clients,
    /// Whether commands have to be looked at more closely.
    pub unusual: Arc<Unusual>,
    /// Whether clients are paused.
    pub pauses: Pauses,
    /// All subscriptions.
    pub pubsub: Arc<PubSub>,
    /// The clients that keep copies of keys.
    pub trackers: Arc<Trackers>,
    /// The scripts.
    pub scripts: ScriptService,
    /// Tells of clients that speak HTTP.
    pub web_guard: WebGuard,
    /// The latest slow commands.
    pub slow_log: SlowLog,
    /// What took long, by event.
    pub latency: LatencyMonitor,
    /// One set of counters a network thread.
    pub counters: Vec<Arc<ThreadCounters>>,
    /// … and of the workers that stand in for theirs.
    pub stand_in_counters: Vec<Arc<ThreadCounters>>,
    /// What the process as a whole offers: memory figures, applying options, shutting down.
    pub host: Box<dyn Host>,
    /// When the server started.
    pub started: Instant,
    /// When the server started, in unix milliseconds.
    pub started_ms: u64,
    /// 40 hex digits that change with every start.
    pub run_id: String,
    /// Connections that were refused because of `maxclients`.
    pub rejected_connections: AtomicU64,
    /// Connections that were refused because of `protected-mode`.
    pub refused_connections: AtomicU64,
    /// Connections that were closed because of `http-allow`.
    pub barred_connections: AtomicU64,
    /// Connections whose TLS handshake failed, or took too long.
    pub failed_handshakes: AtomicU64,
    /// Bytes of memory in use, sampled a few times a second, and more often near `maxmemory`.
    pub memory_bytes_used: AtomicU64,
    /// What the governor of memory has seen.
    pub(crate) memory_governed: Governed,
    /// Bytes in pages when that was sampled.
    memory_pages_sampled: AtomicU64,
    /// Bytes of changes that were logged since.
    memory_bytes_logged: AtomicU64,
    /// The highest value of [`Server::memory_bytes_used`].
    pub memory_bytes_peak: AtomicU64,
    /// Rates, and figures that are too slow to ask for on a network thread.
    pub sampler: Sampler,
    /// Durations of background work that the latency monitor has seen.
    background: BackgroundLatency,
    /// Reports for monitoring systems.
    pub reports: Arc<Reports>,
    /// Clients to which what happens is sent without being asked for each time.
    pub feeds: OpenFeeds,
}

/// How many clients get what happens by HTTP.
#[derive(Debug, Default)]
pub struct OpenFeeds {
    /// As server-sent events.
    pub events: AtomicU64,
    /// Over a WebSocket.
    pub sockets: AtomicU64,
}

impl Server {
    /// A server over an open database.
    pub fn new(
        engine: Arc<Engine>,
        config: Arc<Config>,
        table: Arc<CommandTable>,
        counters: Vec<Arc<ThreadCounters>>,
        host: Box<dyn Host>,
    ) -> Server {
        let env = engine.env().clone();
        let started_ms = env.clock.unix_ms();
        let mut random = Random::new(env.entropy.seed());
        let run_id = (0..5).map(|_| format!("{:08x}", random.next_u64() as u32)).collect();
        let pubsub = Arc::new(PubSub::new(env.entropy.seed()));
        let trackers = Arc::<Trackers>::default();
        let announcer =
            Announcer::new(Arc::clone(&config), Arc::clone(&pubsub), Arc::clone(&trackers));
        engine.announce_events_to(Box::new(announcer));
        eviction::apply(&engine, &config.settings().memory);
        let count = table.all().len();
        let stand_in_counters =
            counters.iter().map(|_| Arc::new(ThreadCounters::new(count))).collect();
        let unusual = Arc::<Unusual>::default();
        let scripts = ScriptService::new(env.clone(), Arc::clone(&unusual));
        scripts.restore_libraries(&engine, &config.settings());
        Server {
            engine,
            env: env.clone(),
            access: Access::new(Arc::clone(&table), &config.settings()),
            config,
            table,
            clients: Clients::default(),
            pauses: Pauses::new(Arc::clone(&env.clock), Arc::clone(&unusual)),
            pubsub,
            trackers,
            scripts,
            unusual,
            web_guard: WebGuard::default(),
            slow_log: SlowLog::default(),
            latency: LatencyMonitor::default(),
            counters,
            stand_in_counters,
            host,
            started: env.clock.now(),
            started_ms,
            run_id,
            rejected_connections: AtomicU64::new(0),
            memory_bytes_used: AtomicU64::new(0),
            memory_governed: Governed::default(),
            memory_pages_sampled: AtomicU64::new(0),
            memory_bytes_logged: AtomicU64::new(0),
            memory_bytes_peak: AtomicU64::new(0),
            sampler: Sampler::default(),
            background: BackgroundLatency::default(),
            reports: Arc::default(),
            feeds: OpenFeeds::default(),
            refused_connections: AtomicU64::new(0),
            barred_connections: AtomicU64::new(0),
            failed_handshakes: AtomicU64::new(0),
        }
    }

    /// A connection has gone: nobody sees it any more, and nothing is told to it.
    pub fn part_with(&self, session: &mut Session, wait: LockWait) {
        self.clients.remove(session.client.id);
        self.trackers.stop(&self.engine, session, Partitions::Free(wait));
    }

    /// The counters of all workers.
    pub fn all_counters(&self) -> impl Iterator<Item = &Arc<ThreadCounters>> {
        self.counters.iter().chain(&self.stand_in_counters)
    }

    /// The sum of a counter over all network threads.
    pub fn sum(&self, counter: impl Fn(&ThreadCounters) -> u64) -> u64 {
        self.all_counters().map(|counters| counter(counters)).sum()
    }

    /// Memory in use is over `maxmemory`, which is not 0, and none can be had.
    #[inline]
    pub fn is_out_of_memory(&self, settings: &Settings) -> bool {
        self.may_run_out_of_memory(settings)
            && match self.engine.memory_room() {
                Some(room) => room == Room::Full,
                None => self.is_over(self.keyspace_bytes_max(settings)),
            }
    }

    /// Memory in use is over `maxmemory`, and keys are leaving it.
    #[inline]
    pub fn is_short_of_memory(&self) -> bool {
        self.engine.is_short_of_memory()
    }

    /// There is a budget, and memory in use is not far below it.
    #[inline]
    fn may_run_out_of_memory(&self, settings: &Settings) -> bool {
        let budget = settings.memory.memory_bytes_max;
        budget != 0 && !self.memory_governed.is_far_below(budget)
    }

    /// What the keyspace may take: the engine's target if the governor has set it for this budget,
    /// else all of it.
    #[cold]
    fn keyspace_bytes_max(&self, settings: &Settings) -> u64 {
        let budget = settings.memory.memory_bytes_max;
        match self.memory_governed.knows(budget) {
            true => self.engine.memory_target().unwrap_or(budget),
            false => budget,
        }
    }

    /// The figure of the last sample, corrected by what is known since: pages have one counter, and
    /// no more was added outside of them than was logged. If that could be too much, memory is
    /// added up.
    #[cold]
    fn is_over(&self, limit: u64) -> bool {
        // Relaxed, all of them: another thread may be a batch ahead.
        let sampled = self.memory_bytes_used.load(Ordering::Relaxed);
        let pages_sampled = self.memory_pages_sampled.load(Ordering::Relaxed);
        let known = sampled + self.engine.page_bytes().saturating_sub(pages_sampled);
        let logged = self.memory_bytes_logged.load(Ordering::Relaxed);
        if known > limit || logged < LOGGED_BYTES_MIN || known + logged <= limit {
            return known > limit;
        }
        self.note_memory(self.engine.memory_at_once());
        self.memory_bytes_used.load(Ordering::Relaxed) > limit
    }

    /// How many bytes of changes were logged since the last call. They count only when memory may
    /// run out: it is a write to what all threads share.
    #[inline]
    pub fn note_logged(&self, settings: &Settings, bytes: usize) {
        if !self.may_run_out_of_memory(settings) {
            return;
        }
        self.memory_bytes_logged.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    pub(crate) fn note_memory(&self, used: u64) {
        self.memory_bytes_logged.store(0, Ordering::Relaxed);
        self.memory_pages_sampled.store(self.engine.page_bytes(), Ordering::Relaxed);
        self.memory_bytes_used.store(used, Ordering::Relaxed);
        self.memory_bytes_peak.fetch_max(used, Ordering::Relaxed);
    }

    /// Why changes are refused for longer than it takes the log to catch up; `None` if they are
    /// not.
    pub fn refuses_changes(&self) -> Option<CommandError> {
        let refusal = ShardId::all().find_map(|shard| self.engine.log().admit(shard).err())?;
        (refusal != Refusal::Busy).then(|| CommandError::log_refused(&refusal))
    }

    /// Samples memory use and rates; called ten times a second, from no network thread.
    pub fn sample(&self) {
        // Adding memory up takes 1,024 locks: ten times a second only if a limit depends on it that
        // no governor looks after.
        let settings = self.config.settings();
        let (limited, is_second) =
            (settings.memory.memory_bytes_max != 0, self.sampler.is_second());
        let limited = limited && !self.memory_governed.is_active();
        if is_second {
            let largest_max = settings.server.metrics_queues_max;
            let count = || self.engine.queue_census(largest_max, LockWait::Brief).ok();
            self.sampler.count_queues(&*self.env.clock, count);
        }
        if limited || is_second {
            // Behind a script that takes long the last figure stays: this thread also ends the
            // server.
            if let Ok(census) = self.engine.census(LockWait::Brief) {
                self.note_memory(census.memory.bytes_used());
                self.sampler.note_census(census);
            }
        }
        if settings.server.latency_threshold_ms != 0 {
            self.background.observe(self, settings.server.latency_threshold_ms);
        }
        self.reports.give_up(self.env.clock.now());
        let totals = Totals {
            commands: self.sum(|counters| counters.commands.value()),
            bytes_in: self.sum(|counters| counters.bytes_in.value()),
            bytes_out: self.sum(ThreadCounters::all_bytes_out),
        };
        let engine = &*self.engine;
        self.sampler.sample(engine.clock().monotonic_ns(), totals, || engine.cold().stats());
    }

    /// When everything was last in the cold tier, in unix seconds (`LASTSAVE`); when the server
    /// started, if that was later.
    pub fn last_save_s(&self) -> u64 {
        self.engine.checkpoint_stats().last_ms.max(self.started_ms) / 1000
    }

    /// Sets what INFO counts to zero (`CONFIG RESETSTAT`).
    pub fn reset_statistics(&self) {
        self.all_counters().for_each(|counters| counters.reset());
        self.access.reset_denials();
        self.rejected_connections.store(0, Ordering::Relaxed);
        self.refused_connections.store(0, Ordering::Relaxed);
        self.barred_connections.store(0, Ordering::Relaxed);
        self.failed_handshakes.store(0, Ordering::Relaxed);
        let used = self.memory_bytes_used.load(Ordering::Relaxed);
        self.memory_bytes_peak.store(used, Ordering::Relaxed);
        self.engine.reset_expired_keys();
        self.engine.reset_deleted();
        self.sampler.reset_rates();
    }
}
