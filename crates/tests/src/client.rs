//! A blocking connection, over TCP, a Unix socket or TLS: one request, one reply, or raw bytes
//! where a test wants to misbehave.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crate::stall::LastSent;
use basalt_resp::{Value, decode, encode_request};
use rustls::{ClientConfig, ClientConnection, StreamOwned};

/// How long a test waits for one reply before it fails: far longer than any reply should take, even
/// on a loaded machine.
const REPLY_TIMEOUT: Duration = Duration::from_secs(120);

/// One connection to a server.
#[derive(Debug)]
pub struct Connection {
    stream: Stream,
    /// Received and not yet decoded, from `start`.
    buffer: Vec<u8>,
    start: usize,
    /// Where what it sends is noted.
    sent: Arc<LastSent>,
}

impl Connection {
    /// Connects; the protocol is RESP2 until `HELLO` says otherwise.
    pub fn open(address: SocketAddr) -> io::Result<Connection> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(REPLY_TIMEOUT))?;
        stream.set_write_timeout(Some(REPLY_TIMEOUT))?;
        Ok(Connection::of(Stream::Tcp(stream)))
    }

    /// Connects to a Unix socket.
    pub fn open_unix(path: &Path) -> io::Result<Connection> {
        let stream = UnixStream::connect(path)?;
        stream.set_read_timeout(Some(REPLY_TIMEOUT))?;
        stream.set_write_timeout(Some(REPLY_TIMEOUT))?;
        Ok(Connection::of(Stream::Unix(stream)))
    }

    /// Connects, and shakes hands as this client.
    pub fn open_tls(address: SocketAddr, client: &Arc<ClientConfig>) -> io::Result<Connection> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(REPLY_TIMEOUT))?;
        stream.set_write_timeout(Some(REPLY_TIMEOUT))?;
        let name = address.ip().into();
        let client = ClientConnection::new(Arc::clone(client), name).map_err(io::Error::other)?;
        let mut stream = StreamOwned::new(client, stream);
        while stream.conn.is_handshaking() {
            stream.conn.complete_io(&mut stream.sock)?;
        }
        Ok(Connection::of(Stream::Tls(Box::new(stream))))
    }

    fn of(stream: Stream) -> Connection {
        Connection { stream, buffer: Vec::new(), start: 0, sent: Arc::default() }
    }

    /// Has what it sends noted there.
    pub(crate) fn noting(self, sent: &Arc<LastSent>) -> Connection {
        Connection { sent: Arc::clone(sent), ..self }
    }

    /// Sends one request and waits for one reply.
    pub fn call(&mut self, args: &[impl AsRef<[u8]>]) -> io::Result<Value> {
        self.send(args)?;
        self.receive()
    }

    /// Splits `line` at spaces, sends it as one request and waits for one reply.
    pub fn run(&mut self, line: &str) -> io::Result<Value> {
        self.call(&line.split(' ').collect::<Vec<_>>())
    }

    /// Sends one request.
    pub fn send(&mut self, args: &[impl AsRef<[u8]>]) -> io::Result<()> {
        let mut request = Vec::new();
        encode_request(args, &mut request);
        self.send_raw(&request)
    }

    /// Sends bytes as they are.
    pub fn send_raw(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.sent.note(bytes);
        self.stream.write_all(bytes)
    }

    /// Waits for one reply. The end of the stream is `UnexpectedEof`; what is no reply is
    /// `InvalidData`.
    pub fn receive(&mut self) -> io::Result<Value> {
        loop {
            let pending = &self.buffer[self.start..];
            let decoded =
                decode(pending).map_err(|error| io::Error::new(ErrorKind::InvalidData, error))?;
            if let Some((value, length)) = decoded {
                self.start += length;
                if self.start == self.buffer.len() {
                    self.buffer.clear();
                    self.start = 0;
                }
                return Ok(value);
            }
            self.fill()?;
        }
    }

    /// Reads more, at least as much again as is pending: decoding again is then linear in total.
    fn fill(&mut self) -> io::Result<()> {
        self.buffer.drain(..self.start);
        self.start = 0;
        let goal = self.buffer.len() * 2;
        let mut chunk = vec![0; 64 * 1024];
        loop {
            let length = match self.stream.read(&mut chunk) {
                // As a wait with a time limit ends when the process was stopped and goes on.
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                read => read?,
            };
            if length == 0 {
                return Err(ErrorKind::UnexpectedEof.into());
            }
            self.buffer.extend_from_slice(&chunk[..length]);
            // A short read means that the socket is empty now: what is here may be the whole reply.
            if self.buffer.len() >= goal || length < chunk.len() {
                return Ok(());
            }
        }
    }

    /// Reads everything up to the end of the stream, which a reset is too.
    pub fn receive_to_end(&mut self) -> io::Result<Vec<u8>> {
        let mut rest = self.buffer.split_off(self.start);
        match self.stream.read_to_end(&mut rest) {
            Err(error) if error.kind() != ErrorKind::ConnectionReset => Err(error),
            _ => Ok(rest),
        }
    }

    /// Tells the server that nothing more will be sent.
    pub fn finish_sending(&self) -> io::Result<()> {
        match &self.stream {
            Stream::Tcp(stream) => stream.shutdown(Shutdown::Write),
            Stream::Unix(stream) => stream.shutdown(Shutdown::Write),
            Stream::Tls(stream) => stream.sock.shutdown(Shutdown::Write),
        }
    }

    /// A second handle on the same socket, to send from another thread.
    pub fn sender(&self) -> io::Result<impl Write + Send + use<>> {
        match &self.stream {
            Stream::Tcp(stream) => stream.try_clone().map(Stream::Tcp),
            Stream::Unix(stream) => stream.try_clone().map(Stream::Unix),
            // Both directions share one state.
            Stream::Tls(_) => Err(ErrorKind::Unsupported.into()),
        }
    }
}

#[derive(Debug)]
enum Stream {
    Tcp(TcpStream),
    Unix(UnixStream),
    Tls(Box<StreamOwned<ClientConnection, TcpStream>>),
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Stream::Tcp(stream) => stream.read(buffer),
            Stream::Unix(stream) => stream.read(buffer),
            Stream::Tls(stream) => stream.read(buffer),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Stream::Tcp(stream) => stream.write(bytes),
            Stream::Unix(stream) => stream.write(bytes),
            // What is written is sent, or `write_all` would leave it in the client.
            Stream::Tls(stream) => {
                let count = stream.write(bytes)?;
                stream.flush()?;
                Ok(count)
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
