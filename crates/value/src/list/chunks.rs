//! HOT PATH
//! The native form of a list: elements in chunks of about 7 KiB.
//!
//! Pushes and pops touch the chunk at an end. An index is found by the chunks' counts: ten million
//! short elements are some 18,000 chunks, whose counts are walked in 15 µs, from the nearer end. A
//! chunk that an insertion makes too large splits in two; one that removals make small merges with
//! its neighbour. An element of more than a chunk has one of its own.
//!
//! Each chunk has a place, a number that ascends along the list: by it a spread list names its
//! rows. A chunk keeps its place as long as it lives, unless the number of those put between two is
//! so large that there is no number left (list/places.rs).

use super::chunk::{CHUNK_BYTES, Chunk};
use super::element::Element;
use super::side::Side;
use super::{element, places};
use crate::edits::Edits;
use crate::item::Item;
use std::collections::VecDeque;

/// A chunk with fewer bytes merges with a neighbour if both fit in half of one.
const SPARSE_BYTES: usize = CHUNK_BYTES / 4;

/// See the head of this file.
#[derive(Default)]
pub(crate) struct Chunks {
    chunks: VecDeque<Chunk>,
    len: usize,
    heap_bytes: usize,
}

impl Chunks {
    /// The elements of a run.
    pub(crate) fn from_run(bytes: &[u8], edits: &mut Edits<'_>) -> Chunks {
        let mut chunks = Chunks::default();
        let mut rest = bytes;
        while !rest.is_empty() {
            let before = rest;
            if element::take_first(&mut rest).is_none() {
                break;
            }
            let element = Element::standing(&before[..before.len() - rest.len()]);
            chunks.push(Side::Right, &element, edits);
        }
        chunks
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn heap_bytes(&self) -> usize {
        self.heap_bytes
    }

    /// The elements as one run of bytes, if they have one chunk of at most `bytes_max`.
    pub(crate) fn as_run(&self, bytes_max: usize) -> Option<&[u8]> {
        match self.chunks.len() {
            0 => Some(&[]),
            1 => Some(self.chunks[0].bytes()).filter(|bytes| bytes.len() <= bytes_max),
            _ => None,
        }
    }

    /// Adds an element at an end.
    #[inline]
    pub(super) fn push(&mut self, side: Side, element: &Element<'_>, edits: &mut Edits<'_>) {
        self.len += 1;
        let chunk = match side {
            Side::Left => self.chunks.front_mut(),
            Side::Right => self.chunks.back_mut(),
        };
        if let Some(chunk) = chunk
            && chunk.has_room(side, element)
        {
            chunk.touch(edits);
            let before = chunk.heap_bytes();
            chunk.push(side, element);
            self.heap_bytes = self.heap_bytes + chunk.heap_bytes() - before;
            return;
        }
        self.push_chunk(side, element, edits);
    }

    #[cold]
    fn push_chunk(&mut self, side: Side, element: &Element<'_>, edits: &mut Edits<'_>) {
        let place = places::beyond(&mut self.chunks, side, edits);
        let chunk = Chunk::begin(element, side, place);
        chunk.touch_new(edits);
        self.heap_bytes += chunk.heap_bytes();
        self.make_room();
        match side {
            Side::Left => self.chunks.push_front(chunk),
            Side::Right => self.chunks.push_back(chunk),
        }
    }

    /// Makes room for a chunk: an eighth more, not twice as much, since a chunk is added once in
    /// hundreds of elements.
    fn make_room(&mut self) {
        let len = self.chunks.len();
        if len == self.chunks.capacity() {
            self.chunks.reserve_exact(len / 8 + 4);
        }
    }

    /// Removes `count` elements at an end.
    #[inline]
    pub(crate) fn pop(&mut self, side: Side, count: usize, edits: &mut Edits<'_>) {
        let mut left = count.min(self.len);
        self.len -= left;
        while left > 0 {
            let chunk = match side {
                Side::Left => self.chunks.front_mut(),
                Side::Right => self.chunks.back_mut(),
            };
            let Some(chunk) = chunk else { break };
            chunk.touch(edits);
            if left < chunk.count() {
                let before = chunk.heap_bytes();
                chunk.pop(side, left);
                self.heap_bytes = self.heap_bytes + chunk.heap_bytes() - before;
                return;
            }
            left -= chunk.count();
            self.heap_bytes -= chunk.heap_bytes();
            match side {
                Side::Left => self.chunks.pop_front(),
                Side::Right => self.chunks.pop_back(),
            };
        }
    }

    /// The chunk that has the element at an index, and the index in it.
    fn find(&self, index: usize) -> (usize, usize) {
        if index < self.len / 2 {
            let mut left = index;
            for (number, chunk) in self.chunks.iter().enumerate() {
                if left < chunk.count() {
                    return (number, left);
                }
                left -= chunk.count();
            }
        }
        let mut end = self.len;
        for (number, chunk) in self.chunks.iter().enumerate().rev() {
            let start = end - chunk.count();
            if index >= start {
                return (number, index - start);
            }
            end = start;
        }
        (0, 0)
    }

    /// The element at an end.
    #[inline]
    pub(crate) fn end(&self, side: Side) -> Option<Item<'_>> {
        match side {
            Side::Left => element::take_first(&mut self.chunks.front()?.bytes()),
            Side::Right => element::take_last(&mut self.chunks.back()?.bytes()),
        }
    }

