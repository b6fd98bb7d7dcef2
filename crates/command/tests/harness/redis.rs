//! A real redis-server to compare with, where one is installed.

use basalt_resp::{Value, decode, encode_request};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::process::{Child, ChildStdout, Command, Stdio};

/// A redis-server and one connection to it. It ends with the test.
pub struct Redis {
    process: Child,
    stream: UnixStream,
    /// Kept open: the server writes to it.
    _log: BufReader<ChildStdout>,
    _dir: tempfile::TempDir,
}

impl Redis {
    /// Starts one; `None` where redis-server is not installed.
    pub fn start() -> Option<Redis> {
        let dir = tempfile::tempdir().expect("a directory");
        let socket = dir.path().join("redis.sock");
        let mut process = Command::new("redis-server")
            .args(["--port", "0", "--save", "", "--appendonly", "no", "--unixsocket"])
            .arg(&socket)
            .arg("--dir")
            .arg(dir.path())
            .stdout(Stdio::piped())
            .spawn()
            .ok()?;
        let mut log = BufReader::new(process.stdout.take().expect("it is piped"));
        let mut line = String::new();
        while !line.contains("ready to accept connections at") {
            line.clear();
            assert_ne!(log.read_line(&mut line).expect("text"), 0, "redis-server has ended");
        }
        let stream = UnixStream::connect(socket).expect("it listens");
        Some(Redis { process, stream, _log: log, _dir: dir })
    }

    /// Runs one request.
    pub fn run(&mut self, words: &[impl AsRef<[u8]>]) -> Value {
        let mut request = Vec::new();
        encode_request(words, &mut request);
        self.stream.write_all(&request).expect("redis-server runs");
        let mut reply = Vec::new();
        loop {
            if let Some((value, _)) = decode(&reply).expect("RESP") {
                return value;
            }
            let mut chunk = [0; 16 << 10];
            let read = self.stream.read(&mut chunk).expect("redis-server runs");
            assert_ne!(read, 0, "redis-server has closed the connection");
            reply.extend_from_slice(&chunk[..read]);
        }
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
