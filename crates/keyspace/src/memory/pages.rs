//! The page pool: 8 KiB pages cut from 2 MiB chunks.
//!
//! Chunks are aligned to the size of a huge page and marked for it: a random hit among a million
//! keys touches pages that no TLB covers at 4 KiB. A page that a slab gives back is used again by
//! any slab of any size. Chunks are never returned, but when more than [`WARM_PAGES_MAX`] pages lie
//! idle, further ones give their memory back to the system and keep only their address, so that RSS
//! falls after a FLUSHALL.

use parking_lot::Mutex;
use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Size and alignment of a page in bytes.
pub const PAGE_BYTES: usize = 8192;
const CHUNK_BYTES: usize = 2 << 20;
/// Idle pages that keep their memory: 32 MiB.
const WARM_PAGES_MAX: usize = 4096;

/// A source of pages, shared by all slabs.
#[derive(Debug, Default)]
pub struct PagePool {
    idle: Mutex<Idle>,
    used: AtomicUsize,
}

#[derive(Debug, Default)]
struct Idle {
    /// Pages with memory behind them.
    warm: Vec<NonNull<u8>>,
    /// Pages whose memory has been given back; reading them gives zeros or anything.
    cold: Vec<NonNull<u8>>,
    chunks: Vec<NonNull<u8>>,
}

// SAFETY: the pointers in `Idle` are plain addresses of memory that nobody uses while it is idle;
// the mutex hands each out once.
unsafe impl Send for Idle {}

impl PagePool {
    /// Takes a page. Its contents are undefined.
    pub fn take(&self) -> NonNull<u8> {
        let mut idle = self.idle.lock();
        if idle.warm.is_empty() && idle.cold.is_empty() {
            idle.add_chunk();
        }
        self.used.fetch_add(1, Ordering::Relaxed);
        let page = match idle.warm.pop() {
            Some(page) => Some(page),
            None => idle.cold.pop(),
        };
        page.expect("a chunk was added when both lists were empty")
    }

    /// Gives a page back.
    ///
    /// # Safety
    /// The page came from [`PagePool::take`] of this pool and nobody uses it any more.
    pub unsafe fn give(&self, page: NonNull<u8>) {
        self.used.fetch_sub(1, Ordering::Relaxed);
        let mut idle = self.idle.lock();
        if idle.warm.len() < WARM_PAGES_MAX {
            idle.warm.push(page);
        } else {
            release_memory(page);
            idle.cold.push(page);
        }
    }

    /// Bytes in pages that slabs hold.
    pub fn bytes_used(&self) -> usize {
        self.used.load(Ordering::Relaxed) * PAGE_BYTES
    }
}

impl Idle {
    #[cold]
    fn add_chunk(&mut self) {
        let layout = chunk_layout();
        // SAFETY: the layout's size is not zero.
        let chunk = unsafe { alloc(layout) };
        let Some(chunk) = NonNull::new(chunk) else { handle_alloc_error(layout) };
        advise_huge(chunk);
        self.chunks.push(chunk);
        for offset in (0..CHUNK_BYTES).step_by(PAGE_BYTES).rev() {
            // SAFETY: the offset is inside the chunk.
            self.warm.push(unsafe { chunk.add(offset) });
        }
    }
}

impl Drop for PagePool {
    fn drop(&mut self) {
        assert_eq!(self.used.load(Ordering::Relaxed), 0, "a slab outlived its page pool");
        for chunk in self.idle.get_mut().chunks.drain(..) {
            // SAFETY: allocated with this layout in `add_chunk`; no page of it is in use.
            unsafe { dealloc(chunk.as_ptr(), chunk_layout()) };
        }
    }
}

fn chunk_layout() -> Layout {
    Layout::from_size_align(CHUNK_BYTES, CHUNK_BYTES).expect("both are the same power of two")
}

/// Asks for a huge page. A refusal (not supported, switched off) costs only speed.
fn advise_huge(chunk: NonNull<u8>) {
    if cfg!(miri) {
        return;
    }
    // SAFETY: the range is a live allocation of ours; the advice does not change its contents.
    let _ = unsafe {
        rustix::mm::madvise(chunk.as_ptr().cast(), CHUNK_BYTES, rustix::mm::Advice::LinuxHugepage)
    };
}

/// Gives the memory behind an idle page back to the system.
fn release_memory(page: NonNull<u8>) {
    if cfg!(miri) {
        return;
    }
    // SAFETY: the page is idle, so its contents may become zeros.
    let _ = unsafe {
        rustix::mm::madvise(page.as_ptr().cast(), PAGE_BYTES, rustix::mm::Advice::LinuxDontNeed)
    };
}
