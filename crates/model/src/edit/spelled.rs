//! Elements of the engine's collections, as the plain ones hold them.

use basalt_value::item::{Item, NUMBER_CHARS_MAX};

/// An element as bytes.
pub(super) fn spelled(item: Item<'_>) -> Vec<u8> {
    item.spell(&mut [0; NUMBER_CHARS_MAX]).to_vec()
}
