//! HOT PATH
//! A bucket: nine tagged references in one cache line.

use crate::entry::EntryPtr;
use std::ptr::NonNull;

/// Slots of a bucket.
pub const SLOTS: usize = 9;

/// The cold tier has not seen the entry's latest state. See [`Standing`] for what this and [`COLD`]
/// say together.
pub const DIRTY: u64 = 1;
/// The cold tier may have a row for the key, and nothing is on its way there.
pub const COLD: u64 = 2;
/// The entry has an expiry.
pub const EXPIRING: u64 = 4;
const FLAGS: u64 = DIRTY | COLD | EXPIRING;

/// How an entry stands to the cold tier: what [`DIRTY`] and [`COLD`] say together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Standing {
    /// Neither: a checkpoint under way writes it. Whether the cold tier has a row of it is not
    /// known before that has ended.
    InFlight = 0,
    /// DIRTY alone: the cold tier has no row of it.
    New = DIRTY as isize,
    /// COLD alone: the cold tier has it as it is; if it is a tombstone, there is no row.
    Clean = COLD as isize,
    /// Both: the cold tier may have an older row of it.
    Changed = (DIRTY | COLD) as isize,
}

const REF_BYTES: usize = 6;
const REF_MASK: u64 = (1 << 48) - 1;
const TAGS_AT: usize = SLOTS * REF_BYTES;
const PASSED_AT: usize = 63;
/// Where the 16 bytes start that a vector comparison loads, and which of its result bits are tags.
const LOAD_AT: usize = 48;
const TAG_BITS: u32 = ((1 << SLOTS) - 1) << (TAGS_AT - LOAD_AT);

/// See [`crate::table`].
#[repr(C, align(64))]
#[derive(Clone)]
pub struct Bucket {
    bytes: [u8; 64],
}

/// A reference to an entry with its flags; null by default, and nowhere else.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Slot(u64);

/// Slot numbers that a search found, lowest first.
#[derive(Clone, Copy)]
pub struct Matches(u32);

impl Slot {
    /// A reference with these flags.
    #[inline]
    pub fn new(entry: EntryPtr, flags: u64) -> Slot {
        let addr = entry.addr().as_ptr().expose_provenance() as u64;
        debug_assert!(addr & (FLAGS | !REF_MASK) == 0);
        Slot(addr | flags)
    }

    /// The entry.
    #[inline]
    pub fn entry(self) -> EntryPtr {
        let addr = (self.0 & !FLAGS) as usize;
        EntryPtr::from_addr(
            NonNull::new(std::ptr::with_exposed_provenance_mut(addr))
                .expect("a slot with a tag holds a reference"),
        )
    }

    /// Where the entry stands.
    #[inline]
    pub fn address(self) -> *const u8 {
        std::ptr::with_exposed_provenance((self.0 & !FLAGS) as usize)
    }

    /// All of these flags are set.
    #[inline]
    pub fn has(self, flags: u64) -> bool {
        self.0 & flags == flags
    }

    /// The flags.
    #[inline]
    pub fn flags(self) -> u64 {
        self.0 & FLAGS
    }

    /// How the entry stands to the cold tier.
    #[inline]
    pub fn standing(self) -> Standing {
        match self.0 & (DIRTY | COLD) {
            0 => Standing::InFlight,
            DIRTY => Standing::New,
            COLD => Standing::Clean,
            _ => Standing::Changed,
        }
    }

    /// COLD if the cold tier may have a row for the key, or may come to have one: what the next
    /// entry of the key has beside DIRTY.
    #[inline]
    pub fn row_flag(self) -> u64 {
        if self.0 & (DIRTY | COLD) == DIRTY { 0 } else { COLD }
    }

    /// With these flags set, too. What was in flight and is dirty now may have a row.
    #[inline]
    pub fn marked(self, flags: u64) -> Slot {
        Slot(self.0 | flags | if flags & DIRTY != 0 { self.row_flag() } else { 0 })
    }

    /// With these flags set, too.
    #[inline]
    pub fn with(self, flags: u64) -> Slot {
        Slot(self.0 | flags)
    }

    /// With these flags cleared.
    #[inline]
    pub fn without(self, flags: u64) -> Slot {
        Slot(self.0 & !flags)
    }
}

