//! What the Lua states of all threads take of memory.

use basalt_stdx::lock_rank::RankedMutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};

/// See the head of this file. Each thread writes its own figure.
#[derive(Debug, Default)]
pub(crate) struct LuaMemory {
    /// Of each thread that has a state; a thread that ends takes its own along.
    of_threads: RankedMutex<Vec<Weak<AtomicU64>>>,
}

impl LuaMemory {
    /// A thread has made a state: returns where it writes what that takes.
    pub(crate) fn add_thread(&self) -> Arc<AtomicU64> {
        let added = Arc::default();
        let mut of_threads = self.of_threads.lock();
        of_threads.retain(|thread| thread.strong_count() > 0);
        of_threads.push(Arc::downgrade(&added));
        added
    }

    /// All of them together.
    pub(crate) fn bytes(&self) -> u64 {
        let of_threads = self.of_threads.lock();
        let there = of_threads.iter().filter_map(Weak::upgrade);
        // Relaxed: figures by themselves.
        there.map(|bytes| bytes.load(Ordering::Relaxed)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_has_ended_counts_no_more() {
        let memory = LuaMemory::default();
        let (one, other) = (memory.add_thread(), memory.add_thread());
        one.store(10, Ordering::Relaxed);
        other.store(5, Ordering::Relaxed);
        assert_eq!(memory.bytes(), 15);
        drop(one);
        assert_eq!(memory.bytes(), 5);
    }
}
