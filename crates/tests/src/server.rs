//! Starts servers for tests: on a free port, in a folder of their own, with their log kept and
//! checked.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use crate::authority::Authority;
use crate::client::Connection;
use crate::stall::{LastSent, Watchdog};
use basalt_resp::Value;

/// How long a server may take from its start to its first `PONG`.
const READY_TIMEOUT: Duration = Duration::from_secs(180);

/// How often a start is tried again when another process took the free port first.
const START_ATTEMPTS_MAX: usize = 3;

/// Which program to start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// What `BASALT_BIN` names (a redis-server too, to test the tests), or the release build.
    Basalt,
    /// The machine's `redis-server`, to compare with.
    Redis,
    /// What `BASALT_CARELESS_BIN` names, a build that acknowledges changes before they are synced.
    Careless,
}

/// How to start a server.
#[derive(Clone, Debug)]
pub struct Launch {
    kind: Kind,
    args: Vec<String>,
    dir: Option<PathBuf>,
    allowed: Vec<String>,
    door: Door,
    host: Ipv4Addr,
    file: Option<PathBuf>,
    address_space_max: Option<u64>,
    is_watched: bool,
    has_http: bool,
}

/// How tests come in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Door {
    Tcp,
    Unix,
    Tls,
}

impl Launch {
    /// A server with an empty data folder and default options.
    pub fn new(kind: Kind) -> Launch {
        Launch {
            kind,
            args: Vec::new(),
            dir: None,
            allowed: Vec::new(),
            door: Door::Tcp,
            host: Ipv4Addr::LOCALHOST,
            file: None,
            address_space_max: None,
            is_watched: true,
            has_http: false,
        }
    }

    /// Has it speak HTTP, too, if it is Basalt.
    pub fn with_http(mut self) -> Launch {
        self.has_http = true;
        self
    }

    /// Adds an option, as on the command line: `--name value`.
    pub fn option(mut self, name: &str, value: &str) -> Launch {
        self.args.extend([format!("--{name}"), value.to_owned()]);
        self
    }

    /// Uses a folder that outlives the server, as for a restart.
    pub fn dir(mut self, dir: &Path) -> Launch {
        self.dir = Some(dir.to_owned());
        self
    }

    /// Listens on and is reached by this address.
    pub fn host(mut self, host: Ipv4Addr) -> Launch {
        self.host = host;
        self
    }

    /// Has it read a configuration file.
    pub fn file(mut self, path: &Path) -> Launch {
        self.file = Some(path.to_owned());
        self
    }

    /// Lets it have this many bytes of address space.
    pub fn address_space_max(mut self, bytes: u64) -> Launch {
        self.address_space_max = Some(bytes);
        self
    }

    /// Listens on a Unix socket, too, and has [`Server::connect`] use it.
    pub fn unix(mut self) -> Launch {
        self.door = Door::Unix;
        self
    }

    /// Listens for TLS, too, by a certificate of an authority of its own, and has
    /// [`Server::connect`] use it. Clients need no certificate unless an option says so.
    pub fn tls(mut self) -> Launch {
        self.door = Door::Tls;
        self
    }

    /// Expects warnings or errors in the log that contain `text`.
    pub fn allow_log(mut self, text: &str) -> Launch {
        self.allowed.push(text.to_owned());
        self
    }

    /// Nobody watches that it answers everybody in time (`stall.rs`): for tests that stop it,
    /// pause its clients, or count connections and commands.
    pub fn unwatched(mut self) -> Launch {
        self.is_watched = false;
        self
    }

    /// Starts the server and waits until it answers.
    pub fn start(self) -> Server {
        let mut failures = String::new();
        for _ in 0..START_ATTEMPTS_MAX {
            match self.try_start() {
                Ok(server) => return server,
                Err(error) => failures.push_str(&format!("\n{error}")),
            }
        }
        panic!("cannot start {}:{failures}", program(self.kind).display());
    }

    /// Starts the server and kills it after this time, whether it answers by then or not: a crash
    /// in the midst of a recovery.
    pub fn start_and_kill(self, after: Duration) {
        match self.spawn() {
            Ok(mut server) => {
                std::thread::sleep(after);
                server.kill();
            }
            Err(error) => panic!("cannot start {}: {error}", program(self.kind).display()),
        }
    }

