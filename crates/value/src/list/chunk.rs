//! HOT PATH
//! Elements in a row that grows and shrinks at both ends without moving them.
//!
//! ```text
//! block ─▶ gap of `start` bytes | element … | room
//! ```
//! Pops at the head leave a gap, pushes at the head fill it.

use super::element::{self, Element};
use super::side::Side;
use crate::edits::Edits;
use crate::item::Item;
use crate::packed::Packed;
use std::ops::Range;

/// Bytes of a block: with the header of its allocation 7 KiB. Of that size the allocator takes four
/// from one run of pages; of 4 KiB each has a run of its own, which takes 128 bytes beside it.
pub(super) const CHUNK_BYTES: usize = (7 << 10) - 8;
/// Elements are moved within their block only if that makes so much room: not with every push on a
/// list to which one side pushes as much as the other takes.
const ROOM_BYTES_MIN: usize = CHUNK_BYTES / 4;

static GAP: [u8; CHUNK_BYTES] = [0; CHUNK_BYTES];

/// See the head of this file.
pub(super) struct Chunk {
    block: Packed,
    count: u32,
    start: u32,
    /// See list/places.rs.
    pub(super) place: u64,
}

impl Chunk {
    /// `count` elements.
    pub(super) fn of(elements: &[u8], count: usize, place: u64) -> Chunk {
        Chunk { block: Packed::from_bytes(elements), count: count as u32, start: 0, place }
    }

    /// `count` elements, with room for others.
    pub(super) fn roomy(elements: &[u8], count: usize, place: u64) -> Chunk {
        let mut block = Packed::with_capacity(CHUNK_BYTES.max(elements.len()));
        block.extend(elements);
        Chunk { block, count: count as u32, start: 0, place }
    }

    /// One element, with room for others beyond it on one side.
    pub(super) fn begin(element: &Element<'_>, side: Side, place: u64) -> Chunk {
        let mut block = Packed::with_capacity(CHUNK_BYTES.max(element.len()));
        let start = match side {
            Side::Left => CHUNK_BYTES.saturating_sub(element.len()),
            Side::Right => 0,
        };
        block.extend(&GAP[..start]);
        element.show(|parts| block.splice_parts(start..start, parts));
        Chunk { block, count: 1, start: start as u32, place }
    }

    /// Its elements in a row.
    #[inline]
    pub(super) fn bytes(&self) -> &[u8] {
        &self.block.bytes()[self.start as usize..]
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        self.block.len() - self.start as usize
    }

    #[inline]
    pub(super) fn count(&self) -> usize {
        self.count as usize
    }

    #[inline]
    pub(super) fn heap_bytes(&self) -> usize {
        self.block.heap_bytes() + size_of::<Chunk>()
    }

    pub(super) fn items(&self) -> impl Iterator<Item = Item<'_>> {
        let mut run = self.bytes();
        std::iter::from_fn(move || element::take_first(&mut run))
    }

    /// Says that it is about to change, or to go.
    #[inline]
    pub(super) fn touch(&self, edits: &mut Edits<'_>) {
        edits.touch(&self.place.to_be_bytes(), |out| {
            self.items().for_each(|item| item.put(out));
            true
        });
    }

    /// Says that it is new.
    pub(super) fn touch_new(&self, edits: &mut Edits<'_>) {
        edits.touch(&self.place.to_be_bytes(), |_| false);
    }

    /// Whether a push finds room.
    #[inline]
    pub(super) fn has_room(&self, side: Side, element: &Element<'_>) -> bool {
        let bytes = element.len();
        let there = match side {
            Side::Left => self.start as usize,
            Side::Right => CHUNK_BYTES.saturating_sub(self.block.len()),
        };
        there >= bytes || self.len() + bytes.max(ROOM_BYTES_MIN) <= CHUNK_BYTES
    }

    /// Adds an element at an end, where there is room.
    #[inline]
    pub(super) fn push(&mut self, side: Side, element: &Element<'_>) {
        self.count += 1;
        match side {
            Side::Left => {
                if (self.start as usize) < element.len() {
                    self.move_back();
                }
                let end = self.start as usize;
                self.start -= element.len() as u32;
                self.write(self.start as usize..end, element);
            }
            Side::Right => {
                if self.block.len() + element.len() > CHUNK_BYTES {
                    self.move_front();
                }
                match element {
                    Element::Short(block) => {
                        self.block.extend_from_block(&block.at_front(), block.len());
                    }
                    long => long.show(|parts| self.block.extend_parts(parts)),
                }
            }
        }
    }

    /// Writes an element into the gap that ends with `place`. What it overwrites before that is
    /// gap, too.
    #[inline]
    fn write(&mut self, place: Range<usize>, element: &Element<'_>) {
        let bytes = self.block.bytes_mut();
        if let Element::Short(block) = element
            && let Some(room) = bytes[..place.end].last_chunk_mut()
        {
            *room = block.at_back();
            return;
        }
        let mut at = place.start;
        element.show(|parts| {
            for part in parts {
                bytes[at..at + part.len()].copy_from_slice(part);
                at += part.len();
            }
        });
    }

    /// Makes all room in front.
    #[cold]
    fn move_back(&mut self) {
        let room = CHUNK_BYTES.saturating_sub(self.block.len());
        self.block.splice(0..0, &GAP[..room]);
        self.start += room as u32;
    }

    /// Makes all room behind.
    #[cold]
    fn move_front(&mut self) {
        self.block.splice(0..self.start as usize, &[]);
        self.start = 0;
    }

    /// Removes `count` elements at an end; some stay.
    #[inline]
    pub(super) fn pop(&mut self, side: Side, count: usize) {
        let kept = self.count() - count;
        match side {
            Side::Left => self.start += element::start(self.bytes(), self.count(), count) as u32,
            Side::Right => {
                let end = element::start(self.bytes(), self.count(), kept);
                self.block.splice(self.start as usize + end..self.block.len(), &[]);
            }
        }
        self.count = kept as u32;
    }

    /// Puts other elements in the place of some.
    pub(super) fn splice(&mut self, first: usize, removed: usize, added: &Element<'_>) {
        let Range { start, end } = self.run(first, removed);
        let gap = self.start as usize;
        added.show(|parts| self.block.splice_parts(gap + start..gap + end, parts));
        let added = usize::from(added.len() > 0);
        self.count = (self.count() - removed + added) as u32;
    }

    /// Adds the elements of another one behind its own.
    pub(super) fn absorb(&mut self, other: &Chunk) {
        self.block.extend(other.bytes());
        self.count += other.count;
    }

    /// Where `count` elements from `first` on stand.
    fn run(&self, first: usize, count: usize) -> Range<usize> {
        let start = |index| element::start(self.bytes(), self.count(), index);
        match count {
            0 => start(first)..start(first),
            1 => element::place(self.bytes(), self.count(), first),
            _ => start(first)..start(first + count),
        }
    }
}
