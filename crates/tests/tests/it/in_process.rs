//! The transcripts in this process: the same network threads, dispatch and engine over a simulated disk, for a
//! debugger, a sanitizer or a profiler to look at.

use basalt_cold::{MemoryDisk, MemoryTier, Residency};
use basalt_command::commands::Commands;
use basalt_command::server::{Host, HostCpu, HostMemory, Server, Shutdown};
use basalt_config::{Config, Settings};
use basalt_engine::{
    Background, CommitLog, Engine, JournalLog, Options, RecoveryError, Trimming, WarmUp,
};
use basalt_env::{SimDisk, SystemClock};
use basalt_net::{Acceptor, Listening, NetThreads};
use basalt_observe::counters::ThreadCounters;
use basalt_tests::client::Connection;
use basalt_tests::server::Target;
use basalt_tests::transcript::Protocol;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use tempfile::TempDir;

const THREADS: usize = 2;

struct InProcess {
    path: PathBuf,
    running: Option<(Acceptor, NetThreads, Background)>,
    _dir: TempDir,
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

fn engine(settings: &Settings) -> Arc<Engine> {
    let tier =
        MemoryTier::open(&Arc::new(MemoryDisk::new()), Path::new("cold"), Residency::Uncached);
    let options = Options {
        databases: u8::try_from(settings.server.databases).expect("at most 255"),
        limits: basalt_command::limits(&settings.types),
        ..Options::default()
    };
    let opened =
        Engine::open(options, Arc::new(tier), Arc::new(SystemClock::new()), |floor, replay| {
            let (disk, dir) = (Arc::new(SimDisk::new()), Path::new("/journal"));
            let (journal, trimming) =
                (basalt_journal::Options::default(), Trimming::AfterCheckpoint);
            let log = JournalLog::open(disk, dir, journal, trimming, floor, replay)?;
            Ok::<Arc<dyn CommitLog>, RecoveryError>(Arc::new(log))
        });
    Arc::new(opened.expect("an empty engine opens"))
}

impl InProcess {
    fn start() -> InProcess {
        let dir = tempfile::tempdir().expect("a temporary folder can be made");
        let path = dir.path().join("socket");
        let config = Arc::new(Config::default());
        config.adjust("enable-debug-command", "yes").expect("an option of Redis");
        let engine = engine(&config.settings());
        let background = Background::start(&engine, WarmUp::No).expect("threads");
        let commands = Commands::default();
        let count = commands.table.all().len();
        let counters = (0..THREADS).map(|_| Arc::new(ThreadCounters::new(count))).collect();
        let mut network = config.settings().network.clone();
        (network.port, network.unixsocket) = (0, Some(path.clone()));
        let server = Arc::new(Server::new(engine, config, commands, counters, Box::new(NoHost)));
        let net = NetThreads::start(&server).expect("threads");
        let listening = Arc::new(Listening::open(&network).expect("a socket"));
        let acceptor = Acceptor::start(&listening, &server, &net).expect("a thread");
        InProcess { path, running: Some((acceptor, net, background)), _dir: dir }
    }
}

impl Drop for InProcess {
    fn drop(&mut self) {
        if let Some((acceptor, net, background)) = self.running.take() {
            acceptor.stop();
            net.stop();
            background.stop();
        }
    }
}

impl Target for InProcess {
    fn connect(&self) -> Connection {
        Connection::open_unix(&self.path).expect("it accepts connections")
    }

    fn is_redis(&self) -> bool {
        false
    }
}

#[test]
fn transcripts_in_this_process() {
    let server = InProcess::start();
    super::transcripts::play_to(&server, Protocol::Resp2);
    super::transcripts::play_to(&server, Protocol::Resp3);
}