impl Iterator for Matches {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        if self.0 == 0 {
            return None;
        }
        let slot = self.0.trailing_zeros() as usize;
        self.0 &= self.0 - 1;
        Some(slot)
    }
}

/// The tag of a hash: never 0, which marks a free slot.
#[inline]
pub fn tag(hash: u64) -> u8 {
    (hash as u8).max(1)
}

impl Bucket {
    /// A bucket without entries.
    pub const EMPTY: Bucket = Bucket { bytes: [0; 64] };

    /// Slots with this tag.
    #[inline]
    pub fn matching(&self, tag: u8) -> Matches {
        Matches(self.compare(tag))
    }

    /// Slots in use.
    #[inline]
    pub fn occupied(&self) -> Matches {
        Matches(!self.compare(0) & ((1 << SLOTS) - 1))
    }

    /// The first free slot.
    #[inline]
    pub fn vacant(&self) -> Option<usize> {
        Matches(self.compare(0)).next()
    }

    #[cfg(target_arch = "x86_64")]
    #[inline]
    fn compare(&self, tag: u8) -> u32 {
        use std::arch::x86_64::{_mm_cmpeq_epi8, _mm_load_si128, _mm_movemask_epi8, _mm_set1_epi8};
        // SAFETY: SSE2 is part of x86-64; the bucket is aligned to 64, so its last 16 bytes are
        // aligned to 16.
        let equal = unsafe {
            let tags = _mm_load_si128(self.bytes.as_ptr().add(LOAD_AT).cast());
            _mm_movemask_epi8(_mm_cmpeq_epi8(tags, _mm_set1_epi8(tag as i8)))
        };
        (equal as u32 & TAG_BITS) >> (TAGS_AT - LOAD_AT)
    }

    #[cfg(not(target_arch = "x86_64"))]
    #[inline]
    fn compare(&self, tag: u8) -> u32 {
        let tags = &self.bytes[TAGS_AT..TAGS_AT + SLOTS];
        tags.iter().enumerate().fold(0, |bits, (slot, &t)| bits | u32::from(t == tag) << slot)
    }

    /// The reference in a slot in use.
    #[inline]
    pub fn slot(&self, index: usize) -> Slot {
        debug_assert!(index < SLOTS && self.bytes[TAGS_AT + index] != 0);
        // SAFETY: index < 9, so the eight bytes end at 56 at most.
        let word =
            unsafe { self.bytes.as_ptr().add(index * REF_BYTES).cast::<u64>().read_unaligned() };
        Slot(u64::from_le(word) & REF_MASK)
    }

    /// This reference is in this slot, under this tag.
    ///
    /// # Panics
    /// If there is no such slot.
    #[inline]
    pub fn holds(&self, index: usize, tag: u8, slot: Slot) -> bool {
        self.bytes[TAGS_AT..TAGS_AT + SLOTS][index] == tag && self.slot(index) == slot
    }

    /// Fills a slot.
    #[inline]
    pub fn set(&mut self, index: usize, tag: u8, slot: Slot) {
        debug_assert!(tag != 0);
        self.set_slot(index, slot);
        self.bytes[TAGS_AT + index] = tag;
    }

    /// Changes the reference of a slot in use.
    #[inline]
    pub fn set_slot(&mut self, index: usize, slot: Slot) {
        let bytes = slot.0.to_le_bytes();
        self.bytes[index * REF_BYTES..][..REF_BYTES].copy_from_slice(&bytes[..REF_BYTES]);
    }

    /// Frees a slot.
    #[inline]
    pub fn clear(&mut self, index: usize) {
        self.bytes[TAGS_AT + index] = 0;
    }

    /// Whether entries that belong here or before stand further on.
    #[inline]
    pub fn is_passed(&self) -> bool {
        self.bytes[PASSED_AT] != 0
    }

    /// One more entry stands further on. The count sticks at 255.
    #[inline]
    pub fn pass(&mut self) {
        self.bytes[PASSED_AT] = self.bytes[PASSED_AT].saturating_add(1);
    }

    /// One entry less stands further on; no effect once the count stuck.
    #[inline]
    pub fn unpass(&mut self) {
        let passed = &mut self.bytes[PASSED_AT];
        if *passed != u8::MAX {
            *passed -= 1;
        }
    }
}
