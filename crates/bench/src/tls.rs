//! The load generator's end of TLS, by rustls.
//!
//! Its stream behaves as a socket does: a read that is short has taken all there is, and a write
//! that blocks is to be made again with the same bytes.

use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream as BlockingStream;
use std::path::Path;
use std::sync::Arc;

use mio::net::TcpStream;
use rustls::client::Resumption;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

/// A connection whose handshake is over, for the few commands that are not load.
pub(crate) type Blocking = StreamOwned<ClientConnection, BlockingStream>;

/// Bytes that are encrypted before their records are sent.
const WRITE_BYTES_MAX: usize = 128 * 1024;

/// A client that trusts the certificates of a file.
pub(crate) fn trusting(file: &Path) -> io::Result<Arc<ClientConfig>> {
    let wrong = |error: &dyn std::fmt::Display| {
        io::Error::new(ErrorKind::InvalidData, format!("{}: {error}", file.display()))
    };
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_file_iter(file).map_err(|error| wrong(&error))? {
        let certificate = certificate.map_err(|error| wrong(&error))?;
        roots.add(certificate).map_err(|error| wrong(&error))?;
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| wrong(&error))?;
    Ok(Arc::new(builder.with_root_certificates(roots).with_no_client_auth()))
}

/// A client that trusts what this one does. Each of its handshakes is a full one.
pub(crate) fn without_sessions(client: &Arc<ClientConfig>) -> Arc<ClientConfig> {
    let mut client = ClientConfig::clone(client);
    client.resumption = Resumption::disabled();
    Arc::new(client)
}

/// Shakes hands over a connection to this host.
pub(crate) fn shake_hands(
    client: &Arc<ClientConfig>,
    host: &str,
    socket: BlockingStream,
) -> io::Result<Blocking> {
    let name = host.to_owned().try_into().map_err(io::Error::other)?;
    let tls = ClientConnection::new(Arc::clone(client), name).map_err(io::Error::other)?;
    let mut stream = StreamOwned::new(tls, socket);
    while stream.conn.is_handshaking() {
        stream.conn.complete_io(&mut stream.sock)?;
    }
    Ok(stream)
}

/// A connection for load.
#[derive(Debug)]
pub(crate) struct TlsStream {
    pub(crate) socket: TcpStream,
    tls: Box<ClientConnection>,
    /// Bytes that have been encrypted, and that the caller has not been told are sent.
    accepted: usize,
}

impl TlsStream {
    pub(crate) fn new(stream: Blocking) -> io::Result<TlsStream> {
        let (mut tls, socket) = stream.into_parts();
        socket.set_nonblocking(true)?;
        tls.set_buffer_limit(Some(WRITE_BYTES_MAX));
        Ok(TlsStream { socket: TcpStream::from_std(socket), tls: Box::new(tls), accepted: 0 })
    }

    pub(crate) fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut count = 0;
        while count < buffer.len() {
            match self.tls.reader().read(&mut buffer[count..]) {
                Ok(0) => break,
                Ok(taken) => {
                    count += taken;
                    continue;
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
            match self.tls.read_tls(&mut self.socket) {
                Ok(0) => break,
                Ok(_) => {
                    self.tls.process_new_packets().map_err(io::Error::other)?;
                }
                Err(error) if count > 0 && error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => return Err(error),
            }
        }
        Ok(count)
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.accepted == 0 {
            self.accepted = self.tls.writer().write(bytes)?;
        }
        while self.tls.wants_write() {
            self.tls.write_tls(&mut self.socket)?;
        }
        Ok(std::mem::take(&mut self.accepted))
    }
}
