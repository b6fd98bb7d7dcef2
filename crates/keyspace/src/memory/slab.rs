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
//! Pages with a free cell are linked per size. A size of which a table has few entries borrows
//! cells of larger ones, as long as that wastes less than half a page in all: a page for each size
//! would cost every one of a thousand tables more than the entries do. Entries above
//! [`CELL_BYTES_MAX`] share pages with others of all sizes (`memory/runs.rs`), and those that these
//! do not take go to the global allocator, whose waste is small against them.
//!
//! A page goes back when its last cell does. What scattered deletions leave is gathered by
//! [`Table::compact`](crate::table::Table::compact), which finds pages by `memory/sparse.rs`.

use super::page_list::{Links, PageChain, PageList};
use super::pages::{PAGE_BYTES, PagePool};
use super::runs::{RUN_BYTES_MAX, Runs};
use super::sparse::Search;
use basalt_stdx::prefetch::prefetch;
use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::ptr::{self, NonNull};
use std::sync::Arc;

/// Largest cell in bytes.
pub const CELL_BYTES_MAX: usize = 512;
const STEP_BYTES: usize = 8;
pub(super) const CLASSES: usize = CELL_BYTES_MAX / STEP_BYTES + 1;
/// Bytes that borrowed cells of one slab waste, at most.
const BORROWED_BYTES_MAX: usize = PAGE_BYTES / 2;

#[repr(C)]
pub(super) struct Page {
    links: Links,
    cell_bytes: u16,
    used: u16,
    free: u16,
    fresh: u16,
}

const HEADER_BYTES: usize = size_of::<Page>();

/// Allocates the entries of one table.
pub struct Slab {
    pub(super) pool: Arc<PagePool>,
    /// Allocated with the first entry.
    pub(super) pages: Option<Box<Pages>>,
    /// Entries in the global allocator that the table has to free: their bytes.
    large_bytes: usize,
    /// Of the last allocation of a cell.
    recent: Recent,
    /// Bytes of cells beyond those of the entries that have borrowed them.
    borrowed_bytes: u32,
}

