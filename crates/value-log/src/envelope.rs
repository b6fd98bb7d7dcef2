//! A row: its value, or where that is.
//!
//! ```text
//! value 0x00
//! head segment:u32le unit:u32le units:u32le value_bytes:u32le head_bytes:u8 0x01
//! ```
//! The byte that says which stands last, so that a value is cut and not moved. `head` is what the
//! value begins with, [`HEAD_BYTES_MAX`] of it at most: of an object its type, expiry and version.

use crate::place::Place;

/// Bytes of a value that its row has, too, at most.
pub(crate) const HEAD_BYTES_MAX: usize = 20;

const INLINE: u8 = 0;
const APART: u8 = 1;
const POINTER_BYTES: usize = 17;

/// Where a record is, and how large.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Pointer {
    pub(crate) place: Place,
    pub(crate) units: u32,
    pub(crate) value_bytes: u32,
}

/// What a row has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Stored<'a> {
    /// The value.
    Inline(&'a [u8]),
    /// Where it is, and what it begins with.
    Apart(Pointer, &'a [u8]),
}

impl<'a> Stored<'a> {
    /// Reads a row; returns nothing if it is none of ours.
    pub(crate) fn decode(row: &'a [u8]) -> Option<Stored<'a>> {
        let (&form, rest) = row.split_last()?;
        match form {
            INLINE => Some(Stored::Inline(rest)),
            APART => {
                let (head, pointer) = rest.split_last_chunk::<POINTER_BYTES>()?;
                let number = |at: usize| {
                    u32::from_le_bytes([
                        pointer[at],
                        pointer[at + 1],
                        pointer[at + 2],
                        pointer[at + 3],
                    ])
                };
                let place = Place { segment: number(0), unit: number(4) };
                let pointer_of = Pointer { place, units: number(8), value_bytes: number(12) };
                let is_whole =
                    head.len() == usize::from(pointer[16]) && head.len() <= HEAD_BYTES_MAX;
                is_whole.then_some(Stored::Apart(pointer_of, head))
            }
            _ => None,
        }
    }
}

/// Makes the row of a value.
pub(crate) fn inline(value: &[u8], row: &mut Vec<u8>) {
    row.clear();
    row.extend_from_slice(value);
    row.push(INLINE);
}

/// Makes the row of a value that stands in the log and begins with `head`.
pub(crate) fn apart(pointer: Pointer, head: &[u8], row: &mut Vec<u8>) {
    debug_assert!(head.len() <= HEAD_BYTES_MAX, "its length has a byte");
    row.clear();
    row.extend_from_slice(head);
    for number in [pointer.place.segment, pointer.place.unit, pointer.units, pointer.value_bytes] {
        row.extend_from_slice(&number.to_le_bytes());
    }
    row.push(head.len() as u8);
    row.push(APART);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_come_back() {
        let mut row = Vec::new();
        for value in [&b""[..], b"v", &[1; 100]] {
            inline(value, &mut row);
            assert_eq!(Stored::decode(&row), Some(Stored::Inline(value)));
            let place = Place { segment: 7, unit: u32::MAX };
            let pointer = Pointer { place, units: 3, value_bytes: 100 };
            let head = &value[..value.len().min(HEAD_BYTES_MAX)];
            apart(pointer, head, &mut row);
            assert_eq!(Stored::decode(&row), Some(Stored::Apart(pointer, head)));
            assert_eq!(
                Stored::decode(&row[1..]).is_some(),
                value.is_empty() && row.len() < POINTER_BYTES
            );
        }
        assert_eq!(Stored::decode(b""), None);
        assert_eq!(Stored::decode(b"value\x02"), None);
    }
}
