//! Lists of pages, linked through the pages themselves.
//!
//! A list is a ring: the page before the first one is the last one. So a page can be put at either
//! end, and a look at a bounded number of pages leaves those that follow in front for the next one
//! ([`PageList::turn`]). Where neither is needed, a chain with two ends does without the last
//! page's cache line ([`PageChain`]).

use std::ptr;

/// What each page begins with.
#[repr(C)]
pub(super) struct Links {
    prev: *mut Links,
    next: *mut Links,
}

impl Links {
    /// Of a page that is in no list.
    pub(super) const NONE: Links = Links { prev: ptr::null_mut(), next: ptr::null_mut() };
}

/// A ring of pages that are alive and belong to one slab.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(super) struct PageList(*mut Links);

impl PageList {
    pub(super) const EMPTY: PageList = PageList(ptr::null_mut());

    /// The first page, or null.
    #[inline]
    pub(super) fn first(self) -> *mut Links {
        self.0
    }

    pub(super) fn is_empty(self) -> bool {
        self.0.is_null()
    }

    /// It has this page and no other.
    ///
    /// # Safety
    /// The pages of the list are alive, and no other reference to them exists.
    pub(super) unsafe fn is_only(self, page: *mut Links) -> bool {
        // SAFETY: says the caller.
        self.0 == page && unsafe { (*page).next == page }
    }

    /// Puts a page at the front.
    ///
    /// # Safety
    /// `page` is in no list. It and the pages of the list are alive, and no other reference to them
    /// exists.
    #[inline]
    pub(super) unsafe fn push_front(&mut self, page: *mut Links) {
        // SAFETY: the caller says the same.
        unsafe { self.push_back(page) };
        self.0 = page;
    }

    /// Puts a page at the end.
    ///
    /// # Safety
    /// As for [`PageList::push_front`].
    #[inline]
    pub(super) unsafe fn push_back(&mut self, page: *mut Links) {
        let first = self.0;
        // SAFETY: the caller vouches that all of these pages are alive and its own.
        unsafe {
            if first.is_null() {
                page.write(Links { prev: page, next: page });
                self.0 = page;
            } else {
                let last = (*first).prev;
                page.write(Links { prev: last, next: first });
                (*last).next = page;
                (*first).prev = page;
            }
        }
    }

    /// Takes a page out.
    ///
    /// # Safety
    /// `page` is in this list, the pages of the list are alive, and no other reference to them
    /// exists.
    #[inline]
    pub(super) unsafe fn remove(&mut self, page: *mut Links) {
        // SAFETY: the caller vouches that `page` and its neighbours are alive and its own.
        unsafe {
            let Links { prev, next } = page.read();
            if next == page {
                self.0 = ptr::null_mut();
                return;
            }
            (*prev).next = next;
            (*next).prev = prev;
            if self.0 == page {
                self.0 = next;
            }
        }
    }

    /// Shows the last page and those that follow it from the front, as many as there is room for,
    /// and returns their number. The pages behind them are the first ones then, so that repeated
    /// calls show all; but the last page shows again.
    ///
    /// # Safety
    /// The pages of the list are alive, and no other reference to them exists.
    pub(super) unsafe fn turn(&mut self, seen: &mut [*mut Links]) -> usize {
        if self.0.is_null() {
            return 0;
        }
        // SAFETY: says the caller.
        let last = unsafe { (*self.0).prev };
        let mut page = last;
        for (number, place) in seen.iter_mut().enumerate() {
            *place = page;
            // SAFETY: as above.
            page = unsafe { (*page).next };
            if page == last {
                return number + 1;
            }
        }
        self.0 = page;
        seen.len()
    }

    /// Takes out all pages, one after the other.
    ///
    /// # Safety
    /// The pages of the list are alive, and no other reference to them exists. `give` may end the
    /// life of the page that it gets.
    pub(super) unsafe fn drain(&mut self, mut give: impl FnMut(*mut Links)) {
        while !self.0.is_null() {
            let page = self.0;
            // SAFETY: says the caller; the page is given away after it has left the list.
            unsafe { self.remove(page) };
            give(page);
        }
    }
}

