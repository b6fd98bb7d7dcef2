//! HOT PATH
//! A slab allocator for one table: cells of equal size in 8 KiB pages, sizes in steps of 8 bytes.
//!
//! A 16-byte key with a 64-byte value is an entry of 88 bytes; general-purpose allocators have size
//! classes of 80, 96 and 112 there and waste 8%, on every key. A slab belongs to one table, so the
//! table's partition lock covers it and an allocation is a pop from a list: no atomic, no thread
//! cache. Dropping a table gives its pages back without walking its entries.
//!
//! ```text
//! page = prev:ptr next:ptr cell_bytes:u16 used:u16 free:u16 fresh:u16 | cell cell cell …
//!        free:  offset of the first freed cell, 0 = none; a freed cell holds that of the next
//!        fresh: offset of the first cell never used
//! ```
//! Pages with a free cell are linked per size. Sizes above [`CELL_BYTES_MAX`] go to the global
//! allocator, whose waste is small against them.

use super::pages::{PAGE_BYTES, PagePool};
use basalt_stdx::prefetch::prefetch;
use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::ptr::{self, NonNull};
use std::sync::Arc;

/// Largest cell in bytes.
pub const CELL_BYTES_MAX: usize = 512;
const STEP_BYTES: usize = 8;
const CLASSES: usize = CELL_BYTES_MAX / STEP_BYTES + 1;

#[repr(C)]
struct Page {
    prev: *mut Page,
    next: *mut Page,
    cell_bytes: u16,
    used: u16,
    free: u16,
    fresh: u16,
}

const HEADER_BYTES: usize = size_of::<Page>();

/// Allocates the entries of one table.
pub struct Slab {
    pool: Arc<PagePool>,
    /// By size class: the first page with a free cell. Allocated with the first entry.
    open: Option<Box<[*mut Page; CLASSES]>>,
    /// Pages without a free cell, so that dropping the slab finds them.
    full: *mut Page,
    /// Entries in the global allocator, so that dropping the slab frees them: their bytes.
    large_bytes: usize,
    /// Of the last allocation.
    recent: Recent,
}

/// What the next allocation touches, if it is of the size of the last one: to be fetched, never to
/// be read. In one word, for tables stand side by side: the address of the cell, and above it the
/// class.
#[derive(Clone, Copy, Default)]
struct Recent(u64);

impl Recent {
    const CLASS_SHIFT: u32 = 56;

    #[inline]
    fn new(cell: usize, class: usize) -> Recent {
        Recent(cell as u64 | (class as u64) << Recent::CLASS_SHIFT)
    }

    #[inline]
    fn class(self) -> usize {
        (self.0 >> Recent::CLASS_SHIFT) as usize
    }

    #[inline]
    fn cell(self) -> usize {
        (self.0 & ((1 << Recent::CLASS_SHIFT) - 1)) as usize
    }
}

// SAFETY: the raw pointers are to pages that this slab alone owns; it has no thread affinity.
unsafe impl Send for Slab {}

/// Bytes that a request for `bytes` occupies: the next multiple of 8.
#[inline]
pub fn cell_bytes(bytes: usize) -> usize {
    bytes.next_multiple_of(STEP_BYTES)
}

impl Slab {
    /// A slab without pages.
    pub fn new(pool: Arc<PagePool>) -> Slab {
        Slab { pool, open: None, full: ptr::null_mut(), large_bytes: 0, recent: Recent::default() }
    }

    /// Allocates `bytes` (at least 8), aligned to 8.
    #[inline]
    pub fn allocate(&mut self, bytes: usize) -> NonNull<u8> {
        let bytes = cell_bytes(bytes);
        if bytes > CELL_BYTES_MAX {
            return self.allocate_large(bytes);
        }
        let class = bytes / STEP_BYTES;
        let first = match &self.open {
            Some(open) => open[class],
            None => ptr::null_mut(),
        };
        let page = if first.is_null() { self.open_page(bytes) } else { first };
        // SAFETY: pages in `open` are live pages of this slab with at least one free cell, and
        // their offsets were written by this file.
        unsafe {
            let header = &mut *page;
            let offset = header.free;
            let cell = if offset != 0 {
                let cell = page.byte_add(usize::from(offset)).cast::<u8>();
                header.free = cell.cast::<u16>().read();
                cell
            } else {
                let cell = page.byte_add(usize::from(header.fresh)).cast::<u8>();
                header.fresh += header.cell_bytes;
                cell
            };
            header.used += 1;
            let next = if header.free != 0 { header.free } else { header.fresh };
            self.recent = Recent::new(page.addr() + usize::from(next), class);
            if header.is_full() {
                self.close_page(page, class);
            }
            NonNull::new_unchecked(cell)
        }
    }

