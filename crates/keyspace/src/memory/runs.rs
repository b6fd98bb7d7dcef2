//! Entries too large for pages of equal cells: runs of grains of 16 bytes in pages of 16 KiB.
//!
//! Each of 1,024 tables has pages of its own. With a page for each size class, values of all
//! lengths would leave as many pages half empty in each table as there are classes, a third of a
//! GiB at 16 KiB and 40 classes. So one page has entries of all lengths, and a table one page that
//! is not full, or a few with holes.
//!
//! ```text
//! page = prev:ptr next:ptr used:u16 longest:u16 | a bit for each grain | grain grain grain …
//!        used:    grains in use, without those of the head
//!        longest: the longest free run of grains
//! ```
//! Pages are listed by their longest free run, and an allocation takes the shortest run that
//! suffices, on the page whose longest suffices most narrowly: a length that has just been freed is
//! found at once. A run has no head: the caller knows its length, and `live` asks for it.
//!
//! The first few kilobytes of a table go to the global allocator, so that a server with some
//! thousand values of a kilobyte has no page for each of its tables.

use super::grains::{Fit, GRAINS, GrainMap};
use super::page_list::{Links, PageList};
use super::pages::{PagePool, RUN_PAGE_BYTES};
use super::slab::CELL_BYTES_MAX;
use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::ptr::NonNull;

/// Largest run in bytes: eight of them fill a page. Somewhat larger ones would leave an eighth of
/// it free, where the allocator's class of 2,048 bytes wastes less.
pub(super) const RUN_BYTES_MAX: usize = 2016;
const GRAIN_BYTES: usize = RUN_PAGE_BYTES / GRAINS;
const GRAINS_MIN: usize = CELL_BYTES_MAX / GRAIN_BYTES + 1;
const GRAINS_MAX: usize = RUN_BYTES_MAX / GRAIN_BYTES;
/// Lists of pages: too short for any run, each length of a run, and longer.
pub(super) const LISTS: usize = GRAINS_MAX - GRAINS_MIN + 2;
/// Bytes of a table's first runs, which are in the global allocator.
pub(super) const FIRST_BYTES_MAX: usize = RUN_PAGE_BYTES;

#[repr(C)]
pub(super) struct RunPage {
    links: Links,
    used: u16,
    longest: u16,
    map: GrainMap,
}

const HEAD_GRAINS: usize = size_of::<RunPage>().div_ceil(GRAIN_BYTES);
/// Grains of a page that runs can have.
pub(super) const PAGE_GRAINS: usize = GRAINS - HEAD_GRAINS;
const _: () = assert!(PAGE_GRAINS / GRAINS_MAX == 8 && PAGE_GRAINS % GRAINS_MAX < 8);

/// The runs of one slab.
pub(super) struct Runs {
    /// Pages by their longest free run, see [`list_of`].
    lists: [PageList; LISTS],
    /// A bit for each list with pages.
    occupied: [u64; LISTS.div_ceil(64)],
    /// Runs in the global allocator, with their bytes.
    first: Vec<(NonNull<u8>, usize)>,
    first_bytes: usize,
}

impl Runs {
    pub(super) fn new() -> Runs {
        Runs {
            lists: [PageList::EMPTY; LISTS],
            occupied: [0; LISTS.div_ceil(64)],
            first: Vec::new(),
            first_bytes: 0,
        }
    }

    /// Bytes of the runs in the global allocator.
    pub(super) fn first_bytes(&self) -> usize {
        self.first_bytes
    }

    /// Allocates a run of more than [`CELL_BYTES_MAX`] and at most [`RUN_BYTES_MAX`] bytes. Counts
    /// the bytes of a page that it takes.
    pub(super) fn allocate(
        &mut self,
        bytes: usize,
        pool: &PagePool,
        page_bytes: &mut usize,
    ) -> NonNull<u8> {
        if self.first_bytes + bytes <= FIRST_BYTES_MAX {
            return self.allocate_first(bytes);
        }
        self.allocate_in_pages(bytes).unwrap_or_else(|| {
            *page_bytes += RUN_PAGE_BYTES;
            self.open_page(pool);
            self.allocate_in_pages(bytes).expect("a page has room for the longest run")
        })
    }

