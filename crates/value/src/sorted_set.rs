//! HOT PATH
//! Sorted sets: members, each with a score, in the order of their scores.
//!
//! ```text
//! packed  count:u16le │ (member:item, score) …                in order, see `row`
//! native  elements ─ score and member of each, once            see `elements`
//!         tree     ─ (score, number) in order, counted         see `tree`
//!         members  ─ member ▸ number                           see `crate::members`
//! whole   (member:item, score) … [tail]                        in order; equal for both forms
//! edits   01 member score │ 02 member │ 03 first last count    set; remove; remove a range
//!         05 member version expiry                             attribute
//! ```
//! A member stands in memory once and keeps its place when its score changes: tree and index refer
//! to it by a number of four bytes. Order is by score, then by the bytes of the member; -0 equals
//! 0, NaN does not occur. Everything that concerns a range is a range of ranks first: two descents
//! find it, a third finds its first element, and the rest are neighbours.
//!
//! Measured against a skiplist with a dictionary (Redis 7.0): see the tree. Items and scores are as
//! in [`crate::item`] and `score`; `docs/formats/collections.md` has them by the byte.
//!
//! A member may have a version, which then every change of its score moves, and an expiry
//! ([`crate::attributes`]). A member that has expired is there until somebody says
//! [`SortedSet::remove_expired`]; what changes it takes it for gone.

mod attributed;
mod build;
mod edit;
pub(crate) mod element;
mod elements;
mod iter;
mod native;
pub(crate) mod order_row;
mod range;
mod row;
mod score;
mod spread;
mod tree;

#[cfg(test)]
mod tests;

pub use element::{Direction, Element, Scored};
pub use iter::Iter;
pub use native::Change;
pub use range::{Bounds, LexBound, ScoreBound};

use crate::collection::Collection;
use crate::edits::Edits;
use crate::error::DecodeError;
use crate::form::{Form, FormMut, FormRef};
use crate::kind::Kind;
use crate::limits::FormLimits;
use native::Native;
use std::ops::Range;

/// Members with scores. See the head of this file.
#[repr(transparent)]
#[derive(Default)]
pub struct SortedSet(pub(crate) Form<Native>);

impl SortedSet {
    /// The score of a member.
    #[inline]
    pub fn score(&self, member: &[u8]) -> Option<f64> {
        match self.0.read() {
            FormRef::Packed(packed) => row::find(packed.bytes(), member).map(|found| found.score),
            FormRef::Native(native) => native.score(member),
        }
    }

    /// How many elements stand before a member, and its score.
    #[inline]
    pub fn rank(&self, member: &[u8]) -> Option<(usize, f64)> {
        match self.0.read() {
            FormRef::Packed(packed) => {
                row::find(packed.bytes(), member).map(|found| (found.rank, found.score))
            }
            FormRef::Native(native) => native.rank(member),
        }
    }

    /// The ranks of what lies within bounds; an empty range if nothing does.
    #[inline]
    pub fn ranks(&self, bounds: &Bounds<'_>) -> Range<usize> {
        match self.0.read() {
            FormRef::Packed(packed) => row::ranks(packed.bytes(), bounds),
            FormRef::Native(native) => native.ranks(bounds),
        }
    }

