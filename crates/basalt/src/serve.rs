//! Starting and stopping the server.
//!
//! ```text
//! logging ▸ listeners ▸ cold tier ▸ journal replay ▸ background threads ▸ network threads ▸ accept
//! ```
//! and the same backwards. Listeners come early, so that a taken port is found before a gigabyte is
//! opened, and nobody is accepted before the data is there.

use crate::allocator;
use crate::allowance::Allowance;
use crate::banner;
use crate::cgroup::LimitFiles;
use crate::disk_space::DiskSpace;
use crate::governor::MemoryThread;
use crate::host::{Process, fsync_policy};
use crate::http::Http;
use crate::logging;
use crate::peer::Peers;
use crate::reserve::Reserve;
use crate::sizes::Sizes;
use basalt_call::calls::Commands;
use basalt_change::row;
use basalt_cold::{ColdError, ColdTier, MemoryDisk, MemoryTier, Residency};
use basalt_commands::table::commands;
use basalt_config::{
    ColdTierKind, Config, DirectReads, Loaded, RenameDirective, Settings, WarmUpKeys, Warning,
};
use basalt_dispatch::Dispatcher;
use basalt_engine::{
    Background, Engine, HotKeysDir, Options, RecoveryError, RecoveryStats, WarmUp,
};
use basalt_env::{DirectoryLock, Disk, Env, RealDisk};
use basalt_journal::Acknowledge;
use basalt_journal_log::{JournalLog, Trimming};
use basalt_net::{Acceptor, ListenError, Listening, NetThreads, STOP_GRACE, Stopped};
use basalt_observe::counters::ThreadCounters;
use basalt_report::Reporter;
use basalt_service::server::{Server, Shutdown};
use basalt_tls::{ServerTls, TlsError};
use basalt_value_log::ValueOptions;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

/// How often memory, rates and the space on the disk are sampled.
const SAMPLE_EVERY: Duration = Duration::from_millis(100);

/// How long scripts that have changed something have to end when the server ends at once.
const GRACE_NOW: Duration = Duration::from_secs(1);

/// File descriptors that are not for clients: files of the cold tier, the journal, the process.
const OWN_DESCRIPTORS: u64 = 2048;

