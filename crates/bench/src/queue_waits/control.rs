//! The connection that puts messages and asks the server.

use std::io::{BufReader, Write};
use std::net::TcpStream;

use super::waiters::number_in;
use crate::error::BenchError;
use crate::replies::{read_reply, unexpected, write_request};
use crate::target::{Socket, Target};

/// See the head of this file.
pub(super) struct Control {
    stream: BufReader<TcpStream>,
}

impl Control {
    pub(super) fn connect(target: &Target) -> Result<Control, BenchError> {
        match target.connect()? {
            Socket::Tcp(stream) => Ok(Control { stream: BufReader::new(stream) }),
            Socket::Unix(_) | Socket::Tls(_) => Err(BenchError::Usage("this runs over TCP".into())),
        }
    }

    pub(super) fn send(&mut self, words: &[&str]) -> Result<(), BenchError> {
        let mut out = Vec::new();
        write_request(words, &mut out);
        Ok(self.stream.get_mut().write_all(&out)?)
    }

    /// Reads a reply: its texts and numbers.
    pub(super) fn reply(&mut self) -> Result<Vec<String>, BenchError> {
        let mut texts = Vec::new();
        read_reply(&mut self.stream, &mut texts)?;
        Ok(texts)
    }

    pub(super) fn call(&mut self, words: &[&str]) -> Result<Vec<String>, BenchError> {
        self.send(words)?;
        self.reply()
    }

    /// How many clients wait for a key.
    pub(super) fn blocked_clients(&mut self) -> Result<usize, BenchError> {
        let info = self.call(&["INFO", "clients"])?.concat();
        let line = info.lines().find_map(|line| line.strip_prefix("blocked_clients:"));
        let count = line.and_then(|count| count.trim().parse().ok());
        count.ok_or_else(|| unexpected("INFO without blocked_clients"))
    }

    /// The messages of a state, 1000 at most: their numbers, and when the state ends, unix
    /// milliseconds.
    pub(super) fn due_times(
        &mut self,
        queue: &str,
        state: &str,
    ) -> Result<Vec<(u64, u64)>, BenchError> {
        let texts = self.call(&["Q.PEEK", queue, "STATE", state, "COUNT", "1000"])?;
        let behind = |name: &'static str| {
            let names = texts.windows(2).filter(move |pair| pair[0] == name);
            names.map(|pair| &pair[1])
        };
        let times = behind("body").zip(behind("until"));
        let read = |(body, until): (&String, &String)| {
            Some((number_in(body.as_bytes())?.0, until.parse().ok()?))
        };
        times.map(read).collect::<Option<_>>().ok_or_else(|| unexpected("Q.PEEK"))
    }
}
