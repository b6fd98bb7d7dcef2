//! Which page of a slab is worth emptying.
//!
//! Scattered deletions leave pages with few entries. A page whose entries find room on others can
//! go back; the fewer they are, the less there is to move for it. A look goes over a bounded number
//! of pages, size after size, and the next one goes on behind it, so that a slab of any size is
//! seen by and by. Of what it sees it takes the emptiest page.
//!
//! - *Cells*: the entries of a page fit on the others of its size that were seen.
//! - *Runs*: at most three quarters of the page are in use. Its entries go where there is room, and
//!   else on a new page, which then has the most room and takes what the next ones have: it is
//!   seven eighths full at least before there is another. So the page that has the most room is
//!   not emptied.

use super::page_list::Links;
use super::pages::{PAGE_BYTES, PagePool, RUN_PAGE_BYTES};
use super::runs::{LISTS, PAGE_GRAINS, RunPage};
use super::slab::{CLASSES, Page, Pages, Slab};
use std::ptr::{self, NonNull};

/// Pages that one look goes over. Each may be a cache miss.
const PAGES_SEEN_MAX: usize = 32;
/// Pages of one size that it goes over.
const PAGES_OF_SIZE_SEEN_MAX: usize = 16;
/// Where the runs have their turn, behind the classes.
const RUNS_TURN: usize = CLASSES;
const TURNS: usize = CLASSES + 1;

/// A page that is worth emptying.
#[derive(Clone, Copy)]
pub struct Sparse {
    page: *mut Links,
    of: Of,
}

#[derive(Clone, Copy)]
enum Of {
    Cells { class: usize },
    Runs,
}

/// Where the next look begins, and what the last ones have found.
#[derive(Default)]
pub(super) struct Search {
    turn: usize,
    /// The list of runs, in their turn.
    run_list: usize,
    /// Since something was last gained: turns that looks have taken, the pages that they have gone
    /// over, and whether a turn has left pages out.
    turns_idle: usize,
    pages_idle: usize,
    is_partial: bool,
    /// The slack that was left when all pages had been seen, and nothing was gained.
    slack_left: usize,
}

/// One look.
struct Look {
    pages_left: usize,
    /// Pages of some size may have been left out.
    is_partial: bool,
    /// The emptiest page yet, and how full it is, in parts of 1,024.
    best: Option<(usize, Sparse)>,
}

impl Sparse {
    /// A cell or a run is on the page.
    fn has(self, cell: NonNull<u8>) -> bool {
        let page_bytes = match self.of {
            Of::Cells { .. } => PAGE_BYTES,
            Of::Runs => RUN_PAGE_BYTES,
        };
        cell.as_ptr().addr().wrapping_sub(self.page.addr()) < page_bytes
    }
}

impl Look {
    /// It may not go over the pages of another size.
    fn is_over(&self) -> bool {
        self.pages_left < PAGES_OF_SIZE_SEEN_MAX
    }

    /// Notes how many pages of a size were seen.
    fn saw(&mut self, pages: usize) {
        self.is_partial |= pages == PAGES_OF_SIZE_SEEN_MAX;
        self.pages_left -= pages;
    }

    /// A page is worth emptying; `used` of its `all` parts are in use.
    fn found(&mut self, used: usize, all: usize, sparse: Sparse) {
        let fill = used * 1024 / all;
        if self.best.is_none_or(|(best, _)| fill < best) {
            self.best = Some((fill, sparse));
        }
    }
}

impl Slab {
    /// A page that is worth emptying, of some that are looked at. Pages without entries among them
    /// go back at once.
    pub fn find_sparse(&mut self) -> Option<Sparse> {
        let pages = self.pages.as_deref_mut()?;
        let mut look = Look { pages_left: PAGES_SEEN_MAX, is_partial: false, best: None };
        let first = pages.search.turn;
        for turn in (first..TURNS).chain(0..first) {
            pages.search.turn = turn;
            if look.is_over() {
                break;
            }
            pages.search.turns_idle += 1;
            // SAFETY: the slab is borrowed mutably, and its lists have live pages of its own.
            unsafe {
                if turn == RUNS_TURN {
                    pages.look_at_runs(&mut look);
                } else {
                    pages.look_at_cells(turn, &mut look, &self.pool);
                }
            }
        }
        pages.search.pages_idle += PAGES_SEEN_MAX - look.pages_left;
        pages.search.is_partial |= look.is_partial;
        look.best.map(|(_, sparse)| sparse)
    }

    /// Whether there may be something to gain from this slack.
    pub fn may_gain(&mut self, slack_bytes: usize) -> bool {
        let Some(pages) = self.pages.as_deref_mut() else { return false };
        let search = &mut pages.search;
        search.slack_left = search.slack_left.min(slack_bytes);
        slack_bytes >= search.slack_left + PAGE_BYTES
    }

    /// Whether another look may gain something. Once looks that have gained nothing have gone over
    /// all pages, a slack of this size is left alone.
    pub fn may_gain_more(&mut self, has_gained: bool, slack_bytes: usize) -> bool {
        let Some(pages) = self.pages.as_deref_mut() else { return false };
        let pages_all = pages.bytes / PAGE_BYTES;
        let search = &mut pages.search;
        let has_seen_all = match search.is_partial {
            true => search.pages_idle >= pages_all,
            false => search.turns_idle >= TURNS,
        };
        if has_gained || has_seen_all {
            (search.turns_idle, search.pages_idle, search.is_partial) = (0, 0, false);
        }
        if has_seen_all && !has_gained {
            search.slack_left = slack_bytes;
        }
        has_gained || !has_seen_all
    }

