//! What of a collection is prefetched for a command.

use basalt_value::sorted_set::Direction;

/// What of a collection a command will touch.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum CollectionTarget {
    /// It works on no collection.
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
}
