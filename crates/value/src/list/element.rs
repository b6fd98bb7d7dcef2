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

/// An element on its way in.
pub(super) enum Element<'a> {
    Short(Block),
    Long(Long<'a>),
}

/// An element of up to 16 bytes. It is made as one number, which is stored at once: what is stored
/// byte by byte and copied as a whole right after stalls the processor, for as long as a push
/// takes otherwise.
#[derive(Clone, Copy)]
pub(super) struct Block {
    /// Little-endian; the bytes behind the element are zero.
    word: u128,
    len: usize,
}

/// A longer element: the string, and what stands around it.
pub(super) struct Long<'a> {
    front: [u8; BLOCK_BYTES],
    front_bytes: usize,
    body: &'a [u8],
    back: [u8; LENGTH_BYTES_MAX],
    back_bytes: usize,
}

impl Block {
    /// An element of which this is the item.
    #[inline]
    fn of_item(item: u128, item_bytes: usize) -> Block {
        Block { word: item | (item_bytes as u128) << (8 * item_bytes), len: item_bytes + 1 }
    }

    /// Its bytes in front, then zeros.
    #[inline]
    pub(super) fn at_front(self) -> [u8; BLOCK_BYTES] {
        self.word.to_le_bytes()
    }

    /// Zeros, then its bytes.
    #[inline]
    pub(super) fn at_back(self) -> [u8; BLOCK_BYTES] {
        (self.word << (8 * (BLOCK_BYTES - self.len))).to_le_bytes()
    }

    #[inline]
    pub(super) fn len(self) -> usize {
        self.len
    }
}

impl<'a> Element<'a> {
    #[inline]
    pub(super) fn of(item: Item<'a>) -> Element<'a> {
        match item {
            Item::Bytes(body) if body.len() > BLOCK_BODY_MAX => Element::long(item, body),
            Item::Bytes(body) => {
                let item = body.len() as u128 | word_of(body) << 8;
                Element::Short(Block::of_item(item, 1 + body.len()))
            }
            Item::Number(_) => {
                let head = item.head();
                Element::Short(Block::of_item(head.word(), head.bytes().len()))
            }
        }
    }

    #[inline]
    fn long(item: Item<'a>, body: &'a [u8]) -> Element<'a> {
        let mut front = [0; BLOCK_BYTES];
        let head = item.head();
        let front_bytes = head.bytes().len();
        front[..front_bytes].copy_from_slice(head.bytes());
        let (back, back_bytes) = length_of(front_bytes + body.len());
        Element::Long(Long { front, front_bytes, body, back, back_bytes })
    }

    /// Elements as they stand in a row.
    #[inline]
    pub(super) fn standing(bytes: &'a [u8]) -> Element<'a> {
        let (front, back) = ([0; BLOCK_BYTES], [0; LENGTH_BYTES_MAX]);
        Element::Long(Long { front, front_bytes: 0, body: bytes, back, back_bytes: 0 })
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        match self {
            Element::Short(block) => block.len,
            Element::Long(long) => long.front_bytes + long.body.len() + long.back_bytes,
        }
    }

    /// Shows what it consists of, one after the other.
    #[inline]
    pub(super) fn show<R>(&self, show: impl FnOnce(&[&[u8]]) -> R) -> R {
        match self {
            Element::Short(block) => show(&[&block.at_front()[..block.len]]),
            Element::Long(long) => {
                let front = &long.front[..long.front_bytes];
                show(&[front, long.body, &long.back[..long.back_bytes]])
            }
        }
    }

    /// Appends the item.
    #[inline]
    pub(super) fn put_item(&self, out: &mut Vec<u8>) {
        match self {
            Element::Short(block) => {
                let end = out.len() + block.len - 1;
                out.extend_from_slice(&block.at_front());
                out.truncate(end);
            }
            Element::Long(long) => {
                out.extend_from_slice(&long.front[..long.front_bytes]);
                out.extend_from_slice(long.body);
            }
        }
    }
}

/// Up to 14 bytes as one number, little-endian. They are loaded in pieces that may overlap, where
/// both have the same bits.
#[inline]
fn word_of(bytes: &[u8]) -> u128 {
    let len = bytes.len();
    if let (Some(first), Some(last)) = (bytes.first_chunk::<8>(), bytes.last_chunk::<8>()) {
        let (first, last) = (u64::from_le_bytes(*first), u64::from_le_bytes(*last));
        u128::from(first) | u128::from(last) << (8 * (len - 8))
    } else if let (Some(first), Some(last)) = (bytes.first_chunk::<4>(), bytes.last_chunk::<4>()) {
        let (first, last) = (u32::from_le_bytes(*first), u32::from_le_bytes(*last));
        u128::from(u64::from(first) | u64::from(last) << (8 * (len - 4)))
    } else if len > 0 {
        let at = |index: usize| u32::from(bytes[index]) << (8 * index);
        u128::from(at(0) | at(len / 2) | at(len - 1))
    } else {
        0
    }
}

/// Appends an element.
#[inline]
pub(super) fn put(item: Item<'_>, out: &mut Vec<u8>) {
    Element::of(item).show(|parts| parts.iter().for_each(|part| out.extend_from_slice(part)));
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
    fn a_short_element_is_its_item_and_its_length() {
        let numbers = [0, 47, 48, -1, 127, -128, 128, -300, 70_000, i64::MAX, i64::MIN];
        let numbers = numbers.map(Item::Number);
        let strings: Vec<String> = (0..=BLOCK_BODY_MAX).map(|len| "x".repeat(len)).collect();
        let strings = strings.iter().map(|string| Item::Bytes(string.as_bytes()));
        for item in strings.chain(numbers) {
            let mut bytes = Vec::new();
            item.put(&mut bytes);
            bytes.push(bytes.len() as u8);
            let Element::Short(block) = Element::of(item) else { panic!("{item:?} is short") };
            let zeros = vec![0; BLOCK_BYTES - bytes.len()];
            assert_eq!(block.at_front()[..], [&bytes[..], &zeros].concat(), "{item:?}");
            assert_eq!(block.at_back()[..], [&zeros, &bytes[..]].concat(), "{item:?}");
        }
    }

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
