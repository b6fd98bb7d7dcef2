//! HOT PATH
//! The steps on the way to an element.

use crate::sorted_set::element::Direction;

/// How an operation finds its element.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Way {
    /// By this [`element_hash`](super::element_hash).
    Hash(u64),
    /// By this random number, as [`crate::Set::random`] and [`crate::Set::pop`] take it.
    Random(u64),
    /// How many elements it is behind the first of a sorted set, seen in this direction.
    End(Direction, usize),
}

/// A step on the way to an element.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// The element, if it is found by its place in an order; the other steps follow, so that it can
    /// go.
    Order,
    /// Where its segment is noted.
    Directory,
    /// The segment.
    Segment,
    /// The tags of its segment.
    Tags,
    /// Its word.
    Word,
    /// The element.
    Element,
}

impl Step {
    /// All steps in their order.
    pub const ALL: [Step; 6] =
        [Step::Order, Step::Directory, Step::Segment, Step::Tags, Step::Word, Step::Element];
}
