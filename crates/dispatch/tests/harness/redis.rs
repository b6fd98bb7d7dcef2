//! A real Redis server to compare with.

use basalt_resp::{Value, decode, encode_request};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, Stdio};
use tempfile::TempDir;

/// A connection that has subscribed to something.
pub struct Subscriber {
    stream: UnixStream,
    unread: Vec<u8>,
}

impl Subscriber {
    /// Waits for a message.
    pub fn receive(&mut self) -> Value {
        loop {
            if let Some((value, len)) = decode(&self.unread).expect("a message") {
                self.unread.drain(..len);
                return value;
            }
            let mut chunk = [0; 64 * 1024];
            let count = self.stream.read(&mut chunk).expect("redis is there");
            assert_ne!(count, 0, "redis closed the connection");
            self.unread.extend_from_slice(&chunk[..count]);
        }
    }
}

/// A Redis server of this test's own, and a connection to it.
pub struct Redis {
    process: Child,
    stream: UnixStream,
    unread: Vec<u8>,
    /// Removed with the socket in it.
    dir: TempDir,
}

impl Redis {
    /// Starts a server that keeps nothing on disk. `None` if there is no `redis-server` and
    /// `BASALT_WITHOUT_REDIS=1` permits to compare with nothing.
    ///
    /// # Panics
    /// There is none, which is not permitted.
    pub fn start() -> Option<Redis> {
        let dir = tempfile::tempdir().expect("a directory");
        let socket = dir.path().join("redis.sock");
        let spawned = Command::new("redis-server")
            .args(["--port", "0", "--save", "", "--appendonly", "no"])
            .args(["--enable-debug-command", "yes", "--unixsocket"])
            .arg(&socket)
            .current_dir(dir.path())
            .stdout(Stdio::piped())
            .spawn();
        let mut process = match spawned {
            Ok(process) => process,
            Err(error) => {
                leave_out(&error);
                return None;
            }
        };
        let lines = BufReader::new(process.stdout.take().expect("piped")).lines();
        let mut lines = lines.map_while(Result::ok);
        assert!(lines.any(|line| line.contains("eady to accept connections")), "redis ended");
        // What it says later must go somewhere, or it would wait for room in the pipe.
        std::thread::spawn(move || lines.for_each(drop));
        let stream = UnixStream::connect(&socket).expect("it accepts connections");
        Some(Redis { process, stream, unread: Vec::new(), dir })
    }

    /// Runs one request and decodes its reply.
    pub fn run(&mut self, words: &[impl AsRef<[u8]>]) -> Value {
        let bytes = self.run_for_bytes(words);
        decode(&bytes).expect("a reply").expect("a whole reply").0
    }

    /// Runs one request; returns the bytes of its reply.
    pub fn run_for_bytes(&mut self, words: &[impl AsRef<[u8]>]) -> Vec<u8> {
        let mut request = Vec::new();
        encode_request(words, &mut request);
        self.stream.write_all(&request).expect("redis is there");
        loop {
            if let Some((_, len)) = decode(&self.unread).expect("a reply") {
                return self.unread.drain(..len).collect();
            }
            let mut chunk = [0; 64 * 1024];
            let count = self.stream.read(&mut chunk).expect("redis is there");
            assert_ne!(count, 0, "redis closed the connection");
            self.unread.extend_from_slice(&chunk[..count]);
        }
    }

    /// Opens another connection, which gets what is published to channels that fit a pattern.
    pub fn subscribe(&self, pattern: &str) -> Subscriber {
        let socket = self.dir.path().join("redis.sock");
        let stream = UnixStream::connect(socket).expect("it accepts connections");
        let mut subscriber = Subscriber { stream, unread: Vec::new() };
        let mut request = Vec::new();
        encode_request(&["PSUBSCRIBE", pattern], &mut request);
        subscriber.stream.write_all(&request).expect("redis is there");
        subscriber.receive();
        subscriber
    }

    /// Runs requests of which not all are answered; returns all bytes up to a last reply.
    pub fn run_until(&mut self, requests: &[Vec<&str>], last: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        requests.iter().for_each(|words| encode_request(words, &mut bytes));
        self.stream.write_all(&bytes).expect("redis is there");
        let mut replies = Vec::new();
        while !replies.ends_with(last) {
            let mut chunk = [0; 64 * 1024];
            let count = self.stream.read(&mut chunk).expect("redis is there");
            assert_ne!(count, 0, "redis closed the connection");
            replies.extend_from_slice(&chunk[..count]);
        }
        replies
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        // It has nothing to lose; a failure to kill means that it is gone.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Prints that nothing is compared, if that is permitted; otherwise no comparison is a failure.
#[allow(clippy::print_stderr, reason = "a test that is left out has no other voice")]
fn leave_out(error: &std::io::Error) {
    let is_permitted = std::env::var_os("BASALT_WITHOUT_REDIS").is_some_and(|value| value == "1");
    assert!(
        is_permitted,
        "cannot start redis-server: {error}; BASALT_WITHOUT_REDIS=1 leaves out the comparisons"
    );
    eprintln!("left out: nothing is compared, cannot start redis-server: {error}");
}
