//! The transcripts in this process: the same network threads, dispatch and engine over a simulated
//! disk, for a debugger, a sanitizer or a profiler to look at.

use basalt_cold::{ColdTier, MemoryDisk, MemoryTier, Residency};
use basalt_commands::table;
use basalt_config::{ClientCertificates, Config, Settings};
use basalt_dispatch::Dispatcher;
use basalt_engine::{Background, CommitLog, Engine, Options, RecoveryError, WarmUp};
use basalt_env::{Clock, Disk, Env, SimDisk};
use basalt_journal_log::{JournalLog, Trimming};
use basalt_net::{Acceptor, Listening, NetThreads, STOP_GRACE};
use basalt_observe::counters::ThreadCounters;
use basalt_service::server::{Host, HostCpu, HostMemory, Shutdown};
use basalt_tests::authority::Authority;
use basalt_tests::client::Connection;
use basalt_tests::server::{Target, free_port};
use basalt_tests::transcript::{Protocol, run_folder};
use basalt_tls::ServerTls;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tempfile::TempDir;

const THREADS: usize = 2;

/// A server in this process, behind a Unix socket.
pub(crate) struct InProcess {
    pub(crate) engine: Arc<Engine>,
    path: PathBuf,
    /// By TLS, if that is how clients come.
    tls: Option<(SocketAddr, Authority)>,
    running: Option<(Acceptor, NetThreads, Background)>,
    _dir: TempDir,
}

/// Where the server's data is.
pub(crate) struct DataPlace {
    pub(crate) cold: Arc<dyn ColdTier>,
    pub(crate) disk: Arc<dyn Disk>,
    pub(crate) journal_dir: PathBuf,
    pub(crate) segment_bytes: u64,
    pub(crate) collection_row_bytes_max: usize,
    pub(crate) string_piece_bytes: usize,
}

impl Default for DataPlace {
    /// Nothing that outlives the server.
    fn default() -> DataPlace {
        let cold = Arc::new(MemoryDisk::new());
        DataPlace {
            cold: Arc::new(MemoryTier::open(&cold, Path::new("cold"), Residency::Uncached)),
            disk: Arc::new(SimDisk::new()),
            journal_dir: PathBuf::from("/journal"),
            segment_bytes: basalt_journal::Options::default().segment_bytes,
            collection_row_bytes_max: Options::default().collection_row_bytes_max,
            string_piece_bytes: Options::default().string_piece_bytes,
        }
    }
}

impl std::fmt::Debug for InProcess {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("InProcess").field("path", &self.path).finish_non_exhaustive()
    }
}

/// A process that has nothing to say for itself.
struct NoHost;

impl Host for NoHost {
    fn memory(&self) -> HostMemory {
        HostMemory::default()
    }

    fn cpu(&self) -> HostCpu {
        HostCpu::default()
    }

    fn shut_down(&self, _: Shutdown) {}

    fn apply(&self, _: &Settings, _: &Settings) -> Result<(), (String, String)> {
        Ok(())
    }

    fn journal_info(&self) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    fn tcp_port(&self) -> u16 {
        0
    }
}

/// Opens the data with default settings.
pub(crate) fn try_open(place: &DataPlace) -> Result<Engine, RecoveryError> {
    open(&Config::default().settings(), place)
}

fn open_engine(settings: &Settings, place: &DataPlace) -> Arc<Engine> {
    Arc::new(open(settings, place).expect("the engine opens"))
}

fn open(settings: &Settings, place: &DataPlace) -> Result<Engine, RecoveryError> {
    let options = Options {
        databases: u8::try_from(settings.server.databases).expect("at most 255"),
        limits: basalt_service::limits::limits(&settings.types),
        collection_row_bytes_max: place.collection_row_bytes_max,
        string_piece_bytes: place.string_piece_bytes,
        ..Options::default()
    };
    let env = Env::system();
    Engine::open(options, Arc::clone(&place.cold), env.clone(), |floor, replay| {
        let disk = Arc::clone(&place.disk);
        let (segment_bytes, trimming) = (place.segment_bytes, Trimming::AfterCheckpoint);
        let journal = basalt_journal::Options { segment_bytes, ..Default::default() };
        let log =
            JournalLog::open(&env, disk, &place.journal_dir, journal, trimming, floor, replay)?;
        Ok::<Arc<dyn CommitLog>, RecoveryError>(Arc::new(log))
    })
}

impl InProcess {
    pub(crate) fn start(place: &DataPlace) -> InProcess {
        InProcess::start_with(place, None)
    }

