//! HOT PATH
//! Where the members of a native sorted set stand, each once, with its score.
//!
//! ```text
//! id:u32     = page:24 slot:8
//! page       = up to 256 slots of one size
//! slot       = score:f64le │ member │ unused … │ count of unused:u8
//!            | score:f64le │ place:u32le │ …               a long member: it stands in `long`
//! free slot  = next free slot of the page:u16le │ …
//! ```
//! A number of four bytes instead of an address of eight halves the tree and the index, and slots
//! of a page need no allocation each: 24 bytes for a member of twelve, where the allocator alone
//! would take 32. Sizes are four a doubling, as the allocator's, so that whole pages waste nothing
//! of what it gives. A page grows by doubling: a sorted set of two hundred members takes two
//! hundred slots. What is free in a page is used again by members of the same size; a page without
//! members gives its memory back.
//!
//! A sorted set holds at most 2^32 members, which would take 200 GB.

/// Which element: valid until it is removed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct ElementId(u32);

/// Slots of a page.
const SLOTS: usize = 256;
/// Slots that a page begins with.
const SLOTS_FIRST: usize = 16;
/// Bytes of slots. The last one is for members that stand elsewhere.
const SLOT_BYTES: [u16; 22] = [
    12, 16, 20, 24, 28, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384, 448, 16,
];
const LONG_CLASS: usize = SLOT_BYTES.len() - 1;
/// Longest member of a slot.
const MEMBER_BYTES_MAX: usize = SLOT_BYTES[LONG_CLASS - 1] as usize - SCORE_BYTES - 1;
const SCORE_BYTES: usize = 8;
/// No slot, no page.
const NO_SLOT: u16 = u16::MAX;
const NO_PAGE: u32 = u32::MAX;

#[derive(Debug)]
struct Page {
    bytes: Vec<u8>,
    slot_bytes: u16,
    class: u8,
    used: u16,
    free: u16,
    /// The next page of the class that is not full, if this is not.
    next_open: u32,
}

/// The elements of one sorted set.
#[derive(Debug)]
pub(super) struct Elements {
    pages: Vec<Page>,
    /// Of each class, a page that is not full.
    open: [u32; SLOT_BYTES.len()],
    long: Vec<Box<[u8]>>,
    long_free: Vec<u32>,
    /// Bytes of pages' slots and of long members.
    bytes: usize,
}

impl Default for Elements {
    fn default() -> Elements {
        Elements {
            pages: Vec::new(),
            open: [NO_PAGE; SLOT_BYTES.len()],
            long: Vec::new(),
            long_free: Vec::new(),
            bytes: 0,
        }
    }
}

impl ElementId {
    #[inline]
    fn page(self) -> usize {
        (self.0 >> SLOTS.ilog2()) as usize
    }

    #[inline]
    fn slot(self) -> usize {
        self.0 as usize % SLOTS
    }
}

impl Page {
    #[inline]
    fn slot_bytes(&self) -> usize {
        usize::from(self.slot_bytes)
    }

    #[inline]
    fn slot(&self, slot: usize) -> &[u8] {
        let bytes = self.slot_bytes();
        &self.bytes[slot * bytes..(slot + 1) * bytes]
    }

    #[inline]
    fn slot_mut(&mut self, slot: usize) -> &mut [u8] {
        let bytes = self.slot_bytes();
        &mut self.bytes[slot * bytes..(slot + 1) * bytes]
    }

    /// A slot that nobody uses. The page is not full.
    fn take_slot(&mut self) -> usize {
        self.used += 1;
        if self.free != NO_SLOT {
            let slot = usize::from(self.free);
            let bytes = self.slot(slot);
            self.free = u16::from_le_bytes([bytes[0], bytes[1]]);
            return slot;
        }
        let (end, slot_bytes) = (self.bytes.len(), self.slot_bytes());
        if end == self.bytes.capacity() {
            self.bytes.reserve_exact((end).max(SLOTS_FIRST * slot_bytes));
        }
        self.bytes.resize(end + slot_bytes, 0);
        end / slot_bytes
    }

    /// Returns a slot. A page that is empty then keeps no memory.
    fn give_slot(&mut self, slot: usize) {
        self.used -= 1;
        if self.used == 0 {
            self.bytes = Vec::new();
            self.free = NO_SLOT;
            return;
        }
        let next = self.free.to_le_bytes();
        self.slot_mut(slot)[..2].copy_from_slice(&next);
        self.free = slot as u16;
    }

    #[inline]
    fn is_full(&self) -> bool {
        usize::from(self.used) == SLOTS
    }
}

impl Elements {
    /// The member of an element.
    #[inline]
    pub(super) fn member(&self, id: ElementId) -> &[u8] {
        let page = &self.pages[id.page()];
        let slot = page.slot(id.slot());
        if usize::from(page.class) == LONG_CLASS {
            return &self.long[long_place(slot)];
        }
        let end = slot.len() - 1;
        &slot[SCORE_BYTES..end - usize::from(slot[end])]
    }

    /// Where an element begins.
    #[inline]
    pub(super) fn address(&self, id: ElementId) -> *const u8 {
        let page = &self.pages[id.page()];
        page.bytes.as_ptr().wrapping_add(id.slot() * page.slot_bytes())
    }

    /// The score of an element.
    #[inline]
    pub(super) fn score(&self, id: ElementId) -> f64 {
        let slot = self.pages[id.page()].slot(id.slot());
        f64::from_le_bytes(slot[..SCORE_BYTES].try_into().expect("eight bytes"))
    }

