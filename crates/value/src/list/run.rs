//! HOT PATH
//! The packed form of a list: the number of its elements, then the elements.

use super::element::Element;
use crate::packed::Packed;
use std::ops::Range;

const COUNT_BYTES: usize = 2;

/// The elements.
#[inline]
pub(super) fn elements(packed: &Packed) -> &[u8] {
    packed.bytes().get(COUNT_BYTES..).unwrap_or(&[])
}

/// The number of elements.
#[inline]
pub(super) fn len_of(packed: &Packed) -> usize {
    match packed.bytes().first_chunk() {
        Some(count) => usize::from(u16::from_le_bytes(*count)),
        None => 0,
    }
}

/// Puts `new` in the place of the elements at `range`; there are `more` elements afterwards.
#[inline]
pub(super) fn splice(packed: &mut Packed, range: Range<usize>, new: &Element<'_>, more: isize) {
    if packed.is_empty() {
        packed.splice(0..0, &[0; COUNT_BYTES]);
    }
    let place = range.start + COUNT_BYTES..range.end + COUNT_BYTES;
    new.show(|parts| packed.splice_parts(place, parts));
    let count = len_of(packed).wrapping_add_signed(more) as u16;
    packed.bytes_mut()[..COUNT_BYTES].copy_from_slice(&count.to_le_bytes());
}