    /// Starts one for clients that come by TLS.
    fn start_with(place: &DataPlace, authority: Option<Authority>) -> InProcess {
        let dir = tempfile::tempdir().expect("a temporary folder can be made");
        let path = dir.path().join("socket");
        let config = Arc::new(Config::default());
        config.adjust("enable-debug-command", "yes").expect("an option of Redis");
        let engine = open_engine(&config.settings(), place);
        let background = Background::start(&engine, WarmUp::No).expect("threads");
        let commands = table::commands();
        let count = commands.table.all().len();
        let counters = (0..THREADS).map(|_| Arc::new(ThreadCounters::new(count))).collect();
        let mut network = config.settings().network.clone();
        (network.port, network.unixsocket) = (0, Some(path.clone()));
        if authority.is_some() {
            network.tls_port = free_port().expect("a port");
        }
        let tls = authority.map(|own| (SocketAddr::from(([127, 0, 0, 1], network.tls_port)), own));
        let clock = Arc::clone(&engine.env().clock);
        let shaken_by = tls.as_ref().map(|(_, authority)| server_tls(authority, &clock));
        let server =
            Dispatcher::new(Arc::clone(&engine), config, commands, counters, Box::new(NoHost));
        let server = Arc::new(server);
        let net = NetThreads::start(&server).expect("threads");
        let listening = Arc::new(Listening::open(&network).expect("a socket"));
        listening.exchange_tls(shaken_by);
        let acceptor = Acceptor::start(&listening, &server, &net).expect("a thread");
        InProcess { engine, path, tls, running: Some((acceptor, net, background)), _dir: dir }
    }
}

/// What handshakes are made by.
fn server_tls(authority: &Authority, clock: &Arc<dyn Clock>) -> ServerTls {
    authority.identity("server").expect("files can be written");
    let mut settings = Settings::default().tls;
    settings.certificate = Some(authority.path("server.crt"));
    settings.key = Some(authority.path("server.key"));
    settings.client_certificates = ClientCertificates::No;
    ServerTls::new(&settings, clock).expect("it fits together")
}

impl Drop for InProcess {
    fn drop(&mut self) {
        if let Some((acceptor, net, background)) = self.running.take() {
            acceptor.stop();
            net.stop(STOP_GRACE);
            background.stop();
        }
    }
}

impl Target for InProcess {
    fn connect(&self) -> Connection {
        let opened = match &self.tls {
            None => Connection::open_unix(&self.path),
            Some((address, authority)) => Connection::open_tls(*address, &authority.client()),
        };
        opened.expect("it accepts connections")
    }

    fn is_redis(&self) -> bool {
        false
    }
}

#[test]
fn transcripts_in_this_process() {
    let server = InProcess::start(&DataPlace::default());
    super::transcripts::play_to(&server, Protocol::Resp2);
    super::transcripts::play_to(&server, Protocol::Resp3);
}

#[test]
fn transcripts_in_this_process_over_tls() {
    let authority = Authority::new().expect("an authority");
    let server = InProcess::start_with(&DataPlace::default(), Some(authority));
    super::transcripts::play_to(&server, Protocol::Resp3);
}

/// Keys that leave memory at least, and how often the transcripts are played for that.
const EVICTED_MIN: u64 = 100;
const ROUNDS_MAX: u32 = 10;
/// Calls that may show that a key has left memory. What comes back is encoded as small as it can
/// be, and has just been used; a call of SCAN may end early where the other thread holds a
/// partition.
const LEAVING_SHOWS_IN: [&str; 5] =
    [": OBJECT ENCODING", ": OBJECT IDLETIME", ": OBJECT FREQ", ": DEBUG OBJECT", ": SCAN "];

/// What a script is told once that has changed something and then needs keys that it has not
/// named, SORT with BY all of them, if one has just left memory.
const TOLD_ONCE: &str = "is not in memory. It is not going to happen to this script again";

/// Whatever is clean leaves memory, again and again, while commands run: each finds its keys on
/// disk or in memory, in one row or in many.
#[test]
fn transcripts_while_everything_leaves_memory() {
    for (collection_row_bytes_max, string_piece_bytes) in [(64 << 10, 1 << 20), (100, 3_000)] {
        let place =
            DataPlace { collection_row_bytes_max, string_piece_bytes, ..DataPlace::default() };
        let server = InProcess::start(&place);
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let evicting = scope.spawn(|| {
                while !is_over.load(Ordering::Relaxed) {
                    // One that fails is made again.
                    let _ = server.engine.checkpoint();
                    server.engine.evict_clean();
                    // What has been read for a command is there for it to run.
                    std::thread::sleep(Duration::from_millis(1));
                }
            });
            let folder = Path::new("transcripts");
            let mut failures = Vec::new();
            // How much leaves memory meanwhile depends on what else the machine does.
            for _ in 0..ROUNDS_MAX {
                for protocol in [Protocol::Resp2, Protocol::Resp3] {
                    failures.append(&mut run_folder(&server, protocol, folder).failures);
                }
                if server.engine.eviction_stats().keys > EVICTED_MIN {
                    break;
                }
            }
            is_over.store(true, Ordering::Relaxed);
            evicting.join().expect("it evicts");
            failures.retain(|text| {
                let shows = LEAVING_SHOWS_IN.iter().any(|call| text.contains(call));
                !shows && !text.contains(TOLD_ONCE)
            });
            assert!(failures.is_empty(), "{}", failures.join("\n"));
        });
        let evicted = server.engine.eviction_stats().keys;
        assert!(evicted > EVICTED_MIN, "{evicted} keys left memory");
    }
}