/// Why the server did not start or did not end well.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The directory for the data cannot be used.
    #[error("cannot use the data directory {dir}: {error}")]
    Directory {
        /// Its path.
        dir: String,
        /// What the system says.
        error: io::Error,
    },
    /// Another server uses the directory.
    #[error(
        "the data directory {dir} is in use by another server: stop that one, or choose another --dir"
    )]
    DirectoryInUse {
        /// Its path.
        dir: String,
    },
    /// The log file cannot be written.
    #[error("cannot open the log file {path}: {error}")]
    LogFile {
        /// Its path.
        path: String,
        /// What the system says.
        error: io::Error,
    },
    /// No place to listen.
    #[error(transparent)]
    Listen(#[from] ListenError),
    /// TLS is wanted, and cannot be had as the options say.
    #[error("cannot serve TLS ({option}): {error}", option = error.option())]
    Tls {
        /// What is wrong.
        error: TlsError,
    },
    /// The data cannot be opened.
    #[error("cannot open the data: {0}")]
    Recovery(#[from] RecoveryError),
    /// The cold tier cannot be opened.
    #[error("cannot open the data: {0}")]
    Cold(#[from] ColdError),
    /// The users cannot be defined as the configuration says.
    #[error("{place}: user: {reason}")]
    Users {
        /// The directive or the file.
        place: String,
        /// What is wrong.
        reason: String,
    },
    /// A command cannot have the name that the configuration gives it.
    #[error("{place}: {reason}")]
    Rename {
        /// The directive.
        place: String,
        /// What is wrong.
        reason: String,
    },
    /// The system refused something.
    #[error("cannot start: {0}")]
    System(#[from] io::Error),
    /// This program was built without it.
    #[cfg(not(feature = "rocksdb"))]
    #[error("this program was built without RocksDB: start it with --cold-tier memory")]
    NoRocksDb,
}

/// Runs the server until it is told to end.
///
/// # Errors
/// If it cannot start.
pub fn serve(loaded: Loaded) -> Result<ExitCode, ServeError> {
    let config = Arc::new(loaded.config);
    let limits = LimitFiles::find(Path::new("/"));
    let allowance = Allowance::now(&limits);
    let (settings, budget) = settle_budget(&config, &allowance);
    let log_level = start_logging(&settings, &loaded.warnings)?;
    let commands = renamed_commands(&config)?;
    fit_clients_to_descriptors(&config);
    let sizes = sizes(&settings, &budget, &allowance);
    let dir = &settings.persistence.dir;
    let _lock = lock_directory(dir)?;
    let env = Env::system();
    let listening = Arc::new(Listening::open(&settings.network)?);
    listening.exchange_tls(tls(&settings, &env)?);
    let http = Http::listen(&listening, &settings, loaded.given.contains(&"http-port"))?;

    let opening = env.clock.now();
    let mut reserve = open_reserve(&settings);
    let cold = open_cold_patiently(&settings, sizes, &env, &mut reserve)?;
    let cold_opened_in = env.clock.since(opening);
    let (engine, journal) = open_engine(&settings, sizes, &env, cold)?;
    journal.set_on_reserve(reserve.is_released());
    let opened_in = env.clock.since(opening);
    log_phases(engine.recovery(), cold_opened_in);
    let engine = Arc::new(engine);
    let background = Background::start(&engine, warm_up(&settings))?;

    let (shutdown, shutdowns) = channel();
    watch_signals(shutdown.clone())?;
    let host = Process {
        journal: Arc::clone(&journal),
        log_level,
        shutdown,
        listening: Arc::clone(&listening),
        dir: dir.clone(),
        limits,
        clock: Arc::clone(&env.clock),
        peers: Peers::new(&env.clock),
    };
    let server = Arc::new(new_server(&engine, config, commands, host));
    define_users(&server)?;
    http.serve(&server);
    let memory = MemoryThread::start(&server)?;
    let reporter = Reporter::start(&server)?;
    let net = NetThreads::start(&server)?;
    let acceptor = Acceptor::start(&listening, &server, &net)?;
    write_pid_file(&settings);
    let start = banner::Start {
        settings: &settings,
        addresses: &listening.addresses(),
        http: &listening.addresses_of_fronts(),
        recovery: engine.recovery(),
        opened_in,
        memory: &budget,
        threads: settings.network.io_threads,
    };
    show(&banner::text(&start), &settings);
    tracing::info!(port = listening.tcp_port(), "ready to accept connections");

    let how = wait(&server, &journal, &shutdowns, DiskSpace::new(dir, reserve));
    tracing::info!(?how, "shutting down");
    acceptor.stop();
    reporter.stop();
    let grace = if how == Shutdown::Now { GRACE_NOW } else { STOP_GRACE };
    if net.stop(grace) == Stopped::NotAll {
        abandon_script(&server, &settings);
    }
    memory.stop();
    Ok(close(&server, background, how, &settings))
}

/// Tells the configuration how much memory there is. Returns the settings that follow, and what the
/// budget is in words.
fn settle_budget(config: &Config, allowance: &Allowance) -> (Arc<Settings>, String) {
    config.start_with_memory(allowance.budget_bytes());
    let settings = config.settings();
    let budget = banner::budget(&settings, allowance);
    (settings, budget)
}

fn sizes(settings: &Settings, budget: &str, allowance: &Allowance) -> Sizes {
    tracing::info!(bytes = settings.memory.memory_bytes_max, "memory budget: {budget}");
    let sizes = Sizes::of(settings, allowance.bytes());
    sizes.log();
    sizes
}

/// Ends the process in the midst of a script that has changed something. What it has changed is in
/// the log whole, if it ends before the process does, or not at all; everybody else's changes are
/// in the log, and synced. There is no checkpoint: it would wait for the script's partitions.
fn abandon_script(server: &Server, settings: &Settings) -> ! {
    tracing::warn!("a script did not end in time: what it has changed is lost");
    let code = sync_log(server);
    remove_pid_file(settings);
    tracing::info!("bye");
    std::process::exit(code)
}

/// Starts the log with what is to be said about the configuration.
fn start_logging(
    settings: &Settings,
    warnings: &[Warning],
) -> Result<logging::LevelHandle, ServeError> {
    let started = logging::start(&settings.server).map_err(|error| {
        let path = settings.server.log_file.as_ref();
        let path = path.map(|path| path.display().to_string()).unwrap_or_default();
        ServeError::LogFile { path, error }
    })?;
    for warning in warnings {
        tracing::warn!("{warning}");
    }
    Ok(started)
}

/// What handshakes are made by, if TLS is spoken anywhere.
fn tls(settings: &Settings, env: &Env) -> Result<Option<ServerTls>, ServeError> {
    if !settings.speaks_tls() {
        return Ok(None);
    }
    ServerTls::new(&settings.tls, &env.clock).map(Some).map_err(|error| ServeError::Tls { error })
}

/// Makes the directory for the data if it is missing, and keeps other servers out of it.
fn lock_directory(dir: &Path) -> Result<DirectoryLock, ServeError> {
    let shown = || dir.display().to_string();
    let directory = |error| ServeError::Directory { dir: shown(), error };
    std::fs::create_dir_all(dir).map_err(directory)?;
    RealDisk.lock_dir(dir).map_err(|error| match error.kind() {
        io::ErrorKind::WouldBlock => ServeError::DirectoryInUse { dir: shown() },
        _ => directory(error),
    })
}

fn open_reserve(settings: &Settings) -> Reserve {
    match settings.persistence.cold_tier {
        ColdTierKind::RocksDb => Reserve::open(&settings.persistence.dir),
        ColdTierKind::Memory => Reserve::none(),
    }
}

/// Opens the cold tier. If the disk is too full for that, the reserve is given up for it.
fn open_cold_patiently(
    settings: &Settings,
    sizes: Sizes,
    env: &Env,
    reserve: &mut Reserve,
) -> Result<Arc<dyn ColdTier>, ServeError> {
    match open_cold(settings, sizes, env) {
        Err(ServeError::Cold(ColdError::NoSpace { .. })) if reserve.release() => {
            open_cold(settings, sizes, env)
        }
        opened => opened,
    }
}

fn open_cold(
    settings: &Settings,
    sizes: Sizes,
    env: &Env,
) -> Result<Arc<dyn ColdTier>, ServeError> {
    let dir = &settings.persistence.dir;
    match settings.persistence.cold_tier {
        ColdTierKind::Memory => {
            let disk = Arc::new(MemoryDisk::new());
            Ok(Arc::new(MemoryTier::open(&disk, dir, Residency::Cached)))
        }
        ColdTierKind::RocksDb => {
            let values = ValueOptions {
                value_bytes_min: match settings.persistence.value_log_bytes_min {
                    0 => usize::MAX,
                    bytes => usize::try_from(bytes).unwrap_or(usize::MAX),
                },
                locator_bytes_max: sizes.locator_bytes,
                seed: env.entropy.seed(),
                head_bytes: row::head_bytes,
                page_cache_bytes: match settings.persistence.direct_reads {
                    DirectReads::Always => 0,
                    DirectReads::Never => u64::MAX,
                    DirectReads::ByMemory => sizes.page_cache_bytes,
                },
                ..ValueOptions::default()
            };
            open_rocks(sizes, dir, values)
        }
    }
}

#[cfg(feature = "rocksdb")]
fn open_rocks(
    sizes: Sizes,
    dir: &Path,
    values: ValueOptions,
) -> Result<Arc<dyn ColdTier>, ServeError> {
    let options = basalt_cold_rocks::RocksOptions {
        cache_bytes: usize::try_from(sizes.cold_cache_bytes).unwrap_or(usize::MAX),
        file_bytes: sizes.cold_file_bytes,
        background_threads: sizes.merge_threads,
        ..basalt_cold_rocks::RocksOptions::default()
    };
    let dir = dir.join("cold");
    let rows = basalt_cold_rocks::RocksTier::open(&dir, &options)?;
    let disk = Arc::new(RealDisk);
    Ok(Arc::new(basalt_value_log::ValueTier::open(Arc::new(rows), disk, &dir, values)?))
}

#[cfg(not(feature = "rocksdb"))]
fn open_rocks(_: Sizes, _: &Path, _: ValueOptions) -> Result<Arc<dyn ColdTier>, ServeError> {
    Err(ServeError::NoRocksDb)
}

fn open_engine(
    settings: &Settings,
    sizes: Sizes,
    env: &Env,
    cold: Arc<dyn ColdTier>,
) -> Result<(Engine, Arc<JournalLog>), ServeError> {
    let persistence = &settings.persistence;
    let options = Options {
        databases: u8::try_from(settings.server.databases).unwrap_or(u8::MAX),
        checkpoint_log_bytes: persistence.checkpoint_log_bytes,
        miss_threads: persistence.miss_threads,
        miss_ring_depth: persistence.miss_ring_depth,
        hash_seed: env.entropy.seed(),
        limits: basalt_service::limits::limits(&settings.types),
        collection_row_bytes_max: usize::try_from(persistence.collection_row_bytes_max)
            .unwrap_or(usize::MAX),
        accept_data_loss: persistence.accept_data_loss,
        ingest_bytes: sizes.ingest_bytes,
        retired_bytes_max: usize::try_from(sizes.retired_bytes).unwrap_or(usize::MAX),
        hot_keys: hot_keys(settings),
        ..Options::default()
    };
    let trimming = match persistence.cold_tier {
        ColdTierKind::RocksDb => Trimming::AfterCheckpoint,
        ColdTierKind::Memory => Trimming::Never,
    };
    let journal_options = journal_options(settings, sizes, trimming);
    let mut journal = None;
    let engine = Engine::open(options, cold, env.clone(), |floor, replay| {
        let disk = Arc::new(RealDisk);
        let log = JournalLog::open(
            env,
            disk,
            &persistence.dir.join("journal"),
            journal_options,
            trimming,
            floor,
            replay,
        )?;
        let log = Arc::new(log);
        journal = Some(Arc::clone(&log));
        Ok::<_, RecoveryError>(log as Arc<dyn basalt_engine::CommitLog>)
    })?;
    Ok((engine, journal.expect("the engine has opened its log")))
}

fn warm_up(settings: &Settings) -> WarmUp {
    match settings.persistence.warm_up {
        WarmUpKeys::Hot => WarmUp::Hot,
        WarmUpKeys::All => WarmUp::All,
        WarmUpKeys::None => WarmUp::No,
    }
}

/// Where the keys in use are listed. Without files a start finds all keys in the journal.
fn hot_keys(settings: &Settings) -> Option<HotKeysDir> {
    let dir = settings.persistence.dir.join("hot");
    match settings.persistence.cold_tier {
        ColdTierKind::RocksDb => Some(HotKeysDir::new(Arc::new(RealDisk), &dir)),
        ColdTierKind::Memory => None,
    }
}

/// Where the time of a start has gone.
fn log_phases(recovery: RecoveryStats, cold_opened_in: Duration) {
    tracing::info!(
        cold_tier_ms = cold_opened_in.as_millis(),
        marks_ms = recovery.marks_read_in.as_millis(),
        journal_ms = recovery.log_replayed_in.as_millis(),
        records_applied = recovery.records_applied,
        records_skipped = recovery.records_skipped,
        "opened"
    );
    if recovery.changes_dropped > 0 {
        tracing::error!(
            changes = recovery.changes_dropped,
            "changes of the journal were dropped: what they build upon is lost"
        );
    }
}

fn journal_options(
    settings: &Settings,
    sizes: Sizes,
    trimming: Trimming,
) -> basalt_journal::Options {
    let persistence = &settings.persistence;
    let mut options = basalt_journal::Options {
        segment_bytes: persistence.journal_segment_bytes,
        policy: fsync_policy(settings),
        pace_from_bytes: match trimming {
            Trimming::AfterCheckpoint => persistence.checkpoint_log_bytes.saturating_mul(2),
            // It only grows.
            Trimming::Never => u64::MAX,
        },
        accept_loss: persistence.accept_data_loss,
        buffered_bytes_max: sizes.journal_buffer_bytes,
        ..basalt_journal::Options::default()
    };
    if cfg!(feature = "careless") {
        tracing::warn!("this build acknowledges before it syncs: changes will be lost");
        options.acknowledge = Acknowledge::BeforeSyncForCrashTest;
    }
    options
}

fn new_server(
    engine: &Arc<Engine>,
    config: Arc<Config>,
    commands: Commands,
    host: Process,
) -> Dispatcher {
    let count = commands.table.all().len();
    let threads = config.settings().network.io_threads;
    let counters = (0..threads).map(|_| Arc::new(ThreadCounters::new(count))).collect();
    Dispatcher::new(Arc::clone(engine), config, commands, counters, Box::new(host))
}

/// The commands, under the names that the configuration has for them.
fn renamed_commands(config: &Config) -> Result<Commands, ServeError> {
    let mut commands = commands();
    for RenameDirective { place, name, new_name } in config.renames() {
        commands.rename(name, new_name).map_err(|error| ServeError::Rename {
            place: place.to_string(),
            reason: error.to_string(),
        })?;
    }
    Ok(commands)
}

/// Defines the users of the configuration, or those of the file of users.
fn define_users(server: &Server) -> Result<(), ServeError> {
    let (settings, users) = (server.config.settings(), server.config.users());
    let directives: Vec<_> = users.iter().map(|user| user.words.clone()).collect();
    if !directives.is_empty() {
        server.access.define_all(&settings, &directives).map_err(|(index, reason)| {
            ServeError::Users { place: users[index].place.to_string(), reason }
        })?;
    }
    let Some(path) = &settings.clients.acl_file else { return Ok(()) };
    let place = path.display().to_string();
    let wrong = |reason: String| ServeError::Users { place: place.clone(), reason };
    let text = Config::read_acl_file(path).map_err(|error| wrong(error.to_string()))?;
    server.access.load(&settings, (&place, &text)).map_err(|error| wrong(error.to_string()))
}

/// Waits for the end, sampling meanwhile.
fn wait(
    server: &Server,
    journal: &JournalLog,
    shutdowns: &Receiver<Shutdown>,
    mut space: DiskSpace,
) -> Shutdown {
    let mut let_go = 0;
    loop {
        let reserve_bytes = server.config.settings().persistence.disk_reserve_bytes;
        space.look(&server.engine, journal, reserve_bytes);
        match shutdowns.recv_timeout(SAMPLE_EVERY) {
            Ok(how) => return how,
            Err(RecvTimeoutError::Disconnected) => return Shutdown::Normal,
            Err(RecvTimeoutError::Timeout) => {
                server.sample();
                let merges = server.engine.cold().pressure().behind_percent;
                journal.set_backlog(merges.max(server.engine.checkpoint_behind_percent()));
                let_go = give_memory_back(server, let_go);
            }
        }
    }
}

/// Has the allocator give back what clients have held that were let go because it was too much, if
/// more than `before` have been by now; others will hold as much before a second has passed.
/// Returns how many have been.
fn give_memory_back(server: &Server, before: u64) -> u64 {
    let let_go = server.sum(|own| {
        own.query_limit_disconnections.value() + own.output_limit_disconnections.value()
    });
    if let_go != before {
        allocator::give_back();
    }
    let_go
}

/// Everybody has gone: saves what is to be saved and closes the files.
fn close(server: &Server, background: Background, how: Shutdown, settings: &Settings) -> ExitCode {
    if how == Shutdown::Save
        && let Err(error) = server.engine.checkpoint()
    {
        tracing::error!(%error, "the checkpoint at shutdown failed; the journal has the changes");
    }
    background.stop();
    let code = sync_log(server);
    server.engine.cold().close();
    remove_pid_file(settings);
    tracing::info!("bye");
    ExitCode::from(u8::try_from(code).unwrap_or(1))
}

/// Syncs the log; returns the code with which the process ends.
fn sync_log(server: &Server) -> i32 {
    match server.engine.log().sync_all() {
        Ok(_) => 0,
        Err(error) => {
            tracing::error!(%error, "the journal could not be synced: the latest changes may be lost");
            1
        }
    }
}

fn remove_pid_file(settings: &Settings) {
    if let Some(path) = &settings.server.pid_file {
        // It may have been removed by hand.
        let _ = std::fs::remove_file(path);
    }
}

/// The first signal ends the server in order, the second at once.
fn watch_signals(shutdown: std::sync::mpsc::Sender<Shutdown>) -> io::Result<()> {
    let mut signals = signal_hook::iterator::Signals::new([SIGINT, SIGTERM, SIGHUP])?;
    basalt_env::thread::spawn("signals", move || {
        let mut received = 0;
        // A terminal that goes away (SIGHUP) ends nothing, as in Redis.
        for signal in signals.forever().filter(|&signal| signal != SIGHUP) {
            received += 1;
            if received > 1 {
                tracing::warn!(signal, "second signal: ending at once");
                std::process::exit(1);
            }
            tracing::info!(signal, "signal received: finishing; a second one ends at once");
            // The main thread has gone only when the process is ending anyway.
            let _ = shutdown.send(Shutdown::Normal);
        }
    })?;
    Ok(())
}

/// Raises the limit of open files as far as `maxclients` needs, or lowers `maxclients`.
fn fit_clients_to_descriptors(config: &basalt_config::Config) {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let wanted = config.settings().clients.clients_max as u64 + OWN_DESCRIPTORS;
    let mut limit = getrlimit(Resource::Nofile);
    if limit.current.is_some_and(|current| current < wanted) {
        limit.current = Some(limit.maximum.map_or(wanted, |maximum| maximum.min(wanted)));
        // If it is refused, the limit stays, and what it allows is looked at below.
        let _ = setrlimit(Resource::Nofile, limit);
    }
    let Some(current) = getrlimit(Resource::Nofile).current else { return };
    if current < wanted {
        let clients = current.saturating_sub(OWN_DESCRIPTORS).max(32);
        tracing::warn!(clients, "maxclients is lowered to what the limit of open files allows");
        if let Err(error) = config.adjust("maxclients", &clients.to_string()) {
            tracing::warn!(%error, "maxclients could not be lowered");
        }
    }
}

fn write_pid_file(settings: &Settings) {
    if let Some(path) = &settings.server.pid_file
        && let Err(error) = std::fs::write(path, format!("{}\n", std::process::id()))
    {
        tracing::warn!(%error, path = %path.display(), "the pid file could not be written");
    }
}

/// Shows the banner, unless the log goes to a file or is for machines.
fn show(banner: &str, settings: &Settings) {
    let for_people = settings.server.log_file.is_none()
        && settings.server.log_format == basalt_config::LogFormat::Text;
    if for_people {
        // A closed standard output is no reason not to serve.
        let _ = io::stdout().write_all(banner.as_bytes());
    }
}
