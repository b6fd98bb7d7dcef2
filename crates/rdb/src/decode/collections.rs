//! Lists, sets and sorted sets.

use std::borrow::Cow;

use crate::decode::refuse_duplicates;
use crate::error::DecodeError;
use crate::limits::Budget;
use crate::model::{Bytes, Payload, owned, sort_by_score};
use crate::number;
use crate::packed::{Element, listpack, ziplist};
use crate::reader::Reader;
use crate::types;

/// Scores as text, type `ZSET`, have one byte of length; these three are scores themselves.
const SCORE_NAN: u8 = 253;
const SCORE_INFINITY: u8 = 254;
const SCORE_MINUS_INFINITY: u8 = 255;

/// `count:length { element:string }*`
pub(super) fn plain_list<'a>(reader: &mut Reader<'a>) -> Result<Payload<'a>, DecodeError> {
    strings(reader).map(Payload::List)
}

/// `count:length { member:string }*`
pub(super) fn plain_set<'a>(reader: &mut Reader<'a>) -> Result<Payload<'a>, DecodeError> {
    unique_set(strings(reader)?)
}

fn strings<'a>(reader: &mut Reader<'a>) -> Result<Vec<Bytes<'a>>, DecodeError> {
    let count = reader.count::<Bytes<'_>>(1)?;
    if count == 0 {
        return Err(DecodeError::Empty);
    }
    let mut strings = Vec::with_capacity(count);
    for _ in 0..count {
        strings.push(reader.string()?);
    }
    Ok(strings)
}

/// `count:length { member:string score }*`
pub(super) fn plain_sorted_set<'a>(
    kind: u8,
    reader: &mut Reader<'a>,
) -> Result<Payload<'a>, DecodeError> {
    let count = reader.count::<(Bytes<'_>, f64)>(2)?;
    let mut members = Vec::with_capacity(count);
    for _ in 0..count {
        let member = reader.string()?;
        let score = match kind {
            types::ZSET => text_score(reader)?,
            _ => reader.f64_le()?,
        };
        members.push((member, score));
    }
    ordered_set(members)
}

fn text_score(reader: &mut Reader<'_>) -> Result<f64, DecodeError> {
    match reader.u8()? {
        SCORE_NAN => Ok(f64::NAN),
        SCORE_INFINITY => Ok(f64::INFINITY),
        SCORE_MINUS_INFINITY => Ok(f64::NEG_INFINITY),
        length => {
            let text = reader.take(usize::from(length))?;
            number::score(text).ok_or(DecodeError::Corrupt("sorted set: score"))
        }
    }
}

/// A list of nodes: `count:length { node }*`. In the first version each is a ziplist; in the
/// second, each says what it is: `container:length string`. Empty nodes are passed over, as in
/// Redis.
pub(super) fn quicklist<'a>(kind: u8, reader: &mut Reader<'a>) -> Result<Payload<'a>, DecodeError> {
    let mut elements = Vec::new();
    let nodes = reader.count::<Bytes<'_>>(1)?;
    for _ in 0..nodes {
        let container = match kind {
            types::LIST_QUICKLIST_2 => reader.length()?,
            _ => types::NODE_PACKED,
        };
        let bytes = reader.string()?;
        match (container, bytes) {
            (types::NODE_PLAIN, element) if !element.is_empty() => elements.push(element),
            (types::NODE_PACKED, Cow::Borrowed(bytes)) => {
                let found = node(kind, bytes, &mut reader.budget)?;
                elements.extend(found.iter().map(|element| element.bytes()));
            }
            (types::NODE_PACKED, Cow::Owned(bytes)) => {
                let found = node(kind, &bytes, &mut reader.budget)?;
                elements.extend(found.iter().map(|element| owned(element.bytes())));
            }
            _ => return Err(DecodeError::Corrupt("list: node")),
        }
    }
    if elements.is_empty() {
        return Err(DecodeError::Empty);
    }
    Ok(Payload::List(elements))
}

fn node<'b>(
    kind: u8,
    bytes: &'b [u8],
    budget: &mut Budget,
) -> Result<Vec<Element<'b>>, DecodeError> {
    match kind {
        types::LIST_QUICKLIST_2 => listpack::elements(bytes, budget),
        _ => ziplist::elements(bytes, budget),
    }
}

pub(super) fn list<'b>(elements: &[Element<'b>]) -> Result<Payload<'b>, DecodeError> {
    if elements.is_empty() {
        return Err(DecodeError::Empty);
    }
    Ok(Payload::List(elements.iter().map(|element| element.bytes()).collect()))
}

pub(super) fn set<'b>(elements: &[Element<'b>]) -> Result<Payload<'b>, DecodeError> {
    unique_set(elements.iter().map(|element| element.bytes()).collect())
}

/// A set of ascending numbers.
pub(super) fn number_set(numbers: &[i64]) -> Result<Payload<'static>, DecodeError> {
    if numbers.is_empty() {
        return Err(DecodeError::Empty);
    }
    let members = numbers.iter().map(|number| Cow::Owned(number::integer_text(*number)));
    Ok(Payload::Set(members.collect()))
}

/// Members and scores by turns.
pub(super) fn sorted_set<'b>(elements: &[Element<'b>]) -> Result<Payload<'b>, DecodeError> {
    let (pairs, rest) = elements.as_chunks::<2>();
    if !rest.is_empty() {
        return Err(DecodeError::Corrupt("sorted set: member without score"));
    }
    let mut members = Vec::with_capacity(pairs.len());
    for [member, score] in pairs {
        let score = score.score().ok_or(DecodeError::Corrupt("sorted set: score"))?;
        members.push((member.bytes(), score));
    }
    ordered_set(members)
}

fn unique_set(members: Vec<Bytes<'_>>) -> Result<Payload<'_>, DecodeError> {
    if members.is_empty() {
        return Err(DecodeError::Empty);
    }
    refuse_duplicates(members.iter(), "set: member stands twice")?;
    Ok(Payload::Set(members))
}

fn ordered_set(mut members: Vec<(Bytes<'_>, f64)>) -> Result<Payload<'_>, DecodeError> {
    if members.is_empty() {
        return Err(DecodeError::Empty);
    }
    if members.iter().any(|(_, score)| score.is_nan()) {
        return Err(DecodeError::Corrupt("sorted set: score is not a number"));
    }
    let names = members.iter().map(|(member, _)| member);
    refuse_duplicates(names, "sorted set: member stands twice")?;
    sort_by_score(&mut members);
    Ok(Payload::SortedSet(members))
}
