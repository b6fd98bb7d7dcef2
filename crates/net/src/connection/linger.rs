//! The end of a connection whose client may still be sending (RFC 9112, section 9.6).
//!
//! A socket that is closed while bytes of its client are unread, or on their way, resets the
//! connection. The client's next write fails then, and most clients look for no answer after that:
//! they never learn why they were refused. So our side ends first, and what still comes is read and
//! dropped, until the client ends its side, too, or has had its time or its bytes.
//!
//! ```text
//! Closing ── all sent ──▶ Lingering ── the client's end, or a bound ──▶ Dead
//!              └────────── nothing can be unread ─────────────────────────▲
//! ```
//! Nothing that comes is kept: a connection that lingers has no query buffer and no share of the
//! room for requests. It keeps its place among the clients that there may be.

use super::{Connection, State};
use crate::buffers::BufferPool;
use crate::front::Linger;
use std::io::ErrorKind;
use std::time::Duration;

impl Connection {
    /// What becomes of the connection now that its client has been sent the last reply.
    #[cold]
    pub(super) fn after_last_reply(&mut self) -> State {
        match self.linger() {
            Some(linger) if self.stream.end_writing().is_ok() => {
                self.let_go_of_room();
                self.closing_since = None;
                State::Lingering { bytes_left: linger.bytes_max }
            }
            _ => State::Dead,
        }
    }

    /// Closes when everything owed is sent, whatever its client is about to send.
    pub(crate) fn close_without_lingering(&mut self) {
        self.may_linger = false;
        self.state = match self.state {
            State::Lingering { .. } => State::Dead,
            _ => State::Closing,
        };
    }

    /// Whether its client may still be sending something that is dropped.
    #[inline]
    pub(crate) fn lingers(&self) -> bool {
        matches!(self.state, State::Lingering { .. })
    }

    /// For how long it may linger.
    pub(super) fn linger_time_max(&mut self) -> Duration {
        self.linger().map_or(Duration::ZERO, |linger| linger.time_max)
    }

    /// Drops some of what its client still sends; returns how many bytes.
    #[cold]
    pub(crate) fn drop_unread(&mut self, pool: &mut BufferPool) -> usize {
        let State::Lingering { bytes_left } = self.state else { return 0 };
        let mut buffer = pool.take();
        let read = self.stream.read_undecrypted(&mut buffer);
        let room = buffer.len();
        pool.give(buffer);
        match read {
            Ok(count @ 1..) if count <= bytes_left => {
                self.readable = count == room || self.peer_closed;
                self.state = State::Lingering { bytes_left: bytes_left - count };
                count
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                self.readable = false;
                0
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => 0,
            Ok(_) | Err(_) => {
                self.state = State::Dead;
                0
            }
        }
    }

    fn linger(&mut self) -> Option<Linger> {
        if !self.may_linger {
            return None;
        }
        let is_unread = self.readable || self.lingers();
        self.wire.other()?.linger(is_unread)
    }

    /// Nothing of its client's will be parsed any more.
    fn let_go_of_room(&mut self) {
        (self.is_crowded, self.crowded_since) = (false, None);
        if let Some(share) = &mut self.share {
            share.leave_seat();
            share.set_waiting(false);
        }
    }
}
