//! An allocator for tests of how much memory something needs: the system's, with the bytes that are
//! allocated counted.
//!
//! JUSTIFICATION: the trait is unsafe, and what a process takes from the kernel, the alternative,
//! depends on what it has freed before.

#![expect(unsafe_code, reason = "an allocator is unsafe to implement")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

/// To be the global allocator of a test's program: it counts for all threads.
#[derive(Debug, Default)]
pub struct CountingAllocator {
    bytes: AtomicUsize,
    peak: AtomicUsize,
}

impl CountingAllocator {
    /// Nothing is allocated.
    pub const fn new() -> CountingAllocator {
        CountingAllocator { bytes: AtomicUsize::new(0), peak: AtomicUsize::new(0) }
    }

    /// Bytes that are allocated now.
    pub fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Most bytes that have been allocated at once while `run` ran, beyond those at its beginning.
    pub fn peak_of(&self, run: impl FnOnce()) -> usize {
        let before = self.bytes();
        self.peak.store(before, Ordering::Relaxed);
        run();
        self.peak.load(Ordering::Relaxed).saturating_sub(before)
    }

    fn allocated(&self, bytes: usize) {
        let now = self.bytes.fetch_add(bytes, Ordering::Relaxed) + bytes;
        self.peak.fetch_max(now, Ordering::Relaxed);
    }

    fn freed(&self, bytes: usize) {
        self.bytes.fetch_sub(bytes, Ordering::Relaxed);
    }
}

// SAFETY: every call is the system allocator's own, with its arguments, and returns what that
// returns.
unsafe impl GlobalAlloc for CountingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        self.allocated(layout.size());
        // SAFETY: the caller keeps the promises of the same function.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        self.allocated(layout.size());
        // SAFETY: the caller keeps the promises of the same function.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        self.freed(layout.size());
        // SAFETY: the caller keeps the promises of the same function.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        // While it is moved, both may be there.
        self.allocated(bytes);
        // SAFETY: the caller keeps the promises of the same function.
        let moved = unsafe { System.realloc(pointer, layout, bytes) };
        self.freed(layout.size());
        moved
    }
}

#[cfg(test)]
mod tests {
    use super::CountingAllocator;
    use std::alloc::{GlobalAlloc, Layout};

    #[test]
    fn what_is_allocated_at_once_is_counted() {
        let allocator = CountingAllocator::new();
        let small = Layout::array::<u8>(100).expect("a small one");
        // SAFETY: each block is freed once, with the layout that it has then.
        unsafe {
            let kept = allocator.alloc(small);
            let peak = allocator.peak_of(|| {
                let block = allocator.alloc_zeroed(small);
                let block = allocator.realloc(block, small, 300);
                allocator.dealloc(block, Layout::array::<u8>(300).expect("a small one"));
                let block = allocator.alloc(small);
                allocator.dealloc(block, small);
            });
            assert_eq!((peak, allocator.bytes()), (400, 100));
            allocator.dealloc(kept, small);
        }
        assert_eq!(allocator.bytes(), 0);
    }
}
