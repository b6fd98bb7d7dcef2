//! HOT PATH
//! The packed form: few elements in a row.
//!
//! ```text
//! row = nothing
//!     | count:u16le (member:item, score) …     in order
//! ```
//! -0 becomes 0 here, as in Redis' packed form.
//!
//! Everything is one walk from the front: with the default limits at most 128 elements of some ten
//! bytes.

use super::element::Element;
use super::range::Bounds;
use crate::item::Item;
use crate::limits::{FormLimits, PackedLimits};
use crate::packed::{PACKED_BYTES_MAX, Packed};
use std::cmp::Ordering;
use std::ops::Range;

const COUNT_BYTES: usize = 2;
/// Most elements that a row can count.
pub(super) const COUNT_MAX: usize = u16::MAX as usize;

/// How many elements a packed sorted set may have, and how long a member may be.
pub(super) fn stays_packed(count: usize, member_bytes: usize, limits: &PackedLimits) -> bool {
    count <= (limits.entries_max as usize).min(COUNT_MAX)
        && member_bytes <= limits.value_bytes_max as usize
        && count.saturating_mul(member_bytes) <= PACKED_BYTES_MAX
}

/// An element in a row.
pub(super) struct Found {
    bytes: Range<usize>,
    pub(super) rank: usize,
    pub(super) score: f64,
}

#[inline]
pub(super) fn len(row: &[u8]) -> usize {
    match row {
        [low, high, ..] => usize::from(u16::from_le_bytes([*low, *high])),
        _ => 0,
    }
}

/// The elements of a row as they are encoded.
#[inline]
pub(super) fn pairs(row: &[u8]) -> &[u8] {
    row.get(COUNT_BYTES..).unwrap_or_default()
}

/// What stands in front of this number of elements.
pub(super) fn head(count: usize) -> Vec<u8> {
    let count = u16::try_from(count).expect("a packed sorted set is small");
    count.to_le_bytes().to_vec()
}

/// Appends an element as it stands in a row.
#[inline]
pub(super) fn put(element: Element<'_>, out: &mut Vec<u8>) {
    // The sum of both zeros is the positive one.
    Element { score: element.score + 0.0, ..element }.put(out);
}

/// The elements of a row.
#[derive(Clone)]
pub(super) struct Walk<'a> {
    rest: &'a [u8],
    len: usize,
}

impl<'a> Walk<'a> {
    #[inline]
    pub(super) fn new(row: &'a [u8]) -> Walk<'a> {
        Walk { rest: pairs(row), len: row.len() }
    }

    /// Where in the row the next element stands.
    #[inline]
    fn offset(&self) -> usize {
        self.len - self.rest.len()
    }
}

impl<'a> Iterator for Walk<'a> {
    type Item = Element<'a>;

    #[inline]
    fn next(&mut self) -> Option<Element<'a>> {
        if self.rest.is_empty() {
            return None;
        }
        Some(Element::take(&mut self.rest).expect("a row holds whole elements"))
    }
}

/// The element of a member.
#[inline]
pub(super) fn find(row: &[u8], member: &[u8]) -> Option<Found> {
    let member = Item::of(member);
    let (mut walk, mut rank) = (Walk::new(row), 0);
    loop {
        let start = walk.offset();
        let element = walk.next()?;
        if element.member == member {
            return Some(Found { bytes: start..walk.offset(), rank, score: element.score });
        }
        rank += 1;
    }
}

/// One more element, this one, leaves the row within limits.
#[inline]
pub(super) fn has_room(row: &[u8], member: &[u8], limits: &FormLimits) -> bool {
    stays_packed(len(row) + 1, member.len(), &limits.sorted_set)
        && row.len() + member.len() <= PACKED_BYTES_MAX
}

/// Sets a member's score; `found` is where it stands so far.
pub(super) fn set(packed: &mut Packed, found: Option<Found>, member: &[u8], score: f64) {
    if let Some(found) = found {
        remove(packed, found);
    }
    let element = Element { member: Item::of(member), score };
    let mut bytes = Vec::with_capacity(member.len() + 16);
    put(element, &mut bytes);
    if packed.bytes().is_empty() {
        packed.extend(&head(0));
    }
    let mut walk = Walk::new(packed.bytes());
    let mut at = walk.offset();
    while walk.next().is_some_and(|other| other.compare(&element) == Ordering::Less) {
        at = walk.offset();
    }
    packed.splice(at..at, &bytes);
    count_changed(packed, 1);
}

/// Takes an element out.
pub(super) fn remove(packed: &mut Packed, found: Found) {
    packed.splice(found.bytes, &[]);
    count_changed(packed, -1);
}

/// Takes elements out by their ranks, which are there.
pub(super) fn remove_ranks(packed: &mut Packed, ranks: Range<usize>) {
    let mut walk = Walk::new(packed.bytes());
    walk.by_ref().take(ranks.start).for_each(drop);
    let start = walk.offset();
    walk.by_ref().take(ranks.len()).for_each(drop);
    let end = walk.offset();
    packed.splice(start..end, &[]);
    count_changed(packed, -(ranks.len() as isize));
}

fn count_changed(packed: &mut Packed, by: isize) {
    let count = len(packed.bytes()).strict_add_signed(by);
    let count = u16::try_from(count).expect("a packed sorted set is small");
    packed.bytes_mut()[..COUNT_BYTES].copy_from_slice(&count.to_le_bytes());
}

/// The ranks of what lies within bounds.
pub(super) fn ranks(row: &[u8], bounds: &Bounds<'_>) -> Range<usize> {
    let mut walk = Walk::new(row).peekable();
    let mut rank = 0;
    while walk.next_if(|it| bounds.is_before(it.score, || it.member)).is_some() {
        rank += 1;
    }
    let start = rank;
    while walk.next_if(|it| bounds.is_up_to(it.score, || it.member)).is_some() {
        rank += 1;
    }
    start..rank
}
