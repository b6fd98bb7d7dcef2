//! The two ends of a socket in memory.

use std::collections::VecDeque;
use std::io::{self, ErrorKind, IoSlice, Read, Write};

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
    /// Writes of several slices at once.
    pub(crate) lists_written: usize,
}

impl Default for Pipe {
    fn default() -> Pipe {
        Pipe {
            to_server: VecDeque::new(),
            to_client: VecDeque::new(),
            step: usize::MAX,
            room: usize::MAX,
            has_ended: false,
            lists_written: 0,
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

    fn write_vectored(&mut self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        self.lists_written += 1;
        self.write(slices.iter().find(|slice| !slice.is_empty()).map_or(&[], |slice| slice))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
