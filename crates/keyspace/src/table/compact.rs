//! Moving entries together, so that pages of which few are left go back.
//!
//! The table knows the slot of an entry by its key, and entries have no pointers to themselves: a
//! move copies the bytes of one and writes its new address into its slot. Everything else about the
//! entry, the flags of its slot included, stays as it was. Hints compare the address that they
//! have seen (`find_there`), and so notice; places are not used after it (`Revision`).

use super::bucket::Slot;
use super::found::Revision;
use super::store::Table;
use crate::entry::EntryPtr;
use crate::memory::sparse::Sparse;
use std::ptr::NonNull;

/// Entries that one call moves at most: some ten microseconds.
pub const COMPACT_CELLS_MAX: usize = 64;
/// Slack that is left alone, in percent of the entries.
const SLACK_PERCENT_MAX: usize = 12;

/// What a call has done.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Compacted {
    /// Entries that have moved.
    pub moved: usize,
    /// Bytes of the pages that went back, less those that were taken.
    pub bytes_freed: usize,
    /// Another call may move or free more.
    pub has_more: bool,
}

/// The entries of a page that are about to move.
struct Moving {
    entries: [(NonNull<u8>, u64); COMPACT_CELLS_MAX],
    count: usize,
}

impl Table {
    /// Bytes of pages that are not bytes of entries: free cells, what is left over at the end of
    /// pages, and what rounding costs.
    #[inline]
    pub fn slack_bytes(&self) -> usize {
        self.slab.page_bytes().saturating_sub(self.entry_bytes_in_pages())
    }

    /// Entries over the largest run stand in the allocator; their bytes are counted rounded up.
    #[inline]
    fn entry_bytes_in_pages(&self) -> usize {
        self.counts.entry_bytes.saturating_sub(self.slab.large_bytes())
    }

    /// Empties a page that has few entries by moving them to others, if the slack is more than 12%
    /// of the entries and at least a page. Moves at most `entries_max` entries, from one to
    /// [`COMPACT_CELLS_MAX`], and looks at a bounded number of pages.
    pub fn compact(&mut self, entries_max: usize) -> Compacted {
        let mut compacted = Compacted::default();
        let (slack, before) = (self.slack_bytes(), self.slab.page_bytes());
        let has_slack = slack > self.entry_bytes_in_pages() * SLACK_PERCENT_MAX / 100;
        if !has_slack || !self.slab.may_gain(slack) {
            return compacted;
        }
        if let Some(sparse) = self.slab.find_sparse() {
            let moving = self.gather(sparse, entries_max.clamp(1, COMPACT_CELLS_MAX));
            self.move_elsewhere(sparse, &moving);
            compacted.moved = moving.count;
        }
        compacted.bytes_freed = before.saturating_sub(self.slab.page_bytes());
        let has_gained = compacted.moved > 0 || compacted.bytes_freed > 0;
        compacted.has_more = self.slab.may_gain_more(has_gained, slack);
        compacted
    }

    /// Finds entries of a page, and brings in what moving them touches.
    fn gather(&self, sparse: Sparse, entries_max: usize) -> Moving {
        let entries = [(NonNull::dangling(), 0); COMPACT_CELLS_MAX];
        let mut moving = Moving { entries, count: 0 };
        // SAFETY: what a page of this slab has in use are entries that the table refers to, so they
        // are alive, and nothing changes while the table is borrowed.
        unsafe {
            let bytes_of = |cell| EntryPtr::from_addr(cell).entry().bytes();
            self.slab.entries_of(sparse, bytes_of, |cell| {
                if moving.count == entries_max {
                    return false;
                }
                let hash = self.hasher.hash(EntryPtr::from_addr(cell).entry().key());
                self.prefetch_bucket(hash);
                moving.entries[moving.count] = (cell, hash);
                moving.count += 1;
                true
            });
        }
        moving
    }

    /// Moves entries of a page to others.
    fn move_elsewhere(&mut self, sparse: Sparse, moving: &Moving) {
        let entries = &moving.entries[..moving.count];
        self.revision = Revision::next();
        // SAFETY: the page was just found, and the table is borrowed mutably, so nobody else uses
        // its entries. Those that have moved are freed when the table refers to them no more.
        unsafe {
            self.slab.begin_moving(sparse);
            for &(from, hash) in entries {
                let bytes = EntryPtr::from_addr(from).entry().bytes();
                let to = self.slab.allocate_elsewhere(sparse, bytes);
                to.copy_from_nonoverlapping(from, bytes);
                self.refer(hash, EntryPtr::from_addr(from), EntryPtr::from_addr(to));
            }
            self.slab.end_moving(sparse);
            for &(from, _) in entries {
                let bytes = EntryPtr::from_addr(from).entry().bytes();
                self.slab.free(from, bytes);
            }
        }
    }

    /// Has the slot of an entry refer to a copy of it, with the same flags.
    ///
    /// # Safety
    /// Both are alive, and the table refers to `from`.
    unsafe fn refer(&mut self, hash: u64, from: EntryPtr, to: EntryPtr) {
        // SAFETY: says the caller; the key does not change.
        let key = unsafe { from.entry() }.key();
        let found = self.find(hash, key).expect("the table refers to each entry of its pages");
        debug_assert_eq!(found.slot.address(), from.addr().as_ptr().cast_const());
        self.write(found, Slot::new(to, found.flags()));
    }
}

#[cfg(test)]
mod tests;
