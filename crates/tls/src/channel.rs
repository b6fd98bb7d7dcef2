//! HOT PATH
//! One connection's records: what a client has sent is decrypted into the caller's buffer, and what
//! the caller has to say is encrypted from where it stands.
//!
//! ```text
//! socket ─▶ caller's buffer ─▶ rustls, decrypts ─▶ caller's buffer, from its front on
//!           one read, all      records in turn     plaintext is shorter than its record
//!
//! slices ─▶ rustls, encrypts ─▶ records ─▶ socket, one call
//!           128 KiB at most     16 KiB each
//! ```
//! rustls would read 4 KiB at a time; here a read takes what the socket has, into the buffer that
//! the plaintext is for. Behind what has been fed to rustls is what has not, and what has been
//! decrypted never reaches that far, but for the rest of a record that began in the read before:
//! what of it finds no room stays with rustls, a record at most, and comes with the next read.
//!
//! A write that the socket takes in part says that it has taken nothing, and keeps the records;
//! the caller comes again with the same bytes, which are then not encrypted again, but counted as
//! sent when the last of their records is. So what a client is owed is counted as without TLS.

use crate::name::common_name;
use crate::server::ServerTls;
use basalt_stdx::gather_write::write_slices;
use rustls::ServerConnection;
use std::fmt;
use std::io::{self, BufRead, ErrorKind, IoSlice, Read, Write};
use std::sync::Arc;

/// Bytes that are encrypted before their records are sent.
const WRITE_BYTES_MAX: usize = 128 << 10;
/// Bytes of records that one read may take without a byte for the caller: handshake messages and
/// empty records, of which an honest client sends few.
const SILENT_BYTES_MAX: usize = 256 << 10;
/// The first byte of a record in which a handshake begins.
const HANDSHAKE_RECORD: u8 = 22;

/// See the head of this file.
pub struct Channel {
    tls: ServerConnection,
    /// Bytes of the caller's that have been encrypted, and that it has not been told are sent.
    accepted: usize,
    /// The peer has said that it ends.
    has_ended: bool,
    /// Its records make no sense.
    has_failed: bool,
    /// What it has sent first of all.
    first_byte: Option<u8>,
    takes_names: bool,
}

/// What a read brought.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReadBytes {
    /// How many bytes; 0 if the client has ended its side.
    pub count: usize,
    /// Neither the socket nor the channel has more: a poll that is edge-triggered will report what
    /// comes next. If false, the channel is to be read again without being asked.
    pub drained: bool,
}

/// How far a handshake has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Handshake {
    /// It is over.
    Done,
    /// It waits for the client.
    Waits,
}

impl fmt::Debug for Channel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Channel").field("accepted", &self.accepted).finish_non_exhaustive()
    }
}

impl Channel {
    /// Begins a handshake.
    ///
    /// # Errors
    /// If rustls refuses its own configuration.
    pub fn new(server: &ServerTls) -> io::Result<Channel> {
        let mut tls = ServerConnection::new(Arc::clone(&server.config)).map_err(invalid)?;
        tls.set_buffer_limit(Some(WRITE_BYTES_MAX));
        let takes_names = server.takes_names;
        Ok(Channel {
            tls,
            accepted: 0,
            has_ended: false,
            has_failed: false,
            first_byte: None,
            takes_names,
        })
    }