    /// Brings in what the next allocation will touch.
    #[inline]
    pub fn prefetch_next(&self) {
        if let Some(open) = &self.open {
            let cell = self.recent.cell();
            prefetch(open.as_ptr().wrapping_add(self.recent.class()).cast());
            prefetch(ptr::without_provenance(cell & !(PAGE_BYTES - 1)));
            prefetch(ptr::without_provenance(cell));
        }
    }

    /// Frees what [`Slab::allocate`] gave for `bytes`.
    ///
    /// # Safety
    /// `cell` came from this slab for the same rounded size and is not used any more.
    #[inline]
    pub unsafe fn free(&mut self, cell: NonNull<u8>, bytes: usize) {
        let bytes = cell_bytes(bytes);
        if bytes > CELL_BYTES_MAX {
            self.large_bytes -= bytes;
            // SAFETY: allocated by `allocate_large` with this layout, says the caller.
            unsafe { dealloc(cell.as_ptr(), large_layout(bytes)) };
            return;
        }
        let page = cell.as_ptr().map_addr(|addr| addr & !(PAGE_BYTES - 1)).cast::<Page>();
        // SAFETY: a cell of a slab lies in a page aligned to its size, whose header is at its
        // start.
        unsafe {
            let was_full = (*page).is_full();
            cell.as_ptr().cast::<u16>().write((*page).free);
            (*page).free = (cell.as_ptr().addr() & (PAGE_BYTES - 1)) as u16;
            (*page).used -= 1;
            let class = bytes / STEP_BYTES;
            if was_full {
                self.reopen_page(page, class);
            } else if (*page).used == 0 {
                self.release_page(page, class);
            }
        }
    }

    /// Where the pages come from.
    pub fn pool(&self) -> &PagePool {
        &self.pool
    }

    /// Bytes allocated outside of pages.
    pub fn large_bytes(&self) -> usize {
        self.large_bytes
    }

    #[cold]
    fn allocate_large(&mut self, bytes: usize) -> NonNull<u8> {
        self.large_bytes += bytes;
        let layout = large_layout(bytes);
        // SAFETY: the size is not zero.
        let cell = unsafe { alloc(layout) };
        NonNull::new(cell).unwrap_or_else(|| handle_alloc_error(layout))
    }

    #[cold]
    fn open_page(&mut self, bytes: usize) -> *mut Page {
        let page = self.pool.take().as_ptr().cast::<Page>();
        let header = Page {
            prev: ptr::null_mut(),
            next: ptr::null_mut(),
            cell_bytes: bytes as u16,
            used: 0,
            free: 0,
            fresh: HEADER_BYTES as u16,
        };
        // SAFETY: the page is ours and large enough for its header.
        unsafe { page.write(header) };
        let open = self.open.get_or_insert_with(|| Box::new([ptr::null_mut(); CLASSES]));
        open[bytes / STEP_BYTES] = page;
        page
    }

    /// Moves the first open page of a class, now full, to the full list.
    #[cold]
    unsafe fn close_page(&mut self, page: *mut Page, class: usize) {
        let open = self.open.as_mut().expect("a page is open");
        // SAFETY: `page` is the head of its class's list; all linked pages are live pages of ours.
        unsafe {
            unlink(&mut open[class], page);
            link(&mut self.full, page);
        }
    }

