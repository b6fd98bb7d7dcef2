//! A client's socket, of either kind.

use mio::event::Source;
use mio::net::{TcpStream, UnixStream};
use mio::{Interest, Registry, Token};
use std::io::{self, IoSlice, Read, Write};
use std::os::fd::AsRawFd;

/// A connected socket.
#[derive(Debug)]
pub(crate) enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Stream {
    pub(crate) fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Stream::Tcp(stream) => stream.read(buffer),
            Stream::Unix(stream) => stream.read(buffer),
        }
    }

    pub(crate) fn write_vectored(&mut self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        match (self, slices) {
            // One slice is the rule, and `write` is cheaper than `writev`.
            (Stream::Tcp(stream), [one]) => stream.write(one),
            (Stream::Unix(stream), [one]) => stream.write(one),
            (Stream::Tcp(stream), many) => stream.write_vectored(many),
            (Stream::Unix(stream), many) => stream.write_vectored(many),
        }
    }

    pub(crate) fn register(&mut self, registry: &Registry, token: Token) -> io::Result<()> {
        let interest = Interest::READABLE | Interest::WRITABLE;
        match self {
            Stream::Tcp(stream) => stream.register(registry, token, interest),
            Stream::Unix(stream) => stream.register(registry, token, interest),
        }
    }

    pub(crate) fn deregister(&mut self, registry: &Registry) {
        // An error means that the kernel has forgotten the socket already.
        let _ = match self {
            Stream::Tcp(stream) => stream.deregister(registry),
            Stream::Unix(stream) => stream.deregister(registry),
        };
    }

    pub(crate) fn fd(&self) -> i32 {
        match self {
            Stream::Tcp(stream) => stream.as_raw_fd(),
            Stream::Unix(stream) => stream.as_raw_fd(),
        }
    }
}
