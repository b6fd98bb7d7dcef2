//! HOT PATH
//! A thread's idle query buffers.
//!
//! An idle connection has no buffer. A thread keeps a pool of buffers of [`BUFFER_BYTES`] and lends
//! one to a connection when there is something to read; most are given back, empty, in the same
//! turn (`input.rs`).

/// Size of a pooled buffer.
pub(crate) const BUFFER_BYTES: usize = 16 << 10;
/// Pooled buffers that a thread keeps: 4 MiB.
const POOL_MAX: usize = 256;

/// A thread's idle buffers, all of [`BUFFER_BYTES`].
#[derive(Debug, Default)]
pub(crate) struct BufferPool {
    idle: Vec<Vec<u8>>,
}

impl BufferPool {
    /// A buffer, all of it initialised.
    pub(crate) fn take(&mut self) -> Vec<u8> {
        self.idle.pop().unwrap_or_else(|| vec![0; BUFFER_BYTES])
    }

    /// Takes a buffer back, which is kept if it is of [`BUFFER_BYTES`] and there are not too many.
    pub(crate) fn give(&mut self, buffer: Vec<u8>) {
        if buffer.len() == BUFFER_BYTES && self.idle.len() < POOL_MAX {
            self.idle.push(buffer);
        }
    }
}

#[cfg(test)]
impl BufferPool {
    pub(crate) fn idle_count(&self) -> usize {
        self.idle.len()
    }
}