    #[cold]
    unsafe fn reopen_page(&mut self, page: *mut Page, class: usize) {
        let open = self.open.as_mut().expect("a page was open once");
        // SAFETY: a full page is in the full list; all linked pages are live pages of ours.
        unsafe {
            unlink(&mut self.full, page);
            link(&mut open[class], page);
        }
    }

    #[cold]
    unsafe fn release_page(&mut self, page: *mut Page, class: usize) {
        let open = self.open.as_mut().expect("a page was open once");
        // SAFETY: a page that is not full is in its class's list. No cell of it is in use.
        unsafe {
            if open[class] == page && (*page).next.is_null() {
                return; // The last open page of its size stays, so that a lone key does not thrash.
            }
            unlink(&mut open[class], page);
            self.pool.give(NonNull::new_unchecked(page.cast()));
        }
    }
}

impl Page {
    #[inline]
    fn is_full(&self) -> bool {
        self.free == 0 && usize::from(self.fresh) + usize::from(self.cell_bytes) > PAGE_BYTES
    }
}

/// Puts a page at the front of a list.
///
/// # Safety
/// `page` and the pages of the list are live, and no other reference to them exists.
unsafe fn link(head: &mut *mut Page, page: *mut Page) {
    // SAFETY: the caller vouches that all of these pages are live and its own.
    unsafe {
        (*page).prev = ptr::null_mut();
        (*page).next = *head;
        if !head.is_null() {
            (**head).prev = page;
        }
    }
    *head = page;
}

/// Takes a page out of its list.
///
/// # Safety
/// `page` is in `head`'s list, the pages of the list are live, and no other reference to them
/// exists.
unsafe fn unlink(head: &mut *mut Page, page: *mut Page) {
    // SAFETY: the caller vouches that `page` and its neighbours are live and its own.
    unsafe {
        let (prev, next) = ((*page).prev, (*page).next);
        if prev.is_null() {
            *head = next;
        } else {
            (*prev).next = next;
        }
        if !next.is_null() {
            (*next).prev = prev;
        }
    }
}

fn large_layout(bytes: usize) -> Layout {
    Layout::from_size_align(bytes, STEP_BYTES).expect("entries are far below isize::MAX")
}

impl Drop for Slab {
    /// Returns all pages. Entries in the global allocator must have been freed before.
    fn drop(&mut self) {
        debug_assert_eq!(self.large_bytes, 0, "large entries are freed by the table");
        let mut lists = vec![self.full];
        if let Some(open) = &self.open {
            lists.extend_from_slice(&open[..]);
        }
        for mut page in lists {
            while !page.is_null() {
                // SAFETY: linked pages are live pages of ours; the link is read before giving back.
                unsafe {
                    let next = (*page).next;
                    self.pool.give(NonNull::new_unchecked(page.cast()));
                    page = next;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_do_not_overlap_and_pages_come_back() {
        let pool = Arc::new(PagePool::default());
        let mut slab = Slab::new(Arc::clone(&pool));
        let mut cells = Vec::new();
        for round in 0..if cfg!(miri) { 300 } else { 3000usize } {
            let bytes = 8 + (round * 37) % 700;
            let cell = slab.allocate(bytes);
            // SAFETY: the cell has `bytes` bytes.
            unsafe { ptr::write_bytes(cell.as_ptr(), round as u8, bytes) };
            cells.push((cell, bytes, round as u8));
            if round % 3 == 2 {
                let (cell, bytes, mark) = cells.swap_remove((round * 7) % cells.len());
                check_and_free(&mut slab, cell, bytes, mark);
            }
        }
        for (cell, bytes, mark) in cells {
            check_and_free(&mut slab, cell, bytes, mark);
        }
        assert!(pool.bytes_used() <= CLASSES * PAGE_BYTES, "at most one idle page a size is kept");
        drop(slab);
        assert_eq!(pool.bytes_used(), 0);
    }

    fn check_and_free(slab: &mut Slab, cell: NonNull<u8>, bytes: usize, mark: u8) {
        // SAFETY: the test wrote `bytes` bytes there and frees it once.
        unsafe {
            assert!(std::slice::from_raw_parts(cell.as_ptr(), bytes).iter().all(|&b| b == mark));
            slab.free(cell, bytes);
        }
    }
}
