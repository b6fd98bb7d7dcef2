//! A server process of our own: started in a directory, pinned, awaited, and ended by its pid.

use std::ffi::OsString;
use std::fs::{self, File};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use rustix::thread::{CpuSet, sched_setaffinity};

use crate::compare::cli::Pins;
use crate::compare::memory_group::MemoryGroup;
use crate::error::BenchError;
use crate::process::{CpuTime, has_children};
use crate::target::{Client, Target};
use crate::tls;

const START_TIMEOUT: Duration = Duration::from_secs(600);
const STOP_TIMEOUT: Duration = Duration::from_secs(30);
const POLL_INTERVAL: Duration = Duration::from_millis(1);
/// A server is quiet when it uses less than this much of a cpu, twice in a row, and has no child.
const QUIET_SHARE: f64 = 0.05;
const QUIET_SPAN: Duration = Duration::from_millis(200);
/// As long as allocators keep what has been freed, and some: Basalt's begins to give it back after
/// a second.
const DECAY: Duration = Duration::from_secs(3);
const QUIET_TIMEOUT: Duration = Duration::from_secs(60);
/// Bytes of its log that an error message quotes.
const LOG_BYTES_SHOWN: usize = 600;

/// The key of a server that speaks TLS.
const KEY_FILE: &str = "server.key";
/// What its certificate says.
const OPENSSL_CONFIG: &str = "\
[req]
prompt = no
distinguished_name = name
x509_extensions = extensions
[name]
CN = localhost
[extensions]
basicConstraints = critical, CA:FALSE
subjectAltName = IP:127.0.0.1
";

/// How one side of a comparison is started.
#[derive(Debug, Clone)]
pub(crate) struct Contender {
    pub(crate) name: &'static str,
    pub(crate) program: PathBuf,
    /// Arguments before ours, such as a subcommand.
    pub(crate) lead: Vec<OsString>,
    /// Arguments after ours.
    pub(crate) extra: Vec<String>,
    /// Clients connect by TLS.
    pub(crate) tls: bool,
    /// Bytes of memory that the control group of the server may have; none is made for `None`.
    pub(crate) memory_max: Option<u64>,
}

/// What both sides are told alike.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Setting {
    pub(crate) appendfsync: &'static str,
    pub(crate) pins: Option<Pins>,
    /// Clients connect over a Unix socket.
    pub(crate) unixsocket: bool,
}

/// A running server; killed when dropped.
#[derive(Debug)]
pub(crate) struct Server {
    child: Child,
    program: PathBuf,
    log: PathBuf,
    target: Target,
    plain: Target,
    /// Behind the child, which has to end before it can go.
    _group: Option<MemoryGroup>,
}

impl Server {
    /// Starts the process and does not wait for it to answer. The journal is on; snapshots by time
    /// (redis-server's `save`) are off, since the journal already makes the data durable.
    pub(crate) fn spawn(
        contender: &Contender,
        setting: Setting,
        dir: &Path,
    ) -> Result<Self, BenchError> {
        let port = free_port()?;
        let (log, socket) = (dir.join("server.log"), dir.join("server.sock"));
        let failed = |error: std::io::Error| BenchError::Server {
            program: contender.program.clone(),
            reason: error.to_string(),
        };
        let output = File::options().create(true).append(true).open(&log).map_err(failed)?;
        let group = contender.memory_max.map(MemoryGroup::new).transpose().map_err(failed)?;
        let mut command = match &group {
            Some(group) => group.command(contender.program.as_os_str()),
            None => Command::new(&contender.program),
        };
        command
            .args(&contender.lead)
            .args(["--port", &port.to_string(), "--bind", "127.0.0.1", "--dir"])
            .arg(dir)
            .args(["--appendonly", "yes", "--appendfsync", setting.appendfsync, "--save", ""])
            .arg("--unixsocket")
            .arg(&socket)
            .args(&contender.extra);
        let tls = match contender.tls {
            true => Some((free_port()?, certificate(dir)?)),
            false => None,
        };
        if let Some((port, certificate)) = &tls {
            command
                .args(["--tls-port", &port.to_string(), "--tls-auth-clients", "no"])
                .arg("--tls-cert-file")
                .arg(certificate)
                .arg("--tls-key-file")
                .arg(dir.join(KEY_FILE));
        }
        command.stdin(Stdio::null()).stdout(output.try_clone().map_err(failed)?).stderr(output);
        // A child inherits the mask of the thread that starts it.
        if let Some(pins) = setting.pins {
            pin(pins.server_cpu)?;
        }
        let child = command.spawn().map_err(failed);
        if let Some(pins) = setting.pins {
            pin(pins.load_cpu)?;
        }
        let plain = if setting.unixsocket { Target::unix(socket) } else { Target::local(port) };
        let target = match tls {
            Some((port, certificate)) => {
                Target { tls: Some(tls::trusting(&certificate)?), ..Target::local(port) }
            }
            None => plain.clone(),
        };
        let program = contender.program.clone();
        Ok(Self { child: child?, program, log, target, plain, _group: group })
    }

