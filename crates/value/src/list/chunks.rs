//! HOT PATH
//! The native form of a list: elements in chunks of about 5 KiB.
//!
//! Pushes and pops touch the chunk at an end. An index is found by the chunks' counts: ten million short
//! elements are some 25,000 chunks, whose counts are walked in 20 µs, from the nearer end. A chunk that an
//! insertion makes too large splits in two; one that removals make small merges with its neighbour. An
//! element of more than a chunk has one of its own.
//!
//! Each chunk has a place, a number that ascends along the list: by it a spread list names its rows. A chunk keeps
//! its place as long as it lives, unless so many have been put between two that there is no number left
//! (list/places.rs).

use super::{Side, element, places};
use crate::Edits;
use crate::item::Item;
use crate::packed::Packed;
use std::collections::VecDeque;
use std::ops::Range;

/// Bytes of elements in a chunk: with the header of its allocation 5 KiB. Of that size the allocator takes four from
/// one run of pages; of 4 KiB each has a run of its own, which takes 128 bytes beside it.
const CHUNK_BYTES: usize = (5 << 10) - 8;
/// A chunk with fewer bytes merges with a neighbour if both fit in half of one.
const SPARSE_BYTES: usize = CHUNK_BYTES / 4;

/// See the head of this file.
#[derive(Default)]
pub(crate) struct Chunks {
    chunks: VecDeque<Chunk>,
    len: usize,
    heap_bytes: usize,
}

pub(super) struct Chunk {
    elements: Packed,
    count: u32,
    pub(super) place: u64,
}

impl Chunk {
    fn of(elements: Packed, count: usize, place: u64) -> Chunk {
        Chunk { elements, count: count as u32, place }
    }

    /// Its elements.
    pub(super) fn items(&self) -> impl Iterator<Item = Item<'_>> {
        let mut run = self.elements.bytes();
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
    fn touch_new(&self, edits: &mut Edits<'_>) {
        edits.touch(&self.place.to_be_bytes(), |_| false);
    }

    fn count(&self) -> usize {
        self.count as usize
    }

