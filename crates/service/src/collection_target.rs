//! What of a collection, or of a long string, is prefetched for a command.

use basalt_value::sorted_set::Direction;

/// What a command will touch of the value under its key.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum CollectionTarget {
    /// It works on no collection, and on no place of a string.
    #[default]
    Nothing,
    /// The collection under its key.
    Collection {
        /// The word that is the key.
        key: u8,
    },
    /// The collection and in it an element.
    Element {
        /// The word that is the key.
        key: u8,
        /// The word that is the element; if options stand before it, another word, which is not
        /// found.
        element: u8,
    },
    /// The collection and, if no word follows, the element that [`crate::draws::draw`] chooses.
    Random {
        /// The word that is the key.
        key: u8,
    },
    /// The collection and, if no word follows, the element at an end, which goes.
    End {
        /// The word that is the key.
        key: u8,
        /// The direction in which that element is the first.
        direction: Direction,
    },
    /// A bit of a string.
    Bit {
        /// The word that is the key.
        key: u8,
        /// The word that says which, in decimal digits.
        offset: u8,
    },
}