    /// The elements with these ranks, from the lowest or from the highest on. Ranks beyond the end
    /// have none.
    #[inline]
    pub fn iter(&self, ranks: Range<usize>, direction: Direction) -> Iter<'_> {
        let end = ranks.end.min(self.len());
        let ranks = ranks.start.min(end)..end;
        match self.0.read() {
            FormRef::Packed(packed) => Iter::of_row(packed.bytes(), ranks, direction),
            FormRef::Native(native) => Iter::of_native(native, ranks, direction),
        }
    }

    /// All elements in order.
    #[inline]
    pub fn elements(&self) -> Iter<'_> {
        self.iter(0..usize::MAX, Direction::Forward)
    }

    /// Sets the score of a member to what `decide` makes of the present one; `None` leaves all as
    /// it is. The new score must not be NaN.
    #[inline]
    pub fn set(
        &mut self,
        member: &[u8],
        limits: &FormLimits,
        edits: &mut Edits<'_>,
        decide: impl FnOnce(Option<f64>) -> Option<f64>,
    ) -> Change {
        // Without a clock nothing moves: replay is told what has.
        if edits.has_clock() && self.has_attributes() {
            return self.set_beside_attributes(member, limits, edits, decide);
        }
        self.set_score(member, limits, edits, decide)
    }

    /// Sets the score of a member of which the attribute, if it has one, is somebody else's affair.
    #[inline(always)]
    fn set_score(
        &mut self,
        member: &[u8],
        limits: &FormLimits,
        edits: &mut Edits<'_>,
        decide: impl FnOnce(Option<f64>) -> Option<f64>,
    ) -> Change {
        let mut was = None;
        let decide = |before| {
            was = before;
            decide(before)
        };
        let (change, score) = match self.0.change() {
            FormMut::Native(native) => native.set(member, decide),
            FormMut::Packed(packed) => {
                let found = row::find(packed.bytes(), member);
                let before = found.as_ref().map(|found| found.score);
                match decide(before) {
                    None => (Change::None, 0.0),
                    Some(score) if before == Some(score) => (Change::None, 0.0),
                    Some(score) => {
                        if found.is_none() && !row::has_room(packed.bytes(), member, limits) {
                            self.make_native().set(member, |_| Some(score));
                        } else {
                            row::set(packed, found, member, score);
                        }
                        let is_new = before.is_none();
                        (if is_new { Change::Added } else { Change::Updated }, score)
                    }
                }
            }
        };
        if change != Change::None {
            edits.touch(member, |out| spread::was(was, None, out));
            edits.write(|out| edit::put_set(member, score, out));
        }
        change
    }

    /// Takes a member out; false if it is not there or has expired.
    #[inline]
    pub fn remove(&mut self, member: &[u8], edits: &mut Edits<'_>) -> bool {
        if self.has_attributes() {
            return self.remove_beside_attributes(member, edits);
        }
        if edits.notes_elements()
            && let Some(score) = self.score(member)
        {
            edits.touch(member, |out| spread::was(Some(score), None, out));
        }
        let is_gone = match self.0.change() {
            FormMut::Native(native) => native.remove(member),
            FormMut::Packed(packed) => match row::find(packed.bytes(), member) {
                Some(found) => {
                    row::remove(packed, found);
                    true
                }
                None => false,
            },
        };
        if is_gone {
            edits.write(|out| edit::put_remove(member, out));
        }
        is_gone
    }

    /// Takes the first element in a direction out and shows it; false if there is none.
    #[inline]
    pub fn pop(
        &mut self,
        direction: Direction,
        edits: &mut Edits<'_>,
        visit: impl FnOnce(Element<'_>),
    ) -> bool {
        if self.has_attributes() {
            return self.pop_beside_attributes(direction, edits, visit);
        }
        let rank = self.end(direction);
        let Some(element) = self.at(rank) else { return false };
        visit(element);
        edits.touch_item(element.member, |out| spread::was(Some(element.score), None, out));
        edits.write(|out| edit::put_remove_item(element.member, out));
        match self.0.change() {
            FormMut::Packed(packed) => row::remove_ranks(packed, rank..rank + 1),
            FormMut::Native(native) => native.remove_rank(rank),
        }
        true
    }

    /// Takes the elements with these ranks out; returns their number.
    pub fn remove_ranks(&mut self, ranks: Range<usize>, edits: &mut Edits<'_>) -> usize {
        let end = ranks.end.min(self.len());
        if ranks.start >= end {
            return 0;
        }
        let ranks = ranks.start..end;
        if edits.notes_elements() {
            for element in self.iter(ranks.clone(), Direction::Forward) {
                let attribute = || self.attribute(element.member);
                edits.touch_item(element.member, |out| {
                    spread::was(Some(element.score), attribute(), out)
                });
            }
        }
        edits.write(|out| {
            let ends = [ranks.start, ranks.end - 1].map(|rank| self.at(rank).expect("in range"));
            edit::put_remove_range(ends, ranks.len(), out);
        });
        let count = ranks.len();
        match self.0.change() {
            FormMut::Packed(packed) => row::remove_ranks(packed, ranks),
            FormMut::Native(native) => native.remove_ranks(ranks),
        }
        count
    }

    /// The rank of the first element in a direction, if there is one.
    #[inline]
    fn end(&self, direction: Direction) -> usize {
        match direction {
            Direction::Forward => 0,
            Direction::Backward => self.len().saturating_sub(1),
        }
    }

    /// The element with a rank.
    #[inline]
    pub fn at(&self, rank: usize) -> Option<Element<'_>> {
        self.iter(rank..rank.saturating_add(1), Direction::Forward).next()
    }

    /// Visits at least `count` elements from a cursor on, in no order; returns the cursor to go on
    /// with, 0 at the end. Elements that are there throughout are visited.
    pub fn scan<'a>(&'a self, cursor: u64, count: usize, visit: impl FnMut(Element<'a>)) -> u64 {
        match self.0.read() {
            FormRef::Packed(_) => {
                self.elements().for_each(visit);
                0
            }
            FormRef::Native(native) => native.scan(cursor, count, visit),
        }
    }

    /// Gives up the packed form.
    #[cold]
    fn become_native(&mut self) {
        if let FormRef::Packed(_) = self.0.read() {
            self.make_native();
        }
    }

    fn make_native(&mut self) -> &mut Native {
        let mut native = Native::default();
        for element in self.elements() {
            native.append(element.member.spell(&mut Default::default()), element.score);
        }
        self.0 = Form::native(Box::new(native));
        match self.0.change() {
            FormMut::Native(native) => native,
            FormMut::Packed(_) => unreachable!("it was just made native"),
        }
    }
}

