//! HOT PATH
//! The entries of a block's messages.
//!
//! ```text
//! places    u16 for each sequence of the block: where its message's entry is, NONE if it has none
//! entries   in no order, each with the index of its message in the block
//! ```
//! So an entry is found, added and removed without a search. It takes 34 bytes and what the vectors
//! have to spare. In a B-tree by messages, whose nodes are little more than half full if keys come
//! in ascending order, it took 130.

use super::entry::Entry;

const NONE: u16 = u16::MAX;
/// Entries that room is made for at least.
const FIRST: usize = 4;
/// Vectors with less room than this do not shrink.
const SHRUNK_MIN: usize = 16;

/// See the head of this file.
#[derive(Default)]
pub(super) struct Entries {
    places: Vec<u16>,
    entries: Vec<Entry>,
}

/// How many messages a block has, and sequences.
#[derive(Clone, Copy)]
pub(super) struct BlockSize {
    pub(super) live: usize,
    pub(super) span: usize,
}

impl Entries {
    /// The entry of the `index`th sequence.
    #[inline]
    pub(super) fn at(&self, index: u64) -> Option<&Entry> {
        let &place = self.places.get(usize::try_from(index).ok()?)?;
        self.entries.get(usize::from(place))
    }

    /// All entries from the `index`th sequence on, in the order of these.
    pub(super) fn from(&self, index: u64) -> impl Iterator<Item = (u64, &Entry)> {
        let last = self.places.len() as u64;
        (index..last).filter_map(|index| Some((index, self.at(index)?)))
    }

    /// Has the message of the `index`th sequence have this entry; returns that which it had.
    #[inline]
    pub(super) fn put(&mut self, index: usize, entry: Entry, size: BlockSize) -> Option<Entry> {
        if index >= self.places.len() {
            self.places.resize(size.span, NONE);
        }
        let entry = Entry { index: index as u16, ..entry };
        if let Some(before) = self.entries.get_mut(usize::from(self.places[index])) {
            return Some(std::mem::replace(before, entry));
        }
        self.make_room(size.live);
        self.places[index] = self.entries.len() as u16;
        self.entries.push(entry);
        None
    }

    /// Grows twofold, but not beyond what all messages of a block need, if that is near.
    #[inline]
    fn make_room(&mut self, messages: usize) {
        let len = self.entries.len();
        if len == self.entries.capacity() {
            let without = messages.saturating_sub(len);
            self.entries.reserve_exact(without.clamp(FIRST.max(len / 8), FIRST.max(len)));
        }
    }

    /// Removes the entry of the `index`th sequence.
    #[inline]
    pub(super) fn remove(&mut self, index: u64) -> Option<Entry> {
        let place = self.places.get_mut(usize::try_from(index).ok()?)?;
        let place = usize::from(std::mem::replace(place, NONE));
        if place >= self.entries.len() {
            return None;
        }
        let removed = self.entries.swap_remove(place);
        if let Some(moved) = self.entries.get(place) {
            self.places[usize::from(moved.index)] = place as u16;
        }
        let room = self.entries.capacity();
        if room >= SHRUNK_MIN && self.entries.len() <= room / 4 {
            self.entries.shrink_to(room / 2);
        }
        Some(removed)
    }

    /// No message follows in their block.
    pub(super) fn close(&mut self) {
        self.places.shrink_to_fit();
        self.entries.shrink_to_fit();
    }

    /// Bytes of memory of the vectors.
    #[inline]
    pub(super) fn heap_bytes(&self) -> usize {
        self.places.capacity() * size_of::<u16>() + self.entries.capacity() * size_of::<Entry>()
    }
}
