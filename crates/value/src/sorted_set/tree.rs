//! HOT PATH
//! The order of a native sorted set: a counted B+tree.
//!
//! ```text
//! leaf   up to 63 elements: scores …, ids …                         one block of 768 bytes
//! inner  up to 60 children: the first element of each, how many are beneath it, where it is
//! ```
//! Scores and ids stand apart, so that a search within a node reads scores only; members are looked
//! at where scores are the same. The rank of an element is the sum of counts beside the way to it,
//! and the way to a rank is found by counts, so ranges need no other link: neighbours stand in one
//! leaf, and the next leaf is found by its rank.
//!
//! A node that is full splits in halves, but for an element at either end, which begins a node of
//! its own: scores that only grow, as times do, leave full leaves behind. A node with less than a
//! quarter takes from its neighbour or merges with it.
//!
//! A skiplist takes some 44 bytes an element for its links and a cache miss a step, one for each
//! element of a range. Here an element takes 12 bytes in a full leaf, some 18 after random inserts,
//! and a range of 100 elements is two or three leaves. Searching goes down one node a level: four
//! for five million elements.

mod inner;
mod leaf;
mod removal;

use super::elements::ElementId;
use inner::Inner;
pub(super) use leaf::Leaf;
use std::cmp::Ordering;

/// An element as the tree holds it.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct Entry {
    pub(super) score: f64,
    pub(super) id: ElementId,
}

/// See the head of this file.
#[derive(Debug)]
pub(super) struct Tree {
    root: Node,
    blocks: Blocks,
}

/// How many nodes there are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Blocks {
    leaves: usize,
    inners: usize,
}

#[derive(Debug)]
enum Node {
    Leaf(Box<Leaf>),
    Inner(Box<Inner>),
}

impl Default for Tree {
    fn default() -> Tree {
        Tree { root: Node::Leaf(Box::default()), blocks: Blocks { leaves: 1, inners: 0 } }
    }
}

impl Tree {
    pub(super) fn heap_bytes(&self) -> usize {
        self.blocks.leaves * size_of::<Leaf>() + self.blocks.inners * inner::HEAP_BYTES
    }

    /// How many elements stand before the first for which `is_before` is false. It is true for the
    /// elements before some place, false for those behind.
    #[inline]
    pub(super) fn count_before(&self, is_before: impl Fn(f64, ElementId) -> bool) -> usize {
        // The place is in the last child that begins before it.
        self.rank_by(|inner| inner.place(&is_before).checked_sub(1), |leaf| leaf.place(&is_before))
    }

    /// How many elements stand before this one, which is there and for which `order` is equal.
    #[inline]
    pub(super) fn rank_of(
        &self,
        entry: Entry,
        order: impl Fn(f64, ElementId) -> Ordering,
    ) -> usize {
        self.rank_by(|inner| Some(inner.child_of(&order)), |leaf| leaf.index_of(entry))
    }

    /// The rank of a place: `child_of` says in which child it is, or that it is before all of them,
    /// `index_in` where in its leaf.
    #[inline]
    fn rank_by(
        &self,
        child_of: impl Fn(&Inner) -> Option<usize>,
        index_in: impl FnOnce(&Leaf) -> usize,
    ) -> usize {
        let (mut node, mut rank) = (&self.root, 0);
        loop {
            match node {
                Node::Leaf(leaf) => return rank + index_in(leaf),
                Node::Inner(inner) => {
                    let Some(child) = child_of(inner) else { return rank };
                    node = inner.child(child);
                    node.fetch();
                    rank += inner.count_before(child);
                }
            }
        }
    }

    /// The leaf in which a rank is, and where in it. The rank is there.
    #[inline]
    pub(super) fn leaf_at(&self, rank: usize) -> (&Leaf, usize) {
        let (mut node, mut rank) = (&self.root, rank);
        loop {
            match node {
                Node::Leaf(leaf) => return (leaf, rank),
                Node::Inner(inner) => {
                    let (child, within) = inner.child_at(rank);
                    (node, rank) = (inner.child(child), within);
                }
            }
        }
    }

    /// Adds an element. `order` compares another one with it.
    pub(super) fn insert(&mut self, entry: Entry, order: impl Fn(f64, ElementId) -> Ordering) {
        let is_before = |score, id| order(score, id) == Ordering::Less;
        let Some(right) = self.root.insert(entry, &is_before, &mut self.blocks) else { return };
        let left = std::mem::replace(&mut self.root, Node::Leaf(Box::default()));
        self.blocks.inners += 1;
        let mut root = Inner::default();
        root.add(0, left);
        root.add(1, right);
        self.root = Node::Inner(Box::new(root));
    }

