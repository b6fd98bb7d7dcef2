//! The clients that wait.
//!
//! Nothing of what they get is parsed but for the number in a message's body, which stands between
//! words that nothing else contains.

use std::io::{self, Read, Write};
use std::time::{Duration, Instant};

use mio::net::TcpStream;
use mio::{Events, Interest, Poll, Token};

use crate::error::BenchError;
use crate::replies::{unexpected, write_request};
use crate::target::{Socket, Target};

const BEFORE_NUMBER: &str = "<message ";
const BEHIND_NUMBER: u8 = b'>';
/// More of a reply than this is never without a number.
const REPLY_BYTES_MAX: usize = 4_096;
/// As long as the server lets a client wait by HTTP, if it is not told otherwise.
const POLL_SECONDS: u64 = 300;

/// How a client waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Way {
    Block,
    Poll,
    Events,
}

impl Way {
    pub(super) const ALL: [Way; 3] = [Way::Block, Way::Poll, Way::Events];

    pub(super) fn name(self) -> &'static str {
        match self {
            Way::Block => "Q.GET BLOCK",
            Way::Poll => "long poll",
            Way::Events => "server-sent events",
        }
    }

    fn is_http(self) -> bool {
        self != Way::Block
    }

    /// What a client says to wait.
    fn request(self, queue: &str) -> Vec<u8> {
        let path = format!("/v1/queues/{queue}");
        let mut out = Vec::new();
        match self {
            Way::Block => {
                write_request(&["Q.GET", "BLOCK", "0", "NOACK", "QUEUES", queue], &mut out);
            }
            Way::Poll => out.extend_from_slice(
                format!(
                    "POST {path}?op=get&noack=1&wait={POLL_SECONDS} HTTP/1.1\r\n\
                     Host: localhost\r\nContent-Length: 0\r\n\r\n"
                )
                .as_bytes(),
            ),
            Way::Events => out.extend_from_slice(
                format!(
                    "GET {path}?noack=1 HTTP/1.1\r\nHost: localhost\r\n\
                     Accept: text/event-stream\r\n\r\n"
                )
                .as_bytes(),
            ),
        }
        out
    }
}

/// The body of a message.
pub(super) fn body(number: u64) -> String {
    format!("{BEFORE_NUMBER}{number}{}", char::from(BEHIND_NUMBER))
}

/// The number in the first body that these bytes contain, and where that body ends.
pub(super) fn number_in(bytes: &[u8]) -> Option<(u64, usize)> {
    let start = memchr::memmem::find(bytes, BEFORE_NUMBER.as_bytes())? + BEFORE_NUMBER.len();
    let end = start + memchr::memchr(BEHIND_NUMBER, &bytes[start..])?;
    let number = str::from_utf8(&bytes[start..end]).ok()?.parse().ok()?;
    Some((number, end))
}

/// See the head of this file.
pub(super) struct Waiters {
    poll: Poll,
    events: Events,
    clients: Vec<Waiter>,
    requests: [Vec<u8>; 3],
}

struct Waiter {
    stream: TcpStream,
    way: Way,
    /// What has come since the last message.
    there: Vec<u8>,
}

impl Waiters {
    /// Clients that wait for the messages of a queue, each third by another way.
    pub(super) fn begin(
        count: usize,
        queue: &str,
        (target, http): (&Target, &Target),
    ) -> Result<Waiters, BenchError> {
        let poll = Poll::new()?;
        let requests = Way::ALL.map(|way| way.request(queue));
        let mut clients = Vec::with_capacity(count);
        for (number, way) in Way::ALL.into_iter().cycle().take(count).enumerate() {
            let Socket::Tcp(stream) = (if way.is_http() { http } else { target }).connect()? else {
                return Err(BenchError::Usage("this runs over TCP".into()));
            };
            stream.set_nonblocking(true)?;
            let mut stream = TcpStream::from_std(stream);
            poll.registry().register(&mut stream, Token(number), Interest::READABLE)?;
            let mut waiter = Waiter { stream, way, there: Vec::new() };
            waiter.ask(&requests)?;
            clients.push(waiter);
        }
        Ok(Waiters { poll, events: Events::with_capacity(1_024), clients, requests })
    }

    /// Hands on what comes, or returns when the time is over without anything.
    pub(super) fn receive(
        &mut self,
        time: Duration,
        each: &mut dyn FnMut(u64, Way, Instant),
    ) -> Result<(), BenchError> {
        match self.poll.poll(&mut self.events, Some(time)) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => return Ok(()),
            polled => polled?,
        }
        let now = Instant::now();
        for event in &self.events {
            let client = &mut self.clients[event.token().0];
            client.receive(&self.requests, &mut |number, way| each(number, way, now))?;
        }
        Ok(())
    }
}

impl Waiter {
    /// Waits once more. What it says always fits into an empty socket.
    fn ask(&mut self, requests: &[Vec<u8>; 3]) -> Result<(), BenchError> {
        Ok(self.stream.write_all(&requests[self.way as usize])?)
    }

    fn receive(
        &mut self,
        requests: &[Vec<u8>; 3],
        each: &mut dyn FnMut(u64, Way),
    ) -> Result<(), BenchError> {
        let mut chunk = [0; REPLY_BYTES_MAX];
        loop {
            match self.stream.read(&mut chunk) {
                Ok(0) => return Err(BenchError::Closed { outstanding: 1 }),
                Ok(len) => self.there.extend_from_slice(&chunk[..len]),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
        while let Some((number, end)) = number_in(&self.there) {
            self.there.drain(..end);
            each(number, self.way);
            if self.way != Way::Events {
                self.ask(requests)?;
            }
        }
        self.check(requests)
    }

    /// What has come is no message: the rest of one, the head of a response, an error.
    fn check(&mut self, requests: &[Vec<u8>; 3]) -> Result<(), BenchError> {
        let line = self.there.split(|&byte| byte == b'\r').next().unwrap_or_default();
        let line = String::from_utf8_lossy(line).into_owned();
        if line.starts_with("HTTP/1.1 204") {
            self.there.clear();
            return self.ask(requests);
        }
        let is_wrong = line.starts_with("HTTP/1.1") && !line.starts_with("HTTP/1.1 2");
        if is_wrong || line.starts_with('-') || self.there.len() > REPLY_BYTES_MAX {
            return Err(unexpected(&line));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_found_in_what_came() {
        let bytes = format!("HTTP/1.1 200 OK\r\n\r\n{}\r\n{}", body(7), body(1_000));
        let (number, end) = number_in(bytes.as_bytes()).expect("one is there");
        assert_eq!(number, 7);
        assert_eq!(number_in(&bytes.as_bytes()[end..]).expect("another one").0, 1_000);
        let part = &body(12).into_bytes()[..10];
        assert_eq!(number_in(part), None);
    }
}
