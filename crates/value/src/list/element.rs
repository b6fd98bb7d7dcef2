//! HOT PATH
//! Elements of a list in a row of bytes, to be walked from both ends.
//!
//! ```text
//! element = item, see item.rs | length of the item, backwards
//! length  = seven bits a byte, least significant in the last byte; 0x80 = another one before it
//! ```

use crate::item::Item;
use std::ops::Range;

/// Most bytes of an item whose length takes one byte.
const SHORT_MAX: usize = 0x7F;
/// Most bytes that a length takes.
const LENGTH_BYTES_MAX: usize = 10;
/// Bytes of an element that are stored at once.
pub(super) const BLOCK_BYTES: usize = 16;
/// Most bytes of a string that fits a block with its head and its length.
const BLOCK_BODY_MAX: usize = BLOCK_BYTES - 2;

/// An element on its way in: one of up to 16 bytes in a block, from where it is stored without a
/// call; of a longer one what stands around the string.
pub(super) struct Element<'a> {
    front: [u8; BLOCK_BYTES],
    front_bytes: usize,
    body: &'a [u8],
    back: [u8; LENGTH_BYTES_MAX],
    back_bytes: usize,
}

impl<'a> Element<'a> {
    #[inline]
    pub(super) fn of(item: Item<'a>) -> Element<'a> {
        let mut front = [0; BLOCK_BYTES];
        let item_bytes = match item {
            Item::Bytes(body) if body.len() > BLOCK_BODY_MAX => return Element::long(item, body),
            Item::Bytes(body) => {
                front[0] = body.len() as u8;
                copy_short(body, &mut front[1..]);
                1 + body.len()
            }
            Item::Number(_) => {
                let head = item.head();
                copy_short(head.bytes(), &mut front);
                head.bytes().len()
            }
        };
        front[item_bytes] = item_bytes as u8;
        Element { front, front_bytes: item_bytes + 1, ..Element::standing(&[]) }
    }

    #[inline]
    fn long(item: Item<'a>, body: &'a [u8]) -> Element<'a> {
        let mut front = [0; BLOCK_BYTES];
        let head = item.head();
        let front_bytes = head.bytes().len();
        front[..front_bytes].copy_from_slice(head.bytes());
        let (back, back_bytes) = length_of(front_bytes + body.len());
        Element { front, front_bytes, body, back, back_bytes }
    }

    /// An element as it stands in a row.
    #[inline]
    pub(super) fn standing(bytes: &'a [u8]) -> Element<'a> {
        Element {
            front: [0; BLOCK_BYTES],
            front_bytes: 0,
            body: bytes,
            back: [0; LENGTH_BYTES_MAX],
            back_bytes: 0,
        }
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        self.front_bytes + self.body.len() + self.back_bytes
    }

    /// What it consists of, one after the other.
    #[inline]
    pub(super) fn parts(&self) -> [&[u8]; 3] {
        [&self.front[..self.front_bytes], self.body, &self.back[..self.back_bytes]]
    }

    /// The block that it is the front part of, if it is that short.
    #[inline]
    pub(super) fn block(&self) -> Option<&[u8; BLOCK_BYTES]> {
        self.body.is_empty().then_some(&self.front)
    }

    /// Appends the item.
    #[inline]
    pub(super) fn put_item(&self, out: &mut Vec<u8>) {
        if let Some(block) = self.block() {
            let end = out.len() + self.front_bytes - 1;
            out.extend_from_slice(block);
            out.truncate(end);
        } else {
            out.extend_from_slice(&self.front[..self.front_bytes]);
            out.extend_from_slice(self.body);
        }
    }

    /// Writes it to bytes of its length.
    #[inline]
    pub(super) fn write(&self, to: &mut [u8]) {
        if self.body.is_empty() {
            return to.copy_from_slice(&self.front[..self.front_bytes]);
        }
        let mut at = 0;
        for part in self.parts() {
            to[at..at + part.len()].copy_from_slice(part);
            at += part.len();
        }
    }
}

/// Copies up to 15 bytes to the front of `to`, without a call.
#[inline]
fn copy_short(from: &[u8], to: &mut [u8]) {
    let len = from.len();
    if let (Some(first), Some(last)) = (from.first_chunk::<8>(), from.last_chunk::<8>()) {
        to[..8].copy_from_slice(first);
        to[len - 8..len].copy_from_slice(last);
    } else if let (Some(first), Some(last)) = (from.first_chunk::<4>(), from.last_chunk::<4>()) {
        to[..4].copy_from_slice(first);
        to[len - 4..len].copy_from_slice(last);
    } else if len > 0 {
        to[0] = from[0];
        to[len / 2] = from[len / 2];
        to[len - 1] = from[len - 1];
    }
}

/// Appends an element.
#[inline]
pub(super) fn put(item: Item<'_>, out: &mut Vec<u8>) {
    Element::of(item).parts().iter().for_each(|part| out.extend_from_slice(part));
}

/// What stands behind an item of this length in bytes.
#[inline]
fn length_of(len: usize) -> ([u8; LENGTH_BYTES_MAX], usize) {
    let mut bytes = [0; LENGTH_BYTES_MAX];
    let groups = length_bytes(len);
    for (at, group) in (0..groups).rev().enumerate() {
        // The first byte written is the last one read: nothing stands before it.
        let more = if at == 0 { 0 } else { 0x80 };
        bytes[at] = (len >> (7 * group)) as u8 & 0x7F | more;
    }
    (bytes, groups)
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

/// Where the element at an index begins, of `count`, or where the last one ends: walked to from the
/// nearer end.
#[inline]
pub(super) fn start(bytes: &[u8], count: usize, index: usize) -> usize {
    if index < count / 2 {
        let mut rest = bytes;
        for _ in 0..index {
            take_first(&mut rest);
        }
        return bytes.len() - rest.len();
    }
    (index..count).fold(bytes.len(), |end, _| last_start(&bytes[..end]).unwrap_or(0))
}

/// Where the element at an index stands, of `count`: walked to from the nearer end.
#[inline]
pub(super) fn place(bytes: &[u8], count: usize, index: usize) -> Range<usize> {
    let start = start(bytes, count, index);
    let mut rest = &bytes[start..];
    take_first(&mut rest);
    start..bytes.len() - rest.len()
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