impl Collection for SortedSet {
    const KIND: Kind = Kind::SortedSet;

    fn new() -> SortedSet {
        SortedSet::default()
    }

    #[inline]
    fn len(&self) -> usize {
        match self.0.read() {
            FormRef::Packed(packed) => row::len(packed.bytes()),
            FormRef::Native(native) => native.len(),
        }
    }

    fn heap_bytes(&self) -> usize {
        match self.0.read() {
            FormRef::Packed(packed) => packed.heap_bytes(),
            FormRef::Native(native) => native.heap_bytes(),
        }
    }

    #[inline]
    fn next_expiry_ms(&self) -> u64 {
        match self.0.read() {
            FormRef::Packed(_) => u64::MAX,
            FormRef::Native(native) => native.attributes.next_expiry_ms(),
        }
    }

    fn encoding(&self) -> &'static str {
        match self.0.read() {
            FormRef::Packed(_) => "listpack",
            FormRef::Native(_) => "skiplist",
        }
    }

    fn encode(&self, out: &mut Vec<u8>) {
        match self.0.read() {
            FormRef::Packed(packed) => out.extend_from_slice(row::pairs(packed.bytes())),
            FormRef::Native(native) => {
                self.elements().for_each(|element| element.put(out));
                if let Some(attributes) = native.attributes.all() {
                    attributes.put_tail(out);
                }
            }
        }
    }

    fn write_as_edits(&self, edits: &mut Edits<'_>) {
        let mut code = match self.0.read() {
            FormRef::Packed(_) => edit::SET,
            FormRef::Native(_) => edit::SET_IN_NATIVE,
        };
        for element in self.elements() {
            edits.write(|out| {
                out.push(std::mem::replace(&mut code, edit::SET));
                element.put(out);
            });
            if let Some(attribute) = self.attribute(element.member) {
                edits.write(|out| edit::put_attribute(element.member, attribute, out));
            }
        }
    }

    fn visit_parts(&self, visit: &mut dyn FnMut(&[u8])) {
        let mut part = Vec::new();
        for element in self.elements() {
            part.clear();
            element.put(&mut part);
            if let Some(attribute) = self.attribute(element.member) {
                attribute.put_edit(&mut part);
            }
            visit(&part);
        }
    }

    fn decode(bytes: &[u8], limits: &FormLimits) -> Result<SortedSet, DecodeError> {
        build::decode(bytes, limits)
    }

    fn apply(&mut self, edits: &[u8], limits: &FormLimits) -> Result<(), DecodeError> {
        edit::apply(self, edits, limits)
    }

    fn duplicate(&self, _: &FormLimits) -> SortedSet {
        match self.0.read() {
            FormRef::Packed(packed) => {
                SortedSet(Form::packed(crate::packed::Packed::from_bytes(packed.bytes())))
            }
            FormRef::Native(original) => {
                let mut native = Native::default();
                for element in self.elements() {
                    native.append(element.member.spell(&mut Default::default()), element.score);
                }
                let attributes = original.attributes.all().into_iter().flat_map(|all| all.iter());
                attributes.for_each(|(member, it)| native.attributes.set(member, it));
                SortedSet(Form::native(Box::new(native)))
            }
        }
    }
}
