//! Where the server is, and how a connection to it is opened.

use std::fmt;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use rustls::ClientConfig;

use crate::error::BenchError;
use crate::scan::{Scanner, Tally};
use crate::tls;

/// How long connecting and each reply of the handshake may take.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(5);

/// The server's address.
#[derive(Debug, Clone)]
pub(crate) enum Address {
    Tcp { host: String, port: u16 },
    Unix(PathBuf),
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tcp { host, port } => write!(f, "{host}:{port}"),
            Self::Unix(path) => write!(f, "{}", path.display()),
        }
    }
}

/// The server and what each connection says first.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    pub(crate) address: Address,
    pub(crate) user: Option<String>,
    pub(crate) password: Option<String>,
    pub(crate) database: u32,
    pub(crate) resp_version: u8,
    /// Where the load goes by HTTP, if it does; everything else goes by Redis' protocol.
    pub(crate) http: Option<Address>,
    /// How hands are shaken, if it speaks TLS.
    pub(crate) tls: Option<Arc<ClientConfig>>,
}

impl Target {
    /// A server on this machine that asks for nothing.
    pub(crate) fn local(port: u16) -> Self {
        Self::open(Address::Tcp { host: "127.0.0.1".into(), port })
    }

    /// A server behind a Unix socket.
    pub(crate) fn unix(path: PathBuf) -> Self {
        Self::open(Address::Unix(path))
    }

    fn open(address: Address) -> Self {
        Self {
            address,
            user: None,
            password: None,
            database: 0,
            resp_version: 2,
            http: None,
            tls: None,
        }
    }

    /// A blocking connection, authenticated and with its database selected.
    pub(crate) fn connect(&self) -> Result<Socket, BenchError> {
        let socket = Socket::open(&self.address)
            .and_then(|socket| self.secured(socket))
            .map_err(|source| BenchError::Connect { target: self.address.to_string(), source })?;
        let mut client = Client { socket };
        for command in self.greetings() {
            let words: Vec<&str> = command.iter().map(String::as_str).collect();
            let reply = client.call(&words)?;
            if reply.first() == Some(&b'-') {
                let reply = String::from_utf8_lossy(&reply[1..]).trim_end().to_owned();
                return Err(BenchError::Handshake { command: command[0].clone(), reply });
            }
        }
        Ok(client.socket)
    }

    /// Puts TLS over a connection, if that is spoken.
    fn secured(&self, socket: Socket) -> io::Result<Socket> {
        match (&self.tls, &self.address, socket) {
            (Some(client), Address::Tcp { host, .. }, Socket::Tcp(stream)) => {
                Ok(Socket::Tls(Box::new(tls::shake_hands(client, host, stream)?)))
            }
            (_, _, socket) => Ok(socket),
        }
    }

    /// A connection for load.
    pub(crate) fn connect_for_load(&self) -> Result<Socket, BenchError> {
        let Some(http) = &self.http else { return self.connect() };
        Socket::open(http)
            .map_err(|source| BenchError::Connect { target: http.to_string(), source })
    }

    fn greetings(&self) -> Vec<Vec<String>> {
        let mut commands = Vec::new();
        if let Some(password) = &self.password {
            let mut auth = vec!["AUTH".to_owned()];
            auth.extend(self.user.clone());
            auth.push(password.clone());
            commands.push(auth);
        }
        if self.resp_version == 3 {
            commands.push(vec!["HELLO".into(), "3".into()]);
        }
        if self.database != 0 {
            commands.push(vec!["SELECT".into(), self.database.to_string()]);
        }
        commands
    }
}

/// A connected stream of either family.
#[derive(Debug)]
pub(crate) enum Socket {
    Tcp(TcpStream),
    Unix(UnixStream),
    Tls(Box<tls::Blocking>),
}