    /// Starts the server once and waits until it answers.
    ///
    /// # Errors
    /// It does not start; its log is in the error.
    pub fn try_start(&self) -> io::Result<Server> {
        let mut server = self.spawn()?;
        server.wait_ready()?;
        if self.is_watched && !server.is_redis {
            let mut connection = Connection::open(server.address)?;
            let ping = move || connection.call(&["PING"]).map(drop);
            server.watchdog = Some(Watchdog::start(ping, &server.sent)?);
        }
        Ok(server)
    }

    /// Starts the process and does not wait.
    fn spawn(&self) -> io::Result<Server> {
        let own_dir = match self.dir {
            Some(_) => None,
            None => Some(tempfile::Builder::new().prefix("basalt-test-").tempdir()?),
        };
        let dir = match (&self.dir, &own_dir) {
            (Some(dir), _) => dir.clone(),
            (None, Some(own)) => own.path().to_owned(),
            (None, None) => unreachable!("one of the two was just made"),
        };
        let port = free_port()?;
        let has_http = self.has_http && !is_redis(self.kind);
        let http_port = if has_http { Some(free_port()?) } else { None };
        let log_path = dir.join("server.log");
        let log = File::options().create(true).append(true).open(&log_path)?;
        let log_start = log.metadata()?.len();
        let socket = dir.join("socket");
        let tls = if self.door == Door::Tls { Some(Tls::new(self.host)?) } else { None };
        let door: Vec<OsString> = match &tls {
            Some(tls) => tls.options(),
            None if self.door == Door::Unix => vec!["--unixsocket".into(), (&socket).into()],
            None => vec![],
        };
        let mut command = match self.address_space_max {
            None => Command::new(program(self.kind)),
            Some(bytes) => {
                let mut shell = Command::new("sh");
                let limited = format!("ulimit -v {} && exec \"$0\" \"$@\"", bytes / 1024);
                shell.args(["-c", &limited]).arg(program(self.kind));
                shell
            }
        };
        let child = command
            .args(&self.file)
            .args(["--bind", &self.host.to_string(), "--port", &port.to_string(), "--dir"])
            .arg(&dir)
            .args(door)
            .args(own_args(self.kind))
            .args(http_port.iter().flat_map(|port| ["--http-port".to_owned(), port.to_string()]))
            .args(&self.args)
            .env("NO_COLOR", "1")
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()?;
        let address = SocketAddr::from((self.host, port));
        let allowed = self.allowed.clone();
        let is_redis = is_redis(self.kind);
        let socket = (self.door == Door::Unix).then_some(socket);
        Ok(Server {
            child,
            address,
            http_address: http_port.map(|port| SocketAddr::from((self.host, port))),
            socket,
            tls,
            log_path,
            log_start,
            allowed,
            is_redis,
            watchdog: None,
            sent: Arc::default(),
            _own_dir: own_dir,
        })
    }
}

/// TLS of a server.
#[derive(Debug)]
struct Tls {
    address: SocketAddr,
    authority: Authority,
}

impl Tls {
    fn new(host: Ipv4Addr) -> io::Result<Tls> {
        let authority = Authority::new()?;
        authority.identity("server")?;
        Ok(Tls { address: SocketAddr::from((host, free_port()?)), authority })
    }

    fn options(&self) -> Vec<OsString> {
        let file = |name| self.authority.path(name).into_os_string();
        vec![
            "--tls-port".into(),
            self.address.port().to_string().into(),
            "--tls-cert-file".into(),
            file("server.crt"),
            "--tls-key-file".into(),
            file("server.key"),
            "--tls-ca-cert-file".into(),
            file("ca.crt"),
            "--tls-auth-clients".into(),
            "no".into(),
        ]
    }
}

/// A server that can be spoken to.
pub trait Target: std::fmt::Debug {
    /// A new connection.
    fn connect(&self) -> Connection;

    /// Whether it is redis-server.
    fn is_redis(&self) -> bool;
}

/// A running server; killed when dropped.
#[derive(Debug)]
pub struct Server {
    child: Child,
    address: SocketAddr,
    /// Where it speaks HTTP.
    http_address: Option<SocketAddr>,
    /// The Unix socket, if connections go through it.
    socket: Option<PathBuf>,
    /// Where it speaks TLS, if connections go through that.
    tls: Option<Tls>,
    log_path: PathBuf,
    /// Where this run's part of the log begins: a restart appends.
    log_start: u64,
    allowed: Vec<String>,
    is_redis: bool,
    watchdog: Option<Watchdog>,
    /// What the connections of [`Server::connect`] have sent.
    sent: Arc<LastSent>,
    _own_dir: Option<tempfile::TempDir>,
}

impl Target for Server {
    fn connect(&self) -> Connection {
        Server::connect(self)
    }

