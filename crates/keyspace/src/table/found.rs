//! HOT PATH
//! Where an entry stands, and where one was seen.

use super::bucket::{Slot, Standing};
use super::segment::SegmentRef;

/// Where an entry stands. Valid until an entry comes to the table, goes or is replaced: debug
/// builds assert it at each use.
#[derive(Clone, Copy)]
pub struct Found {
    pub(super) revision: Revision,
    pub(super) segment: SegmentRef,
    pub(super) place: Place,
    pub(super) slot: Slot,
}

/// A slot of a bucket, or a stray. One number: a caller would move a pair as a whole right after
/// its halves have been written, and that stalls the processor for as long as a short command
/// takes otherwise.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Place(u64);

/// What is found behind a key's home bucket: two words, which are returned in registers.
#[derive(Clone, Copy)]
pub(super) struct Further {
    pub(super) place: Place,
    pub(super) slot: Slot,
}

/// Where an entry was seen that may be a key's, or nowhere. A hint: by the time it is used, another
/// entry may stand there or the place may be gone, and
/// [`Table::find_again`](super::Table::find_again) notices.
#[derive(Clone, Copy, Debug, Default)]
pub struct EntryHint {
    /// The bits of the segment; 0 for nowhere.
    pub(super) segment: u64,
    pub(super) place: Place,
    /// What stood there.
    pub(super) slot: Slot,
}

impl EntryHint {
    /// No entry was seen.
    #[inline]
    pub(crate) fn is_nowhere(self) -> bool {
        self.segment == 0
    }
}

impl Found {
    /// The flags of the entry's reference.
    #[inline]
    pub fn flags(&self) -> u64 {
        self.slot.flags()
    }

    /// All of these flags are set.
    #[inline]
    pub fn has(&self, flags: u64) -> bool {
        self.slot.has(flags)
    }

    /// How the entry stands to the cold tier.
    #[inline]
    pub fn standing(&self) -> Standing {
        self.slot.standing()
    }

    /// COLD if the cold tier may have a row for the key, or may come to have one.
    #[inline]
    pub fn row_flag(&self) -> u64 {
        self.slot.row_flag()
    }
}

impl Place {
    const INDEX_BITS: u32 = 32;
    /// In place of a bucket's number: the index is a stray's.
    const STRAY: usize = u32::MAX as usize;

    #[inline(always)]
    pub(super) fn new(bucket: usize, index: usize) -> Place {
        debug_assert!(bucket <= Place::STRAY && index >> Place::INDEX_BITS == 0);
        Place((bucket as u64) << Place::INDEX_BITS | index as u64)
    }

    pub(super) fn stray(index: usize) -> Place {
        Place::new(Place::STRAY, index)
    }

    #[inline(always)]
    pub(super) fn is_stray(self) -> bool {
        self.bucket() == Place::STRAY
    }

    #[inline(always)]
    pub(super) fn bucket(self) -> usize {
        (self.0 >> Place::INDEX_BITS) as usize
    }

    #[inline(always)]
    pub(super) fn index(self) -> usize {
        self.0 as u32 as usize
    }
}

/// In debug builds a number that each table gets again, from all numbers that no table has had,
/// when an entry comes, goes or is replaced. In others nothing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Revision(#[cfg(debug_assertions)] u64);

impl Revision {
    #[inline(always)]
    pub(super) fn next() -> Revision {
        #[cfg(debug_assertions)]
        static LAST: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);
        // Relaxed: only that it differs counts.
        Revision(
            #[cfg(debug_assertions)]
            LAST.fetch_add(1, std::sync::atomic::Ordering::Relaxed),
        )
    }

    #[inline(always)]
    pub(super) fn check(self, found: Revision) {
        debug_assert_eq!(self, found, "a place was used after the table had changed");
    }
}
