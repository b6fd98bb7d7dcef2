//! The page pool: pages of 8 and 16 KiB for slabs, and rows for tables, cut from chunks of 2 MiB.
//!
//! Chunks are aligned to the size of a huge page and, once there are two, marked for it: a random
//! hit among a million keys touches pages that no TLB covers at 4 KiB. What slabs and tables give
//! back is used again by both: tables that grow leave holes, and entries fill them. The shortest
//! free row that suffices is used, and of those the lowest.
//!
//! Memory is never unmapped, but when more than 32 MiB lie idle, or 1% of the budget if there is
//! one ([`PagePool::set_memory_budget`]), what comes back gives its memory to the system and keeps
//! only its address, so that RSS falls after a FLUSHALL, and follows a budget. Its chunk is no huge
//! page then (`memory/scattered.rs`).
//!
//! Chunks come from the system and not from the allocator, which puts each aligned chunk apart from
//! the next and fills the holes with what else the program needs. With huge pages for everything
//! that cost 160 MB at ten million keys.

use super::chunks::{CHUNK_BYTES, REGION_BYTES};
use super::free_rows::FreeRows;
use super::region::Region;
use super::scattered::Scattered;
use basalt_stdx::lock_rank::RankedMutex;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Size and alignment of a page of cells in bytes.
pub const PAGE_BYTES: usize = 8192;
/// Size and alignment of a page of runs in bytes.
pub const RUN_PAGE_BYTES: usize = 16 << 10;
/// Rows are multiples of this, and aligned to it.
pub const ROW_STEP_BYTES: usize = 4096;
/// Idle bytes that keep their memory, at most.
const WARM_BYTES_MAX: usize = 32 << 20;
/// Idle bytes that keep their memory are at most this part of a budget.
const WARM_PART_OF_BUDGET: usize = 100;
/// Rows that give their memory back while the lock is held, and bytes after which it is let go.
const ROWS_RELEASED_MAX: usize = 32;
const RELEASED_BYTES_MAX: usize = 1 << 20;

/// A source of pages, shared by all tables.
#[derive(Debug)]
pub struct PagePool {
    idle: RankedMutex<Idle>,
    /// Bytes of the pages that slabs hold.
    used: AtomicUsize,
    /// Idle bytes that keep their memory.
    warm_bytes_max: AtomicUsize,
}

impl Default for PagePool {
    fn default() -> PagePool {
        PagePool {
            idle: RankedMutex::default(),
            used: AtomicUsize::new(0),
            warm_bytes_max: AtomicUsize::new(WARM_BYTES_MAX),
        }
    }
}

#[derive(Debug, Default)]
struct Idle {
    rows: FreeRows,
    /// Chunks of which a part has given its memory back.
    scattered: Scattered,
    /// What the chunks are cut from; the last one may have some left.
    regions: Vec<Region>,
    /// Bytes of the last region that are chunks already.
    region_bytes_used: usize,
}

impl PagePool {
    /// Takes a page of `bytes`, a power of two that is a multiple of [`ROW_STEP_BYTES`] and less
    /// than a chunk, and aligned to its size. Its contents are undefined.
    pub fn take(&self, bytes: usize) -> NonNull<u8> {
        self.used.fetch_add(bytes, Ordering::Relaxed);
        self.take_aligned(bytes, bytes)
    }

    /// Returns a page.
    ///
    /// # Safety
    /// The page came from [`PagePool::take`] of this pool for as many bytes, and nobody uses it any
    /// more.
    pub unsafe fn give(&self, page: NonNull<u8>, bytes: usize) {
        self.used.fetch_sub(bytes, Ordering::Relaxed);
        // SAFETY: it is a row, too.
        unsafe { self.give_row(page, bytes) };
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
        let chunk = chunk_of(address);
        if idle.scattered.has(chunk) && !idle.rows.has_in(chunk) {
            idle.scattered.note_whole(chunk);
        }
        NonNull::new(ptr::with_exposed_provenance_mut(address)).expect("no page is at address 0")
    }

    /// Returns a row.
    ///
    /// # Safety
    /// It came from [`PagePool::take_row`] of this pool for as many bytes, and nobody uses it any
    /// more.
    pub unsafe fn give_row(&self, row: NonNull<u8>, bytes: usize) {
        let mut idle = self.idle.lock();
        let address = row.as_ptr().addr();
        let is_beyond = idle.rows.bytes() > self.warm_bytes_max.load(Ordering::Relaxed);
        let idle_bytes = idle.rows.give(address, bytes);
        if is_beyond {
            idle.release(address, bytes);
        }
        if idle_bytes == CHUNK_BYTES {
            idle.scattered.note_whole(chunk_of(address));
        }
    }

    /// What the process may use of memory has changed; 0 for no limit. Idle rows beyond what may
    /// keep its memory then give theirs back, the longest first.
    pub fn set_memory_budget(&self, bytes: usize) {
        let part = if bytes == 0 { WARM_BYTES_MAX } else { bytes / WARM_PART_OF_BUDGET };
        let warm_bytes_max = part.min(WARM_BYTES_MAX);
        // Relaxed: a row that is given back meanwhile may keep its memory once more than it should.
        let before = self.warm_bytes_max.swap(warm_bytes_max, Ordering::Relaxed);
        if warm_bytes_max < before {
            self.release_beyond(warm_bytes_max);
        }
    }