    /// Allocates a run on a page that there is; `None` if none has room.
    fn allocate_in_pages(&mut self, bytes: usize) -> Option<NonNull<u8>> {
        let grains = grains(bytes);
        let list = self.first_list_from(list_of(grains))?;
        let page = self.lists[list].first().cast::<RunPage>();
        // SAFETY: pages in lists are live pages of ours, and the list says that this one has room.
        unsafe {
            let Fit { start, longest_then } = (*page).map.fit(grains)?;
            (*page).map.take(start, grains);
            (*page).used += grains as u16;
            self.set_longest(page, longest_then);
            NonNull::new(page.byte_add(start * GRAIN_BYTES).cast())
        }
    }

    /// Frees a run, and takes the bytes of its page away if that was the last one there.
    ///
    /// # Safety
    /// It came from these runs for the same rounded size and is not used any more.
    pub(super) unsafe fn free(
        &mut self,
        run: NonNull<u8>,
        bytes: usize,
        pool: &PagePool,
        page_bytes: &mut usize,
    ) {
        if self.free_first(run) {
            return;
        }
        let (page, start) = place(run.as_ptr());
        // SAFETY: a run that is not in the allocator lies in a page aligned to its size, whose head
        // is at its start.
        unsafe {
            let grains = grains(bytes);
            let merged = (*page).map.free(start, grains);
            (*page).used -= grains as u16;
            if (*page).used == 0 {
                self.unlist(page);
                pool.give(NonNull::new_unchecked(page.cast()), RUN_PAGE_BYTES);
                *page_bytes -= RUN_PAGE_BYTES;
            } else {
                self.set_longest(page, merged.max(usize::from((*page).longest)));
            }
        }
    }

    /// Returns all pages to the pool, and frees the first runs.
    ///
    /// # Safety
    /// Nobody uses any run any more.
    pub(super) unsafe fn give_all(&mut self, pool: &PagePool) {
        let give = |page: *mut Links| {
            // SAFETY: listed pages are live pages of ours, and this one is in no list any more.
            unsafe { pool.give(NonNull::new_unchecked(page.cast()), RUN_PAGE_BYTES) };
        };
        // SAFETY: as above.
        self.lists.iter_mut().for_each(|list| unsafe { list.drain(give) });
        for (run, bytes) in self.first.drain(..) {
            // SAFETY: allocated by `allocate_first` with this layout.
            unsafe { dealloc(run.as_ptr(), layout(bytes)) };
        }
    }

    fn allocate_first(&mut self, bytes: usize) -> NonNull<u8> {
        let layout = layout(bytes);
        // SAFETY: the size is not zero.
        let run = unsafe { alloc(layout) };
        let run = NonNull::new(run).unwrap_or_else(|| handle_alloc_error(layout));
        self.first.push((run, bytes));
        self.first_bytes += bytes;
        run
    }

    /// Frees a run if it is in the global allocator; returns false if not.
    fn free_first(&mut self, run: NonNull<u8>) -> bool {
        let Some(number) = self.first.iter().position(|&(first, _)| first == run) else {
            return false;
        };
        let (_, bytes) = self.first.swap_remove(number);
        self.first_bytes -= bytes;
        // SAFETY: allocated by `allocate_first` with this layout.
        unsafe { dealloc(run.as_ptr(), layout(bytes)) };
        true
    }

    fn open_page(&mut self, pool: &PagePool) {
        let page = pool.take(RUN_PAGE_BYTES).as_ptr().cast::<RunPage>();
        let mut map = GrainMap::FREE;
        map.take(0, HEAD_GRAINS);
        let head = RunPage { links: Links::NONE, used: 0, longest: PAGE_GRAINS as u16, map };
        // SAFETY: the page is ours and large enough for its head.
        unsafe {
            page.write(head);
            self.list(page);
        }
    }

    /// The first list with pages from this one on.
    fn first_list_from(&self, list: usize) -> Option<usize> {
        let mut word = list / 64;
        let mut bits = *self.occupied.get(word)? & (u64::MAX << (list % 64));
        while bits == 0 {
            word += 1;
            bits = *self.occupied.get(word)?;
        }
        Some(word * 64 + bits.trailing_zeros() as usize)
    }

    /// A page whose longest free run no other one surpasses.
    pub(super) fn roomiest(&self) -> Option<*mut Links> {
        self.lists.iter().rev().map(|list| list.first()).find(|page| !page.is_null())
    }

    /// The pages of a list.
    pub(super) fn pages(&mut self, list: usize) -> &mut PageList {
        &mut self.lists[list]
    }

