//! What a collection does to be written and read element by element.

use crate::collection::Collection;
use crate::dirty::Keeping;
use crate::error::DecodeError;
use crate::limits::FormLimits;

/// Receives names and contents.
pub type Visit<'a> = dyn FnMut(&[u8], &[u8]) + 'a;

/// Where a walk over elements goes on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum WalkPlace {
    /// With the first one.
    Start,
    /// With those of this hash and above.
    Hash(u64),
    /// With the first one of a greater name.
    After(Vec<u8>),
    /// Nowhere: all have been seen.
    End,
}

impl WalkPlace {
    /// The place that a cursor stands for, of which 0 is the end.
    pub(crate) fn at_cursor(cursor: u64) -> WalkPlace {
        if cursor == 0 { WalkPlace::End } else { WalkPlace::Hash(cursor) }
    }

    /// The cursor, for those who have made the place of one.
    pub(crate) fn cursor(&self) -> u64 {
        match self {
            WalkPlace::Hash(cursor) => *cursor,
            _ => 0,
        }
    }
}

/// What a collection does to be written and read element by element.
pub trait Spread: Collection {
    /// What has to be kept of elements that change: contents, if an element has rows that only its
    /// old content leads to.
    const KEEPING: Keeping = Keeping::Names;

    /// It has elements that can be told apart, in the form that it has now.
    fn can_spread(&self) -> bool {
        true
    }

    /// Appends what is in none of its elements.
    fn put_head(&self, out: &mut Vec<u8>);

    /// Visits at least `count` elements from a place on, and returns the place to go on from.
    /// Elements that are there throughout are visited, some perhaps more than once.
    fn visit_elements(&self, from: WalkPlace, count: usize, visit: &mut Visit<'_>) -> WalkPlace;

    /// Appends the content of the element with this name; false if there is none.
    fn put_content(&self, name: &[u8], out: &mut Vec<u8>) -> bool;

    /// A collection with this head and nothing else yet.
    ///
    /// # Errors
    /// The head makes no sense.
    fn from_head(head: &[u8]) -> Result<Self, DecodeError>;

    /// Takes an element in. They come in the order of their names; a sorted set's by their second
    /// rows.
    ///
    /// # Errors
    /// The element makes no sense, or not at this place.
    fn adopt(
        &mut self,
        name: &[u8],
        content: &[u8],
        limits: &FormLimits,
    ) -> Result<(), DecodeError>;
}
