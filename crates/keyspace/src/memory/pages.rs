//! The page pool: pages of 8 KiB for slabs, and longer rows for tables, cut from chunks of 2 MiB.
//!
//! Chunks are aligned to the size of a huge page and, once there are two, marked for it: a random
//! hit among a million keys touches pages that no TLB covers at 4 KiB. What slabs and tables give
//! back is used again by both: tables that grow leave holes, and entries fill them. The shortest
//! free row that suffices is used, and of those the lowest.
//!
//! Memory is never unmapped, but when more than `WARM_PAGES_MAX` pages lie idle, further ones
//! give their memory back to the system and keep only their address, so that RSS falls after a
//! FLUSHALL.
//!
//! Chunks come from the system and not from the allocator, which puts each aligned chunk apart from
//! the next and fills the holes with what else the program needs. With huge pages for everything
//! that cost 160 MB at ten million keys.

use super::free_rows::FreeRows;
use super::region::Region;
use basalt_stdx::lock_rank::RankedMutex;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Size and alignment of a page in bytes.
pub const PAGE_BYTES: usize = 8192;
/// Rows are multiples of this, and aligned to it.
pub const ROW_STEP_BYTES: usize = 4096;
pub(super) const CHUNK_BYTES: usize = 2 << 20;
/// Address space that is asked for at once. Only chunks that are used take memory.
pub(super) const REGION_BYTES: usize = if cfg!(miri) { CHUNK_BYTES } else { 64 << 20 };
/// Idle pages that keep their memory: 32 MiB.
const WARM_PAGES_MAX: usize = 4096;

/// A source of pages, shared by all tables.
#[derive(Debug, Default)]
pub struct PagePool {
    idle: RankedMutex<Idle>,
    /// Pages that slabs hold.
    used: AtomicUsize,
}

#[derive(Debug, Default)]
struct Idle {
    rows: FreeRows,
    /// What the chunks are cut from; the last one may have some left.
    regions: Vec<Region>,
    /// Bytes of the last region that are chunks already.
    region_bytes_used: usize,
}

impl PagePool {
    /// Takes a page. Its contents are undefined.
    pub fn take(&self) -> NonNull<u8> {
        self.used.fetch_add(1, Ordering::Relaxed);
        self.take_aligned(PAGE_BYTES, PAGE_BYTES)
    }

    /// Returns a page.
    ///
    /// # Safety
    /// The page came from [`PagePool::take`] of this pool and nobody uses it any more.
    pub unsafe fn give(&self, page: NonNull<u8>) {
        self.used.fetch_sub(1, Ordering::Relaxed);
        // SAFETY: it is a row, too.
        unsafe { self.give_row(page, PAGE_BYTES) };
    }

    /// Takes a row of `bytes`, a multiple of [`ROW_STEP_BYTES`] and at most a chunk, and aligned to
    /// that step. Its contents are undefined.
    pub fn take_row(&self, bytes: usize) -> NonNull<u8> {
        self.take_aligned(bytes, ROW_STEP_BYTES)
    }

    fn take_aligned(&self, bytes: usize, align: usize) -> NonNull<u8> {
        assert!(bytes.is_multiple_of(ROW_STEP_BYTES) && (1..=CHUNK_BYTES).contains(&bytes));
        let mut idle = self.idle.lock();
        let address = loop {
            match idle.rows.take(bytes, align) {
                Some(address) => break address,
                None => idle.add_chunk(),
            }
        };
        NonNull::new(ptr::with_exposed_provenance_mut(address)).expect("no page is at address 0")
    }

    /// Returns a row.
    ///
    /// # Safety
    /// It came from [`PagePool::take_row`] of this pool for as many bytes, and nobody uses it any
    /// more.
    pub unsafe fn give_row(&self, row: NonNull<u8>, bytes: usize) {
        let mut idle = self.idle.lock();
        if idle.rows.bytes() > WARM_PAGES_MAX * PAGE_BYTES {
            release_memory(row, bytes);
        }
        idle.rows.give(row.as_ptr().addr(), bytes);
    }

    /// Bytes in pages that slabs hold.
    pub fn bytes_used(&self) -> usize {
        self.used.load(Ordering::Relaxed) * PAGE_BYTES
    }
}

impl Idle {
    #[cold]
    fn add_chunk(&mut self) {
        let is_first = self.regions.is_empty();
        if is_first || self.region_bytes_used == REGION_BYTES {
            self.regions.push(Region::map());
            self.region_bytes_used = 0;
        }
        let region = self.regions.last().expect("one was added if there was none");
        // Not for the first chunk while it is the only one: a few keys with large values, which
        // stand elsewhere, would not fill a huge page.
        let is_second = self.regions.len() == 1 && self.region_bytes_used == CHUNK_BYTES;
        if is_second || !is_first && self.region_bytes_used == 0 {
            region.use_huge_pages();
        }
        let base = region.base.as_ptr().expose_provenance();
        self.rows.give(base + self.region_bytes_used, CHUNK_BYTES);
        self.region_bytes_used += CHUNK_BYTES;
    }
}

impl Drop for PagePool {
    fn drop(&mut self) {
        assert_eq!(self.used.load(Ordering::Relaxed), 0, "a slab outlived its page pool");
        for region in self.idle.inner_mut().regions.drain(..) {
            // SAFETY: no page of it is in use, and the list of idle ones goes, too.
            unsafe { region.unmap() };
        }
    }
}

/// Returns the memory behind idle pages to the system.
fn release_memory(row: NonNull<u8>, bytes: usize) {
    if cfg!(miri) {
        return;
    }
    // SAFETY: the pages are idle, so their contents may become zeros.
    let _ = unsafe {
        rustix::mm::madvise(row.as_ptr().cast(), bytes, rustix::mm::Advice::LinuxDontNeed)
    };
}
