//! Listeners: TCP on several addresses, and a Unix socket.

use basalt_config::{BindAddress, NetworkSettings};
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
pub fn listen(settings: &NetworkSettings) -> Result<Vec<Listener>, ListenError> {
    let mut listeners = Vec::new();
    if settings.port != 0 {
        let everywhere = [BindAddress { host: "*".to_owned(), optional: false }];
        let bind = if settings.bind.is_empty() { &everywhere[..] } else { &settings.bind };
        for address in bind {
            listen_on(address, settings, &mut listeners)?;
        }
    }
    if let Some(path) = &settings.unixsocket {
        let error = |error| ListenError::Path { path: path.clone(), error };
        listeners.push(listen_unix(path, settings).map_err(error)?);
    }
    if listeners.is_empty() { Err(ListenError::Nothing) } else { Ok(listeners) }
}

fn listen_on(
    address: &BindAddress,
    settings: &NetworkSettings,
    listeners: &mut Vec<Listener>,
) -> Result<(), ListenError> {
    let hosts: &[&str] = match address.host.as_str() {
        "*" => &["0.0.0.0"],
        "::*" => &["::"],
        host => &[host],
    };
    for host in hosts {
        match listen_tcp(host, settings) {
            Ok(listener) => listeners.push(listener),
            Err(error) if address.optional && is_missing(&error) => {
                tracing::info!(host, %error, "not listening on an optional address");
            }
            Err(error) => {
                let address = format!("{host}:{}", settings.port);
                return Err(ListenError::Address { address, error });
            }
        }
    }
    Ok(())
}

/// The machine has no such address, or does not know its family. A taken port is another matter.
fn is_missing(error: &io::Error) -> bool {
    use rustix::io::Errno;
    let missing = [Errno::ADDRNOTAVAIL, Errno::AFNOSUPPORT, Errno::PROTONOSUPPORT];
    missing.iter().any(|errno| error.raw_os_error() == Some(errno.raw_os_error()))
}

fn listen_tcp(host: &str, settings: &NetworkSettings) -> io::Result<Listener> {
    let address = (host, settings.port)
        .to_socket_addrs()?
        .next()
        .ok_or_else(|| io::Error::other("the name has no address"))?;
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    socket.set_reuse_address(true)?;
    if address.is_ipv6() {
        socket.set_only_v6(true)?;
    }
    socket.bind(&SockAddr::from(address))?;
    socket.listen(settings.tcp_backlog)?;
    socket.set_nonblocking(true)?;
    let listener = std::net::TcpListener::from(socket);
    let address = listener.local_addr()?;
    Ok(Listener::Tcp(mio::net::TcpListener::from_std(listener), address))
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
