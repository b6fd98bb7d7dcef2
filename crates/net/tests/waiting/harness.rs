//! A server in this process: real sockets and threads over a simulated disk.

use crate::commands::COMMANDS;
use crate::line_front::LineFront;
use crate::stall::{LastSent, Stall, Watchdog};
use basalt_cold::{MemoryDisk, MemoryTier, Residency};
use basalt_commands::table::commands_and;
use basalt_config::{Config, Settings};
use basalt_dispatch::Dispatcher;
use basalt_engine::{Background, CommitLog, Engine, LockWait, Options, RecoveryError, WarmUp};
use basalt_env::{Env, SimDisk};
use basalt_journal::FsyncPolicy;
use basalt_journal_log::{JournalLog, Trimming};
use basalt_net::{Acceptor, Listening, NetThreads, STOP_GRACE};
use basalt_observe::counters::ThreadCounters;
use basalt_resp::{Value, decode, encode_request};
use basalt_service::server::{Host, HostCpu, HostMemory, Shutdown};
use std::io::{self, BufReader, ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Longest that a test waits for anything: what takes longer, on any machine, is stuck.
pub const STUCK: Duration = Duration::from_secs(120);
/// How long something that must not happen is waited for.
pub const SILENCE: Duration = Duration::from_millis(50);

/// The server.
pub struct TestServer {
    pub server: Arc<Dispatcher>,
    /// What its journal is on.
    pub disk: SimDisk,
    path: PathBuf,
    /// What its clients have sent.
    sent: Arc<LastSent>,
    watchdog: Option<Watchdog>,
    running: Option<(Acceptor, NetThreads, Background)>,
    _dir: TempDir,
}

/// A connection to it.
pub struct Client {
    stream: UnixStream,
    sent: Arc<LastSent>,
    unread: Vec<u8>,
    /// Its number.
    pub id: i64,
}

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

fn engine(policy: FsyncPolicy, disk: SimDisk) -> Arc<Engine> {
    let tier =
        MemoryTier::open(&Arc::new(MemoryDisk::new()), Path::new("cold"), Residency::Uncached);
    let options = Options {
        databases: 4,
        checkpoint_log_bytes: u64::MAX,
        miss_threads: 1,
        hash_seed: 1,
        ..Options::default()
    };
    let journal = basalt_journal::Options { policy, segment_bytes: 1 << 20, ..Default::default() };
    let env = Env::system();
    let engine = Engine::open(options, Arc::new(tier), env.clone(), |floor, replay| {
        let (disk, dir) = (Arc::new(disk), Path::new("/journal"));
        let trimming = Trimming::AfterCheckpoint;
        let log = JournalLog::open(&env, disk, dir, journal, trimming, floor, replay)?;
        Ok::<Arc<dyn CommitLog>, RecoveryError>(Arc::new(log))
    });
    Arc::new(engine.expect("an empty engine opens"))
}

impl TestServer {
    /// An empty server with as many network threads.
    pub fn start(threads: usize) -> TestServer {
        TestServer::start_with(threads, FsyncPolicy::Never)
    }

    /// Starts a server with a policy for the journal.
    pub fn start_with(threads: usize, policy: FsyncPolicy) -> TestServer {
        let mut server = TestServer::start_unwatched(threads, policy);
        let mut client = server.connect_noting(Arc::default());
        let ping = move || {
            client.try_send(b"PING\r\n")?;
            client.try_receive().map(drop)
        };
        server.watchdog = Some(Watchdog::start(ping, &server.sent).expect("a thread"));
        server
    }

    /// Starts a server of which nobody watches that it answers everybody in time: for tests that
    /// count connections.
    pub fn start_unwatched(threads: usize, policy: FsyncPolicy) -> TestServer {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("socket");
        let disk = SimDisk::new();
        let engine = engine(policy, disk.clone());
        let background = Background::start(&engine, WarmUp::No).expect("threads");
        let commands = commands_and(COMMANDS);
        let count = commands.table.all().len();
        let counters = (0..threads).map(|_| Arc::new(ThreadCounters::new(count))).collect();
        let config = Arc::new(Config::default());
        let mut network = config.settings().network.clone();
        (network.port, network.unixsocket) = (0, Some(path.clone()));
        let server =
            Arc::new(Dispatcher::new(engine, config, commands, counters, Box::new(NoHost)));
        let net = NetThreads::start(&server).expect("threads");
        let listening = Listening::open(&network).expect("a socket");
        network.unixsocket = Some(dir.path().join("lines"));
        listening.add(&network, || Box::new(LineFront::default())).expect("a socket");
        let listening = Arc::new(listening);
        let acceptor = Acceptor::start(&listening, &server, &net).expect("a thread");
        let running = Some((acceptor, net, background));
        let (sent, watchdog) = (Arc::default(), None);
        TestServer { server, disk, path, sent, watchdog, running, _dir: dir }
    }

    /// Watches no longer; what it has found.
    pub fn end_watch(&mut self) -> Option<Stall> {
        self.watchdog.take().and_then(Watchdog::end)
    }

    /// A new connection.
    pub fn connect(&self) -> Client {
        self.connect_noting(Arc::clone(&self.sent))
    }

    /// A new connection, of which nothing has been sent yet: it has no number.
    pub fn connect_silently(&self) -> Client {
        let stream = UnixStream::connect(&self.path).expect("it accepts connections");
        stream.set_read_timeout(Some(STUCK)).expect("a socket");
        Client { stream, sent: Arc::clone(&self.sent), unread: Vec::new(), id: 0 }
    }

    fn connect_noting(&self, sent: Arc<LastSent>) -> Client {
        let mut client = Client { sent, ..self.connect_silently() };
        let Value::Integer(id) = client.line("CLIENT ID") else { panic!("a number") };
        client.id = id;
        client
    }

    /// A new connection that speaks in lines.
    pub fn connect_in_lines(&self) -> BufReader<UnixStream> {
        let stream = UnixStream::connect(self.path.with_file_name("lines")).expect("a socket");
        stream.set_read_timeout(Some(STUCK)).expect("a socket");
        BufReader::new(stream)
    }

    /// Clients that wait now.
    pub fn waiting(&self) -> usize {
        use std::sync::atomic::Ordering::Relaxed;
        self.server.clients.all().iter().filter(|client| client.parked.load(Relaxed)).count()
    }

    /// Waits until this number of clients wait.
    pub fn until_waiting(&self, count: usize) {
        self.until(|server| server.waiting() == count);
    }

    /// Waits until something holds.
    pub fn until(&self, holds: impl Fn(&TestServer) -> bool) {
        let start = Instant::now();
        while !holds(self) {
            assert!(start.elapsed() < STUCK, "it never holds");
            std::thread::yield_now();
        }
    }

    /// Keys that are waited for.
    pub fn keys_waited_for(&self) -> usize {
        self.server.engine.keys_waited_for(LockWait::Endless).map_or(0, |count| count.0)
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        // A test that has failed may hold them.
        self.disk.release_syncs();
        let stall = self.end_watch();
        if let Some((acceptor, net, background)) = self.running.take() {
            acceptor.stop();
            net.stop(STOP_GRACE);
            background.stop();
        }
        if !std::thread::panicking() {
            assert!(stall.is_none(), "a PING has taken {stall:?}");
        }
    }
}

impl Client {
    /// Sends a request, given as words between blanks.
    pub fn send(&mut self, line: &str) {
        self.send_all(&[line]);
    }

    /// Sends requests in one piece, as [`Client::send`] does each.
    pub fn send_all(&mut self, lines: &[&str]) {
        let mut requests = Vec::new();
        for line in lines {
            encode_request(&line.split(' ').collect::<Vec<_>>(), &mut requests);
        }
        self.send_bytes(&requests);
    }

    /// Sends a request.
    pub fn send_words(&mut self, words: &[&str]) {
        let mut request = Vec::new();
        encode_request(words, &mut request);
        self.send_bytes(&request);
    }

    /// Sends these bytes in one piece.
    pub fn send_bytes(&mut self, bytes: &[u8]) {
        self.try_send(bytes).expect("the server is there");
    }

    fn try_send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.sent.note(bytes);
        self.stream.write_all(bytes)
    }

    /// The next reply.
    pub fn receive(&mut self) -> Value {
        self.try_receive().expect("an answer in time")
    }

    fn try_receive(&mut self) -> io::Result<Value> {
        loop {
            if let Some((value, len)) = decode(&self.unread).expect("a reply") {
                self.unread.drain(..len);
                return Ok(value);
            }
            let mut chunk = [0; 4096];
            let count = self.stream.read(&mut chunk)?;
            if count == 0 {
                return Err(ErrorKind::UnexpectedEof.into());
            }
            self.unread.extend_from_slice(&chunk[..count]);
        }
    }

    /// Sends a request and returns its reply.
    pub fn line(&mut self, line: &str) -> Value {
        self.send(line);
        self.receive()
    }

    /// Nothing comes for a moment.
    pub fn hears_nothing(&mut self) -> bool {
        self.stream.set_read_timeout(Some(SILENCE)).expect("a socket");
        let read = self.stream.read(&mut [0; 1]);
        self.stream.set_read_timeout(Some(STUCK)).expect("a socket");
        read.is_err_and(|error| matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut))
    }

    /// The server has closed the connection.
    pub fn is_closed(&mut self) -> bool {
        matches!(self.stream.read(&mut [0; 1]), Ok(0) | Err(_))
    }

    /// Reads until the server has closed the connection.
    pub fn until_closed(&mut self) {
        // An error is how a connection ends that has sent what was not read.
        while matches!(self.stream.read(&mut [0; 4096]), Ok(1..)) {}
    }

    /// Ends the sending side.
    pub fn finish_sending(&self) {
        self.stream.shutdown(std::net::Shutdown::Write).expect("a socket");
    }
}

/// A reply of TAKE.
pub fn taken(key: &str, value: &str) -> Value {
    Value::Array([key, value].iter().map(|word| Value::Bulk(word.as_bytes().to_vec())).collect())
}

pub fn ok() -> Value {
    Value::Simple(b"OK".to_vec())
}

pub fn bulk(text: &str) -> Value {
    Value::Bulk(text.as_bytes().to_vec())
}

pub fn error(text: &str) -> Value {
    Value::Error(text.as_bytes().to_vec())
}
