//! HOT PATH
//! Taking elements out of the tree, one or a range.

use super::inner::{self, Inner};
use super::leaf::{self, Leaf};
use super::{Blocks, ElementId, Entry, Node, Tree};
use std::cmp::Ordering;
use std::ops::Range;

impl Tree {
    /// Takes the elements with these ranks, which are there, out and passes each to `take`. Nodes
    /// that are within the range as a whole go as a whole.
    pub(in super::super) fn remove_ranks(
        &mut self,
        ranks: Range<usize>,
        take: &mut dyn FnMut(ElementId),
    ) {
        self.root.remove_ranks(ranks, take, &mut self.blocks);
        self.lower_root();
    }

    /// Takes the element with this rank out, which is there.
    pub(in super::super) fn remove_rank(&mut self, rank: usize) -> ElementId {
        let id = self.root.remove_rank(rank, &mut self.blocks);
        self.lower_root();
        id
    }
}

impl Node {
    /// It has so little that it should merge.
    #[inline]
    fn is_sparse(&self) -> bool {
        match self {
            Node::Leaf(leaf) => leaf.len() < leaf::MAX / 4,
            Node::Inner(inner) => inner.len() < inner::MAX / 4,
        }
    }

    /// Takes an element out, which is there and for which `order` is equal.
    pub(super) fn remove(
        &mut self,
        entry: Entry,
        order: &impl Fn(f64, ElementId) -> Ordering,
        blocks: &mut Blocks,
    ) {
        match self {
            Node::Leaf(leaf) => {
                let index = leaf.index_of(entry);
                leaf.remove(index..index + 1);
            }
            Node::Inner(inner) => {
                let child = inner.child_of(order);
                let is_first = inner.first_of(child).id == entry.id;
                inner.child_mut(child).remove(entry, order, blocks);
                if is_first || inner.child(child).is_sparse() {
                    inner.mend(child, blocks);
                } else {
                    inner.count_removed(child);
                }
            }
        }
    }

    fn remove_rank(&mut self, rank: usize, blocks: &mut Blocks) -> ElementId {
        match self {
            Node::Leaf(leaf) => {
                let id = leaf.ids()[rank];
                leaf.remove(rank..rank + 1);
                id
            }
            Node::Inner(inner) => {
                let (child, within) = inner.child_at(rank);
                let id = inner.child_mut(child).remove_rank(within, blocks);
                if within == 0 || inner.child(child).is_sparse() {
                    inner.mend(child, blocks);
                } else {
                    inner.count_removed(child);
                }
                id
            }
        }
    }

    fn remove_ranks(
        &mut self,
        ranks: Range<usize>,
        take: &mut dyn FnMut(ElementId),
        blocks: &mut Blocks,
    ) {
        match self {
            Node::Leaf(leaf) => {
                leaf.ids()[ranks.clone()].iter().for_each(|&id| take(id));
                leaf.remove(ranks);
            }
            Node::Inner(inner) => inner.remove_ranks(ranks, take, blocks),
        }
    }

    /// Passes every element beneath it to `take`, and forgets the nodes.
    fn take_all(&self, take: &mut dyn FnMut(ElementId), blocks: &mut Blocks) {
        match self {
            Node::Leaf(leaf) => {
                leaf.ids().iter().for_each(|&id| take(id));
                blocks.leaves -= 1;
            }
            Node::Inner(inner) => {
                (0..inner.len()).for_each(|child| inner.child(child).take_all(take, blocks));
                blocks.inners -= 1;
            }
        }
    }

    /// Counts itself, an empty one, out.
    fn forget(&self, blocks: &mut Blocks) {
        match self {
            Node::Leaf(_) => blocks.leaves -= 1,
            Node::Inner(_) => blocks.inners -= 1,
        }
    }
}

impl Inner {
    fn remove_ranks(
        &mut self,
        ranks: Range<usize>,
        take: &mut dyn FnMut(ElementId),
        blocks: &mut Blocks,
    ) {
        let (first, within) = self.child_at(ranks.start);
        let (mut child, mut left) = (first, ranks.len());
        if within > 0 {
            let end = (within + left).min(self.count_of(child));
            self.child_mut(child).remove_ranks(within..end, take, blocks);
            left -= end - within;
            child += 1;
        }
        let whole = child;
        while child < self.len() && self.count_of(child) <= left {
            left -= self.count_of(child);
            self.child(child).take_all(take, blocks);
            child += 1;
        }
        if left > 0 {
            self.child_mut(child).remove_ranks(0..left, take, blocks);
            self.refresh(child);
        }
        self.remove(whole..child);
        // What is left at the two edges may be little, also after one merge.
        let mut edge = first.min(self.len().saturating_sub(1));
        if within > 0 {
            edge = self.mend(first, blocks);
        }
        for _ in 0..2 {
            for child in [edge + 1, edge] {
                if child < self.len() {
                    edge = self.mend(child, blocks).min(edge);
                }
            }
        }
    }

    /// Sees what has become of a child that lost elements: an empty one goes, a sparse one merges
    /// with a neighbour or takes from it. Returns where what was beneath it is now.
    pub(super) fn mend(&mut self, index: usize, blocks: &mut Blocks) -> usize {
        if self.child(index).len() == 0 {
            self.child(index).forget(blocks);
            self.remove(index..index + 1);
            return index.min(self.len().saturating_sub(1));
        }
        self.refresh(index);
        if !self.child(index).is_sparse() || self.len() == 1 {
            return index;
        }
        let left = if index + 1 < self.len() { index } else { index - 1 };
        match self.pair_mut(left) {
            [Node::Leaf(one), Node::Leaf(other)] => one.balance(other),
            [Node::Inner(one), Node::Inner(other)] => one.balance(other),
            _ => unreachable!("all leaves are on one level"),
        }
        if self.child(left + 1).len() == 0 {
            self.child(left + 1).forget(blocks);
            self.remove(left + 1..left + 2);
        } else {
            self.refresh(left + 1);
        }
        self.refresh(left);
        left
    }

    /// Makes one of two neighbours, or two of the same size.
    fn balance(&mut self, right: &mut Inner) {
        let (here, there) = (self.len(), right.len());
        if here + there <= inner::MAX {
            return self.take_from(right, 0..there);
        }
        let half = (here + there) / 2;
        if here < half {
            return self.take_from(right, 0..half - here);
        }
        let mut moved = Inner::default();
        moved.take_from(self, half..here);
        moved.take_from(right, 0..there);
        *right = moved;
    }
}

impl Leaf {
    /// Makes one of two neighbours, or two of the same size.
    fn balance(&mut self, right: &mut Leaf) {
        let (here, there) = (self.len(), right.len());
        if here + there <= leaf::MAX {
            return self.take_from(right, 0..there);
        }
        let half = (here + there) / 2;
        if here < half {
            return self.take_from(right, 0..half - here);
        }
        let mut moved = Leaf::default();
        moved.take_from(self, half..here);
        moved.take_from(right, 0..there);
        *right = moved;
    }
}