    pub(crate) fn get(&self, index: usize) -> Option<Item<'_>> {
        if index >= self.len {
            return None;
        }
        let (number, inner) = self.find(index);
        let chunk = &self.chunks[number];
        let bytes = chunk.bytes();
        element::take_first(&mut &bytes[element::start(bytes, chunk.count(), inner)..])
    }

    /// Runs of elements from an index on, the first beginning just there.
    pub(crate) fn runs_from(&self, index: usize) -> (Option<&[u8]>, impl Iterator<Item = &[u8]>) {
        let (number, inner) =
            if index < self.len { self.find(index) } else { (self.chunks.len(), 0) };
        let first = self.chunks.get(number).map(|chunk| {
            let bytes = chunk.bytes();
            &bytes[element::start(bytes, chunk.count(), inner)..]
        });
        let rest = self.chunks.iter().skip(number + 1).map(Chunk::bytes);
        (first, rest)
    }

    /// Runs of elements, the last first.
    pub(crate) fn runs_backwards(&self) -> impl Iterator<Item = &[u8]> {
        self.chunks.iter().rev().map(Chunk::bytes)
    }

    /// Puts an element, or nothing, in the place of the `removed` ones from `index` on, all of
    /// which are in one chunk.
    fn splice(
        &mut self,
        (number, inner): (usize, usize),
        removed: usize,
        added: &Element<'_>,
        edits: &mut Edits<'_>,
    ) {
        let chunk = &mut self.chunks[number];
        chunk.touch(edits);
        let (bytes, count) = (chunk.heap_bytes(), chunk.count());
        chunk.splice(inner, removed, added);
        self.heap_bytes = self.heap_bytes + chunk.heap_bytes() - bytes;
        self.len = self.len + chunk.count() - count;
        self.mend(number, edits);
    }

    pub(super) fn set(&mut self, index: usize, element: &Element<'_>, edits: &mut Edits<'_>) {
        self.splice(self.find(index), 1, element, edits);
    }

    /// Inserts an element before the one at `index`, or at the end.
    pub(super) fn insert(&mut self, index: usize, element: &Element<'_>, edits: &mut Edits<'_>) {
        if index >= self.len {
            return self.push(Side::Right, element, edits);
        }
        self.splice(self.find(index), 0, element, edits);
    }

    /// Removes `count` elements from `index` on.
    pub(crate) fn remove(&mut self, index: usize, count: usize, edits: &mut Edits<'_>) {
        let mut left = count.min(self.len.saturating_sub(index));
        while left > 0 {
            let (number, inner) = self.find(index);
            let here = left.min(self.chunks[number].count() - inner);
            self.splice((number, inner), here, &Element::standing(&[]), edits);
            left -= here;
        }
    }

    /// Splits, merges or drops a chunk, touched already, that has become too large, small or empty.
    fn mend(&mut self, number: usize, edits: &mut Edits<'_>) {
        let chunk = &self.chunks[number];
        if chunk.count() == 0 {
            self.heap_bytes -= chunk.heap_bytes();
            self.chunks.remove(number);
        } else if chunk.len() > CHUNK_BYTES && chunk.count() > 1 {
            self.split(number, edits);
        } else if chunk.len() < SPARSE_BYTES {
            self.merge(number, edits);
        }
    }

    fn split(&mut self, number: usize, edits: &mut Edits<'_>) {
        let place = places::behind(&mut self.chunks, number, edits);
        let chunk = &self.chunks[number];
        let bytes = chunk.bytes();
        // About the middle by bytes, with one element at least on either side.
        let mut rest = bytes;
        let mut count = 0;
        while count == 0 || bytes.len() - rest.len() < bytes.len() / 2 && count + 1 < chunk.count()
        {
            element::take_first(&mut rest);
            count += 1;
        }
        let (left, right) = bytes.split_at(bytes.len() - rest.len());
        let left = Chunk::of(left, count, chunk.place);
        let right = Chunk::of(right, chunk.count() - count, place);
        right.touch_new(edits);
        self.heap_bytes += left.heap_bytes() + right.heap_bytes();
        self.heap_bytes -= chunk.heap_bytes();
        self.chunks[number] = left;
        self.make_room();
        self.chunks.insert(number + 1, right);
        // A large element may have stood beside small ones.
        for half in [number + 1, number] {
            if self.chunks[half].len() > CHUNK_BYTES && self.chunks[half].count() > 1 {
                self.split(half, edits);
            }
        }
    }

    fn merge(&mut self, number: usize, edits: &mut Edits<'_>) {
        let fits = |other: usize| {
            self.chunks
                .get(other)
                .is_some_and(|other| other.len() + self.chunks[number].len() <= CHUNK_BYTES / 2)
        };
        let left = if number > 0 && fits(number - 1) {
            number - 1
        } else if fits(number + 1) {
            number
        } else {
            return;
        };
        self.chunks[left].touch(edits);
        let Some(right) = self.chunks.remove(left + 1) else { return };
        right.touch(edits);
        let chunk = &mut self.chunks[left];
        self.heap_bytes -= chunk.heap_bytes() + right.heap_bytes();
        chunk.absorb(&right);
        self.heap_bytes += chunk.heap_bytes();
    }
}