/// The pages of a slab. What an allocation of a cell reads comes first.
#[repr(C)]
pub(super) struct Pages {
    /// By size class: pages with a free cell.
    pub(super) open: [PageList; CLASSES],
    /// Pages without a free cell, so that dropping the slab finds them.
    full: PageChain,
    /// Entries that are larger than cells. Allocated with the first one.
    pub(super) runs: Option<Box<Runs>>,
    /// Bytes of all pages.
    pub(super) bytes: usize,
    /// Where compaction goes on.
    pub(super) search: Search,
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
        Slab { pool, pages: None, large_bytes: 0, recent: Recent::default(), borrowed_bytes: 0 }
    }

    /// Allocates `bytes` (at least 8), aligned to 8.
    #[inline]
    pub fn allocate(&mut self, bytes: usize) -> NonNull<u8> {
        let bytes = cell_bytes(bytes);
        if bytes > CELL_BYTES_MAX {
            return self.allocate_more(bytes);
        }
        let class = bytes / STEP_BYTES;
        let first: *mut Page = match &self.pages {
            Some(pages) => pages.open[class].first().cast(),
            None => ptr::null_mut(),
        };
        let page = if first.is_null() { self.borrow_or_open_page(bytes) } else { first };
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
                let class = header.class();
                self.close_page(page, class);
            }
            NonNull::new_unchecked(cell)
        }
    }

    /// Brings in what the next allocation will touch.
    #[inline]
    pub fn prefetch_next(&self) {
        if let Some(pages) = &self.pages {
            let cell = self.recent.cell();
            prefetch(pages.open.as_ptr().wrapping_add(self.recent.class()).cast());
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
            // SAFETY: says the caller.
            return unsafe { self.free_more(cell, bytes) };
        }
        let page = cell.as_ptr().map_addr(|addr| addr & !(PAGE_BYTES - 1)).cast::<Page>();
        // SAFETY: a cell of a slab lies in a page aligned to its size, whose header is at its
        // start.
        unsafe {
            let was_full = (*page).is_full();
            cell.as_ptr().cast::<u16>().write((*page).free);
            (*page).free = (cell.as_ptr().addr() & (PAGE_BYTES - 1)) as u16;
            (*page).used -= 1;
            let class = (*page).class();
            if class != bytes / STEP_BYTES {
                self.borrowed_bytes -= u32::from((*page).cell_bytes) - bytes as u32;
            }
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

    /// Bytes of all pages.
    #[inline]
    pub fn page_bytes(&self) -> usize {
        self.pages.as_ref().map_or(0, |pages| pages.bytes)
    }

    /// Bytes allocated outside of pages.
    #[inline]
    pub fn large_bytes(&self) -> usize {
        let runs = self.pages.as_ref().and_then(|pages| pages.runs.as_ref());
        self.large_bytes + runs.map_or(0, |runs| runs.first_bytes())
    }

    /// There are entries that dropping the slab does not free.
    pub fn needs_freeing(&self) -> bool {
        self.large_bytes > 0
    }

    /// Allocates what is no cell.
    #[cold]
    fn allocate_more(&mut self, bytes: usize) -> NonNull<u8> {
        if bytes <= RUN_BYTES_MAX {
            let pages = self.pages.get_or_insert_with(Pages::new);
            let runs = pages.runs.get_or_insert_with(|| Box::new(Runs::new()));
            return runs.allocate(bytes, &self.pool, &mut pages.bytes);
        }
        self.large_bytes += bytes;
        let layout = large_layout(bytes);
        // SAFETY: the size is not zero.
        let cell = unsafe { alloc(layout) };
        NonNull::new(cell).unwrap_or_else(|| handle_alloc_error(layout))
    }

    /// Frees what is no cell.
    ///
    /// # Safety
    /// As for [`Slab::free`].
    #[cold]
    unsafe fn free_more(&mut self, cell: NonNull<u8>, bytes: usize) {
        if bytes > RUN_BYTES_MAX {
            self.large_bytes -= bytes;
            // SAFETY: allocated by `allocate_more` with this layout, says the caller.
            return unsafe { dealloc(cell.as_ptr(), large_layout(bytes)) };
        }
        let pages = self.pages.as_deref_mut().expect("a run was allocated once");
        let runs = pages.runs.as_deref_mut().expect("a run was allocated once");
        // SAFETY: says the caller.
        unsafe { runs.free(cell, bytes, &self.pool, &mut pages.bytes) };
    }

    /// A page with a free cell for what has no page with one.
    #[cold]
    fn borrow_or_open_page(&mut self, bytes: usize) -> *mut Page {
        match self.page_to_borrow_from(bytes / STEP_BYTES) {
            Some((page, wasted)) => {
                self.borrowed_bytes += wasted as u32;
                page
            }
            None => self.open_page(bytes),
        }
    }

    /// The page of the next larger class that has one with a free cell, and what a cell of it would
    /// waste.
    fn page_to_borrow_from(&self, class: usize) -> Option<(*mut Page, usize)> {
        let pages = self.pages.as_ref()?;
        let larger = class + 1..CLASSES;
        let lender = larger.into_iter().find(|&larger| !pages.open[larger].first().is_null())?;
        let wasted = (lender - class) * STEP_BYTES;
        let is_little = self.borrowed_bytes as usize + wasted <= BORROWED_BYTES_MAX;
        is_little.then(|| (pages.open[lender].first().cast(), wasted))
    }

    fn open_page(&mut self, bytes: usize) -> *mut Page {
        let page = self.pool.take(PAGE_BYTES).as_ptr().cast::<Page>();
        let header = Page {
            links: Links::NONE,
            cell_bytes: bytes as u16,
            used: 0,
            free: 0,
            fresh: HEADER_BYTES as u16,
        };
        let pages = self.pages.get_or_insert_with(Pages::new);
        pages.bytes += PAGE_BYTES;
        // SAFETY: the page is ours and large enough for its header.
        unsafe {
            page.write(header);
            pages.open[bytes / STEP_BYTES].push_front(page.cast());
        }
        page
    }

    /// Moves an open page of a class, now full, to the full list.
    #[cold]
    unsafe fn close_page(&mut self, page: *mut Page, class: usize) {
        let pages = self.pages.as_mut().expect("a page is open");
        // SAFETY: `page` is in its class's list; all linked pages are live pages of ours.
        unsafe {
            pages.open[class].remove(page.cast());
            pages.full.push_front(page.cast());
        }
    }

    #[cold]
    unsafe fn reopen_page(&mut self, page: *mut Page, class: usize) {
        let pages = self.pages.as_mut().expect("a page was open once");
        // SAFETY: a full page is in the full list; all linked pages are live pages of ours.
        unsafe {
            pages.full.remove(page.cast());
            pages.open[class].push_front(page.cast());
        }
    }

    #[cold]
    unsafe fn release_page(&mut self, page: *mut Page, class: usize) {
        let pages = self.pages.as_mut().expect("a page was open once");
        // SAFETY: a page that is not full is in its class's list. No cell of it is in use.
        unsafe {
            if pages.open[class].is_only(page.cast()) {
                return; // The last open page of its size stays, so that a lone key does not thrash.
            }
            pages.give_open(page, class, &self.pool);
        }
    }
}

impl Pages {
    fn new() -> Box<Pages> {
        Box::new(Pages {
            open: [PageList::EMPTY; CLASSES],
            full: PageChain::EMPTY,
            runs: None,
            bytes: 0,
            search: Search::default(),
        })
    }

    /// Returns an open page to the pool.
    ///
    /// # Safety
    /// It is a live page of this slab, of this class, and no cell of it is in use.
    pub(super) unsafe fn give_open(&mut self, page: *mut Page, class: usize, pool: &PagePool) {
        // SAFETY: a page that is not full is in its class's list.
        unsafe {
            self.open[class].remove(page.cast());
            pool.give(NonNull::new_unchecked(page.cast()), PAGE_BYTES);
        }
        self.bytes -= PAGE_BYTES;
    }
}

impl Page {
    /// The class that its cells are of.
    #[inline]
    fn class(&self) -> usize {
        usize::from(self.cell_bytes) / STEP_BYTES
    }

    #[inline]
    fn is_full(&self) -> bool {
        self.free == 0 && usize::from(self.fresh) + usize::from(self.cell_bytes) > PAGE_BYTES
    }

    /// Cells in use.
    pub(super) fn used(&self) -> usize {
        usize::from(self.used)
    }

    /// Cells of a page of this class.
    pub(super) fn cells(class: usize) -> usize {
        (PAGE_BYTES - HEADER_BYTES) / (class * STEP_BYTES)
    }

    /// Shows the cells in use of a page until `visit` returns false.
    ///
    /// # Safety
    /// `page` is a live page of a slab.
    pub(super) unsafe fn live(page: *mut Page, mut visit: impl FnMut(NonNull<u8>) -> bool) {
        // SAFETY: says the caller; the offsets were written by this file.
        unsafe {
            let Page { cell_bytes, mut free, fresh, .. } = page.read();
            let number = |offset: u16| usize::from(offset - HEADER_BYTES as u16);
            let mut is_free = [0_u64; PAGE_BYTES / STEP_BYTES / 64];
            while free != 0 {
                let cell = number(free) / usize::from(cell_bytes);
                is_free[cell / 64] |= 1 << (cell % 64);
                free = page.byte_add(usize::from(free)).cast::<u16>().read();
            }
            let cells = number(fresh) / usize::from(cell_bytes);
            for cell in (0..cells).filter(|cell| is_free[cell / 64] >> (cell % 64) & 1 == 0) {
                let offset = HEADER_BYTES + cell * usize::from(cell_bytes);
                if !visit(NonNull::new_unchecked(page.byte_add(offset).cast())) {
                    return;
                }
            }
        }
    }
}

fn large_layout(bytes: usize) -> Layout {
    Layout::from_size_align(bytes, STEP_BYTES).expect("entries are far below isize::MAX")
}

impl Drop for Slab {
    /// Returns all pages. Entries in the global allocator must have been freed before, but for
    /// those that [`Slab::needs_freeing`] leaves out.
    fn drop(&mut self) {
        debug_assert_eq!(self.large_bytes, 0, "large entries are freed by the table");
        let Some(pages) = &mut self.pages else { return };
        let give = |page: *mut Links| {
            // SAFETY: listed pages are live pages of ours, and this one is in no list any more.
            unsafe { self.pool.give(NonNull::new_unchecked(page.cast()), PAGE_BYTES) };
        };
        // SAFETY: as above; nobody uses the table any more.
        unsafe {
            pages.open.iter_mut().for_each(|list| list.drain(give));
            pages.full.drain(give);
            if let Some(runs) = &mut pages.runs {
                runs.give_all(&self.pool);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cells, runs, and what is larger than both.
    #[test]
    fn entries_do_not_overlap_and_pages_come_back() {
        let pool = Arc::new(PagePool::default());
        let mut slab = Slab::new(Arc::clone(&pool));
        let mut cells = Vec::new();
        for round in 0..if cfg!(miri) { 40 } else { 6000usize } {
            let bytes = match round % 4 {
                0 => 8 + (round * 37) % 505,
                _ => 8 + (round * 37) % 3000,
            };
            let cell = slab.allocate(bytes);
            assert!(cell.as_ptr().addr().is_multiple_of(8));
            // SAFETY: the cell has `bytes` bytes.
            unsafe { ptr::write_bytes(cell.as_ptr(), round as u8, bytes) };
            cells.push((cell, bytes, round as u8));
            if round % 3 == 2 {
                let (cell, bytes, mark) = cells.swap_remove((round * 7) % cells.len());
                check_and_free(&mut slab, cell, bytes, mark);
            }
            assert_eq!(slab.page_bytes(), pool.bytes_used());
        }
        let runs_bytes: usize = cells
            .iter()
            .map(|&(_, bytes, _)| bytes)
            .filter(|bytes| (CELL_BYTES_MAX + 1..=RUN_BYTES_MAX).contains(bytes))
            .sum();
        let cells_bytes_max = (CLASSES + cells.len() / 15) * PAGE_BYTES;
        if !cfg!(miri) {
            assert!(slab.page_bytes() < runs_bytes * 11 / 10 + cells_bytes_max);
        }
        for (cell, bytes, mark) in cells {
            check_and_free(&mut slab, cell, bytes, mark);
        }
        assert!(pool.bytes_used() <= CLASSES * PAGE_BYTES, "at most one idle page a size is kept");
        assert_eq!(slab.large_bytes(), 0);
        drop(slab);
        assert_eq!(pool.bytes_used(), 0);
    }

    /// What a server with few large values does not pay for.
    #[test]
    fn the_first_runs_take_no_page_and_go_with_the_slab() {
        let pool = Arc::new(PagePool::default());
        let mut slab = Slab::new(Arc::clone(&pool));
        let mut runs: Vec<_> = (0..14).map(|_| slab.allocate(1048)).collect();
        assert_eq!((slab.page_bytes(), slab.large_bytes()), (0, 14 * 1048));
        assert!(!slab.needs_freeing());
        runs.extend((0..15).map(|_| slab.allocate(1048)));
        assert_eq!(slab.page_bytes(), super::super::pages::RUN_PAGE_BYTES);
        for run in runs.drain(10..) {
            // SAFETY: it is freed once, with its size.
            unsafe { slab.free(run, 1048) };
        }
        assert_eq!((slab.page_bytes(), slab.large_bytes()), (0, 10 * 1048));
        drop(slab);
    }

    #[test]
    fn few_entries_of_a_size_have_no_page_of_their_own() {
        let pool = Arc::new(PagePool::default());
        let mut slab = Slab::new(Arc::clone(&pool));
        let cell = |slab: &mut Slab, bytes: usize, mark: u8| {
            let cell = slab.allocate(bytes);
            // SAFETY: the cell has `bytes` bytes.
            unsafe { ptr::write_bytes(cell.as_ptr(), mark, bytes) };
            (cell, bytes, mark)
        };
        let mut cells: Vec<_> = (0..40).map(|number| cell(&mut slab, 136, number)).collect();
        // 96 bytes of each are wasted.
        cells.extend((40..60).map(|number| cell(&mut slab, 40, number)));
        assert_eq!((slab.page_bytes(), slab.borrowed_bytes), (PAGE_BYTES, 20 * 96));
        // A smaller size has none to lend, and what is full lends nothing.
        let borrowed = slab.borrowed_bytes;
        cells.push(cell(&mut slab, 200, 60));
        assert_eq!((slab.page_bytes(), slab.borrowed_bytes), (2 * PAGE_BYTES, borrowed));
        // What is borrowed wastes half a page at most, then there is one for the size.
        cells.extend((61..101).map(|number| cell(&mut slab, 40, number)));
        assert!(slab.borrowed_bytes as usize <= BORROWED_BYTES_MAX);
        assert_eq!(slab.page_bytes(), 3 * PAGE_BYTES);
        for number in 0..cells.len() {
            let other = number * 37 % cells.len();
            cells.swap(number, other);
        }
        cells
            .into_iter()
            .for_each(|(cell, bytes, mark)| check_and_free(&mut slab, cell, bytes, mark));
        assert_eq!(slab.borrowed_bytes, 0);
        assert!(slab.page_bytes() <= 3 * PAGE_BYTES);
        drop(slab);
        assert_eq!(pool.bytes_used(), 0);
    }

    /// The sizes that check how much a key costs: all fill their pages well.
    #[test]
    fn pages_are_filled() {
        if cfg!(miri) {
            return;
        }
        for (bytes, percent_max) in
            [(88, 2), (520, 6), (624, 2), (1048, 5), (1560, 6), (1820, 13), (2016, 2)]
        {
            let mut slab = Slab::new(Arc::default());
            let cells: Vec<_> = (0..20_000).map(|_| slab.allocate(bytes)).collect();
            let in_pages = cells.len() * bytes - slab.large_bytes();
            let waste = slab.page_bytes() as f64 / in_pages as f64 - 1.0;
            assert!(waste * 100.0 < f64::from(percent_max), "{bytes}: {waste}");
        }
    }

    fn check_and_free(slab: &mut Slab, cell: NonNull<u8>, bytes: usize, mark: u8) {
        // SAFETY: the test wrote `bytes` bytes there and frees it once.
        unsafe {
            assert!(std::slice::from_raw_parts(cell.as_ptr(), bytes).iter().all(|&b| b == mark));
            slab.free(cell, bytes);
        }
    }
}