    /// Starts the process and waits until it answers PING with PONG.
    pub(crate) fn start(
        contender: &Contender,
        setting: Setting,
        dir: &Path,
    ) -> Result<Self, BenchError> {
        let mut server = Self::spawn(contender, setting, dir)?;
        server.wait_until(|client| client.text(&["PING"]).is_ok_and(|text| text == "PONG"))?;
        Ok(server)
    }

    /// Connects again and again until `ready` is content; returns how long that took.
    pub(crate) fn wait_until(
        &mut self,
        mut ready: impl FnMut(&mut Client) -> bool,
    ) -> Result<Duration, BenchError> {
        let start = Instant::now();
        while start.elapsed() < START_TIMEOUT {
            if let Ok(mut client) = Client::connect(&self.target)
                && ready(&mut client)
            {
                return Ok(start.elapsed());
            }
            if let Some(status) = self.child.try_wait()? {
                return Err(self.failure(&format!("it ended with {status}")));
            }
            thread::sleep(POLL_INTERVAL);
        }
        Err(self.failure("it did not answer in time"))
    }

    fn failure(&self, reason: &str) -> BenchError {
        let log = fs::read(&self.log).unwrap_or_default();
        let tail = String::from_utf8_lossy(&log[log.len().saturating_sub(LOG_BYTES_SHOWN)..]);
        let reason = format!("{reason}; the end of its log:\n{}", tail.trim_end());
        BenchError::Server { program: self.program.clone(), reason }
    }

    pub(crate) fn target(&self) -> Target {
        self.target.clone()
    }

    /// Where clients connect without TLS, whatever the others do.
    pub(crate) fn plain_target(&self) -> Target {
        self.plain.clone()
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Waits until background work (a rewrite, a checkpoint) has come to rest, within limits.
    /// Returns the CPU time that the wait saw, which is work left over from before it.
    pub(crate) fn wait_quiet(&self) -> CpuTime {
        let (start, before) = (Instant::now(), CpuTime::of(self.pid()));
        let (mut last, mut quiet_spans) = (before, 0);
        while quiet_spans < 2 && start.elapsed() < QUIET_TIMEOUT {
            thread::sleep(QUIET_SPAN);
            let now = CpuTime::of(self.pid());
            let used_ns = now.since(last).own_ns as f64;
            let quiet = used_ns < QUIET_SHARE * QUIET_SPAN.as_nanos() as f64;
            quiet_spans = if quiet && !has_children(self.pid()) { quiet_spans + 1 } else { 0 };
            last = now;
        }
        last.since(before)
    }

    /// Waits until the server is quiet and its allocator has given back what its work needed.
    pub(crate) fn wait_settled(&self) {
        self.wait_quiet();
        thread::sleep(DECAY);
    }

    /// Kills the process without warning.
    pub(crate) fn kill(&mut self) -> Result<(), BenchError> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }

    /// Asks the process to end, so that it takes its children with it.
    pub(crate) fn stop(mut self) -> Result<(), BenchError> {
        self.terminate()
    }

    /// Asks the process to end and waits until it has; kills it if that takes too long.
    pub(crate) fn terminate(&mut self) -> Result<(), BenchError> {
        if let Some(pid) = Pid::from_raw(self.child.id() as i32) {
            kill_process(pid, Signal::TERM).map_err(std::io::Error::from)?;
        }
        let start = Instant::now();
        while start.elapsed() < STOP_TIMEOUT {
            if self.child.try_wait()?.is_some() {
                return Ok(());
            }
            thread::sleep(POLL_INTERVAL);
        }
        self.kill()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Both fail if the process has ended already, which is what we want.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Pins the calling thread, and all threads and processes that it starts from now on.
pub(crate) fn pin(cpu: usize) -> Result<(), BenchError> {
    if cpu >= CpuSet::MAX_CPU {
        return Err(BenchError::Usage(format!("there is no cpu {cpu}")));
    }
    let mut set = CpuSet::new();
    set.set(cpu);
    sched_setaffinity(None, &set).map_err(|source| BenchError::Pin { cpu, source })
}

/// Makes a certificate for this machine with a key on an elliptic curve; returns its path. It is
/// its own authority.
fn certificate(dir: &Path) -> Result<PathBuf, BenchError> {
    let (config, certificate) = (dir.join("openssl.cnf"), dir.join("server.crt"));
    fs::write(&config, OPENSSL_CONFIG)?;
    let made = Command::new("openssl")
        .args(["req", "-x509", "-nodes", "-days", "2", "-newkey", "ec"])
        .args(["-pkeyopt", "ec_paramgen_curve:prime256v1", "-config"])
        .arg(&config)
        .arg("-keyout")
        .arg(dir.join(KEY_FILE))
        .arg("-out")
        .arg(&certificate)
        .output();
    let failed = |reason: String| BenchError::Server { program: PathBuf::from("openssl"), reason };
    match made {
        Ok(output) if output.status.success() => Ok(certificate),
        Ok(output) => Err(failed(String::from_utf8_lossy(&output.stderr).into_owned())),
        Err(error) => Err(failed(error.to_string())),
    }
}

/// A port that was free a moment ago. Someone may take it meanwhile; then the start fails and says
/// so.
pub(crate) fn free_port() -> Result<u16, BenchError> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}