    /// Takes an element out, which is there and for which `order` is equal.
    pub(super) fn remove(&mut self, entry: Entry, order: impl Fn(f64, ElementId) -> Ordering) {
        self.root.remove(entry, &order, &mut self.blocks);
        self.lower_root();
    }

    /// Changes the score of an element, for which `order_old` is equal, if it stays between its
    /// neighbours and these are in its leaf; else does nothing and says false.
    pub(super) fn change_in_place(
        &mut self,
        entry: Entry,
        score: f64,
        order_old: impl Fn(f64, ElementId) -> Ordering,
        order_new: impl Fn(f64, ElementId) -> Ordering,
    ) -> bool {
        let mut node = &mut self.root;
        loop {
            match node {
                Node::Leaf(leaf) => return leaf.change_in_place(entry, score, order_new),
                Node::Inner(inner) => {
                    let child = inner.child_of(&order_old);
                    node = inner.child_mut(child);
                    node.fetch();
                }
            }
        }
    }

    /// Replaces a root that has one child, or none, by what is beneath it.
    fn lower_root(&mut self) {
        while let Node::Inner(inner) = &mut self.root {
            if inner.len() > 1 {
                return;
            }
            self.root = inner.take_last().unwrap_or_else(|| {
                self.blocks.leaves += 1;
                Node::Leaf(Box::default())
            });
            self.blocks.inners -= 1;
        }
    }

    /// Panics unless all is as the head of this file says.
    #[cfg(test)]
    pub(super) fn check(&self, len: usize) {
        let mut blocks = Blocks { leaves: 0, inners: 0 };
        assert_eq!(self.root.check(&mut blocks).0, len);
        assert_eq!(blocks, self.blocks);
    }
}

impl Node {
    /// Elements in it or beneath it.
    #[inline]
    fn count(&self) -> usize {
        match self {
            Node::Leaf(leaf) => leaf.len(),
            Node::Inner(inner) => inner.count(),
        }
    }

    /// Elements or children.
    #[inline]
    fn len(&self) -> usize {
        match self {
            Node::Leaf(leaf) => leaf.len(),
            Node::Inner(inner) => inner.len(),
        }
    }

    /// Brings in what a search reads.
    #[inline]
    fn fetch(&self) {
        match self {
            Node::Leaf(leaf) => leaf.fetch(),
            Node::Inner(inner) => inner.fetch(),
        }
    }

    /// Its first element. It is not empty.
    #[inline]
    fn first(&self) -> Entry {
        match self {
            Node::Leaf(leaf) => leaf.at(0),
            Node::Inner(inner) => inner.first_of(0),
        }
    }

    /// Adds an element; returns what did not fit: a node to stand behind this one.
    fn insert(
        &mut self,
        entry: Entry,
        is_before: &impl Fn(f64, ElementId) -> bool,
        blocks: &mut Blocks,
    ) -> Option<Node> {
        match self {
            Node::Leaf(leaf) => {
                let right = leaf.insert(leaf.place(is_before), entry)?;
                blocks.leaves += 1;
                Some(Node::Leaf(right))
            }
            Node::Inner(inner) => {
                let before = inner.place(is_before);
                let child = before.saturating_sub(1);
                inner.child(child).fetch();
                let right = inner.child_mut(child).insert(entry, is_before, blocks);
                if right.is_none() && before > 0 {
                    inner.count_added(child);
                    return None;
                }
                inner.refresh(child);
                let right = inner.insert(child + 1, right?)?;
                blocks.inners += 1;
                Some(Node::Inner(right))
            }
        }
    }

    #[cfg(test)]
    fn check(&self, blocks: &mut Blocks) -> (usize, usize) {
        match self {
            Node::Leaf(leaf) => {
                blocks.leaves += 1;
                (leaf.len(), 0)
            }
            Node::Inner(inner) => {
                blocks.inners += 1;
                let mut below = Vec::new();
                for child in 0..inner.len() {
                    let node = inner.child(child);
                    assert_eq!(inner.first_of(child), node.first());
                    let (count, height) = node.check(blocks);
                    assert!(count > 0, "no child is empty");
                    assert_eq!(count, inner.count_of(child));
                    below.push((count, height));
                }
                assert!(below.windows(2).all(|pair| pair[0].1 == pair[1].1), "one height");
                (below.iter().map(|child| child.0).sum(), below[0].1 + 1)
            }
        }
    }
}
