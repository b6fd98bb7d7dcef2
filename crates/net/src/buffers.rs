//! HOT PATH
//! Query buffers: what a client has sent and no command has consumed.
//!
//! An idle connection has no buffer. A thread keeps a pool of buffers of [`BUFFER_BYTES`] and lends
//! one to a connection when there is something to read; most are given back, empty, in the same
//! turn. A connection that fills its buffer in one read gets a larger one next time.

/// Size of a pooled buffer.
pub(crate) const BUFFER_BYTES: usize = 16 << 10;
/// Largest buffer that a connection keeps while it is empty.
const KEPT_BYTES_MAX: usize = 256 << 10;
/// Pooled buffers that a thread keeps: 4 MiB.
const POOL_MAX: usize = 256;

/// A thread's idle buffers, all of [`BUFFER_BYTES`].
#[derive(Debug, Default)]
pub(crate) struct BufferPool {
    idle: Vec<Vec<u8>>,
}

/// One connection's query buffer.
#[derive(Debug, Default)]
pub(crate) struct Input {
    /// All of it is initialised; `filled` bytes of it are the client's.
    bytes: Vec<u8>,
    filled: usize,
    /// Where the first byte is that no command has consumed.
    pub(crate) consumed: usize,
    /// Where parsing goes on.
    pub(crate) parsed: usize,
    /// The last read filled all the room there was.
    pub(crate) greedy: bool,
}

impl Input {
    /// What the client has sent.
    #[inline]
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes[..self.filled]
    }

    /// What the client has sent, for the parser, which unquotes inline requests in place.
    #[inline]
    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[..self.filled]
    }

    /// What the client has sent, and up to where commands have consumed it.
    #[inline(always)]
    pub(crate) fn for_running(&mut self) -> (&[u8], &mut usize) {
        (&self.bytes[..self.filled], &mut self.consumed)
    }

    /// Bytes of memory that it takes.
    #[inline]
    pub(crate) fn memory_bytes(&self) -> usize {
        self.bytes.capacity()
    }

    /// Bytes not yet consumed.
    #[inline]
    pub(crate) fn pending(&self) -> usize {
        self.filled - self.consumed
    }

    /// Everything has been parsed.
    #[inline]
    pub(crate) fn is_parsed(&self) -> bool {
        self.parsed == self.filled
    }

    /// Room to read into. `wanted` is how long the request at `parsed` is known to become, 0 if
    /// nothing is known.
    pub(crate) fn room(&mut self, pool: &mut BufferPool, wanted: usize) -> &mut [u8] {
        if self.bytes.is_empty() {
            self.bytes = pool.take();
        }
        if self.consumed > 0 {
            self.bytes.copy_within(self.consumed..self.filled, 0);
            self.filled -= self.consumed;
            self.parsed -= self.consumed;
            self.consumed = 0;
        }
        let target = self.target_bytes(wanted);
        if target > self.bytes.len() {
            self.bytes.resize(target, 0);
        }
        &mut self.bytes[self.filled..]
    }

    /// How large the buffer should be for the next read: at most twice what it is.
    fn target_bytes(&self, wanted: usize) -> usize {
        let now = self.bytes.len();
        let end = self.parsed.saturating_add(wanted);
        if end > now {
            // The client's word about a length is trusted one doubling at a time.
            let most = (now * 2).max(self.filled + BUFFER_BYTES);
            return end.clamp(self.filled + BUFFER_BYTES / 2, most);
        }
        let grows = self.filled == now || self.greedy && now < KEPT_BYTES_MAX;
        if grows { (now * 2).max(BUFFER_BYTES) } else { now }
    }

    /// The client's bytes have been read into the room.
    #[inline]
    pub(crate) fn fill(&mut self, bytes: usize) {
        self.greedy = bytes == self.bytes.len() - self.filled;
        self.filled += bytes;
    }

    /// Releases the buffer if nothing is in it.
    #[inline]
    pub(crate) fn release(&mut self, pool: &mut BufferPool) {
        if self.consumed == self.filled && !self.bytes.is_empty() {
            self.consumed = 0;
            self.filled = 0;
            self.parsed = 0;
            if self.bytes.len() == BUFFER_BYTES {
                pool.give(std::mem::take(&mut self.bytes));
            } else if self.bytes.len() > KEPT_BYTES_MAX {
                self.bytes = Vec::new();
            }
        }
    }

    /// Keeps what is not consumed in no more memory than it needs, for it may be long until it is.
    pub(crate) fn compact(&mut self, pool: &mut BufferPool) {
        let pending = self.bytes[self.consumed..self.filled].to_vec();
        let old = std::mem::replace(&mut self.bytes, pending);
        if old.len() == BUFFER_BYTES {
            pool.give(old);
        }
        self.parsed -= self.consumed;
        (self.consumed, self.filled) = (0, self.bytes.len());
    }

    /// Frees memory that an idle connection does not need.
    pub(crate) fn shrink(&mut self) {
        if self.filled == 0 {
            self.bytes = Vec::new();
            self.greedy = false;
        }
    }
}

impl BufferPool {
    fn take(&mut self) -> Vec<u8> {
        self.idle.pop().unwrap_or_else(|| vec![0; BUFFER_BYTES])
    }

    fn give(&mut self, buffer: Vec<u8>) {
        if self.idle.len() < POOL_MAX {
            self.idle.push(buffer);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn feed(input: &mut Input, pool: &mut BufferPool, bytes: &[u8], wanted: usize) {
        let room = input.room(pool, wanted);
        room[..bytes.len()].copy_from_slice(bytes);
        input.fill(bytes.len());
    }

    #[test]
    fn an_emptied_buffer_goes_back_and_a_cut_request_moves_to_the_front() {
        let (mut input, mut pool) = (Input::default(), BufferPool::default());
        feed(&mut input, &mut pool, b"abcdef", 0);
        input.consumed = 6;
        input.parsed = 6;
        input.release(&mut pool);
        assert_eq!((input.bytes.len(), pool.idle.len()), (0, 1));
        feed(&mut input, &mut pool, b"xxxyz", 0);
        input.consumed = 3;
        input.parsed = 3;
        feed(&mut input, &mut pool, b"!", 0);
        assert_eq!(input.bytes(), b"yz!");
        assert_eq!((input.consumed, input.parsed, input.pending()), (0, 0, 3));
    }

    #[test]
    fn a_compacted_buffer_goes_back_and_grows_again() {
        let (mut input, mut pool) = (Input::default(), BufferPool::default());
        feed(&mut input, &mut pool, b"abcdef", 0);
        input.consumed = 2;
        input.parsed = 4;
        input.compact(&mut pool);
        assert_eq!((input.bytes(), input.bytes.len(), pool.idle.len()), (&b"cdef"[..], 4, 1));
        assert_eq!((input.consumed, input.parsed), (0, 2));
        assert!(input.room(&mut pool, 0).len() >= BUFFER_BYTES - 4);
        assert_eq!(input.bytes(), b"cdef");
        input.compact(&mut pool);
        assert!(input.room(&mut pool, 1 << 30).len() >= BUFFER_BYTES / 2);
    }

    #[test]
    fn a_large_claim_is_believed_one_doubling_at_a_time() {
        let (mut input, mut pool) = (Input::default(), BufferPool::default());
        let mut total = 0;
        while total < 1 << 20 {
            let room = input.room(&mut pool, 512 << 20).len();
            assert!(input.bytes.len() <= 2 * total.max(BUFFER_BYTES) + BUFFER_BYTES);
            input.fill(room);
            total += room;
        }
    }
}
