//! A client's socket, of either kind, with TLS or without.

use basalt_stdx::gather_write::write_slices;
use basalt_tls::{Channel, Handshake, ReadBytes, ServerTls};
use mio::event::Source;
use mio::net::{TcpStream, UnixStream};
use mio::{Interest, Registry, Token};
use rustix::net::{RecvFlags, SendFlags, recv};
use std::io::{self, IoSlice, Read};
use std::net::Shutdown;
use std::os::fd::{AsFd, AsRawFd};

/// A connected socket.
#[derive(Debug)]
pub(crate) enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
    /// TCP with TLS over it.
    Tls(Box<TlsStream>),
    /// The client has gone, and its socket is closed.
    Closed,
    /// A stream that holds bytes which the poll knows nothing of, as one that decrypts does.
    #[cfg(test)]
    Hoarding(Hoarding),
}

/// A socket and what is said over it.
#[derive(Debug)]
pub(crate) struct TlsStream {
    socket: TcpStream,
    channel: Channel,
}

impl Drop for TlsStream {
    fn drop(&mut self) {
        self.channel.close(&mut self.socket);
    }
}

/// Bytes that are read, and forgotten, of what a client has sent whose handshake has failed. What
/// is not read has the kernel tell it of a reset rather than of an end.
const DRAINED_BYTES_MAX: usize = 64 << 10;

impl Stream {
    /// Reads what is there, at most what fits.
    pub(crate) fn read(&mut self, buffer: &mut [u8]) -> io::Result<ReadBytes> {
        let count = match self {
            Stream::Tcp(stream) => receive(stream, buffer)?,
            Stream::Unix(stream) => receive(stream, buffer)?,
            Stream::Tls(stream) => return stream.channel.read(&mut stream.socket, buffer),
            Stream::Closed => return Err(io::ErrorKind::WouldBlock.into()),
            #[cfg(test)]
            Stream::Hoarding(stream) => return stream.read(buffer),
        };
        // A socket fills the buffer if it can.
        Ok(ReadBytes { count, drained: count < buffer.len() })
    }

    /// Writes bytes that stand together, as replies mostly do.
    #[inline]
    pub(crate) fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Stream::Tcp(stream) => send(stream, bytes),
            Stream::Unix(stream) => send(stream, bytes),
            other => other.write_vectored(&[IoSlice::new(bytes)]),
        }
    }

    pub(crate) fn write_vectored(&mut self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        match self {
            Stream::Tcp(stream) => write_slices(stream, slices),
            Stream::Unix(stream) => write_slices(stream, slices),
            Stream::Tls(stream) => stream.channel.write(&mut stream.socket, slices),
            Stream::Closed => Err(io::ErrorKind::BrokenPipe.into()),
            #[cfg(test)]
            Stream::Hoarding(_) => Ok(slices.iter().map(|slice| slice.len()).sum()),
        }
    }

    /// Tells the client that nothing follows; what it sends can still be read.
    ///
    /// # Errors
    /// The client has gone.
    pub(crate) fn end_writing(&mut self) -> io::Result<()> {
        match self {
            Stream::Tcp(stream) => stream.shutdown(Shutdown::Write),
            Stream::Unix(stream) => stream.shutdown(Shutdown::Write),
            Stream::Tls(stream) => {
                stream.channel.close(&mut stream.socket);
                stream.socket.shutdown(Shutdown::Write)
            }
            Stream::Closed => Err(io::ErrorKind::NotConnected.into()),
            #[cfg(test)]
            Stream::Hoarding(_) => Ok(()),
        }
    }

    /// Reads what is there as it came, which is of no use over TLS.
    pub(crate) fn read_undecrypted(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Stream::Tcp(stream) => stream.read(buffer),
            Stream::Unix(stream) => stream.read(buffer),
            Stream::Tls(stream) => stream.socket.read(buffer),
            Stream::Closed => Err(io::ErrorKind::WouldBlock.into()),
            #[cfg(test)]
            Stream::Hoarding(stream) => stream.read(buffer).map(|read| read.count),
        }
    }

    /// What was written last and has not wholly gone is not written again: see [`Channel`].
    pub(crate) fn forget_accepted(&mut self) {
        if let Stream::Tls(stream) = self {
            stream.channel.forget_accepted();
        }
    }

    /// Puts TLS over the socket, by which nothing has been said yet. A Unix socket stays as
    /// it is.
    ///
    /// # Errors
    /// If rustls refuses its own configuration.
    pub(crate) fn with_tls(self, tls: &ServerTls) -> io::Result<Stream> {
        match self {
            Stream::Tcp(socket) => {
                let channel = Channel::new(tls)?;
                Ok(Stream::Tls(Box::new(TlsStream { socket, channel })))
            }
            other => Ok(other),
        }
    }

    /// Takes the handshake as far as what the client has sent allows. One that fails ends the
    /// connection in order.
    ///
    /// # Errors
    /// See [`Channel::shake_hands`].
    pub(crate) fn shake_hands(&mut self) -> io::Result<Handshake> {
        let Stream::Tls(stream) = self else { return Ok(Handshake::Done) };
        let shaken = stream.channel.shake_hands(&mut stream.socket);
        if shaken.is_err() {
            let _ = stream.socket.shutdown(Shutdown::Write);
            let mut bytes = [0; 4096];
            let mut drained = 0;
            while drained < DRAINED_BYTES_MAX
                && let Ok(count @ 1..) = stream.socket.read(&mut bytes)
            {
                drained += count;
            }
        }
        shaken
    }

    /// The common name in the certificate that the client has shown.
    pub(crate) fn certificate_name(&self) -> Option<Box<str>> {
        match self {
            Stream::Tls(stream) => stream.channel.certificate_name().map(String::into_boxed_str),
            _ => None,
        }
    }

    pub(crate) fn register(&mut self, registry: &Registry, token: Token) -> io::Result<()> {
        let interest = Interest::READABLE | Interest::WRITABLE;
        match self {
            Stream::Tcp(stream) => stream.register(registry, token, interest),
            Stream::Unix(stream) => stream.register(registry, token, interest),
            Stream::Tls(stream) => stream.socket.register(registry, token, interest),
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
            Stream::Tls(stream) => stream.socket.deregister(registry),
            Stream::Closed => Ok(()),
            #[cfg(test)]
            Stream::Hoarding(_) => Ok(()),
        };
    }

    pub(crate) fn fd(&self) -> i32 {
        match self {
            Stream::Tcp(stream) => stream.as_raw_fd(),
            Stream::Unix(stream) => stream.as_raw_fd(),
            Stream::Tls(stream) => stream.socket.as_raw_fd(),
            Stream::Closed => -1,
            #[cfg(test)]
            Stream::Hoarding(_) => -1,
        }
    }
}

/// Reads from a socket that is not waited for: without what the C library does so that a thread can
/// be cancelled in a read that waits.
#[inline]
fn receive(socket: &impl AsFd, buffer: &mut [u8]) -> io::Result<usize> {
    let (count, _) = recv(socket, buffer, RecvFlags::empty())?;
    Ok(count)
}

/// Writes to a socket that is not waited for; see [`receive`].
#[inline]
fn send(socket: &impl AsFd, bytes: &[u8]) -> io::Result<usize> {
    Ok(rustix::net::send(socket, bytes, SendFlags::NOSIGNAL)?)
}

#[cfg(test)]
pub(crate) use tests::Hoarding;

#[cfg(test)]
mod tests {
    use super::Stream;
    use basalt_tls::ReadBytes;
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
