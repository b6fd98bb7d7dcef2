//! HOT PATH
//! The native form: elements, the tree that orders them and the index that finds them.

use super::element::{Direction, Element};
use super::elements::{ElementId, Elements};
use super::iter::Chunk;
use super::range::Bounds;
use super::tree;
use super::tree::Tree;
use crate::attributes::MaybeAttributes;
use crate::fetch::step::{Step, Way};
use crate::item::Item;
use crate::members::Members;
use crate::seed::hash_member;
use std::cmp::Ordering;
use std::ops::Range;

/// What setting a score has done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Change {
    /// Nothing.
    None,
    /// The member is new.
    Added,
    /// The member has another score.
    Updated,
}

/// See the head of `sorted_set.rs`.
#[derive(Debug, Default)]
pub(crate) struct Native {
    elements: Elements,
    tree: Tree,
    members: Members<ElementId>,
    pub(super) attributes: MaybeAttributes,
}

impl Native {
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.members.len()
    }

    #[inline]
    pub(super) fn heap_bytes(&self) -> usize {
        if self.attributes.is_none() {
            return self.bytes_beside_attributes();
        }
        self.bytes_with_attributes()
    }

    #[inline]
    fn bytes_beside_attributes(&self) -> usize {
        size_of::<Native>()
            + self.elements.heap_bytes()
            + self.tree.heap_bytes()
            + self.members.heap_bytes()
    }

    #[cold]
    #[inline(never)]
    fn bytes_with_attributes(&self) -> usize {
        self.bytes_beside_attributes() + self.attributes.heap_bytes()
    }

    #[inline]
    pub(super) fn member(&self, id: ElementId) -> &[u8] {
        self.elements.member(id)
    }

    /// What a step to an element fetches.
    #[inline]
    pub(crate) fn ahead(&self, way: &mut Way, step: Step) -> Option<*const u8> {
        if let Way::End(direction, nth) = *way {
            let id = self.id_at(match direction {
                Direction::Forward => nth,
                Direction::Backward => self.len().wrapping_sub(nth + 1),
            })?;
            if step == Step::Order {
                return Some(self.elements.address(id));
            }
            *way = Way::Hash(hash_member(self.elements.member(id)));
        }
        let Way::Hash(hash) = *way else { return None };
        self.members.ahead(hash, step, |&id| Some(self.elements.address(id)))
    }

    #[inline]
    fn id_at(&self, rank: usize) -> Option<ElementId> {
        if rank >= self.len() {
            return None;
        }
        let (leaf, at) = self.tree.leaf_at(rank);
        Some(leaf.ids()[at])
    }

    /// Where an element begins.
    #[inline]
    pub(super) fn address(&self, id: ElementId) -> *const u8 {
        self.elements.address(id)
    }

    #[inline]
    fn find(&self, hash: u64, member: &[u8]) -> Option<ElementId> {
        self.members.find(hash, |&id| self.elements.member(id) == member).copied()
    }

    #[inline]
    pub(super) fn score(&self, member: &[u8]) -> Option<f64> {
        self.find(hash_member(member), member).map(|id| self.elements.score(id))
    }

    #[inline]
    pub(super) fn rank(&self, member: &[u8]) -> Option<(usize, f64)> {
        let id = self.find(hash_member(member), member)?;
        let score = self.elements.score(id);
        let key = Key { elements: &self.elements, id, score, member };
        let rank = self.tree.rank_of(key.entry(), |score, id| key.order(score, id));
        Some((rank, score))
    }

    /// The elements from a rank to the end of its leaf.
    #[inline]
    pub(super) fn chunk_from(&self, rank: usize) -> Chunk<'_> {
        let (leaf, at) = self.tree.leaf_at(rank);
        Chunk { scores: &leaf.scores()[at..], ids: &leaf.ids()[at..] }
    }

    /// The elements from the beginning of a rank's leaf up to it.
    #[inline]
    pub(super) fn chunk_up_to(&self, rank: usize) -> Chunk<'_> {
        let (leaf, at) = self.tree.leaf_at(rank);
        Chunk { scores: &leaf.scores()[..=at], ids: &leaf.ids()[..=at] }
    }

    pub(super) fn ranks(&self, bounds: &Bounds<'_>) -> Range<usize> {
        let member = |id| Item::Bytes(self.elements.member(id));
        let start = self.tree.count_before(|score, id| bounds.is_before(score, || member(id)));
        let end = self.tree.count_before(|score, id| bounds.is_up_to(score, || member(id)));
        start..end.max(start)
    }

    #[inline]
    pub(super) fn set(
        &mut self,
        member: &[u8],
        decide: impl FnOnce(Option<f64>) -> Option<f64>,
    ) -> (Change, f64) {
        let hash = hash_member(member);
        let Some(id) = self.find(hash, member) else {
            return match decide(None) {
                Some(score) => {
                    self.insert(hash, member, score);
                    (Change::Added, score)
                }
                None => (Change::None, 0.0),
            };
        };
        let before = self.elements.score(id);
        match decide(Some(before)) {
            Some(score) if score != before => {
                self.move_to(id, member, before, score);
                (Change::Updated, score)
            }
            _ => (Change::None, 0.0),
        }
    }

    fn insert(&mut self, hash: u64, member: &[u8], score: f64) {
        let id = self.elements.add(member, score);
        let Native { elements, tree, members, .. } = self;
        let key = Key { elements, id, score, member };
        tree.insert(key.entry(), |score, id| key.order(score, id));
        members.insert(hash, id, |&id| hash_member(elements.member(id)));
    }

    /// Adds an element that is not there and comes behind all others.
    pub(super) fn append(&mut self, member: &[u8], score: f64) {
        let id = self.elements.add(member, score);
        self.tree.insert(tree::Entry { score, id }, |_, _| Ordering::Less);
        let elements = &self.elements;
        let hash = hash_member(member);
        self.members.insert(hash, id, |&id| hash_member(elements.member(id)));
    }

    fn move_to(&mut self, id: ElementId, member: &[u8], before: f64, after: f64) {
        let Native { elements, tree, .. } = self;
        let old = Key { elements, id, score: before, member };
        let new = Key { elements, id, score: after, member };
        let order_old = |score, id| old.order(score, id);
        let order_new = |score, id| new.order(score, id);
        if !tree.change_in_place(old.entry(), after, order_old, order_new) {
            tree.remove(old.entry(), order_old);
            tree.insert(new.entry(), order_new);
        }
        elements.set_score(id, after);
    }

    /// Takes an element out, but for its attribute.
    pub(super) fn remove(&mut self, member: &[u8]) -> bool {
        let Native { elements, tree, members, .. } = self;
        let hash = hash_member(member);
        let is = |id: &ElementId| elements.member(*id) == member;
        let Some(id) = members.remove(hash, is, |&id| hash_member(elements.member(id))) else {
            return false;
        };
        let key = Key { elements, id, score: elements.score(id), member };
        tree.remove(key.entry(), |score, id| key.order(score, id));
        elements.remove(id);
        true
    }

    /// Takes elements out by their ranks, which are there.
    pub(super) fn remove_ranks(&mut self, ranks: Range<usize>) {
        let Native { elements, tree, members, attributes } = self;
        if ranks.len() == members.len() {
            *self = Native::default();
            return;
        }
        tree.remove_ranks(ranks, &mut |id| {
            let hash_of = |id: ElementId| hash_member(elements.member(id));
            let hash = hash_of(id);
            members.remove(hash, |&other| other == id, |&id| hash_of(id));
            if !attributes.is_none() {
                attributes.remove(Item::of(elements.member(id)));
            }
            elements.remove(id);
        });
    }

    /// Takes the element with a rank out, which is there, but for its attribute.
    #[inline]
    pub(super) fn remove_rank(&mut self, rank: usize) {
        let Native { elements, tree, members, .. } = self;
        let id = tree.remove_rank(rank);
        let hash_of = |id: ElementId| hash_member(elements.member(id));
        members.remove(hash_of(id), |&other| other == id, |&id| hash_of(id));
        elements.remove(id);
    }

    pub(super) fn scan<'a>(
        &'a self,
        cursor: u64,
        count: usize,
        mut visit: impl FnMut(Element<'a>),
    ) -> u64 {
        let hash_of = |id: &ElementId| hash_member(self.elements.member(*id));
        self.members.scan(cursor, count, hash_of, |&id| {
            let member = Item::Bytes(self.elements.member(id));
            visit(Element { member, score: self.elements.score(id) });
        })
    }

    #[cfg(test)]
    pub(super) fn check(&self) {
        self.tree.check(self.len());
    }
}

/// An element to be found in the tree.
struct Key<'a> {
    elements: &'a Elements,
    id: ElementId,
    score: f64,
    member: &'a [u8],
}

impl Key<'_> {
    /// What the tree holds of it.
    #[inline]
    fn entry(&self) -> tree::Entry {
        tree::Entry { score: self.score, id: self.id }
    }

    /// How another element stands to this one. Members are looked at only if the scores are the
    /// same.
    #[inline]
    fn order(&self, score: f64, id: ElementId) -> Ordering {
        if score < self.score {
            Ordering::Less
        } else if score > self.score {
            Ordering::Greater
        } else if id == self.id {
            Ordering::Equal
        } else {
            self.elements.member(id).cmp(self.member)
        }
    }
}
