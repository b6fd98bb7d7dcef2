//! HOT PATH
//! Elements of a list in a row of bytes, to be walked from both ends.
//!
//! ```text
//! element = item, see item.rs | length of the item, backwards
//! length  = seven bits a byte, least significant in the last byte; 0x80 = another byte before this one
//! ```

use crate::item::Item;
use std::ops::Range;

/// Most bytes of an item whose length takes one byte.
const SHORT_MAX: usize = 0x7F;

/// Appends an element.
#[inline]
pub(super) fn put(item: Item<'_>, out: &mut Vec<u8>) {
    let start = out.len();
    item.put(out);
    let len = out.len() - start;
    if len <= SHORT_MAX {
        out.push(len as u8);
    } else {
        put_long_length(len, out);
    }
}

#[cold]
fn put_long_length(len: usize, out: &mut Vec<u8>) {
    let groups = (usize::BITS - len.leading_zeros()).div_ceil(7);
    for group in (0..groups).rev() {
        // The first byte written is the last one read: nothing stands before it.
        let more = if group + 1 == groups { 0 } else { 0x80 };
        out.push((len >> (7 * group)) as u8 & 0x7F | more);
    }
}

/// Bytes that the length of an item takes.
#[inline]
fn length_bytes(item_bytes: usize) -> usize {
    if item_bytes <= SHORT_MAX {
        1
    } else {
        (usize::BITS - item_bytes.leading_zeros()).div_ceil(7) as usize
    }
}

/// Takes the first element off.
#[inline]
pub(super) fn take_first<'a>(bytes: &mut &'a [u8]) -> Option<Item<'a>> {
    let before = bytes.len();
    let item = Item::take(bytes)?;
    let length = length_bytes(before - bytes.len());
    *bytes = bytes.get(length..)?;
    Some(item)
}

/// Takes the last element off.
#[inline]
pub(super) fn take_last<'a>(bytes: &mut &'a [u8]) -> Option<Item<'a>> {
    let start = last_start(bytes)?;
    let (rest, mut element) = bytes.split_at_checked(start)?;
    *bytes = rest;
    Item::take(&mut element)
}

/// Where the last element begins.
#[inline]
pub(super) fn last_start(bytes: &[u8]) -> Option<usize> {
    let mut len = 0usize;
    let mut end = bytes.len();
    for group in 0..9 {
        end = end.checked_sub(1)?;
        len |= usize::from(bytes[end] & 0x7F) << (7 * group);
        if bytes[end] & 0x80 == 0 {
            break;
        }
    }
    end.checked_sub(len)
}

/// Where the element at an index stands, of `count`: walked to from the nearer end.
#[inline]
pub(super) fn place(bytes: &[u8], count: usize, index: usize) -> Range<usize> {
    if index < count / 2 {
        let mut rest = bytes;
        for _ in 0..index {
            take_first(&mut rest);
        }
        let start = bytes.len() - rest.len();
        take_first(&mut rest);
        return start..bytes.len() - rest.len();
    }
    let mut end = bytes.len();
    for _ in index + 1..count {
        end = last_start(&bytes[..end]).unwrap_or(0);
    }
    last_start(&bytes[..end]).unwrap_or(0)..end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_of_all_lengths_are_walked_both_ways() {
        let strings: Vec<Vec<u8>> = [0, 1, 100, 126, 127, 128, 200, 16_380, 16_385, 70_000]
            .map(|len| vec![b'x'; len])
            .into();
        let mut bytes = Vec::new();
        strings.iter().for_each(|string| put(Item::of(string), &mut bytes));
        let mut rest = &bytes[..];
        for string in &strings {
            assert_eq!(take_first(&mut rest), Some(Item::Bytes(string)));
        }
        assert!(rest.is_empty());
        let mut rest = &bytes[..];
        for string in strings.iter().rev() {
            assert_eq!(take_last(&mut rest), Some(Item::Bytes(string)));
        }
        assert!(rest.is_empty());
        for (index, string) in strings.iter().enumerate() {
            let mut element = &bytes[place(&bytes, strings.len(), index)];
            assert_eq!(take_first(&mut element), Some(Item::Bytes(string)));
        }
    }
}