/// Pages that are alive and belong to one slab, in a chain that only its first page leads to.
pub(super) struct PageChain(*mut Links);

impl PageChain {
    pub(super) const EMPTY: PageChain = PageChain(ptr::null_mut());

    /// Puts a page at the front.
    ///
    /// # Safety
    /// As for [`PageList::push_front`].
    #[inline]
    pub(super) unsafe fn push_front(&mut self, page: *mut Links) {
        // SAFETY: the caller vouches that all of these pages are alive and its own.
        unsafe {
            page.write(Links { prev: ptr::null_mut(), next: self.0 });
            if !self.0.is_null() {
                (*self.0).prev = page;
            }
        }
        self.0 = page;
    }

    /// Takes a page out.
    ///
    /// # Safety
    /// As for [`PageList::remove`].
    #[inline]
    pub(super) unsafe fn remove(&mut self, page: *mut Links) {
        // SAFETY: the caller vouches that `page` and its neighbours are alive and its own.
        unsafe {
            let Links { prev, next } = page.read();
            if prev.is_null() {
                self.0 = next;
            } else {
                (*prev).next = next;
            }
            if !next.is_null() {
                (*next).prev = prev;
            }
        }
    }

    /// Takes out all pages, one after the other.
    ///
    /// # Safety
    /// As for [`PageList::drain`].
    pub(super) unsafe fn drain(&mut self, mut give: impl FnMut(*mut Links)) {
        while !self.0.is_null() {
            let page = self.0;
            // SAFETY: says the caller; the link is read before the page is given away.
            self.0 = unsafe { (*page).next };
            give(page);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ring_keeps_its_order() {
        let mut pages: Vec<Links> = (0..5).map(|_| Links::NONE).collect();
        let at = pages.as_mut_ptr();
        let page = |number: usize| at.wrapping_add(number);
        let number = |page: *mut Links| (page.addr() - at.addr()) / size_of::<Links>();
        // Shown as a turn does: the last one, then the others.
        let turn = |list: &mut PageList, count: usize| {
            let mut seen = vec![ptr::null_mut(); count];
            // SAFETY: the pages are the vector's.
            let count = unsafe { list.turn(&mut seen) };
            seen[..count].iter().map(|&page| number(page)).collect::<Vec<_>>()
        };
        let mut list = PageList::EMPTY;
        // SAFETY: the pages are the vector's, and in one list at most.
        unsafe {
            (0..3).for_each(|number| list.push_front(page(number)));
            (3..5).for_each(|number| list.push_back(page(number)));
            assert_eq!(turn(&mut list, 9), [4, 2, 1, 0, 3]);
            assert_eq!(turn(&mut list, 5), [4, 2, 1, 0, 3]);
            assert_eq!(turn(&mut list, 2), [4, 2]);
            assert_eq!(list.first(), page(1));
            assert_eq!(turn(&mut list, 2), [2, 1]);
            assert_eq!(turn(&mut list, 9), [1, 0, 3, 4, 2]);
            list.remove(page(0));
            list.remove(page(4));
            assert_eq!(turn(&mut list, 9), [1, 3, 2]);
            assert!(!list.is_only(page(3)));
            list.remove(page(3));
            list.remove(page(1));
            assert!(list.is_only(page(2)));
            let mut given = Vec::new();
            list.drain(|page| given.push(page));
            assert_eq!(given, [page(2)]);
        }
        assert!(list.is_empty() && turn(&mut list, 9).is_empty());
    }

    #[test]
    fn a_chain_gives_back_what_is_left() {
        let mut pages: Vec<Links> = (0..5).map(|_| Links::NONE).collect();
        let at = pages.as_mut_ptr();
        let mut chain = PageChain::EMPTY;
        let mut left = Vec::new();
        // SAFETY: the pages are the vector's, and in one list at most.
        unsafe {
            (0..5).for_each(|number| chain.push_front(at.wrapping_add(number)));
            // The first one, one in the middle, the last one.
            [4, 2, 0].into_iter().for_each(|number| chain.remove(at.wrapping_add(number)));
            chain.drain(|page| left.push(page));
        }
        assert_eq!(left, [at.wrapping_add(3), at.wrapping_add(1)]);
        assert!(chain.0.is_null());
    }
}