    /// Shows the entries of a page until `visit` returns false. `bytes_of` returns the length of
    /// one.
    ///
    /// # Safety
    /// The page was found, and nothing was freed since.
    pub unsafe fn entries_of(
        &self,
        sparse: Sparse,
        bytes_of: impl Fn(NonNull<u8>) -> usize,
        visit: impl FnMut(NonNull<u8>) -> bool,
    ) {
        // SAFETY: says the caller.
        unsafe {
            match sparse.of {
                Of::Cells { .. } => Page::live(sparse.page.cast(), visit),
                Of::Runs => RunPage::live(sparse.page.cast(), bytes_of, visit),
            }
        }
    }

    /// From now on nothing is allocated on a page, until [`Slab::end_moving`].
    ///
    /// # Safety
    /// As for [`Slab::entries_of`].
    pub unsafe fn begin_moving(&mut self, sparse: Sparse) {
        let pages = self.pages.as_deref_mut().expect("a page was found");
        // SAFETY: says the caller; the page is in the list of its class, or in one of the runs.
        unsafe {
            match sparse.of {
                // The last one, for allocations are on the first.
                Of::Cells { class } => {
                    pages.open[class].remove(sparse.page);
                    pages.open[class].push_back(sparse.page);
                }
                Of::Runs => {
                    let runs = pages.runs.as_deref_mut().expect("a page of runs was found");
                    runs.cover(sparse.page.cast());
                }
            }
        }
    }

    /// Allocates room for an entry of a page that is being emptied: on another one, for what was
    /// seen has room for all of them.
    pub fn allocate_elsewhere(&mut self, sparse: Sparse, bytes: usize) -> NonNull<u8> {
        let there = self.allocate(bytes);
        debug_assert!(!sparse.has(there), "nothing moves within a page");
        there
    }

    /// The opposite of [`Slab::begin_moving`], before the old copies are freed.
    ///
    /// # Safety
    /// As for [`Slab::entries_of`].
    pub unsafe fn end_moving(&mut self, sparse: Sparse) {
        let pages = self.pages.as_deref_mut().expect("a page was found");
        if let (Of::Runs, Some(runs)) = (sparse.of, pages.runs.as_deref_mut()) {
            // SAFETY: says the caller.
            unsafe { runs.uncover(sparse.page.cast()) };
        }
    }
}

impl Pages {
    /// Looks at some open pages of a class.
    ///
    /// # Safety
    /// The lists have live pages of this slab, to which no other reference exists.
    unsafe fn look_at_cells(&mut self, class: usize, look: &mut Look, pool: &PagePool) {
        let mut seen = [ptr::null_mut(); PAGES_OF_SIZE_SEEN_MAX];
        // SAFETY: says the caller.
        let count = unsafe { self.open[class].turn(&mut seen) };
        look.saw(count);
        let (mut room, mut emptiest) = (0, None::<(usize, *mut Links)>);
        for &page in &seen[..count] {
            // SAFETY: as above; a page that is given back is not looked at again.
            unsafe {
                let used = (*page.cast::<Page>()).used();
                if used == 0 {
                    self.give_open(page.cast(), class, pool);
                    continue;
                }
                room += Page::cells(class) - used;
                if emptiest.is_none_or(|(least, _)| used < least) {
                    emptiest = Some((used, page));
                }
            }
        }
        let Some((used, page)) = emptiest else { return };
        let room_elsewhere = room - (Page::cells(class) - used);
        if room_elsewhere >= used {
            look.found(used, Page::cells(class), Sparse { page, of: Of::Cells { class } });
        }
    }

    /// Looks at some pages of runs.
    ///
    /// # Safety
    /// As for [`Pages::look_at_cells`].
    unsafe fn look_at_runs(&mut self, look: &mut Look) {
        let Some(runs) = self.runs.as_deref_mut() else { return };
        let Some(roomiest) = runs.roomiest() else { return };
        let mut emptiest = None::<(usize, *mut Links)>;
        let first = self.search.run_list;
        for list in (first..LISTS).chain(0..first) {
            let mut seen = [ptr::null_mut(); PAGES_OF_SIZE_SEEN_MAX];
            self.search.run_list = list;
            if look.is_over() {
                look.is_partial = true;
                break;
            }
            // SAFETY: says the caller.
            let count = unsafe { runs.pages(list).turn(&mut seen) };
            look.saw(count);
            for &page in seen[..count].iter().filter(|&&page| page != roomiest) {
                // SAFETY: as above.
                let used = unsafe { (*page.cast::<RunPage>()).used() };
                if used * 4 > PAGE_GRAINS * 3 {
                    continue;
                }
                if emptiest.is_none_or(|(least, _)| used < least) {
                    emptiest = Some((used, page));
                }
            }
        }
        if let Some((used, page)) = emptiest {
            look.found(used, PAGE_GRAINS, Sparse { page, of: Of::Runs });
        }
    }
}

#[cfg(test)]
impl Slab {
    /// Pages stand in the lists that they belong to, and there are as many as are counted.
    pub(crate) fn check(&mut self) {
        let Some(pages) = self.pages.as_deref_mut() else { return };
        let runs = pages.runs.as_deref_mut().map_or(0, |runs| {
            // SAFETY: the slab is borrowed mutably, and listed pages are live pages of its own.
            (0..LISTS).map(|list| unsafe { runs.check(list) }).sum()
        });
        assert!(pages.bytes >= runs * RUN_PAGE_BYTES);
        assert!((pages.bytes - runs * RUN_PAGE_BYTES).is_multiple_of(PAGE_BYTES));
    }
}
