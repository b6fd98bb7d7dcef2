//! What unions, intersections and differences are made of.

use crate::error::CommandError;
use basalt_engine::{Object, WrongType};
use basalt_value::item::{Item, NUMBER_CHARS_MAX};
use basalt_value::{Collection, SortedSet};
use std::borrow::Cow;

/// The value of one key.
#[derive(Clone, Copy)]
pub(super) enum Input<'a> {
    /// Nothing.
    Absent,
    /// A sorted set.
    SortedSet(&'a SortedSet),
}

impl<'a> Input<'a> {
    /// What is under a key.
    pub(super) fn of(object: Option<Object<'a>>) -> Result<Input<'a>, CommandError> {
        let Some(object) = object else { return Ok(Input::Absent) };
        let set = object.as_collection::<SortedSet>().map_err(|WrongType| CommandError::WRONG_TYPE);
        set.map(Input::SortedSet)
    }

    /// Its elements.
    pub(super) fn len(self) -> usize {
        match self {
            Input::Absent => 0,
            Input::SortedSet(set) => set.len(),
        }
    }

    /// The score of a member.
    pub(super) fn score(self, member: &[u8]) -> Option<f64> {
        match self {
            Input::Absent => None,
            Input::SortedSet(set) => set.score(member),
        }
    }

    /// Its members with their scores.
    pub(super) fn members(self) -> impl Iterator<Item = (Cow<'a, [u8]>, f64)> {
        let set = match self {
            Input::Absent => None,
            Input::SortedSet(set) => Some(set),
        };
        set.into_iter()
            .flat_map(|set| set.elements().map(|element| (spelled(element.member), element.score)))
    }
}

fn spelled(member: Item<'_>) -> Cow<'_, [u8]> {
    match member {
        Item::Bytes(bytes) => Cow::Borrowed(bytes),
        number => Cow::Owned(number.spell(&mut [0; NUMBER_CHARS_MAX]).to_vec()),
    }
}
