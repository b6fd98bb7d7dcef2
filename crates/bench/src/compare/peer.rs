//! A program of others that serves a port.

use std::ffi::OsString;
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::compare::cli::Pins;
use crate::compare::server::pin;
use crate::error::BenchError;

const START_TIMEOUT: Duration = Duration::from_secs(10);
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// It runs; killed when dropped.
#[derive(Debug)]
pub(crate) struct Peer {
    child: Child,
    port: u16,
}

impl Peer {
    /// Whether the program can be started.
    pub(crate) fn is_there(program: &Path) -> bool {
        let version =
            Command::new(program).arg("-v").stdout(Stdio::null()).stderr(Stdio::null()).status();
        version.is_ok_and(|status| status.success())
    }

    /// Starts it and waits until it listens on this port.
    pub(crate) fn start(
        program: &Path,
        arguments: &[OsString],
        port: u16,
        pins: Option<Pins>,
    ) -> Result<Self, BenchError> {
        let failed = |reason: String| BenchError::Server { program: program.into(), reason };
        if let Some(pins) = pins {
            pin(pins.server_cpu)?;
        }
        let child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        if let Some(pins) = pins {
            pin(pins.load_cpu)?;
        }
        let mut peer = Self { child: child.map_err(|error| failed(error.to_string()))?, port };
        let start = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            if let Some(status) = peer.child.try_wait()? {
                return Err(failed(format!("it ended with {status}")));
            }
            if start.elapsed() > START_TIMEOUT {
                return Err(failed("it did not listen in time".into()));
            }
            thread::sleep(POLL_INTERVAL);
        }
        Ok(peer)
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // Both fail if the process has ended already, which is what we want.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
