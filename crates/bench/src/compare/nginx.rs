//! nginx as a peer: one process that answers every path with the same bytes.

use std::fs;
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::compare::cli::Pins;
use crate::compare::server::{free_port, pin};
use crate::error::BenchError;

const START_TIMEOUT: Duration = Duration::from_secs(10);
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// Where the bytes come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Source {
    /// The configuration: `return 200`.
    Return,
    /// A file that stays open.
    File,
}

impl Source {
    pub(crate) const ALL: [Source; 2] = [Source::Return, Source::File];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Source::Return => "return",
            Source::File => "file",
        }
    }
}

/// A running nginx; killed when dropped.
#[derive(Debug)]
pub(crate) struct Nginx {
    child: Child,
    port: u16,
}

impl Nginx {
    /// Whether the program can be started.
    pub(crate) fn is_there(program: &Path) -> bool {
        let version =
            Command::new(program).arg("-v").stdout(Stdio::null()).stderr(Stdio::null()).status();
        version.is_ok_and(|status| status.success())
    }

    /// Starts it in an empty directory and waits until it listens.
    pub(crate) fn start(
        program: &Path,
        source: Source,
        bytes: usize,
        pins: Option<Pins>,
        dir: &Path,
    ) -> Result<Self, BenchError> {
        let port = free_port()?;
        let failed = |reason: String| BenchError::Server { program: program.into(), reason };
        let write = |name: &str, text: String| {
            fs::write(dir.join(name), text).map_err(|error| failed(error.to_string()))
        };
        write("value", "x".repeat(bytes))?;
        write("nginx.conf", configuration(source, bytes, port, dir))?;
        if let Some(pins) = pins {
            pin(pins.server_cpu)?;
        }
        let child = Command::new(program)
            .args(["-p".as_ref(), dir.as_os_str(), "-c".as_ref(), dir.join("nginx.conf").as_ref()])
            .args(["-e", "stderr"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        if let Some(pins) = pins {
            pin(pins.load_cpu)?;
        }
        let mut nginx = Self { child: child.map_err(|error| failed(error.to_string()))?, port };
        let start = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            if let Some(status) = nginx.child.try_wait()? {
                return Err(failed(format!("it ended with {status}")));
            }
            if start.elapsed() > START_TIMEOUT {
                return Err(failed("it did not listen in time".into()));
            }
            thread::sleep(POLL_INTERVAL);
        }
        Ok(nginx)
    }

    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Nginx {
    fn drop(&mut self) {
        // Both fail if the process has ended already, which is what we want.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// One process, no log, connections that stay: what makes it fast.
fn configuration(source: Source, bytes: usize, port: u16, dir: &Path) -> String {
    let dir = dir.display();
    let answer = match source {
        Source::Return => format!("return 200 \"{}\";", "x".repeat(bytes)),
        Source::File => format!("root {dir}; try_files /value =404;"),
    };
    format!(
        "daemon off;\nmaster_process off;\npid {dir}/nginx.pid;\n\
         events {{ worker_connections 1024; }}\n\
         http {{\n access_log off; keepalive_requests 1000000000; sendfile on; tcp_nopush on;\n\
         open_file_cache max=100; default_type application/octet-stream;\n\
         client_body_temp_path {dir}; proxy_temp_path {dir}; fastcgi_temp_path {dir};\n\
         uwsgi_temp_path {dir}; scgi_temp_path {dir};\n\
         server {{ listen 127.0.0.1:{port}; location / {{ {answer} }} }}\n}}\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_configuration_names_what_it_answers() {
        let text = |source| configuration(source, 3, 7000, Path::new("/d"));
        assert!(text(Source::Return).contains("return 200 \"xxx\";"));
        assert!(text(Source::File).contains("root /d; try_files /value =404;"));
    }
}
