//! Sorted sets made as a whole: from their encoding, and from elements in order.

use super::native::Native;
use super::row::{self, stays_packed};
use super::{Element, SortedSet};
use crate::attributes::{self, TAIL};
use crate::error::DecodeError;
use crate::form::Form;
use crate::item::{Item, NUMBER_CHARS_MAX};
use crate::limits::FormLimits;
use crate::packed::Packed;
use std::cmp::Ordering;

impl SortedSet {
    /// The sorted set of these elements, which are in order, each member once.
    pub fn from_sorted(elements: &[(f64, &[u8])], limits: &FormLimits) -> SortedSet {
        let longest = elements.iter().map(|(_, member)| member.len()).max().unwrap_or(0);
        if stays_packed(elements.len(), longest, &limits.sorted_set) {
            let mut bytes = row::head(elements.len());
            for &(score, member) in elements {
                row::put(Element { member: Item::of(member), score }, &mut bytes);
            }
            return packed(&bytes, elements.len());
        }
        let mut native = Native::default();
        elements.iter().for_each(|&(score, member)| native.append(member, score));
        SortedSet(Form::native(Box::new(native)))
    }
}

fn packed(bytes: &[u8], count: usize) -> SortedSet {
    SortedSet(Form::packed(if count == 0 { Packed::new() } else { Packed::from_bytes(bytes) }))
}

pub(super) fn decode(bytes: &[u8], limits: &FormLimits) -> Result<SortedSet, DecodeError> {
    let (mut rest, mut count, mut longest) = (bytes, 0, 0);
    let mut last: Option<Element<'_>> = None;
    while !rest.is_empty() {
        if let Some((&TAIL, tail)) = rest.split_first() {
            let mut set = decode_native(&bytes[..bytes.len() - rest.len()])?;
            attributes::take_tail(tail, |member, it| set.adopt_attribute(member, it))?;
            return Ok(set);
        }
        let element = Element::take(&mut rest)?;
        if last.is_some_and(|last| last.compare(&element) != Ordering::Less) {
            return Err(DecodeError::Corrupt("elements out of order"));
        }
        longest = longest.max(element.member.spelled_bytes());
        count += 1;
        last = Some(element);
    }
    if stays_packed(count, longest, &limits.sorted_set) {
        decode_packed(bytes, count)
    } else {
        decode_native(bytes)
    }
}

/// What both have checked: every element can be taken.
fn elements(bytes: &[u8]) -> impl Iterator<Item = Element<'_>> {
    let mut rest = bytes;
    std::iter::from_fn(move || Element::take(&mut rest).ok())
}

const TWICE: DecodeError = DecodeError::Corrupt("a member stands there twice");

fn decode_packed(bytes: &[u8], count: usize) -> Result<SortedSet, DecodeError> {
    let mut out = row::head(count);
    out.reserve_exact(bytes.len());
    // Put again rather than copied: a number has one spelling in memory.
    elements(bytes).for_each(|element| row::put(element, &mut out));
    let mut members: Vec<Item<'_>> =
        elements(bytes).map(|element| element.member.respelled()).collect();
    members.sort_unstable_by(|one, other| key(one).cmp(&key(other)));
    if members.windows(2).any(|pair| pair[0] == pair[1]) {
        return Err(TWICE);
    }
    Ok(packed(&out, count))
}

/// Any order in which equal members are neighbours.
fn key<'a>(item: &Item<'a>) -> (bool, i64, &'a [u8]) {
    match *item {
        Item::Number(number) => (true, number, &[]),
        Item::Bytes(bytes) => (false, 0, bytes),
    }
}

fn decode_native(bytes: &[u8]) -> Result<SortedSet, DecodeError> {
    let mut native = Native::default();
    let mut digits = [0; NUMBER_CHARS_MAX];
    for element in elements(bytes) {
        let member = element.member.spell(&mut digits);
        if native.score(member).is_some() {
            return Err(TWICE);
        }
        native.append(member, element.score);
    }
    Ok(SortedSet(Form::native(Box::new(native))))
}
