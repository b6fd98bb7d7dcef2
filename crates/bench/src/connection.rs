//! HOT PATH. One connection: bytes out, replies counted in, and which request each reply answers.
//!
//! Replies come in the order of the requests, so that a queue of what was sent is enough to know
//! what a reply answers. Requests that were sent together and are of one kind share one entry
//! ([`DueRequests`]); with one kind and a deep pipeline the queue holds a single entry per batch,
//! and the clock is read once per read, not once per reply.

use std::collections::VecDeque;
use std::io::{self, Read, Write};

use mio::event::Source;
use mio::net::{TcpStream, UnixStream};
use mio::{Interest, Registry, Token};

use crate::error::BenchError;
use crate::http_scan::HttpScanner;
use crate::scan::{ScanError, Scanner, Tally};
use crate::shared::Shared;
use crate::stats::Stats;
use crate::target::Socket;
use crate::template::Wire;
use crate::tls::TlsStream;

/// Unsent bytes above which a burst's buffer is given back.
const OUT_BYTES_KEPT: usize = 64 * 1024;

/// Requests of one kind that were due at one moment.
#[derive(Debug, Clone, Copy)]
struct DueRequests {
    due_ns: u64,
    kind: usize,
    count: u64,
}

#[derive(Debug)]
enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
    Tls(TlsStream),
}

impl Stream {
    fn source(&mut self) -> &mut dyn Source {
        match self {
            Self::Tcp(stream) => stream,
            Self::Unix(stream) => stream,
            Self::Tls(stream) => &mut stream.socket,
        }
    }

    #[inline]
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => stream.read(buf),
            Self::Unix(stream) => stream.read(buf),
            Self::Tls(stream) => stream.read(buf),
        }
    }

    #[inline]
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        match self {
            Self::Tcp(stream) => stream.write(buf),
            Self::Unix(stream) => stream.write(buf),
            Self::Tls(stream) => stream.write(buf),
        }
    }
}

/// What counts the replies.
#[derive(Debug)]
enum Scanning {
    Resp(Scanner),
    Http(HttpScanner),
}

impl Scanning {
    #[inline]
    fn scan(&mut self, bytes: &[u8], tally: &mut Tally) -> Result<usize, ScanError> {
        match self {
            Self::Resp(scanner) => scanner.scan(bytes, tally),
            Self::Http(scanner) => scanner.scan(bytes, tally),
        }
    }
}

/// One connection and its unanswered requests.
#[derive(Debug)]
pub(crate) struct Connection {
    stream: Stream,
    token: Token,
    scanner: Scanning,
    /// An unfinished reply line.
    carry: Vec<u8>,
    /// Bytes that the socket did not take yet.
    out: Vec<u8>,
    out_sent: usize,
    runs: VecDeque<DueRequests>,
    /// Requests sent and not answered.
    pub(crate) outstanding: u64,
    /// Open loop: requests that have fallen due, and those of them that were sent.
    pub(crate) due: u64,
    pub(crate) sent: u64,
}

impl Connection {
    pub(crate) fn new(
        socket: Socket,
        wire: Wire,
        token: Token,
        registry: &Registry,
    ) -> io::Result<Self> {
        let mut stream = match socket {
            Socket::Tcp(stream) => {
                stream.set_nonblocking(true)?;
                Stream::Tcp(TcpStream::from_std(stream))
            }
            Socket::Unix(stream) => {
                stream.set_nonblocking(true)?;
                Stream::Unix(UnixStream::from_std(stream))
            }
            Socket::Tls(stream) => Stream::Tls(TlsStream::new(*stream)?),
        };
        registry.register(stream.source(), token, Interest::READABLE)?;
        Ok(Self {
            stream,
            token,
            scanner: match wire {
                Wire::Resp => Scanning::Resp(Scanner::default()),
                Wire::Http => Scanning::Http(HttpScanner::default()),
            },
            carry: Vec::new(),
            out: Vec::new(),
            out_sent: 0,
            runs: VecDeque::new(),
            outstanding: 0,
            due: 0,
            sent: 0,
        })
    }

