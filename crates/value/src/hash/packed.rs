//! HOT PATH
//! The packed form of a hash: its fields one after the other, in the order of their coming.
//!
//! ```text
//! head | field …
//! head  = count:u16le                                  bit 15 clear: no field ever had an expiry
//!       | count | 0x8000:u16le  next_expiry_ms:u64le   the earliest expiry; all ones for none
//! field = name item | value item | [expiry item]       expiry: unix milliseconds, 0 for none;
//!                                                      only with bit 15
//! ```
//! Walked from the front. An empty hash may have no bytes at all.

use super::field::Field;
use crate::item::Item;
use crate::packed::Packed;
use std::ops::Range;

const EXPIRING: u16 = 0x8000;
const COUNT_BYTES: usize = 2;
const NEXT_BYTES: usize = 8;
/// Most fields: their number has fifteen bits.
pub(super) const COUNT_MAX: usize = 0x7FFF;

/// What is in a packed hash.
#[derive(Clone, Copy)]
pub(super) struct Row<'a> {
    pub(super) count: usize,
    /// Fields have an expiry item.
    pub(super) is_expiring: bool,
    /// The earliest expiry, all ones for none.
    pub(super) next_expiry_ms: u64,
    /// The fields.
    pub(super) fields: Fields<'a>,
}

/// Fields in a row of bytes. Ends at the first that is not whole.
#[derive(Clone, Copy)]
pub(super) struct Fields<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) is_expiring: bool,
}

impl<'a> Iterator for Fields<'a> {
    type Item = Field<'a>;

    #[inline]
    fn next(&mut self) -> Option<Field<'a>> {
        let name = Item::take(&mut self.bytes)?;
        let value = Item::take(&mut self.bytes)?;
        let expire_ms = if self.is_expiring { take_expiry(&mut self.bytes)? } else { 0 };
        Some(Field { name, value, expire_ms })
    }
}

#[inline]
fn take_expiry(bytes: &mut &[u8]) -> Option<u64> {
    match Item::take(bytes)? {
        Item::Number(expire_ms) => u64::try_from(expire_ms).ok(),
        Item::Bytes(_) => None,
    }
}

/// Where a field stands.
pub(super) struct FieldPlace<'a> {
    pub(super) field: Field<'a>,
    /// Where its value begins.
    value_start: usize,
    whole: Range<usize>,
}

/// What is in a packed hash.
#[inline]
pub(super) fn row(packed: &Packed) -> Row<'_> {
    let bytes = packed.bytes();
    let Some((head, rest)) = bytes.split_first_chunk() else {
        let fields = Fields { bytes, is_expiring: false };
        return Row { count: 0, is_expiring: false, next_expiry_ms: u64::MAX, fields };
    };
    let head = u16::from_le_bytes(*head);
    let (count, is_expiring) = (usize::from(head & !EXPIRING), head & EXPIRING != 0);
    let (next_expiry_ms, bytes) = match rest.split_first_chunk() {
        Some((next, rest)) if is_expiring => (u64::from_le_bytes(*next), rest),
        _ => (u64::MAX, rest),
    };
    Row { count, is_expiring, next_expiry_ms, fields: Fields { bytes, is_expiring } }
}

/// A packed hash of fields that are known to be whole and different.
pub(super) fn of_fields(fields: Fields<'_>, count: usize) -> Packed {
    let mut packed = Packed::new();
    if count > 0 || fields.is_expiring {
        let flag = if fields.is_expiring { EXPIRING } else { 0 };
        let next = if fields.is_expiring { &[0xFF; NEXT_BYTES][..] } else { &[] };
        let head = (count as u16 | flag).to_le_bytes();
        packed.splice_parts(0..0, &[&head, next, fields.bytes]);
        find_next_expiry(&mut packed);
    }
    packed
}

/// Finds a field.
#[inline]
pub(super) fn find<'a>(packed: &'a Packed, name: Item<'_>) -> Option<FieldPlace<'a>> {
    let fields = row(packed).fields;
    let mut rest = fields.bytes;
    let len = packed.len();
    loop {
        let start = len - rest.len();
        let is_it = Item::take(&mut rest)? == name;
        let value_start = len - rest.len();
        let value = Item::take(&mut rest)?;
        let expire_ms = if fields.is_expiring { take_expiry(&mut rest)? } else { 0 };
        if is_it {
            let name = Item::take(&mut &packed.bytes()[start..])?;
            let field = Field { name, value, expire_ms };
            return Some(FieldPlace { field, value_start, whole: start..len - rest.len() });
        }
    }
}

/// Puts a field; `found` is where it is now. The packed form has room for it, and for an expiry.
pub(super) fn put(packed: &mut Packed, found: Option<Range<usize>>, field: Field<'_>) {
    if field.expire_ms != 0 {
        debug_assert!(row(packed).is_expiring, "room for expiries is made first");
    }
    let (name, value) = (field.name.head(), field.value.head());
    let expiry = Item::Number(field.expire_ms as i64).head();
    let expiry = if row(packed).is_expiring { expiry.bytes() } else { &[] };
    match found {
        Some(range) => packed.splice_parts(range, &[value.bytes(), field.value.body(), expiry]),
        None => {
            if packed.is_empty() {
                packed.extend(&[0; COUNT_BYTES]);
            }
            let end = packed.len();
            let parts =
                [name.bytes(), field.name.body(), value.bytes(), field.value.body(), expiry];
            packed.splice_parts(end..end, &parts);
            add_to_count(packed, 1);
        }
    }
}

/// Removes a field that stands there.
pub(super) fn remove(packed: &mut Packed, whole: Range<usize>) {
    if row(packed).count == 1 {
        *packed = Packed::new();
        return;
    }
    packed.splice(whole, &[]);
    add_to_count(packed, -1);
    find_next_expiry(packed);
}

fn add_to_count(packed: &mut Packed, more: i16) {
    let head = &mut packed.bytes_mut()[..COUNT_BYTES];
    let count = u16::from_le_bytes([head[0], head[1]]).wrapping_add_signed(more);
    head.copy_from_slice(&count.to_le_bytes());
}

/// Makes room for an expiry in every field.
pub(super) fn make_expiring(packed: &mut Packed) {
    let row = row(packed);
    if row.is_expiring {
        return;
    }
    let mut fields = Vec::with_capacity(row.fields.bytes.len() + row.count);
    for field in row.fields {
        field.name.put(&mut fields);
        field.value.put(&mut fields);
        Item::Number(0).put(&mut fields);
    }
    *packed = of_fields(Fields { bytes: &fields, is_expiring: true }, row.count);
}

/// Finds out which expiry is the earliest, after one that may have been it is gone.
pub(super) fn find_next_expiry(packed: &mut Packed) {
    let row = row(packed);
    if row.is_expiring {
        let expiries = row.fields.map(|field| field.expire_ms).filter(|&ms| ms != 0);
        let next_ms = expiries.min().unwrap_or(u64::MAX);
        packed.bytes_mut()[COUNT_BYTES..COUNT_BYTES + NEXT_BYTES]
            .copy_from_slice(&next_ms.to_le_bytes());
    }
}

impl FieldPlace<'_> {
    /// Where its name, its value and its expiry stand.
    pub(super) fn whole(&self) -> Range<usize> {
        self.whole.clone()
    }

    /// Where its value and its expiry stand.
    pub(super) fn behind_name(&self) -> Range<usize> {
        self.value_start..self.whole.end
    }
}