    /// Sets an element's score.
    #[inline]
    pub(super) fn set_score(&mut self, id: ElementId, score: f64) {
        let slot = self.pages[id.page()].slot_mut(id.slot());
        slot[..SCORE_BYTES].copy_from_slice(&score.to_le_bytes());
    }

    /// Adds an element.
    ///
    /// # Panics
    /// If there are 2^32 already.
    pub(super) fn add(&mut self, member: &[u8], score: f64) -> ElementId {
        let class = class_of(member);
        let page_number = match self.open[class] {
            NO_PAGE => self.open_page(class),
            number => number,
        };
        let place = (class == LONG_CLASS).then(|| self.add_long(member));
        let page = &mut self.pages[page_number as usize];
        let capacity = page.bytes.capacity();
        let slot = page.take_slot();
        self.bytes += page.bytes.capacity() - capacity;
        let bytes = page.slot_mut(slot);
        bytes[..SCORE_BYTES].copy_from_slice(&score.to_le_bytes());
        match place {
            Some(place) => bytes[SCORE_BYTES..][..4].copy_from_slice(&place.to_le_bytes()),
            None => {
                let end = bytes.len() - 1;
                bytes[SCORE_BYTES..][..member.len()].copy_from_slice(member);
                bytes[end] = (end - SCORE_BYTES - member.len()) as u8;
            }
        }
        if page.is_full() {
            self.open[class] = page.next_open;
        }
        ElementId(page_number << SLOTS.ilog2() | slot as u32)
    }

    /// Takes an element out.
    pub(super) fn remove(&mut self, id: ElementId) {
        let page = &mut self.pages[id.page()];
        let class = usize::from(page.class);
        if class == LONG_CLASS {
            let place = long_place(page.slot(id.slot()));
            self.bytes -= std::mem::take(&mut self.long[place]).len();
            self.long_free.push(place as u32);
        }
        if page.is_full() {
            page.next_open = self.open[class];
            self.open[class] = id.page() as u32;
        }
        let capacity = page.bytes.capacity();
        page.give_slot(id.slot());
        self.bytes -= capacity - page.bytes.capacity();
    }

    /// Bytes of memory.
    pub(super) fn heap_bytes(&self) -> usize {
        self.bytes
            + self.pages.capacity() * size_of::<Page>()
            + self.long.capacity() * size_of::<Box<[u8]>>()
            + self.long_free.capacity() * size_of::<u32>()
    }

    #[cold]
    fn open_page(&mut self, class: usize) -> u32 {
        let number = self.pages.len();
        assert!(number < 1 << 24, "a sorted set holds at most 2^32 members");
        self.pages.push(Page {
            bytes: Vec::new(),
            slot_bytes: SLOT_BYTES[class],
            class: class as u8,
            used: 0,
            free: NO_SLOT,
            next_open: NO_PAGE,
        });
        self.open[class] = number as u32;
        number as u32
    }

    #[cold]
    fn add_long(&mut self, member: &[u8]) -> u32 {
        self.bytes += member.len();
        if let Some(place) = self.long_free.pop() {
            self.long[place as usize] = member.into();
            return place;
        }
        self.long.push(member.into());
        (self.long.len() - 1) as u32
    }
}

#[inline]
fn long_place(slot: &[u8]) -> usize {
    u32::from_le_bytes(slot[SCORE_BYTES..][..4].try_into().expect("four bytes")) as usize
}

/// The smallest slots that a member fits in.
#[inline]
fn class_of(member: &[u8]) -> usize {
    if member.len() > MEMBER_BYTES_MAX {
        return LONG_CLASS;
    }
    let bytes = (SCORE_BYTES + member.len() + 1) as u16;
    SLOT_BYTES[..LONG_CLASS].partition_point(|&slot| slot < bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_of_every_length_are_kept_and_slots_are_used_again() {
        let mut elements = Elements::default();
        let member = |len: usize| vec![len as u8; len];
        let lengths = if cfg!(miri) { 100 } else { 600 };
        let ids: Vec<ElementId> =
            (0..lengths).map(|len| elements.add(&member(len), len as f64)).collect();
        for (len, &id) in ids.iter().enumerate() {
            assert_eq!(elements.member(id), member(len));
            assert_eq!(elements.score(id), len as f64);
        }
        let bytes = elements.heap_bytes();
        for round in 1..4 {
            for len in (0..lengths).rev() {
                elements.remove(ids[len]);
                assert_eq!(elements.add(&member(len), round as f64), ids[len]);
            }
        }
        assert!(elements.heap_bytes() <= bytes + 4096);
        assert!(ids.iter().enumerate().all(|(len, &id)| elements.member(id) == member(len)));
    }

    #[test]
    fn pages_without_members_keep_no_memory() {
        let count: u32 = if cfg!(miri) { 300 } else { 10_000 };
        let mut elements = Elements::default();
        let ids: Vec<ElementId> = (0..count).map(|n| elements.add(&n.to_le_bytes(), 0.0)).collect();
        assert!(
            cfg!(miri) || elements.heap_bytes() < count as usize * 17,
            "the last page is half empty"
        );
        ids.iter().for_each(|&id| elements.remove(id));
        assert_eq!(elements.bytes, 0);
        let again: Vec<ElementId> =
            (0..count).map(|n| elements.add(&n.to_le_bytes(), 1.0)).collect();
        assert_eq!(elements.pages.len(), (count as usize).div_ceil(SLOTS));
        assert!(again.iter().zip(0u32..).all(|(&id, n)| elements.member(id) == n.to_le_bytes()));
    }
}