    /// Takes the handshake as far as what the client has sent allows.
    ///
    /// # Errors
    /// `InvalidData` if the client speaks no TLS, or none that is accepted: it has been told so,
    /// unless its first byte says that it does not understand. `UnexpectedEof` if it has gone, and
    /// what the socket says.
    pub fn shake_hands(&mut self, socket: &mut (impl Read + Write)) -> io::Result<Handshake> {
        loop {
            self.send(socket)?;
            if !self.tls.is_handshaking() {
                // Its end waits for the last records: they hold what the client needs to go on.
                return Ok(if self.tls.wants_write() { Handshake::Waits } else { Handshake::Done });
            }
            let mut first = FirstByte { socket, byte: None };
            match self.tls.read_tls(&mut first) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    return Ok(Handshake::Waits);
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            }
            self.first_byte = self.first_byte.or(first.byte);
            if let Err(error) = self.tls.process_new_packets() {
                self.has_failed = true;
                if self.first_byte == Some(HANDSHAKE_RECORD) {
                    let _ = self.send(socket);
                }
                return Err(invalid(error));
            }
        }
    }

    /// Reads and decrypts what is there, at most what fits. The client has had its handshake.
    ///
    /// # Errors
    /// `WouldBlock` if there is nothing; `InvalidData` if what is there is no record, or if the
    /// client sends records on and on that say nothing; what the socket says.
    pub fn read(
        &mut self,
        socket: &mut (impl Read + Write),
        buffer: &mut [u8],
    ) -> io::Result<ReadBytes> {
        let count = self.take(buffer)?;
        if count > 0 {
            return Ok(ReadBytes { count, drained: false });
        }
        let mut silent = 0;
        loop {
            if self.has_failed {
                return Err(ErrorKind::InvalidData.into());
            }
            if self.has_ended {
                return Ok(ReadBytes { count: 0, drained: true });
            }
            let filled = socket.read(buffer)?;
            if filled == 0 {
                return Ok(ReadBytes { count: 0, drained: true });
            }
            let count = self.decrypt(buffer, filled)?;
            if self.tls.wants_write() {
                // An answer to a message about keys, or an alert. What does not go out now goes
                // with what is written next.
                let _ = self.send(socket);
            }
            let is_socket_empty = filled < buffer.len();
            if count > 0 {
                let is_all = is_socket_empty && !self.holds_more();
                return Ok(ReadBytes { count, drained: is_all });
            }
            if is_socket_empty && !self.has_ended && !self.has_failed {
                return Err(ErrorKind::WouldBlock.into());
            }
            silent += filled;
            self.has_failed |= silent > SILENT_BYTES_MAX;
        }
    }

    /// Decrypts the first `filled` bytes of a buffer into the same buffer; returns how many bytes
    /// of plaintext are there now.
    fn decrypt(&mut self, buffer: &mut [u8], filled: usize) -> io::Result<usize> {
        let (mut fed, mut count) = (0, 0);
        while fed < filled && !self.has_ended && !self.has_failed {
            fed += self.tls.read_tls(&mut &buffer[fed..filled])?;
            match self.tls.process_new_packets() {
                Ok(state) => self.has_ended = state.peer_has_closed(),
                Err(_) => self.has_failed = true,
            }
            count += self.take(&mut buffer[count..fed])?;
        }
        // Nothing follows what is left there.
        count += self.take(&mut buffer[count..])?;
        Ok(count)
    }

    /// Takes what has been decrypted, as far as there is room.
    fn take(&mut self, room: &mut [u8]) -> io::Result<usize> {
        let mut count = 0;
        while count < room.len() {
            match self.tls.reader().read(&mut room[count..]) {
                Ok(0) => break,
                Ok(taken) => count += taken,
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => return Err(error),
            }
        }
        Ok(count)
    }

    /// There is something to be read that no poll knows of.
    fn holds_more(&mut self) -> bool {
        let is_plaintext_left = self.tls.reader().fill_buf().is_ok_and(|left| !left.is_empty());
        is_plaintext_left || self.has_ended || self.has_failed
    }

    /// Encrypts and sends; returns how many bytes of the slices are done with. After `WouldBlock`
    /// the same bytes are to be written again, with whatever has come behind them.
    ///
    /// # Errors
    /// `WouldBlock` if the socket takes no more; what the socket says.
    pub fn write(
        &mut self,
        socket: &mut (impl Read + Write),
        slices: &[IoSlice<'_>],
    ) -> io::Result<usize> {
        if self.accepted == 0 {
            self.accepted = self.tls.writer().write_vectored(slices)?;
        }
        self.send(socket)?;
        if self.tls.wants_write() {
            return Err(ErrorKind::WouldBlock.into());
        }
        Ok(std::mem::take(&mut self.accepted))
    }

    /// What has been encrypted and not been sent will not be written again: something else follows
    /// it.
    pub fn forget_accepted(&mut self) {
        self.accepted = 0;
    }

    /// Says that nothing follows, as far as the socket takes it.
    pub fn close(&mut self, socket: &mut (impl Read + Write)) {
        if self.has_failed || self.tls.is_handshaking() {
            return;
        }
        self.tls.send_close_notify();
        // The client has gone, or does not read: then it does not hear it.
        let _ = self.send(socket);
    }

    /// The common name in the certificate that the client has shown, if it was asked for one: it
    /// has been verified.
    pub fn certificate_name(&self) -> Option<String> {
        let own = self.tls.peer_certificates().filter(|_| self.takes_names)?.first()?;
        common_name(own)
    }

    /// Sends records until none is left or the socket takes no more.
    fn send(&mut self, socket: &mut impl Write) -> io::Result<()> {
        while self.tls.wants_write() {
            match self.tls.write_tls(&mut RecordSocket(socket)) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// A socket that notes the first byte that is read from it.
struct FirstByte<'a, S> {
    socket: &'a mut S,
    byte: Option<u8>,
}

impl<S: Read> Read for FirstByte<'_, S> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.socket.read(buffer)?;
        self.byte = self.byte.or(buffer[..count].first().copied());
        Ok(count)
    }
}

/// A socket for rustls' records. It hands over even a single one, which is what a batch's replies
/// nearly always are, as a list.
struct RecordSocket<'a, S>(&'a mut S);

impl<S: Write> Write for RecordSocket<'_, S> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.write(bytes)
    }

    fn write_vectored(&mut self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        write_slices(self.0, slices)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

fn invalid(error: rustls::Error) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, error)
}
