//! HOT PATH
//! Inner nodes: children in order, with the first element of each and how many are beneath it.

use super::leaf::place;
use super::{ElementId, Entry, Node};
use crate::fetch::lines::prefetch_all;
use std::cmp::Ordering;
use std::ops::Range;

/// Children of an inner node: with the rest of it their keys fill a block of 1,024 bytes.
pub(super) const MAX: usize = 60;

/// Bytes that an inner node takes.
pub(super) const HEAP_BYTES: usize = size_of::<Inner>() + MAX * size_of::<Node>();

/// An inner node.
#[derive(Debug)]
pub(super) struct Inner {
    scores: [f64; MAX],
    ids: [ElementId; MAX],
    counts: [u32; MAX],
    children: Vec<Node>,
}

impl Default for Inner {
    fn default() -> Inner {
        Inner {
            scores: [0.0; MAX],
            ids: [ElementId::default(); MAX],
            counts: [0; MAX],
            children: Vec::with_capacity(MAX),
        }
    }
}

impl Inner {
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.children.len()
    }

    #[inline]
    pub(super) fn child(&self, index: usize) -> &Node {
        &self.children[index]
    }

    /// Brings the scores in, see [`super::Leaf::fetch`].
    #[inline]
    pub(super) fn fetch(&self) {
        prefetch_all(&self.scores);
    }

    /// A child, to be changed; see [`Inner::refresh`].
    #[inline]
    pub(super) fn child_mut(&mut self, index: usize) -> &mut Node {
        &mut self.children[index]
    }

    /// Two neighbours, to be changed; see [`Inner::refresh`].
    pub(super) fn pair_mut(&mut self, index: usize) -> [&mut Node; 2] {
        let [left, right] = &mut self.children[index..index + 2] else {
            unreachable!("a slice of two")
        };
        [left, right]
    }

    /// The first element of a child.
    #[inline]
    pub(super) fn first_of(&self, index: usize) -> Entry {
        Entry { score: self.scores[index], id: self.ids[index] }
    }

    /// Elements of a child.
    #[inline]
    pub(super) fn count_of(&self, index: usize) -> usize {
        self.counts[index] as usize
    }

    /// Elements of the children before one.
    #[inline]
    pub(super) fn count_before(&self, index: usize) -> usize {
        self.counts[..index].iter().map(|&count| count as usize).sum()
    }

    /// Elements of all children.
    #[inline]
    pub(super) fn count(&self) -> usize {
        self.count_before(self.len())
    }

    /// How many children begin before a place.
    #[inline]
    pub(super) fn place(&self, is_before: &impl Fn(f64, ElementId) -> bool) -> usize {
        place(&self.scores[..self.len()], &self.ids, is_before)
    }

    /// The child in which the element is for which `order` is equal, if it is there.
    #[inline]
    pub(super) fn child_of(&self, order: &impl Fn(f64, ElementId) -> Ordering) -> usize {
        self.place(&|score, id| order(score, id) != Ordering::Greater).saturating_sub(1)
    }

    /// The child in which a rank is, and its rank there.
    #[inline]
    pub(super) fn child_at(&self, rank: usize) -> (usize, usize) {
        let mut rank = rank;
        for (index, &count) in self.counts[..self.len()].iter().enumerate() {
            match rank.checked_sub(count as usize) {
                Some(behind) => rank = behind,
                None => return (index, rank),
            }
        }
        unreachable!("the rank is beneath this node")
    }

    /// Sees what has become of a child, which is not empty.
    #[inline]
    pub(super) fn refresh(&mut self, index: usize) {
        let first = self.children[index].first();
        self.scores[index] = first.score;
        self.ids[index] = first.id;
        self.counts[index] = self.children[index].count() as u32;
    }

    /// A child has one element more, which is not its first: nothing of the child need be looked
    /// at.
    #[inline]
    pub(super) fn count_added(&mut self, index: usize) {
        self.counts[index] += 1;
    }

    /// A child has one element less, which was not its first.
    #[inline]
    pub(super) fn count_removed(&mut self, index: usize) {
        self.counts[index] -= 1;
    }

    /// Adds a child, which is not empty. There is room.
    pub(super) fn add(&mut self, index: usize, child: Node) {
        let len = self.len();
        self.scores.copy_within(index..len, index + 1);
        self.ids.copy_within(index..len, index + 1);
        self.counts.copy_within(index..len, index + 1);
        self.children.insert(index, child);
        self.refresh(index);
    }

    /// Adds a child; returns what did not fit.
    pub(super) fn insert(&mut self, index: usize, child: Node) -> Option<Box<Inner>> {
        if self.len() < MAX {
            self.add(index, child);
            return None;
        }
        let mut right = Box::<Inner>::default();
        if index == MAX {
            right.add(0, child);
            return Some(right);
        }
        let half = MAX / 2;
        right.take_from(self, half..MAX);
        if index <= half {
            self.add(index, child);
        } else {
            right.add(index - half, child);
        }
        Some(right)
    }

    /// Takes children out.
    pub(super) fn remove(&mut self, range: Range<usize>) {
        self.close(&range);
        self.children.drain(range);
    }

    fn close(&mut self, range: &Range<usize>) {
        let len = self.len();
        self.scores.copy_within(range.end..len, range.start);
        self.ids.copy_within(range.end..len, range.start);
        self.counts.copy_within(range.end..len, range.start);
    }

    /// Moves children of another node behind its own.
    pub(super) fn take_from(&mut self, other: &mut Inner, range: Range<usize>) {
        let len = self.len();
        let to = len..len + range.len();
        self.scores[to.clone()].copy_from_slice(&other.scores[range.clone()]);
        self.ids[to.clone()].copy_from_slice(&other.ids[range.clone()]);
        self.counts[to].copy_from_slice(&other.counts[range.clone()]);
        other.close(&range);
        self.children.extend(other.children.drain(range));
    }

    /// Takes the last child.
    pub(super) fn take_last(&mut self) -> Option<Node> {
        self.children.pop()
    }
}