    fn heap_bytes(&self) -> usize {
        self.elements.heap_bytes() + size_of::<Chunk>()
    }
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
            chunks.push(Side::Right, &before[..before.len() - rest.len()], edits);
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
            1 => Some(self.chunks[0].elements.bytes()).filter(|bytes| bytes.len() <= bytes_max),
            _ => None,
        }
    }

    /// Adds an element, as [`element::put`] wrote it, at an end.
    #[inline]
    pub(crate) fn push(&mut self, side: Side, element: &[u8], edits: &mut Edits<'_>) {
        self.len += 1;
        let chunk = match side {
            Side::Left => self.chunks.front_mut(),
            Side::Right => self.chunks.back_mut(),
        };
        if let Some(chunk) = chunk
            && chunk.elements.len() + element.len() <= CHUNK_BYTES
        {
            chunk.touch(edits);
            let at = if side == Side::Left { 0 } else { chunk.elements.len() };
            let before = chunk.elements.heap_bytes();
            chunk.elements.splice(at..at, element);
            chunk.count += 1;
            self.heap_bytes = self.heap_bytes + chunk.elements.heap_bytes() - before;
            return;
        }
        let mut elements = Packed::with_capacity(CHUNK_BYTES.max(element.len()));
        elements.extend(element);
        let place = places::beyond(&mut self.chunks, side, edits);
        let chunk = Chunk::of(elements, 1, place);
        chunk.touch_new(edits);
        self.heap_bytes += chunk.heap_bytes();
        match side {
            Side::Left => self.chunks.push_front(chunk),
            Side::Right => self.chunks.push_back(chunk),
        }
    }

    /// Removes `count` elements at an end.
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
            if chunk.count() <= left {
                left -= chunk.count();
                self.heap_bytes -= chunk.heap_bytes();
                match side {
                    Side::Left => self.chunks.pop_front(),
                    Side::Right => self.chunks.pop_back(),
                };
                continue;
            }
            let bytes = chunk.elements.bytes();
            let range = match side {
                Side::Left => 0..element::place(bytes, chunk.count(), left).start,
                Side::Right => {
                    let first = chunk.count() - left;
                    element::place(bytes, chunk.count(), first).start..bytes.len()
                }
            };
            let before = chunk.elements.heap_bytes();
            chunk.elements.splice(range, &[]);
            chunk.count -= left as u32;
            self.heap_bytes = self.heap_bytes + chunk.elements.heap_bytes() - before;
            left = 0;
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

    pub(crate) fn get(&self, index: usize) -> Option<Item<'_>> {
        if index >= self.len {
            return None;
        }
        let (number, inner) = self.find(index);
        let chunk = &self.chunks[number];
        let bytes = chunk.elements.bytes();
        element::take_first(&mut &bytes[element::place(bytes, chunk.count(), inner)])
    }

    /// Runs of elements from an index on, the first beginning just there.
    pub(crate) fn runs_from(&self, index: usize) -> (Option<&[u8]>, impl Iterator<Item = &[u8]>) {
        let (number, inner) =
            if index < self.len { self.find(index) } else { (self.chunks.len(), 0) };
        let first = self.chunks.get(number).map(|chunk| {
            let bytes = chunk.elements.bytes();
            &bytes[element::place(bytes, chunk.count(), inner).start..]
        });
        let rest = self.chunks.iter().skip(number + 1).map(|chunk| chunk.elements.bytes());
        (first, rest)
    }

    /// Runs of elements, the last first.
    pub(crate) fn runs_backwards(&self) -> impl Iterator<Item = &[u8]> {
        self.chunks.iter().rev().map(|chunk| chunk.elements.bytes())
    }

    /// Puts `elements`, `added` of them, in the place of the `removed` ones from `index` on, all of which
    /// are in one chunk.
    fn splice(
        &mut self,
        at: (usize, usize),
        removed: usize,
        elements: &[u8],
        added: usize,
        edits: &mut Edits<'_>,
    ) {
        let (number, inner) = at;
        let chunk = &mut self.chunks[number];
        chunk.touch(edits);
        let range = run(chunk, inner, removed);
        let before = chunk.elements.heap_bytes();
        chunk.elements.splice(range, elements);
        chunk.count = (chunk.count() - removed + added) as u32;
        self.heap_bytes = self.heap_bytes + chunk.elements.heap_bytes() - before;
        self.len = self.len - removed + added;
        self.mend(number, edits);
    }

    pub(crate) fn set(&mut self, index: usize, element: &[u8], edits: &mut Edits<'_>) {
        self.splice(self.find(index), 1, element, 1, edits);
    }

    /// Inserts an element before the one at `index`, or at the end.
    pub(crate) fn insert(&mut self, index: usize, element: &[u8], edits: &mut Edits<'_>) {
        if index >= self.len {
            return self.push(Side::Right, element, edits);
        }
        self.splice(self.find(index), 0, element, 1, edits);
    }

    /// Removes `count` elements from `index` on.
    pub(crate) fn remove(&mut self, index: usize, count: usize, edits: &mut Edits<'_>) {
        let mut left = count.min(self.len.saturating_sub(index));
        while left > 0 {
            let (number, inner) = self.find(index);
            let here = left.min(self.chunks[number].count() - inner);
            self.splice((number, inner), here, &[], 0, edits);
            left -= here;
        }
    }

    /// Splits, merges or drops a chunk, touched already, that has become too large, small or empty.
    fn mend(&mut self, number: usize, edits: &mut Edits<'_>) {
        let chunk = &self.chunks[number];
        if chunk.count == 0 {
            self.heap_bytes -= chunk.heap_bytes();
            self.chunks.remove(number);
        } else if chunk.elements.len() > CHUNK_BYTES && chunk.count > 1 {
            self.split(number, edits);
        } else if chunk.elements.len() < SPARSE_BYTES {
            self.merge(number, edits);
        }
    }

    fn split(&mut self, number: usize, edits: &mut Edits<'_>) {
        let place = places::behind(&mut self.chunks, number, edits);
        let chunk = &self.chunks[number];
        let bytes = chunk.elements.bytes();
        // About the middle by bytes, with one element at least on either side.
        let mut rest = bytes;
        let mut count = 0;
        while count == 0 || bytes.len() - rest.len() < bytes.len() / 2 && count + 1 < chunk.count()
        {
            element::take_first(&mut rest);
            count += 1;
        }
        let (left, right) = bytes.split_at(bytes.len() - rest.len());
        let left = Chunk::of(Packed::from_bytes(left), count, chunk.place);
        let right = Chunk::of(Packed::from_bytes(right), chunk.count() - count, place);
        right.touch_new(edits);
        self.heap_bytes += left.heap_bytes() + right.heap_bytes();
        self.heap_bytes -= chunk.heap_bytes();
        self.chunks[number] = left;
        self.chunks.insert(number + 1, right);
        // A large element may have stood beside small ones.
        for half in [number + 1, number] {
            if self.chunks[half].elements.len() > CHUNK_BYTES && self.chunks[half].count > 1 {
                self.split(half, edits);
            }
        }
    }

    fn merge(&mut self, number: usize, edits: &mut Edits<'_>) {
        let fits = |other: usize| {
            self.chunks.get(other).is_some_and(|other| {
                other.elements.len() + self.chunks[number].elements.len() <= CHUNK_BYTES / 2
            })
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
        chunk.elements.extend(right.elements.bytes());
        chunk.count += right.count;
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

    /// Takes a chunk in behind the others; false if its place is not behind theirs, or it has no elements.
    pub(super) fn adopt(&mut self, place: u64, elements: &[u8], count: usize) -> bool {
        if count == 0 || self.chunks.back().is_some_and(|last| last.place >= place) {
            return false;
        }
        let mut packed = Packed::with_capacity(CHUNK_BYTES.max(elements.len()));
        packed.extend(elements);
        let chunk = Chunk::of(packed, count, place);
        self.len += count;
        self.heap_bytes += chunk.heap_bytes();
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

/// Where `count` elements from `first` on stand in a chunk.
fn run(chunk: &Chunk, first: usize, count: usize) -> Range<usize> {
    let bytes = chunk.elements.bytes();
    let start = match first {
        first if first < chunk.count() => element::place(bytes, chunk.count(), first).start,
        _ => bytes.len(),
    };
    if count == 0 {
        return start..start;
    }
    if first + count == chunk.count() {
        return start..bytes.len();
    }
    start..element::place(bytes, chunk.count(), first + count - 1).end
}
