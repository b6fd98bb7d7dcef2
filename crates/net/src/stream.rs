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
    /// The client has gone, and its socket is closed.
    Closed,
    /// A stream that holds bytes which the poll knows nothing of, as one that decrypts does.
    #[cfg(test)]
    Hoarding(Hoarding),
}

/// What a read brought.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ReadBytes {
    /// How many bytes; 0 if the client has ended its side.
    pub(crate) count: usize,
    /// Neither the socket nor the stream itself has more: the poll, which is edge-triggered, will
    /// report what comes next. If false, the stream is to be read again without being asked.
    pub(crate) drained: bool,
}

impl Stream {
    /// Reads what is there, at most what fits.
    pub(crate) fn read(&mut self, buffer: &mut [u8]) -> io::Result<ReadBytes> {
        let count = match self {
            Stream::Tcp(stream) => stream.read(buffer)?,
            Stream::Unix(stream) => stream.read(buffer)?,
            Stream::Closed => return Err(io::ErrorKind::WouldBlock.into()),
            #[cfg(test)]
            Stream::Hoarding(stream) => return stream.read(buffer),
        };
        // A socket fills the buffer if it can.
        Ok(ReadBytes { count, drained: count < buffer.len() })
    }

    pub(crate) fn write_vectored(&mut self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        match (self, slices) {
            // One slice is the rule, and `write` is cheaper than `writev`.
            (Stream::Tcp(stream), [one]) => stream.write(one),
            (Stream::Unix(stream), [one]) => stream.write(one),
            (Stream::Tcp(stream), many) => stream.write_vectored(many),
            (Stream::Unix(stream), many) => stream.write_vectored(many),
            (Stream::Closed, _) => Err(io::ErrorKind::BrokenPipe.into()),
            #[cfg(test)]
            (Stream::Hoarding(_), slices) => Ok(slices.iter().map(|slice| slice.len()).sum()),
        }
    }

    pub(crate) fn register(&mut self, registry: &Registry, token: Token) -> io::Result<()> {
        let interest = Interest::READABLE | Interest::WRITABLE;
        match self {
            Stream::Tcp(stream) => stream.register(registry, token, interest),
            Stream::Unix(stream) => stream.register(registry, token, interest),
            Stream::Closed => Ok(()),
            #[cfg(test)]
            Stream::Hoarding(_) => Ok(()),
        }
    }

    pub(crate) fn deregister(&mut self, registry: &Registry) {
        // An error means that the kernel has forgotten the socket already.
        let _ = match self {
            Stream::Tcp(stream) => stream.deregister(registry),
            Stream::Unix(stream) => stream.deregister(registry),
            Stream::Closed => Ok(()),
            #[cfg(test)]
            Stream::Hoarding(_) => Ok(()),
        };
    }

    pub(crate) fn fd(&self) -> i32 {
        match self {
            Stream::Tcp(stream) => stream.as_raw_fd(),
            Stream::Unix(stream) => stream.as_raw_fd(),
            Stream::Closed => -1,
            #[cfg(test)]
            Stream::Hoarding(_) => -1,
        }
    }
}

#[cfg(test)]
pub(crate) use tests::Hoarding;

#[cfg(test)]
mod tests {
    use super::{ReadBytes, Stream};
    use std::collections::VecDeque;
    use std::io::{self, ErrorKind};

    /// A stream that has taken all bytes off its socket, and returns them piece by piece: a read
    /// ends with a piece, as a read of TLS ends with a record, whether there are more or not.
    #[derive(Debug, Default)]
    pub(crate) struct Hoarding {
        pieces: VecDeque<Vec<u8>>,
    }

    impl Hoarding {
        /// A stream of these pieces.
        pub(crate) fn stream(pieces: &[&[u8]]) -> Stream {
            let pieces = pieces.iter().map(|piece| piece.to_vec()).collect();
            Stream::Hoarding(Hoarding { pieces })
        }

        pub(crate) fn read(&mut self, buffer: &mut [u8]) -> io::Result<ReadBytes> {
            let mut piece = self.pieces.pop_front().ok_or(ErrorKind::WouldBlock)?;
            let count = piece.len().min(buffer.len());
            let rest = piece.split_off(count);
            buffer[..count].copy_from_slice(&piece);
            if !rest.is_empty() {
                self.pieces.push_front(rest);
            }
            Ok(ReadBytes { count, drained: self.pieces.is_empty() })
        }
    }
}
