//! What of a collection is prefetched for a command.

use basalt_value::sorted_set::Direction;

/// What of a collection a command will touch.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum CollectionTarget {
    /// It works on no collection.
    #[default]
    Nothing,
    /// The collection under the key that is this word.
    Collection { key: u8 },
    /// A collection, and in it the element that is this word; if options stand before it, another
    /// word, which is not found.
    Element { key: u8, element: u8 },
    /// The collection and, if no word follows, the element that [`crate::draws::draw`] chooses.
    Random { key: u8 },
    /// The collection and, if no word follows, its first element in this direction, which goes.
    End { key: u8, direction: Direction },
}
