//! HOT PATH
//! Elements one after the other.

use super::element::{Direction, Element};
use super::elements::ElementId;
use super::native::Native;
use super::row::Walk;
use crate::fetch::lines::prefetch_small;
use crate::item::Item;
use std::ops::Range;

/// Neighbours in order stand anywhere in memory, so an element is prefetched when this number of
/// others are to be read before it.
const AHEAD: usize = 8;

/// Elements in order, or against it.
pub struct Iter<'a>(Source<'a>);

enum Source<'a> {
    Row { walk: Walk<'a>, left: usize },
    RowBackward(std::vec::IntoIter<Element<'a>>),
    Native { native: &'a Native, ranks: Range<usize>, chunk: Chunk<'a> },
    NativeBackward { native: &'a Native, ranks: Range<usize>, chunk: Chunk<'a> },
}

/// Neighbours in one leaf of the tree.
#[derive(Clone, Copy, Default)]
pub(super) struct Chunk<'a> {
    pub(super) scores: &'a [f64],
    pub(super) ids: &'a [ElementId],
}

impl<'a> Iter<'a> {
    #[inline]
    pub(super) fn of_row(row: &'a [u8], ranks: Range<usize>, direction: Direction) -> Iter<'a> {
        let mut walk = Walk::new(row);
        if ranks.start > 0 {
            walk.nth(ranks.start - 1);
        }
        if direction == Direction::Forward {
            return Iter(Source::Row { walk, left: ranks.len() });
        }
        // A row is walked from the front only.
        let mut elements: Vec<Element<'a>> = walk.take(ranks.len()).collect();
        elements.reverse();
        Iter(Source::RowBackward(elements.into_iter()))
    }

    #[inline]
    pub(super) fn of_native(
        native: &'a Native,
        ranks: Range<usize>,
        direction: Direction,
    ) -> Iter<'a> {
        let chunk = Chunk::default();
        match direction {
            Direction::Forward => Iter(Source::Native { native, ranks, chunk }),
            Direction::Backward => Iter(Source::NativeBackward { native, ranks, chunk }),
        }
    }
}

impl<'a> Iterator for Iter<'a> {
    type Item = Element<'a>;

    #[inline]
    fn next(&mut self) -> Option<Element<'a>> {
        match &mut self.0 {
            Source::Row { walk, left } => {
                *left = left.checked_sub(1)?;
                walk.next()
            }
            Source::RowBackward(elements) => elements.next(),
            Source::Native { native, ranks, chunk } => {
                let rank = ranks.next()?;
                if chunk.ids.is_empty() {
                    *chunk = native.chunk_from(rank);
                }
                let (&score, scores) = chunk.scores.split_first()?;
                let (&id, ids) = chunk.ids.split_first()?;
                *chunk = Chunk { scores, ids };
                if let Some(&later) = ids.get(AHEAD) {
                    prefetch_small(native.address(later));
                }
                Some(Element { member: Item::Bytes(native.member(id)), score })
            }
            Source::NativeBackward { native, ranks, chunk } => {
                let rank = ranks.next_back()?;
                if chunk.ids.is_empty() {
                    *chunk = native.chunk_up_to(rank);
                }
                let (&score, scores) = chunk.scores.split_last()?;
                let (&id, ids) = chunk.ids.split_last()?;
                *chunk = Chunk { scores, ids };
                if let Some(&later) = ids.len().checked_sub(AHEAD + 1).and_then(|at| ids.get(at)) {
                    prefetch_small(native.address(later));
                }
                Some(Element { member: Item::Bytes(native.member(id)), score })
            }
        }
    }

    /// What `for_each` and its like do: a leaf at a time, without a look at what kind of walk this
    /// is for each element.
    #[inline]
    fn fold<B, F: FnMut(B, Element<'a>) -> B>(self, init: B, mut take: F) -> B {
        let (native, ranks, chunk) = match self.0 {
            Source::Native { native, ranks, chunk } => (native, ranks, chunk),
            source => {
                let mut result = init;
                for element in Iter(source) {
                    result = take(result, element);
                }
                return result;
            }
        };
        let (mut result, mut ranks, mut chunk) = (init, ranks, chunk);
        while !ranks.is_empty() {
            if chunk.ids.is_empty() {
                chunk = native.chunk_from(ranks.start);
            }
            let count = chunk.ids.len().min(ranks.len());
            let (scores, ids) = (&chunk.scores[..count], &chunk.ids[..count]);
            ids.iter().take(AHEAD).for_each(|&id| prefetch_small(native.address(id)));
            for (at, (&score, &id)) in scores.iter().zip(ids).enumerate() {
                if let Some(&later) = ids.get(at + AHEAD) {
                    prefetch_small(native.address(later));
                }
                let member = Item::Bytes(native.member(id));
                result = take(result, Element { member, score });
            }
            ranks.start += count;
            chunk = Chunk::default();
        }
        result
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = match &self.0 {
            Source::Row { left, .. } => *left,
            Source::RowBackward(elements) => elements.len(),
            Source::Native { ranks, .. } | Source::NativeBackward { ranks, .. } => ranks.len(),
        };
        (left, Some(left))
    }
}

impl ExactSizeIterator for Iter<'_> {}
