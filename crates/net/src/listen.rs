//! Listeners: TCP on several addresses, and a Unix socket.

use basalt_config::{BindAddress, NetworkSettings};
use mio::{Interest, Registry, Token};
use socket2::{Domain, Protocol, SockAddr, Socket, Type};
use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// What is spoken over a socket's connections.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Door {
    /// The front's protocol as it is.
    Plain,
    /// That protocol within TLS.
    Tls,
}

/// Where a TCP socket listens, and for what.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Place {
    pub(crate) address: SocketAddr,
    pub(crate) door: Door,
}

/// A socket that listens.
#[derive(Debug)]
pub(crate) enum Listener {
    /// On an address and port.
    Tcp(mio::net::TcpListener, Place),
    /// On a path; the file is removed when the listener goes.
    Unix(mio::net::UnixListener, SocketFile),
}

/// The file of a Unix socket, removed when dropped.
#[derive(Debug)]
pub(crate) struct SocketFile(pub(crate) PathBuf);

impl Drop for SocketFile {
    fn drop(&mut self) {
        // Somebody may have removed it before.
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Why the server cannot listen.
#[derive(Debug, thiserror::Error)]
pub enum ListenError {
    /// An address could not be used.
    #[error(
        "cannot listen on {address}: {error}; is another server running there? choose another --port, --tls-port or --bind"
    )]
    Address {
        /// `host:port`.
        address: String,
        /// What the system says.
        error: io::Error,
    },
    /// The Unix socket could not be made.
    #[error("cannot listen on the unix socket {path}: {error}", path = path.display())]
    Path {
        /// Its path.
        path: PathBuf,
        /// What the system says.
        error: io::Error,
    },
    /// Nothing to listen on.
    #[error("nothing to listen on: set --port, --tls-port or --unixsocket")]
    Nothing,
}

/// Opens all listeners.
///
/// # Errors
/// If an address that is not optional cannot be used.
pub(crate) fn listen(settings: &NetworkSettings) -> Result<Vec<Listener>, ListenError> {
    let mut listeners = listen_tcp_on_all(settings, &[])?;
    if let Some(path) = &settings.unixsocket {
        let error = |error| ListenError::Path { path: path.clone(), error };
        listeners.push(listen_unix(path, settings).map_err(error)?);
    }
    if listeners.is_empty() { Err(ListenError::Nothing) } else { Ok(listeners) }
}

/// Opens the TCP listeners, but for the places that are listened on already.
pub(crate) fn listen_tcp_on_all(
    settings: &NetworkSettings,
    already: &[Place],
) -> Result<Vec<Listener>, ListenError> {
    let mut listeners = Vec::new();
    for (address, port, door) in bind_addresses(settings) {
        let host = host(&address);
        let opened = resolve(host, port).and_then(|address| {
            let place = Place { address, door };
            let is_open = already.contains(&place);
            if is_open { Ok(None) } else { Listener::tcp(place, settings.tcp_backlog).map(Some) }
        });
        match opened {
            Ok(listener) => listeners.extend(listener),
            Err(error) if address.optional && is_missing(&error) => {
                tracing::info!(host, %error, "not listening on an optional address");
            }
            Err(error) => {
                let address = format!("{host}:{port}");
                return Err(ListenError::Address { address, error });
            }
        }
    }
    Ok(listeners)
}

/// The places that the settings name, as far as the machine understands them.
pub(crate) fn tcp_places(settings: &NetworkSettings) -> Vec<Place> {
    let resolved = |(address, port, door): (BindAddress, u16, Door)| {
        let address = resolve(host(&address), port).ok()?;
        Some(Place { address, door })
    };
    bind_addresses(settings).into_iter().filter_map(resolved).collect()
}

/// Each address with each port, and what is spoken there.
fn bind_addresses(settings: &NetworkSettings) -> Vec<(BindAddress, u16, Door)> {
    let addresses = match settings.bind.is_empty() {
        true => vec![BindAddress { host: "*".to_owned(), optional: false }],
        false => settings.bind.clone(),
    };
    let doors = [(settings.port, Door::Plain), (settings.tls_port, Door::Tls)];
    let open = doors.into_iter().filter(|(port, _)| *port != 0);
    open.flat_map(|(port, door)| addresses.iter().map(move |own| (own.clone(), port, door)))
        .collect()
}

fn host(address: &BindAddress) -> &str {
    match address.host.as_str() {
        "*" => "0.0.0.0",
        "::*" => "::",
        host => host,
    }
}

fn resolve(host: &str, port: u16) -> io::Result<SocketAddr> {
    let address = (host, port).to_socket_addrs()?.next();
    address.ok_or_else(|| io::Error::other("the name has no address"))
}

/// Somebody listens there.
pub(crate) fn is_taken(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::AddrInUse
}

/// The machine has no such address, or does not know its family. A taken port is another matter.
fn is_missing(error: &io::Error) -> bool {
    use rustix::io::Errno;
    let missing = [Errno::ADDRNOTAVAIL, Errno::AFNOSUPPORT, Errno::PROTONOSUPPORT];
    missing.iter().any(|errno| error.raw_os_error() == Some(errno.raw_os_error()))
}

impl Listener {
    /// Where it listens, as a person would write it.
    pub(crate) fn shown(&self) -> String {
        match self {
            Listener::Tcp(_, Place { address, door: Door::Plain }) => address.to_string(),
            Listener::Tcp(_, Place { address, door: Door::Tls }) => format!("{address} (TLS)"),
            Listener::Unix(_, file) => file.0.display().to_string(),
        }
    }

    /// Opens one on an address.
    pub(crate) fn tcp(place: Place, backlog: i32) -> io::Result<Listener> {
        let address = place.address;
        let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
        socket.set_reuse_address(true)?;
        if address.is_ipv6() {
            socket.set_only_v6(true)?;
        }
        socket.bind(&SockAddr::from(address))?;
        socket.listen(backlog)?;
        socket.set_nonblocking(true)?;
        let listener = std::net::TcpListener::from(socket);
        let address = listener.local_addr()?;
        let place = Place { address, ..place };
        Ok(Listener::Tcp(mio::net::TcpListener::from_std(listener), place))
    }

    pub(crate) fn tcp_place(&self) -> Option<Place> {
        match self {
            Listener::Tcp(_, place) => Some(*place),
            Listener::Unix(..) => None,
        }
    }

    pub(crate) fn register(&mut self, registry: &Registry, token: usize) -> io::Result<()> {
        match self {
            Listener::Tcp(tcp, _) => registry.register(tcp, Token(token), Interest::READABLE),
            Listener::Unix(unix, _) => registry.register(unix, Token(token), Interest::READABLE),
        }
    }
}

fn listen_unix(path: &Path, settings: &NetworkSettings) -> io::Result<Listener> {
    // A socket file that a killed server left behind; anything else is not ours to remove.
    if std::fs::symlink_metadata(path).is_ok_and(|file| file.file_type().is_socket()) {
        std::fs::remove_file(path)?;
    }
    let listener = mio::net::UnixListener::bind(path)?;
    if settings.unixsocket_mode != 0 {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(settings.unixsocket_mode))?;
    }
    Ok(Listener::Unix(listener, SocketFile(path.to_owned())))
}
