//! What unions, intersections and differences are made of.

use basalt_engine::Object;
use basalt_service::error::CommandError;
use basalt_value::item::{Item, NUMBER_CHARS_MAX};
use basalt_value::{Collection, Set, SortedSet, ValueRef};
use std::borrow::Cow;

/// The score of a set's members.
const SET_SCORE: f64 = 1.0;

/// The value of one key.
#[derive(Clone, Copy)]
pub(super) enum Input<'a> {
    /// Nothing.
    Absent,
    /// A sorted set.
    SortedSet(&'a SortedSet),
    /// A set: every score is 1.
    Set(&'a Set),
}

impl<'a> Input<'a> {
    /// What is under a key.
    pub(super) fn of(object: Option<Object<'a>>) -> Result<Input<'a>, CommandError> {
        let Some(object) = object else { return Ok(Input::Absent) };
        match object.collection() {
            Some(ValueRef::SortedSet(set)) => Ok(Input::SortedSet(set)),
            Some(ValueRef::Set(set)) => Ok(Input::Set(set)),
            _ => Err(CommandError::WRONG_TYPE),
        }
    }

    /// Its elements.
    pub(super) fn len(self) -> usize {
        match self {
            Input::Absent => 0,
            Input::SortedSet(set) => set.len(),
            Input::Set(set) => set.len(),
        }
    }

    /// The score of a member.
    pub(super) fn score(self, member: &[u8]) -> Option<f64> {
        match self {
            Input::Absent => None,
            Input::SortedSet(set) => set.score(member),
            Input::Set(set) => set.contains(Item::of(member)).then_some(SET_SCORE),
        }
    }

    /// Its members with their scores.
    pub(super) fn members(self) -> impl Iterator<Item = (Cow<'a, [u8]>, f64)> {
        let (sorted_set, set) = match self {
            Input::Absent => (None, None),
            Input::SortedSet(set) => (Some(set), None),
            Input::Set(set) => (None, Some(set)),
        };
        let elements = sorted_set
            .into_iter()
            .flat_map(SortedSet::elements)
            .map(|element| (spelled(element.member), element.score));
        let members = set.into_iter().flat_map(Set::iter).map(|item| (spelled(item), SET_SCORE));
        elements.chain(members)
    }
}

fn spelled(member: Item<'_>) -> Cow<'_, [u8]> {
    match member {
        Item::Bytes(bytes) => Cow::Borrowed(bytes),
        number => Cow::Owned(number.spell(&mut [0; NUMBER_CHARS_MAX]).to_vec()),
    }
}
