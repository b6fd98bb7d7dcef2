//! HOT PATH
//! The packed forms of a set: sorted numbers of one width, or members in the order of their coming.
//!
//! ```text
//! numbers  width:u8 (2, 4 or 8)  number:width bytes, little-endian …      ascending
//! members  0:u8  count:u16le  item …
//! ```
//! Numbers are found by halving, members by walking. An empty set has no bytes at all.

use crate::item::Item;
use crate::packed::Packed;

const MEMBERS: u8 = 0;
const MEMBERS_HEAD: usize = 3;
/// Members: their number has two bytes.
pub(super) const COUNT_MAX: usize = u16::MAX as usize;

/// What a packed set consists of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Content<'a> {
    Empty,
    Numbers(Numbers<'a>),
    Members { count: usize, items: &'a [u8] },
}

/// Sorted numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Numbers<'a> {
    width: usize,
    bytes: &'a [u8],
}

impl<'a> Numbers<'a> {
    #[inline]
    pub(super) fn len(self) -> usize {
        self.bytes.len() / self.width
    }

    #[inline]
    pub(super) fn get(self, index: usize) -> i64 {
        let start = index * self.width;
        let bytes = &self.bytes[start..start + self.width];
        let mut number = [if bytes[self.width - 1] & 0x80 != 0 { 0xFF } else { 0 }; 8];
        number[..self.width].copy_from_slice(bytes);
        i64::from_le_bytes(number)
    }

    /// Where a number is, or would be.
    fn search(self, number: i64) -> Result<usize, usize> {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low.midpoint(high);
            match self.get(middle).cmp(&number) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
                std::cmp::Ordering::Equal => return Ok(middle),
            }
        }
        Err(low)
    }
}

fn width_of(number: i64) -> usize {
    if i16::try_from(number).is_ok() {
        2
    } else if i32::try_from(number).is_ok() {
        4
    } else {
        8
    }
}

/// What is in a packed set.
#[inline]
pub(super) fn content(packed: &Packed) -> Content<'_> {
    match packed.bytes() {
        [] => Content::Empty,
        [MEMBERS, low, high, items @ ..] => {
            Content::Members { count: usize::from(u16::from_le_bytes([*low, *high])), items }
        }
        [width, bytes @ ..] => Content::Numbers(Numbers { width: usize::from(*width), bytes }),
    }
}

/// Whether an item is in a packed set.
#[inline]
pub(super) fn contains(packed: &Packed, wanted: Item<'_>) -> bool {
    match (content(packed), wanted) {
        (Content::Numbers(numbers), Item::Number(number)) => numbers.search(number).is_ok(),
        (Content::Members { items, .. }, wanted) => find(items, wanted).is_some(),
        _ => false,
    }
}

/// Where an item stands among items.
#[inline]
fn find(items: &[u8], wanted: Item<'_>) -> Option<std::ops::Range<usize>> {
    let mut rest = items;
    loop {
        let start = items.len() - rest.len();
        if Item::take(&mut rest)? == wanted {
            return Some(start..items.len() - rest.len());
        }
    }
}

/// Adds a number that is not there to numbers, or to nothing.
pub(super) fn add_number(packed: &mut Packed, number: i64) {
    let (at, width) = match content(packed) {
        Content::Numbers(numbers) => {
            (numbers.search(number).unwrap_or_else(|at| at), numbers.width)
        }
        _ => {
            *packed = Packed::from_bytes(&[width_of(number) as u8]);
            (0, width_of(number))
        }
    };
    if width_of(number) > width {
        widen(packed, width_of(number));
    }
    let width = usize::from(packed.bytes()[0]);
    let start = 1 + at * width;
    packed.splice(start..start, &number.to_le_bytes()[..width]);
}

/// Widens all numbers.
#[cold]
fn widen(packed: &mut Packed, width: usize) {
    let Content::Numbers(numbers) = content(packed) else { return };
    let mut wide = vec![width as u8];
    (0..numbers.len()).for_each(|at| wide.extend(&numbers.get(at).to_le_bytes()[..width]));
    *packed = Packed::from_bytes(&wide);
}

/// Adds an item that is not there to members, or to nothing.
pub(super) fn add_member(packed: &mut Packed, item: Item<'_>) {
    let mut bytes = Vec::new();
    if packed.is_empty() {
        bytes.extend([MEMBERS, 0, 0]);
    }
    item.put(&mut bytes);
    packed.extend(&bytes);
    add_to_count(packed, 1);
}

fn add_to_count(packed: &mut Packed, more: i16) {
    let head = &mut packed.bytes_mut()[1..MEMBERS_HEAD];
    let count = u16::from_le_bytes([head[0], head[1]]).wrapping_add_signed(more);
    head.copy_from_slice(&count.to_le_bytes());
}

/// Removes an item; returns true if it was there.
pub(super) fn remove(packed: &mut Packed, wanted: Item<'_>) -> bool {
    match (content(packed), wanted) {
        (Content::Numbers(numbers), Item::Number(number)) => {
            let Ok(at) = numbers.search(number) else { return false };
            let start = 1 + at * numbers.width;
            let end = start + numbers.width;
            packed.splice(start..end, &[]);
            if packed.len() == 1 {
                *packed = Packed::new();
            }
            true
        }
        (Content::Members { items, count }, wanted) => {
            let Some(place) = find(items, wanted) else { return false };
            if count == 1 {
                *packed = Packed::new();
                return true;
            }
            packed.splice(place.start + MEMBERS_HEAD..place.end + MEMBERS_HEAD, &[]);
            add_to_count(packed, -1);
            true
        }
        _ => false,
    }
}
