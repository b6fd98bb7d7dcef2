//! The ends of a list.

/// An end of a list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Side {
    /// The head.
    Left,
    /// The tail.
    Right,
}
