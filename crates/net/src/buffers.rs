//! HOT PATH
//! A thread's idle query buffers.
//!
//! An idle connection has no buffer. A thread keeps a pool of buffers of [`BUFFER_BYTES`] and lends
//! one to a connection when there is something to read; most are given back, empty, in the same
//! turn (`input.rs`). It also keeps the last large one for some time: the allocator would keep the
//! memory of many for a second, while others are made.

use crate::share::{Held, Share};
use basalt_stdx::pages::free_at_once;
use std::sync::Arc;

/// Size of a pooled buffer.
pub(crate) const BUFFER_BYTES: usize = 16 << 10;
/// Pooled buffers that a thread keeps: 4 MiB.
const POOL_MAX: usize = 256;

/// Bytes of a large buffer that is kept.
const LARGE_BYTES_MAX: usize = 33 << 20;

/// A thread's idle buffers.
#[derive(Debug, Default)]
pub(crate) struct BufferPool {
    /// All of [`BUFFER_BYTES`].
    idle: Vec<Vec<u8>>,
    /// A larger one, as long as it has ever been filled.
    large: Option<Vec<u8>>,
    /// Whether that was there already when [`BufferPool::age`] was last called.
    is_large_old: bool,
    /// Where the larger one counts.
    share: Option<Share>,
}

impl BufferPool {
    /// Has the large buffer count there.
    pub(crate) fn count_in(&mut self, held: &Arc<Held>) {
        self.share = Some(Share::of(held));
    }

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

    /// A buffer with at least this capacity.
    #[cold]
    pub(crate) fn take_large(&mut self, bytes: usize) -> Option<Vec<u8>> {
        let large = self.large.take_if(|buffer| buffer.capacity() >= bytes)?;
        self.count(0);
        Some(large)
    }

    /// Takes a large buffer back. It is not kept while somebody waits for the room that it takes,
    /// and does not stay with the allocator then: the room is filled again within milliseconds.
    #[cold]
    pub(crate) fn give_large(&mut self, buffer: Vec<u8>) {
        let kept = self.large.as_ref().map_or(0, Vec::capacity);
        let len = buffer.len();
        let is_waited_for = self.share.as_ref().is_some_and(Share::is_waited_for);
        if buffer.capacity() > kept && len <= LARGE_BYTES_MAX && !is_waited_for {
            self.large = Some(buffer);
            self.is_large_old = false;
            self.count(len);
        } else if is_waited_for {
            free_at_once(buffer);
        }
    }

    /// Lets the large buffer go; returns true if there was one.
    #[cold]
    pub(crate) fn drop_large(&mut self) -> bool {
        let large = self.large.take();
        let had_one = large.is_some();
        large.into_iter().for_each(free_at_once);
        self.count(0);
        had_one
    }

    /// Called once a second: lets the large buffer go if nobody has taken it since the last time.
    pub(crate) fn age(&mut self) {
        if self.is_large_old {
            self.drop_large();
        }
        self.is_large_old = self.large.is_some();
    }

    fn count(&mut self, bytes: usize) {
        if let Some(share) = &mut self.share {
            share.set_idle(bytes);
        }
    }
}

#[cfg(test)]
impl BufferPool {
    pub(crate) fn idle_count(&self) -> usize {
        self.idle.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_buffer_is_kept_for_a_while_and_counts() {
        let held = Arc::default();
        let (mut pool, other) = (BufferPool::default(), Share::of(&held));
        pool.count_in(&held);
        let of = |len: usize, capacity| {
            let mut buffer = Vec::with_capacity(capacity);
            buffer.resize(len, 0);
            buffer
        };
        pool.give_large(of(50_000, 100_000));
        pool.give_large(of(90_000, 90_000));
        assert_eq!(other.idle_of_all(), 50_000);
        assert!(pool.take_large(100_001).is_none());
        let buffer = pool.take_large(70_000).unwrap();
        assert_eq!((buffer.len(), other.idle_of_all()), (50_000, 0));
        pool.give_large(buffer);
        pool.age();
        assert_eq!(other.idle_of_all(), 50_000);
        pool.age();
        assert_eq!((other.idle_of_all(), pool.drop_large()), (0, false));
    }
}