    /// Rows that lie idle give their memory back, but for some bytes of the shortest. A part at a
    /// time: threads that have a partition's lock may wait for this one.
    fn release_beyond(&self, warm_bytes_max: usize) {
        let (mut below, mut released) = (FreeRows::ABOVE_ALL, 0);
        loop {
            let mut idle = self.idle.lock();
            let end = released + RELEASED_BYTES_MAX;
            for _ in 0..ROWS_RELEASED_MAX {
                let may_stay = idle.rows.bytes() <= warm_bytes_max + released;
                let row = idle.rows.longest_below(below).filter(|_| !may_stay);
                let Some((bytes, address)) = row else { return };
                idle.release(address, bytes);
                (below, released) = ((bytes, address), released + bytes);
                if released >= end {
                    break;
                }
            }
        }
    }

    /// Bytes in pages that slabs hold.
    pub fn bytes_used(&self) -> usize {
        self.used.load(Ordering::Relaxed)
    }
}

impl Idle {
    /// Returns the memory of an idle row, or of a part of one, to the system.
    fn release(&mut self, address: usize, bytes: usize) {
        if cfg!(miri) {
            return;
        }
        let row = ptr::with_exposed_provenance_mut(address);
        // SAFETY: the row is idle, so its contents may become zeros.
        let _ = unsafe { rustix::mm::madvise(row, bytes, rustix::mm::Advice::LinuxDontNeed) };
        let has_huge_pages = self.regions.len() > 1 || self.region_bytes_used > CHUNK_BYTES;
        if bytes < CHUNK_BYTES && has_huge_pages {
            self.scattered.note_part(chunk_of(address));
        }
    }

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

fn chunk_of(address: usize) -> usize {
    address & !(CHUNK_BYTES - 1)
}

#[cfg(test)]
#[cfg(not(miri))] // Which knows no pages of the system.
mod tests {
    use super::*;

    const PAGES: usize = 2000;

    /// Bytes of idle pages that still have what was written there. Memory that has gone to the
    /// system comes back as zeros.
    fn kept_bytes(pages: &[NonNull<u8>]) -> usize {
        // SAFETY: pages are never unmapped, and no other thread uses this pool.
        let is_kept = |page: &&NonNull<u8>| unsafe { page.read() } == 1;
        pages.iter().filter(is_kept).count() * PAGE_BYTES
    }

    fn take_and_write(pool: &PagePool) -> Vec<NonNull<u8>> {
        let pages: Vec<_> = (0..PAGES).map(|_| pool.take(PAGE_BYTES)).collect();
        for page in &pages {
            // SAFETY: the page is ours.
            unsafe { page.write_bytes(1, PAGE_BYTES) };
        }
        pages
    }

    fn give(pool: &PagePool, pages: &[NonNull<u8>]) {
        for &page in pages {
            // SAFETY: the page was taken, and is given back once.
            unsafe { pool.give(page, PAGE_BYTES) };
        }
    }

    #[test]
    fn a_budget_limits_what_idle_pages_keep() {
        let pool = PagePool::default();
        pool.set_memory_budget(2_000 << 20);
        let pages = take_and_write(&pool);
        give(&pool, &pages);
        assert_eq!(kept_bytes(&pages), PAGES * PAGE_BYTES, "16 of 20 MB");
        pool.set_memory_budget(400 << 20);
        let kept = kept_bytes(&pages);
        assert!((1 << 20..=4 << 20).contains(&kept), "{kept}");
        // A lower bound holds for what is given back later.
        pool.set_memory_budget(0);
        let pages = take_and_write(&pool);
        pool.set_memory_budget(100 << 20);
        give(&pool, &pages);
        let kept = kept_bytes(&pages);
        assert!(kept <= 2 << 20, "{kept}");
    }

    /// What has given memory back stays without a huge page until all of the chunk is used again.
    #[test]
    fn chunks_with_holes_are_no_huge_pages() {
        let pool = PagePool::default();
        let pages = take_and_write(&pool);
        let has = |page: NonNull<u8>| pool.idle.lock().scattered.has(chunk_of(page.addr().get()));
        // Nothing may stay idle but what is left of the last chunk.
        pool.set_memory_budget(1);
        give(&pool, &pages[1000..1001]);
        assert!(has(pages[1000]) && !has(pages[0]));
        let taken = pool.take(PAGE_BYTES);
        assert_eq!(taken, pages[1000], "the shortest row, and a scattered one");
        assert!(!has(taken));
        // The row is lost bit by bit, then the chunk is whole.
        let chunk: Vec<_> = pages[500..1500]
            .iter()
            .copied()
            .filter(|page| chunk_of(page.addr().get()) == chunk_of(pages[1000].addr().get()))
            .collect();
        assert_eq!(chunk.len(), CHUNK_BYTES / PAGE_BYTES);
        give(&pool, &chunk[1..]);
        assert!(has(chunk[0]));
        give(&pool, &chunk[..1]);
        assert!(!has(chunk[0]));
        let rest: Vec<_> = pages.iter().copied().filter(|page| !chunk.contains(page)).collect();
        give(&pool, &rest);
    }
}
