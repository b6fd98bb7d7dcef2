//! The two ends of a socket in memory.

use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read, Write};

/// The server's end.
pub(crate) struct Pipe {
    /// What the client has sent.
    pub(crate) to_server: VecDeque<u8>,
    /// What the server has sent.
    pub(crate) to_client: VecDeque<u8>,
    /// Bytes that a read gives or a write takes at most.
    pub(crate) step: usize,
    /// Bytes that may wait for the client.
    pub(crate) room: usize,
    /// The client has gone.
    pub(crate) has_ended: bool,
}

impl Default for Pipe {
    fn default() -> Pipe {
        Pipe {
            to_server: VecDeque::new(),
            to_client: VecDeque::new(),
            step: usize::MAX,
            room: usize::MAX,
            has_ended: false,
        }
    }
}

impl Read for Pipe {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = buffer.len().min(self.step).min(self.to_server.len());
        if count == 0 && !self.has_ended {
            return Err(ErrorKind::WouldBlock.into());
        }
        self.to_server.read(&mut buffer[..count])
    }
}

impl Write for Pipe {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = bytes.len().min(self.step).min(self.room - self.to_client.len());
        if count == 0 && !bytes.is_empty() {
            return Err(ErrorKind::WouldBlock.into());
        }
        self.to_client.extend(&bytes[..count]);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