    fn is_redis(&self) -> bool {
        self.is_redis
    }
}

impl Server {
    /// Starts a server with default options.
    pub fn start(kind: Kind) -> Server {
        Launch::new(kind).start()
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Where it speaks HTTP, if it does.
    pub fn http_address(&self) -> Option<SocketAddr> {
        self.http_address
    }

    /// Where it speaks TLS.
    ///
    /// # Panics
    /// If it does not.
    pub fn tls_address(&self) -> SocketAddr {
        self.tls.as_ref().expect("Launch::tls was asked for").address
    }

    /// The authority that has signed its certificate.
    ///
    /// # Panics
    /// If it speaks no TLS.
    pub fn authority(&self) -> &Authority {
        &self.tls.as_ref().expect("Launch::tls was asked for").authority
    }

    /// Whether the program is redis-server, whatever kind was asked for.
    pub fn is_redis(&self) -> bool {
        self.is_redis
    }

    /// A new connection.
    pub fn connect(&self) -> Connection {
        let opened = match (&self.socket, &self.tls) {
            (None, None) => Connection::open(self.address),
            (Some(path), _) => Connection::open_unix(path),
            (None, Some(tls)) => Connection::open_tls(tls.address, &tls.authority.client()),
        };
        match opened {
            Ok(connection) => connection.noting(&self.sent),
            Err(error) => panic!("cannot connect: {error}\nlog:\n{}", self.log()),
        }
    }

    /// What it has logged since it was started.
    pub fn log(&self) -> String {
        let bytes = fs::read(&self.log_path).unwrap_or_default();
        let start = usize::try_from(self.log_start).unwrap_or(0).min(bytes.len());
        String::from_utf8_lossy(&bytes[start..]).into_owned()
    }

    /// The process.
    pub fn process_id(&self) -> u32 {
        self.child.id()
    }

    /// Memory that is resident, in bytes.
    pub fn resident_bytes(&self) -> u64 {
        let path = format!("/proc/{}/status", self.child.id());
        let status = fs::read_to_string(path).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kib = line.and_then(|line| line.trim().strip_suffix(" kB"));
        kib.and_then(|kib| kib.trim().parse().ok()).map_or(0, |kib: u64| kib * 1024)
    }

    /// Sends a signal: `TERM`, `HUP`.
    pub fn signal(&self, name: &str) {
        let (signal, process) = (format!("-{name}"), self.child.id().to_string());
        let status = Command::new("kill").args([&signal, &process]).status();
        let status = status.expect("kill can be run");
        assert!(status.success(), "kill -{name}: {status}");
    }

    /// Whether the process has ended, reaped or not.
    pub fn has_ended(&self) -> bool {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.child.id()));
        // The state follows the name, which may hold anything.
        let state = stat.ok().and_then(|stat| Some(stat.rsplit_once(") ")?.1.chars().next()));
        !matches!(state, Some(Some(state)) if state != 'Z')
    }

    /// Waits until the process has ended by itself; `None` if it has not in time.
    pub fn wait(&mut self, timeout: Duration) -> Option<ExitStatus> {
        let started = Instant::now();
        while started.elapsed() < timeout {
            if let Some(status) = self.child.try_wait().expect("a child can be waited for") {
                return Some(status);
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        None
    }

    /// Ends the process at once, as `kill -9` does, and waits until it is gone.
    pub fn kill(&mut self) {
        // Both fail only if the process is gone already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Panics if the server has left its clients without an answer for too long. It is not watched
    /// any more.
    pub fn check_for_stalls(&mut self) {
        let stall = self.watchdog.take().and_then(Watchdog::end);
        assert!(stall.is_none(), "a PING has taken {stall:?}; log:\n{}", self.log());
    }

    /// Panics if the log has a warning or an error that was not expected.
    pub fn check_log(&self) {
        if !self.is_redis {
            let found = complaints(&self.log(), &self.allowed);
            assert!(found.is_empty(), "unexpected in the server's log:\n{}", found.join("\n"));
        }
    }

    fn wait_ready(&mut self) -> io::Result<()> {
        let started = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait()? {
                return Err(io::Error::other(format!("{status}; log:\n{}", self.log())));
            }
            if answers(self.address) {
                return Ok(());
            }
            if started.elapsed() > READY_TIMEOUT {
                self.kill();
                return Err(io::Error::other(format!("not ready in time; log:\n{}", self.log())));
            }
            // The kernel cannot be asked to tell when somebody listens; so knock, and knock again.
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let stall = self.watchdog.take().and_then(Watchdog::end);
        self.kill();
        if std::thread::panicking() {
            let log = self.log();
            let tail: Vec<&str> = log.lines().rev().take(30).collect();
            let tail: Vec<&str> = tail.into_iter().rev().collect();
            // Captured by the test harness and shown with the failure.
            #[allow(clippy::print_stderr)]
            {
                eprintln!("end of the server's log:\n{}", tail.join("\n"));
            }
        } else {
            assert!(stall.is_none(), "a PING has taken {stall:?}; log:\n{}", self.log());
            self.check_log();
        }
    }
}

fn answers(address: SocketAddr) -> bool {
    let Ok(mut connection) = Connection::open(address) else { return false };
    match connection.call(&["PING"]) {
        Ok(Value::Error(text)) => !text.starts_with(b"LOADING"),
        Ok(_) => true,
        Err(_) => false,
    }
}

/// A port that is free now, another one at each call. The kernel takes those of connections from
/// 32768 on, by default: a port from there could be a connection's before the server has it.
pub fn free_port() -> io::Result<u16> {
    const FIRST: u32 = 20_000;
    const COUNT: u32 = 12_000;
    static CALLS: AtomicU32 = AtomicU32::new(0);
    // Processes that test at the same time begin at different places.
    let begin = std::process::id().wrapping_mul(7919);
    for _ in 0..COUNT {
        // Relaxed: a number of its own is all that a call needs.
        let number = begin.wrapping_add(CALLS.fetch_add(1, Ordering::Relaxed));
        let port = (FIRST + number % COUNT) as u16;
        if TcpListener::bind((Ipv4Addr::UNSPECIFIED, port)).is_ok() {
            return Ok(port);
        }
    }
    Err(io::Error::other("no port is free"))
}

/// Options for one kind only. Redis shall not save. For Basalt, `BASALT_ARGS` has more, parted by
/// spaces: a program built without RocksDB can be tested with `BASALT_ARGS="--cold-tier memory"`.
pub fn own_args(kind: Kind) -> Vec<String> {
    if is_redis(kind) {
        return vec!["--save".to_owned(), String::new()];
    }
    // `Launch::with_http` names a port of its own behind this.
    let mut all = vec!["--http-port".to_owned(), "0".to_owned()];
    if kind == Kind::Careless {
        all.extend(["--cold-tier".to_owned(), "memory".to_owned()]);
        return all;
    }
    let args = std::env::var("BASALT_ARGS").unwrap_or_default();
    all.extend(args.split_whitespace().map(str::to_owned));
    all
}

/// The program of a kind.
pub fn program(kind: Kind) -> PathBuf {
    if kind == Kind::Redis {
        return PathBuf::from("redis-server");
    }
    if kind == Kind::Careless {
        let binary = std::env::var_os("BASALT_CARELESS_BIN").map(PathBuf::from);
        return binary.expect(
            "BASALT_CARELESS_BIN is a build that acknowledges too early: \
             cargo build -p basalt --no-default-features --features careless",
        );
    }
    if let Some(binary) = std::env::var_os("BASALT_BIN") {
        return PathBuf::from(binary);
    }
    // Test binaries are in TARGET/debug/deps.
    let own = std::env::current_exe().unwrap_or_default();
    let target = own.ancestors().nth(3).map(Path::to_path_buf).unwrap_or_default();
    let binary = target.join("release/basalt");
    assert!(
        binary.exists(),
        "no server to test: set BASALT_BIN, or cargo build --release -p basalt"
    );
    binary
}

/// Whether a kind's program is redis-server.
pub fn is_redis(kind: Kind) -> bool {
    let path = program(kind);
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("redis-server"))
}

/// The lines of a log that are warnings or errors and contain none of the `allowed` texts.
fn complaints(log: &str, allowed: &[String]) -> Vec<String> {
    let bad = ["WARN", "ERROR", "panicked"];
    log.lines()
        .filter(|line| line.split([' ', '"', '[', ']', ':']).any(|word| bad.contains(&word)))
        .filter(|line| !allowed.iter().any(|text| line.contains(text)))
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::complaints;

    #[test]
    fn a_warning_is_found_unless_it_was_expected() {
        let log =
            "1 INFO ready\n2 WARN disk slow\n{\"level\":\"ERROR\"}\nthread 'a' panicked at x\n";
        assert_eq!(complaints(log, &[]).len(), 3);
        assert_eq!(complaints(log, &["disk slow".to_owned()]).len(), 2);
        assert!(complaints("1 INFO WARNINGS: 0\n", &[]).is_empty());
    }
}
