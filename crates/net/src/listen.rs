//! Listeners: TCP on several addresses, and a Unix socket.

use basalt_config::{BindAddress, NetworkSettings};
use mio::{Interest, Registry, Token};
use socket2::{Domain, Protocol, SockAddr, Socket, Type};
use std::io;
use std::net::{SocketAddr, ToSocketAddrs};
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// A socket that listens.
#[derive(Debug)]
pub enum Listener {
    /// On an address and port.
    Tcp(mio::net::TcpListener, SocketAddr),
    /// On a path; the file is removed when the listener goes.
    Unix(mio::net::UnixListener, SocketFile),
}

/// The file of a Unix socket, removed when dropped.
#[derive(Debug)]
pub struct SocketFile(pub PathBuf);

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
        "cannot listen on {address}: {error}; is another server running there? choose another --port or --bind"
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
    #[error("nothing to listen on: set --port or --unixsocket")]
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

/// Opens the TCP listeners, but for the addresses that are listened on already.
pub(crate) fn listen_tcp_on_all(
    settings: &NetworkSettings,
    already: &[SocketAddr],
) -> Result<Vec<Listener>, ListenError> {
    let mut listeners = Vec::new();
    for address in bind_addresses(settings) {
        let host = host(&address);
        let opened = resolve(host, settings.port).and_then(|address| {
            let is_open = already.contains(&address);
            if is_open { Ok(None) } else { Listener::tcp(address, settings.tcp_backlog).map(Some) }
        });
        match opened {
            Ok(listener) => listeners.extend(listener),
            Err(error) if address.optional && is_missing(&error) => {
                tracing::info!(host, %error, "not listening on an optional address");
            }
            Err(error) => {
                let address = format!("{host}:{}", settings.port);
                return Err(ListenError::Address { address, error });
            }
        }
    }
    Ok(listeners)
}

/// The addresses that the settings name, as far as the machine understands them.
pub(crate) fn tcp_addresses(settings: &NetworkSettings) -> Vec<SocketAddr> {
    let addresses = bind_addresses(settings).into_iter();
    addresses.filter_map(|address| resolve(host(&address), settings.port).ok()).collect()
}

fn bind_addresses(settings: &NetworkSettings) -> Vec<BindAddress> {
    match settings.port {
        0 => Vec::new(),
        _ if settings.bind.is_empty() => {
            vec![BindAddress { host: "*".to_owned(), optional: false }]
        }
        _ => settings.bind.clone(),
    }
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
            Listener::Tcp(_, address) => address.to_string(),
            Listener::Unix(_, file) => file.0.display().to_string(),
        }
    }

    /// Opens one on an address.
    pub(crate) fn tcp(address: SocketAddr, backlog: i32) -> io::Result<Listener> {
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
        Ok(Listener::Tcp(mio::net::TcpListener::from_std(listener), address))
    }

    pub(crate) fn tcp_address(&self) -> Option<SocketAddr> {
        match self {
            Listener::Tcp(_, address) => Some(*address),
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