    /// Notes the grains of a page's longest free run.
    ///
    /// # Safety
    /// It is a live page of these runs, in the list of its longest free run.
    unsafe fn set_longest(&mut self, page: *mut RunPage, longest: usize) {
        // SAFETY: says the caller; all listed pages are live pages of ours.
        unsafe {
            if list_of(longest) == list_of(usize::from((*page).longest)) {
                (*page).longest = longest as u16;
                return;
            }
            self.unlist(page);
            (*page).longest = longest as u16;
            self.list(page);
        }
    }

    unsafe fn list(&mut self, page: *mut RunPage) {
        // SAFETY: the caller has a live page of ours that is in no list.
        unsafe {
            let list = list_of(usize::from((*page).longest));
            self.lists[list].push_front(page.cast());
            self.occupied[list / 64] |= 1 << (list % 64);
        }
    }

    unsafe fn unlist(&mut self, page: *mut RunPage) {
        // SAFETY: the caller has a live page of ours, and it is in this list.
        unsafe {
            let list = list_of(usize::from((*page).longest));
            self.lists[list].remove(page.cast());
            if self.lists[list].is_empty() {
                self.occupied[list / 64] &= !(1 << (list % 64));
            }
        }
    }

    /// Takes no more runs on this page, until [`Runs::uncover`].
    ///
    /// # Safety
    /// It is a live page of these runs.
    pub(super) unsafe fn cover(&mut self, page: *mut RunPage) {
        // SAFETY: says the caller.
        unsafe { self.set_longest(page, 0) };
    }

    /// Takes runs on this page again.
    ///
    /// # Safety
    /// As for [`Runs::cover`].
    pub(super) unsafe fn uncover(&mut self, page: *mut RunPage) {
        // SAFETY: says the caller.
        unsafe { self.set_longest(page, (*page).map.longest()) };
    }
}

impl RunPage {
    /// Grains in use.
    pub(super) fn used(&self) -> usize {
        usize::from(self.used)
    }

    /// Shows the runs of a page until `visit` returns false. `bytes_of` returns the length of one.
    ///
    /// # Safety
    /// `page` is a live page whose runs are all in use by what `bytes_of` knows.
    pub(super) unsafe fn live(
        page: *mut RunPage,
        bytes_of: impl Fn(NonNull<u8>) -> usize,
        mut visit: impl FnMut(NonNull<u8>) -> bool,
    ) {
        let mut from = HEAD_GRAINS;
        // SAFETY: says the caller; what is in use at `from` or behind is a run's first grain.
        while let Some(start) = unsafe { (*page).map.next_used(from) } {
            // SAFETY: the grain is in the page.
            let run = unsafe { NonNull::new_unchecked(page.byte_add(start * GRAIN_BYTES).cast()) };
            if !visit(run) {
                return;
            }
            from = start + grains(bytes_of(run));
        }
    }
}

/// The list of a page, by the grains of its longest free run.
fn list_of(longest: usize) -> usize {
    longest.saturating_sub(GRAINS_MIN - 1).min(LISTS - 1)
}

fn grains(bytes: usize) -> usize {
    bytes.div_ceil(GRAIN_BYTES)
}

/// The page of a run, and its first grain.
fn place(run: *mut u8) -> (*mut RunPage, usize) {
    let page = run.map_addr(|addr| addr & !(RUN_PAGE_BYTES - 1)).cast::<RunPage>();
    (page, (run.addr() & (RUN_PAGE_BYTES - 1)) / GRAIN_BYTES)
}

fn layout(bytes: usize) -> Layout {
    Layout::from_size_align(bytes, 8).expect("at most the longest run")
}

#[cfg(test)]
impl Runs {
    /// What pages of a list say of themselves is true; returns how many there are.
    ///
    /// # Safety
    /// No other reference to the pages exists.
    pub(super) unsafe fn check(&mut self, list: usize) -> usize {
        let mut seen = vec![std::ptr::null_mut(); 1 << 10];
        // SAFETY: says the caller; listed pages are alive.
        let count = unsafe { self.lists[list].turn(&mut seen) };
        assert!(count < seen.len());
        for &page in &seen[..count] {
            // SAFETY: as above.
            let page = unsafe { &*page.cast::<RunPage>() };
            assert_eq!(usize::from(page.longest), page.map.longest());
            assert_eq!(list_of(page.map.longest()), list);
            assert_eq!(page.used(), page.map.used() - HEAD_GRAINS);
        }
        assert_eq!(self.occupied[list / 64] >> (list % 64) & 1 == 1, count > 0);
        count
    }
}