    /// Notes that a request of `kind`, due at `due_ns`, is about to be sent.
    #[inline]
    pub(crate) fn expect(&mut self, kind: usize, due_ns: u64) {
        self.outstanding += 1;
        match self.runs.back_mut() {
            Some(run) if run.kind == kind && run.due_ns == due_ns => run.count += 1,
            _ => self.runs.push_back(DueRequests { due_ns, kind, count: 1 }),
        }
    }

    /// Sends `bytes` behind whatever is still waiting to be sent.
    pub(crate) fn send(&mut self, mut bytes: &[u8], registry: &Registry) -> Result<(), BenchError> {
        if !self.out.is_empty() {
            self.out.extend_from_slice(bytes);
            return Ok(());
        }
        while !bytes.is_empty() {
            match self.stream.write(bytes) {
                Ok(len) => bytes = &bytes[len..],
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    self.out.extend_from_slice(bytes);
                    let interest = Interest::READABLE | Interest::WRITABLE;
                    registry.reregister(self.stream.source(), self.token, interest)?;
                    return Ok(());
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Sends what had to wait; the socket has room again.
    pub(crate) fn flush(&mut self, registry: &Registry) -> Result<(), BenchError> {
        while self.out_sent < self.out.len() {
            match self.stream.write(&self.out[self.out_sent..]) {
                Ok(len) => self.out_sent += len,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
        if !self.out.is_empty() {
            self.out.clear();
            self.out.shrink_to(OUT_BYTES_KEPT);
            self.out_sent = 0;
            registry.reregister(self.stream.source(), self.token, Interest::READABLE)?;
        }
        Ok(())
    }

    /// Reads all that has arrived and records the requests that it answers. `buffer` is scratch
    /// space of the worker, larger than any reply line.
    pub(crate) fn receive(
        &mut self,
        buffer: &mut [u8],
        shared: &Shared,
        stats: &mut Stats,
    ) -> Result<(), BenchError> {
        loop {
            let carried = self.carry.len();
            buffer[..carried].copy_from_slice(&self.carry);
            let len = match self.stream.read(&mut buffer[carried..]) {
                Ok(0) => return Err(BenchError::Closed { outstanding: self.outstanding }),
                Ok(len) => len,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error.into()),
            };
            let now_ns = shared.now_ns();
            let filled = &buffer[..carried + len];
            let replies_before = stats.tally.replies;
            let used = self.scanner.scan(filled, &mut stats.tally)?;
            self.carry.clear();
            self.carry.extend_from_slice(&filled[used..]);
            stats.bytes_received += len as u64;
            let replies = stats.tally.replies - replies_before;
            self.retire(replies, now_ns, shared.measure_from_ns, stats)?;
            // A short read has emptied a stream socket (epoll(7)), and epoll tells us of what
            // comes later; a second read would only fetch the "would block".
            if carried + len < buffer.len() {
                return Ok(());
            }
        }
    }

    fn retire(
        &mut self,
        mut replies: u64,
        now_ns: u64,
        measure_from_ns: u64,
        stats: &mut Stats,
    ) -> Result<(), BenchError> {
        while replies > 0 {
            let run = self.runs.front_mut().ok_or(BenchError::Unrequested)?;
            let count = replies.min(run.count);
            if run.due_ns >= measure_from_ns {
                stats.record(run.kind, now_ns.saturating_sub(run.due_ns), count);
                stats.last_reply_ns = now_ns;
            }
            run.count -= count;
            if run.count == 0 {
                self.runs.pop_front();
            }
            replies -= count;
            self.outstanding -= count;
        }
        Ok(())
    }

    /// Records what was never answered with the age that it has reached, which understates it, but
    /// less than leaving it out would.
    pub(crate) fn abandon(&mut self, now_ns: u64, measure_from_ns: u64, stats: &mut Stats) {
        for run in self.runs.drain(..) {
            if run.due_ns >= measure_from_ns {
                stats.abandon(run.kind, now_ns.saturating_sub(run.due_ns), run.count);
            }
        }
        self.outstanding = 0;
    }
}
