//! HOT PATH
//! A segment: an array of buckets ordered by hash, and the packed reference to it.

use super::bucket::{Bucket, SLOTS};
use crate::memory::pages::{PagePool, ROW_STEP_BYTES};
use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::num::NonZero;
use std::ptr::NonNull;

/// How far from its home bucket an entry may stand.
const DISTANCE_MAX: usize = 8;
/// Most home buckets of a segment; a fuller one splits. With its head and its overflow buckets it
/// fills 64 KiB.
pub const BUCKETS_MAX: usize = (64 << 10) / 64 - 1 - DISTANCE_MAX;
/// Smaller segments come from the global allocator. Larger ones are rows from the pool, which they
/// fill: they share huge pages with entries, and leave no holes that nothing else fits.
const LARGE_MIN: usize = ROW_STEP_BYTES / 64 - 1 - DISTANCE_MAX;
/// Segments are kept below this share of their slots, in percent.
const FILL_PERCENT_MAX: usize = 82;

/// Reference to a segment: address (48 bits), home buckets - 1 (10 bits), depth (6 bits). What a
/// lookup needs is in the reference, so that it does not touch the segment's head.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct SegmentRef(NonZero<u64>);

/// The first cache line of a segment.
#[repr(C, align(64))]
pub struct Head {
    /// Slots in use, tombstones included.
    pub used: u32,
    /// Removals that come before a smaller segment is tried again.
    pub removals_to_await: u32,
}

impl SegmentRef {
    /// Allocates an empty segment.
    pub fn allocate(pool: &PagePool, buckets: usize, depth: u32) -> SegmentRef {
        assert!((1..=BUCKETS_MAX).contains(&buckets) && depth < 64);
        let layout = layout(buckets);
        // Zeroed bytes are an empty head and empty buckets.
        let base = if buckets < LARGE_MIN {
            // SAFETY: the size is not zero.
            let base = NonNull::new(unsafe { alloc_zeroed(layout) });
            base.unwrap_or_else(|| handle_alloc_error(layout))
        } else {
            let base = pool.take_row(layout.size());
            // SAFETY: this number of bytes is ours.
            unsafe { base.write_bytes(0, layout.size()) };
            base
        };
        let addr = base.as_ptr().expose_provenance() as u64;
        debug_assert!(addr >> 48 == 0);
        let packed = addr | (buckets as u64 - 1) << 48 | u64::from(depth) << 58;
        SegmentRef(NonZero::new(packed).expect("an allocation is not at address 0"))
    }

    /// The reference as a number, for [`SegmentRef::from_bits`].
    #[inline]
    pub(crate) fn bits(self) -> u64 {
        self.0.get()
    }

    /// The reference with these bits. Its segment may be gone: a caller that is not sure that it is
    /// alive may compute addresses of its buckets, but not follow them.
    #[inline]
    pub(crate) fn from_bits(bits: u64) -> Option<SegmentRef> {
        NonZero::new(bits).map(SegmentRef)
    }

    /// Frees the segment; the entries that it refers to are left alone.
    ///
    /// # Safety
    /// It was allocated with this pool, and nobody uses it any more.
    pub unsafe fn free(self, pool: &PagePool) {
        let layout = layout(self.buckets());
        match NonNull::new(self.base()) {
            // SAFETY: taken in `allocate`, as many bytes.
            Some(base) if self.buckets() >= LARGE_MIN => unsafe {
                pool.give_row(base, layout.size());
            },
            // SAFETY: allocated in `allocate` with this layout.
            _ => unsafe { dealloc(self.base(), layout) },
        }
    }

    /// Home buckets.
    #[inline]
    pub fn buckets(self) -> usize {
        (self.0.get() >> 48 & 0x3FF) as usize + 1
    }

    /// Home buckets and the overflow buckets after them.
    #[inline]
    pub fn buckets_total(self) -> usize {
        self.buckets() + overflow(self.buckets())
    }

    /// Leading hash bits that all entries of this segment share.
    #[inline]
    pub fn depth(self) -> u32 {
        (self.0.get() >> 58) as u32
    }

    #[inline]
    fn base(self) -> *mut u8 {
        std::ptr::with_exposed_provenance_mut((self.0.get() & ((1 << 48) - 1)) as usize)
    }

    /// The head.
    #[inline]
    pub fn head(self) -> *mut Head {
        self.base().cast()
    }

    /// The bucket with this index, below `buckets_total()`.
    #[inline]
    pub fn bucket(self, index: usize) -> *mut Bucket {
        debug_assert!(index < self.buckets_total());
        self.base().wrapping_add(64 + index * 64).cast()
    }

    /// The bucket where an entry with this hash belongs.
    #[inline]
    pub fn home(self, hash: u64) -> usize {
        let leading = (hash << self.depth()) >> 32;
        ((leading * self.buckets() as u64) >> 32) as usize
    }

    /// The lowest 32 hash bits after the segment's prefix whose home is `bucket` or later; 2^32 if
    /// `bucket` is past the end.
    pub fn first_leading(self, bucket: usize) -> u64 {
        ((bucket as u64) << 32).div_ceil(self.buckets() as u64)
    }

    /// One past the last bucket where an entry with this home may stand.
    #[inline]
    pub fn reach(self, home: usize) -> usize {
        (home + DISTANCE_MAX + 1).min(self.buckets_total())
    }

    /// Slots that may be used before the segment has to grow.
    #[inline]
    pub fn used_max(self) -> usize {
        used_max(self.buckets())
    }
}

/// Home buckets for a segment that shall hold `entries` and some more: as many as fill its memory.
pub fn buckets_for(entries: usize) -> usize {
    let needed = |entries: usize| (entries * 100 / FILL_PERCENT_MAX).div_ceil(SLOTS).max(1);
    let roomy = needed(entries + entries / 3 + SLOTS);
    if roomy < LARGE_MIN {
        return roomy;
    }
    fill_up(needed(entries + entries / 16 + SLOTS))
}

/// Home buckets for a segment that shall be larger than one with `buckets`; no more than
/// [`BUCKETS_MAX`].
pub fn larger(buckets: usize) -> usize {
    if buckets < LARGE_MIN { buckets + 1 } else { fill_up(buckets + buckets.div_ceil(7)) }
}

/// The next number of home buckets with which a large segment fills its memory.
fn fill_up(buckets: usize) -> usize {
    let extra = 1 + DISTANCE_MAX;
    ((buckets + extra).next_multiple_of(ROW_STEP_BYTES / 64) - extra).min(BUCKETS_MAX)
}

fn used_max(buckets: usize) -> usize {
    (buckets * SLOTS * FILL_PERCENT_MAX / 100).max(1)
}

fn overflow(buckets: usize) -> usize {
    if buckets < LARGE_MIN { 1 + buckets / 16 } else { DISTANCE_MAX }
}

fn layout(buckets: usize) -> Layout {
    Layout::from_size_align((1 + buckets + overflow(buckets)) * 64, 64).expect("at most 64 KiB")
}
