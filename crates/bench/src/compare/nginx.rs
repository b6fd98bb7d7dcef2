//! nginx as a peer: one process that answers every path with the same bytes.

use std::fs;
use std::path::Path;

use crate::compare::cli::Pins;
use crate::compare::peer::Peer;
use crate::compare::server::free_port;
use crate::error::BenchError;

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

/// Starts it in an empty directory and waits until it listens.
pub(crate) fn start(
    program: &Path,
    source: Source,
    bytes: usize,
    pins: Option<Pins>,
    dir: &Path,
) -> Result<Peer, BenchError> {
    let port = free_port()?;
    let write = |name: &str, text: String| {
        let failed = |error: std::io::Error| BenchError::Server {
            program: program.into(),
            reason: error.to_string(),
        };
        fs::write(dir.join(name), text).map_err(failed)
    };
    write("value", "x".repeat(bytes))?;
    write("nginx.conf", configuration(source, bytes, port, dir))?;
    let conf = dir.join("nginx.conf").into_os_string();
    let arguments = ["-p".into(), dir.into(), "-c".into(), conf, "-e".into(), "stderr".into()];
    Peer::start(program, &arguments, port, pins)
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
