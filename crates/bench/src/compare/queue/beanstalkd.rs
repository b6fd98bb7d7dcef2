//! The life of a message in beanstalkd, by its own protocol. Its log is synced once a second, as
//! those of the others are.

use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::thread;
use std::time::Duration;

use super::{BODY_BYTES, Client, PIPELINE, Round, measure};
use crate::compare::Arena;
use crate::compare::peer::Peer;
use crate::compare::server::free_port;
use crate::error::BenchError;
use crate::replies::unexpected;

pub(super) const NAME: &str = "beanstalkd";

/// It works for its clients only, and then for its log.
const REST: Duration = Duration::from_secs(2);

pub(super) fn one_life(
    arena: &Arena<'_>,
    counts: (u64, u64),
    round: usize,
    program: &Path,
) -> Result<Round, BenchError> {
    let (dir, port) = (arena.temp_dir()?, free_port()?);
    let number = port.to_string();
    let text = ["-l", "127.0.0.1", "-p", &number, "-f", "1000", "-b"].map(Into::into);
    let arguments = [&text[..], &[dir.path().into()]].concat();
    let peer = Peer::start(program, &arguments, port, arena.setting.pins)?;
    let stream = TcpStream::connect(("127.0.0.1", peer.port()))?;
    stream.set_nodelay(true)?;
    let mut worker = Worker { stream: BufReader::new(stream), line: String::new() };
    let wait = || thread::sleep(REST);
    measure((peer.pid(), &wait), &mut worker, counts, (round, NAME))
}

struct Worker {
    stream: BufReader<TcpStream>,
    /// The last reply.
    line: String,
}

impl Worker {
    fn send(&mut self, requests: &str) -> Result<(), BenchError> {
        Ok(self.stream.get_mut().write_all(requests.as_bytes())?)
    }

    /// Reads a line that is to begin with this word; returns the number that follows, if there is.
    fn expect(&mut self, word: &str) -> Result<String, BenchError> {
        self.line.clear();
        self.stream.read_line(&mut self.line)?;
        let mut words = self.line.split_ascii_whitespace();
        if words.next() != Some(word) {
            return Err(unexpected(&self.line));
        }
        Ok(words.next().unwrap_or_default().to_owned())
    }
}

impl Client for Worker {
    fn live(&mut self, messages: u64) -> Result<(), BenchError> {
        for _ in 0..messages.div_ceil(PIPELINE) {
            self.put(PIPELINE)?;
            let taken = self.take(PIPELINE)?;
            let mut requests = String::new();
            for id in &taken {
                let _ = write!(requests, "delete {id}\r\n");
            }
            self.send(&requests)?;
            for _ in taken {
                self.expect("DELETED")?;
            }
        }
        Ok(())
    }

    fn put(&mut self, messages: u64) -> Result<(), BenchError> {
        let body = "m".repeat(BODY_BYTES);
        let requests = format!("put 0 0 600 {BODY_BYTES}\r\n{body}\r\n").repeat(PIPELINE as usize);
        for _ in 0..messages.div_ceil(PIPELINE) {
            self.send(&requests)?;
            for _ in 0..PIPELINE {
                self.expect("INSERTED")?;
            }
        }
        Ok(())
    }

    fn take(&mut self, messages: u64) -> Result<Vec<String>, BenchError> {
        let requests = "reserve-with-timeout 0\r\n".repeat(PIPELINE as usize);
        let mut taken = Vec::new();
        for _ in 0..messages.div_ceil(PIPELINE) {
            self.send(&requests)?;
            for _ in 0..PIPELINE {
                taken.push(self.expect("RESERVED")?);
                self.stream.read_exact(&mut [0; BODY_BYTES + 2])?;
            }
        }
        Ok(taken)
    }
}