impl Socket {
    fn open(address: &Address) -> io::Result<Self> {
        match address {
            Address::Tcp { host, port } => {
                let addresses: Vec<SocketAddr> =
                    (host.as_str(), *port).to_socket_addrs()?.collect();
                let mut failure = io::Error::from(io::ErrorKind::AddrNotAvailable);
                for address in addresses {
                    match TcpStream::connect_timeout(&address, HANDSHAKE_TIMEOUT) {
                        Ok(stream) => {
                            stream.set_nodelay(true)?;
                            stream.set_read_timeout(Some(HANDSHAKE_TIMEOUT))?;
                            return Ok(Self::Tcp(stream));
                        }
                        Err(error) => failure = error,
                    }
                }
                Err(failure)
            }
            Address::Unix(path) => {
                let stream = UnixStream::connect(path)?;
                stream.set_read_timeout(Some(HANDSHAKE_TIMEOUT))?;
                Ok(Self::Unix(stream))
            }
        }
    }

    pub(crate) fn stream(&mut self) -> &mut dyn ReadWrite {
        match self {
            Self::Tcp(stream) => stream,
            Self::Unix(stream) => stream,
            Self::Tls(stream) => &mut **stream,
        }
    }

    /// How long a read may take.
    pub(crate) fn set_read_timeout(&self, timeout: Duration) -> io::Result<()> {
        match self {
            Self::Tcp(stream) => stream.set_read_timeout(Some(timeout)),
            Self::Unix(stream) => stream.set_read_timeout(Some(timeout)),
            Self::Tls(stream) => stream.sock.set_read_timeout(Some(timeout)),
        }
    }
}

/// A blocking connection for the few commands that are not load.
#[derive(Debug)]
pub(crate) struct Client {
    socket: Socket,
}

impl Client {
    pub(crate) fn connect(target: &Target) -> Result<Self, BenchError> {
        Ok(Self { socket: target.connect()? })
    }

    /// What it speaks through, for somebody who reads on.
    pub(crate) fn into_socket(self) -> Socket {
        self.socket
    }

    /// How long a reply may take.
    pub(crate) fn set_read_timeout(&self, timeout: Duration) -> Result<(), BenchError> {
        Ok(self.socket.set_read_timeout(timeout)?)
    }

    /// Sends one command and returns the raw bytes of its reply.
    pub(crate) fn call(&mut self, words: &[&str]) -> Result<Vec<u8>, BenchError> {
        let mut request = format!("*{}\r\n", words.len());
        for word in words {
            request.push_str(&format!("${}\r\n{word}\r\n", word.len()));
        }
        let stream = self.socket.stream();
        stream.write_all(request.as_bytes())?;
        let (mut scanner, mut tally) = (Scanner::default(), Tally::default());
        let (mut reply, mut scanned) = (Vec::new(), 0);
        let mut chunk = [0; 16 * 1024];
        while tally.replies == 0 {
            let len = match stream.read(&mut chunk) {
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                read => read?,
            };
            if len == 0 {
                return Err(BenchError::Closed { outstanding: 1 });
            }
            reply.extend_from_slice(&chunk[..len]);
            scanned += scanner.scan(&reply[scanned..], &mut tally)?;
        }
        Ok(reply)
    }

    /// Sends one command and returns the payload of its bulk or status reply as text.
    pub(crate) fn text(&mut self, words: &[&str]) -> Result<String, BenchError> {
        let reply = String::from_utf8_lossy(&self.call(words)?).into_owned();
        let body = match reply.as_bytes().first() {
            Some(b'$' | b'=') => reply.split_once("\r\n").map_or("", |(_, body)| body),
            Some(b'+') => &reply[1..],
            _ => {
                let command = words.join(" ");
                return Err(BenchError::Handshake { command, reply: reply.trim_end().into() });
            }
        };
        Ok(body.strip_suffix("\r\n").unwrap_or(body).to_owned())
    }
}

/// A stream of any family.
pub(crate) trait ReadWrite: Read + Write {}
impl<T: Read + Write> ReadWrite for T {}
