//! HOT PATH
//! What the log says about sorted sets.
//!
//! ```text
//! edit = 01 member:item score                                  the member has this score now
//!      | 02 member:item                                        the member is gone
//!      | 03 member:item score member:item score count:varint   so many are gone: first to last
//!      | 04 member:item score                                  as 01; it is native from here on
//!      | 05 member:item version:varint expire_ms:varint        the member, which is there, has
//!                                                              this from here on; native, too
//! ```
//! A range is logged by its ends however many elements were in it; the count is a check. A native
//! set that is written as edits begins with 04: else its first members would be packed for a while,
//! and packed ones cannot have a score of -0.

use super::SortedSet;
use super::element::Element;
use super::score;
use crate::attributes::Attribute;
use crate::collection::Collection;
use crate::edits::Edits;
use crate::error::DecodeError;
use crate::item::{Item, NUMBER_CHARS_MAX};
use crate::limits::FormLimits;
use basalt_stdx::varint;

pub(super) const SET: u8 = 1;
const REMOVE: u8 = 2;
const REMOVE_RANGE: u8 = 3;
pub(super) const SET_IN_NATIVE: u8 = 4;
const ATTRIBUTE: u8 = 5;

#[inline]
pub(super) fn put_set(member: &[u8], score: f64, out: &mut Vec<u8>) {
    out.push(SET);
    Item::of(member).put(out);
    score::put(score, out);
}

#[inline]
pub(super) fn put_remove(member: &[u8], out: &mut Vec<u8>) {
    out.push(REMOVE);
    Item::of(member).put(out);
}

/// Writes a REMOVE of an element's member, as it stands in memory.
#[inline]
pub(super) fn put_remove_item(member: Item<'_>, out: &mut Vec<u8>) {
    out.push(REMOVE);
    // In the native form a number is spelled.
    member.respelled().put(out);
}

pub(super) fn put_remove_range(ends: [Element<'_>; 2], count: usize, out: &mut Vec<u8>) {
    let [first, last] = ends;
    if count == 1 {
        return put_remove_item(first.member, out);
    }
    out.push(REMOVE_RANGE);
    first.put(out);
    last.put(out);
    varint::put(out, count as u64);
}

pub(super) fn put_attribute(member: Item<'_>, attribute: Attribute, out: &mut Vec<u8>) {
    out.push(ATTRIBUTE);
    member.respelled().put(out);
    attribute.put_edit(out);
}

pub(super) fn apply(
    set: &mut SortedSet,
    edits: &[u8],
    limits: &FormLimits,
) -> Result<(), DecodeError> {
    let mut rest = edits;
    let none = &mut Edits::none();
    let mut digits = [0; NUMBER_CHARS_MAX];
    while let Some((&kind, after)) = rest.split_first() {
        rest = after;
        match kind {
            SET | SET_IN_NATIVE => {
                if kind == SET_IN_NATIVE {
                    set.become_native();
                }
                let element = Element::take(&mut rest)?;
                let member = element.member.spell(&mut digits);
                set.set(member, limits, none, |_| Some(element.score));
            }
            REMOVE => {
                let member = Item::take(&mut rest).ok_or(DecodeError::Truncated)?;
                if !set.remove(member.spell(&mut digits), none) {
                    return Err(DecodeError::Corrupt("a member is removed that is not there"));
                }
            }
            REMOVE_RANGE => remove_range(set, &mut rest)?,
            ATTRIBUTE => {
                let member = Item::take(&mut rest).ok_or(DecodeError::Truncated)?;
                let attribute = Attribute::take(&mut rest)?;
                if set.score(member.spell(&mut digits)).is_none() {
                    return Err(DecodeError::Corrupt("an attribute of a member that is not there"));
                }
                set.become_native();
                set.put_attribute(member, attribute);
            }
            unknown => return Err(DecodeError::UnknownEdit(unknown)),
        }
    }
    Ok(())
}

fn remove_range(set: &mut SortedSet, rest: &mut &[u8]) -> Result<(), DecodeError> {
    let rank = |element: Element<'_>| {
        let (rank, score) = set.rank(element.member.spell(&mut [0; NUMBER_CHARS_MAX]))?;
        (score == element.score).then_some(rank)
    };
    let (first, last) = (Element::take(rest)?, Element::take(rest)?);
    let count = varint::take(rest).ok_or(DecodeError::Truncated)?;
    let (Some(first), Some(last)) = (rank(first), rank(last)) else {
        return Err(DecodeError::Corrupt("a range is removed whose ends are not there"));
    };
    if last < first || (last - first) as u64 + 1 != count || count as usize > set.len() {
        return Err(DecodeError::Corrupt("a range of another length is removed"));
    }
    set.remove_ranks(first..last + 1, &mut Edits::none());
    Ok(())
}
