//! HOT PATH
//! Where the first bit of a value is.

use super::Bit;
use std::ops::Range;

/// The first position in a range, which must end inside the string, whose bit has this value.
pub fn first(bytes: &[u8], range: Range<u64>, value: Bit) -> Option<u64> {
    if range.is_empty() {
        return None;
    }
    // Looking for a clear bit is looking for a set one in the complement.
    let flip = if value == Bit::One { 0 } else { 0xFF };
    let (head, last) = ((range.start / 8) as usize, ((range.end - 1) / 8) as usize);
    let head_byte = (bytes[head] ^ flip) & (0xFF >> (range.start % 8));
    let found = if head_byte != 0 {
        head as u64 * 8 + u64::from(head_byte.leading_zeros())
    } else {
        let rest = bytes.get(head + 1..=last).unwrap_or_default();
        let index = first_other_than(rest, flip)?;
        let byte = rest[index] ^ flip;
        (head + 1 + index) as u64 * 8 + u64::from(byte.leading_zeros())
    };
    // The last byte was looked at whole.
    (found < range.end).then_some(found)
}

/// Index of the first byte that is not `common`.
fn first_other_than(bytes: &[u8], common: u8) -> Option<usize> {
    let (words, _) = bytes.as_chunks::<8>();
    let same = words.iter().take_while(|word| **word == [common; 8]).count() * 8;
    let rest = &bytes[same..];
    rest.iter().position(|&byte| byte != common).map(|index| same + index)
}