/// Rows of a spread list.
impl Chunks {
    /// The chunk at a place.
    pub(super) fn at_place(&self, place: u64) -> Option<&Chunk> {
        let found = self.chunks.binary_search_by_key(&place, |chunk| chunk.place).ok()?;
        Some(&self.chunks[found])
    }

    /// The chunks from a place on.
    pub(super) fn starting_at(&self, place: u64) -> impl Iterator<Item = &Chunk> {
        self.chunks.range(self.chunks.partition_point(|chunk| chunk.place < place)..)
    }

    /// Takes a chunk in behind the others; false if its place is not behind theirs, or it has no
    /// elements.
    pub(super) fn adopt(&mut self, place: u64, elements: &[u8], count: usize) -> bool {
        if count == 0 || self.chunks.back().is_some_and(|last| last.place >= place) {
            return false;
        }
        let chunk = Chunk::roomy(elements, count, place);
        self.len += count;
        self.heap_bytes += chunk.heap_bytes();
        self.make_room();
        self.chunks.push_back(chunk);
        true
    }

    /// Says of all chunks that they are about to go.
    pub(super) fn touch_all(&self, edits: &mut Edits<'_>) {
        if edits.notes_elements() {
            self.chunks.iter().for_each(|chunk| chunk.touch(edits));
        }
    }
}
