//! HOT PATH
//! Leaves: elements in order.

use super::{ElementId, Entry};
use crate::fetch::lines::prefetch_all;
use std::cmp::Ordering;
use std::ops::Range;

/// Elements of a leaf: with its length it fills a block of 768 bytes.
pub(super) const MAX: usize = 63;

/// A leaf.
#[derive(Debug)]
pub(in super::super) struct Leaf {
    scores: [f64; MAX],
    ids: [ElementId; MAX],
    len: u16,
}

impl Default for Leaf {
    fn default() -> Leaf {
        Leaf { scores: [0.0; MAX], ids: [ElementId::default(); MAX], len: 0 }
    }
}

impl Leaf {
    #[inline]
    pub(super) fn len(&self) -> usize {
        usize::from(self.len)
    }

    /// The scores, in order.
    #[inline]
    pub(in super::super) fn scores(&self) -> &[f64] {
        &self.scores[..self.len()]
    }

    /// The elements, in order.
    #[inline]
    pub(in super::super) fn ids(&self) -> &[ElementId] {
        &self.ids[..self.len()]
    }

    #[inline]
    pub(super) fn at(&self, index: usize) -> Entry {
        Entry { score: self.scores()[index], id: self.ids()[index] }
    }

    /// Brings the scores in at once: a search reads some of them, each found by the one before.
    #[inline]
    pub(super) fn fetch(&self) {
        prefetch_all(&self.scores);
    }

    /// How many elements stand before a place.
    #[inline]
    pub(super) fn place(&self, is_before: &impl Fn(f64, ElementId) -> bool) -> usize {
        place(self.scores(), self.ids(), is_before)
    }

    /// Where an element stands that is here. Among those of its score it is known by its number:
    /// their members stand elsewhere, each in a cache line that nobody has asked for.
    #[inline]
    pub(super) fn index_of(&self, entry: Entry) -> usize {
        let first = self.place(&|score, _| score < entry.score);
        let among = self.ids()[first..].iter().position(|&id| id == entry.id);
        first + among.expect("the element is in this leaf")
    }

    /// Adds an element; returns what did not fit.
    #[inline]
    pub(super) fn insert(&mut self, index: usize, entry: Entry) -> Option<Box<Leaf>> {
        if self.len() == MAX {
            return Some(self.split(index, entry));
        }
        let len = self.len();
        self.scores.copy_within(index..len, index + 1);
        self.ids.copy_within(index..len, index + 1);
        self.scores[index] = entry.score;
        self.ids[index] = entry.id;
        self.len += 1;
        None
    }

    #[cold]
    fn split(&mut self, index: usize, entry: Entry) -> Box<Leaf> {
        let mut right = Box::<Leaf>::default();
        match index {
            0 => {
                std::mem::swap(self, &mut right);
                self.insert(0, entry);
            }
            MAX => {
                right.insert(0, entry);
            }
            _ => {
                let half = MAX / 2;
                right.take_from(self, half..MAX);
                let (leaf, index) =
                    if index <= half { (self, index) } else { (&mut *right, index - half) };
                leaf.insert(index, entry);
            }
        }
        right
    }

    /// Takes elements out.
    #[inline]
    pub(super) fn remove(&mut self, range: Range<usize>) {
        let len = self.len();
        self.scores.copy_within(range.end..len, range.start);
        self.ids.copy_within(range.end..len, range.start);
        self.len -= range.len() as u16;
    }

    /// Moves elements of another leaf behind its own.
    pub(super) fn take_from(&mut self, other: &mut Leaf, range: Range<usize>) {
        let len = self.len();
        self.scores[len..len + range.len()].copy_from_slice(&other.scores[range.clone()]);
        self.ids[len..len + range.len()].copy_from_slice(&other.ids[range.clone()]);
        self.len += range.len() as u16;
        other.remove(range);
    }

    pub(super) fn change_in_place(
        &mut self,
        entry: Entry,
        score: f64,
        order_new: impl Fn(f64, ElementId) -> Ordering,
    ) -> bool {
        let index = self.index_of(entry);
        let stays = (1..self.len() - 1).contains(&index) && {
            let (before, after) = (self.at(index - 1), self.at(index + 1));
            order_new(before.score, before.id) == Ordering::Less
                && order_new(after.score, after.id) == Ordering::Greater
        };
        if stays {
            self.scores[index] = score;
        }
        stays
    }
}

/// How many elements stand before a place, by halves.
#[inline]
pub(super) fn place(
    scores: &[f64],
    ids: &[ElementId],
    is_before: &impl Fn(f64, ElementId) -> bool,
) -> usize {
    let (mut start, mut end) = (0, scores.len().min(ids.len()));
    while start < end {
        let middle = (start + end) / 2;
        if is_before(scores[middle], ids[middle]) {
            start = middle + 1;
        } else {
            end = middle;
        }
    }
    start
}
