//! The keys of the rows of spread collections' elements, and of the pieces of long strings.
//!
//! ```text
//! partition:u16be 0x02 generation:u64be id:u64be set:u8 name
//!                                                set   0: by name; 1: by order, if it has one
//! ```
//! A piece of a string is an element by name, which is its number, as u32be, from 0 on.
//!
//! The elements of one collection are a range, so that a collection that is gone is one range to be
//! deleted, however large it was; and so are those of all collections of one generation of a
//! database.

use crate::place::PartitionId;
use crate::row::ELEMENT;

const PREFIX_BYTES: usize = 2 + 1 + 8 + 8;

/// The place of a spread collection, or of a string in pieces, in the cold tier. They are ordered
/// as the keys of their rows.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct ElementsOf {
    /// Where its key is.
    pub partition: PartitionId,
    /// The generation of its database.
    pub generation: u64,
    /// Its own number.
    pub id: u64,
}

/// Which of an element's rows.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum RowSet {
    /// The one by its name.
    ByName = 0,
    /// The one by its place in the order.
    ByOrder = 1,
}

impl ElementsOf {
    fn prefix(self, out: &mut Vec<u8>) {
        generation_start(self.partition, self.generation, out);
        out.extend_from_slice(&self.id.to_be_bytes());
    }

    /// Appends the key of a row.
    pub fn key(self, set: RowSet, name: &[u8], out: &mut Vec<u8>) {
        out.reserve(PREFIX_BYTES + 1 + name.len());
        self.prefix(out);
        out.push(set as u8);
        out.extend_from_slice(name);
    }

    /// Appends the key of a piece of a string.
    pub fn piece_key(self, number: u32, out: &mut Vec<u8>) {
        self.key(RowSet::ByName, &number.to_be_bytes(), out);
    }

    /// First key and end of the rows of a set.
    pub fn range(self, set: RowSet) -> (Vec<u8>, Vec<u8>) {
        let (mut from, mut to) = (Vec::new(), Vec::new());
        self.key(set, b"", &mut from);
        self.prefix(&mut to);
        to.push(set as u8 + 1);
        (from, to)
    }

    /// First key and end of all of its rows.
    pub fn whole_range(self) -> (Vec<u8>, Vec<u8>) {
        (self.range(RowSet::ByName).0, self.range(RowSet::ByOrder).1)
    }
}

/// First key and end of the elements of all collections of a generation.
pub fn generation_range(partition: PartitionId, generation: u64) -> (Vec<u8>, Vec<u8>) {
    let (mut from, mut to) = (Vec::new(), Vec::new());
    generation_start(partition, generation, &mut from);
    match generation.checked_add(1) {
        Some(next) => generation_start(partition, next, &mut to),
        None => {
            to.extend_from_slice(&partition.number().to_be_bytes());
            to.push(ELEMENT + 1);
        }
    }
    (from, to)
}

/// The collection or string that a row belongs to; `None` if the row is of another sort.
pub fn of_row(row_key: &[u8]) -> Option<ElementsOf> {
    let prefix: &[u8; PREFIX_BYTES] = row_key.first_chunk()?;
    let partition = PartitionId::new(u16::from_be_bytes([prefix[0], prefix[1]]))?;
    let number = |at: usize| prefix[at..at + 8].try_into().map(u64::from_be_bytes).ok();
    let of = ElementsOf { partition, generation: number(3)?, id: number(11)? };
    (prefix[2] == ELEMENT && row_key.len() > PREFIX_BYTES).then_some(of)
}

/// The name in the key of a row, given where its collection is.
pub fn name_in(row_key: &[u8]) -> Option<&[u8]> {
    row_key.get(PREFIX_BYTES + 1..)
}

fn generation_start(partition: PartitionId, generation: u64, out: &mut Vec<u8>) {
    out.extend_from_slice(&partition.number().to_be_bytes());
    out.push(ELEMENT);
    out.extend_from_slice(&generation.to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_hold_what_is_theirs_and_nothing_else() {
        let partition = PartitionId::new(7).expect("it is below 1,024");
        let at = |generation, id| ElementsOf { partition, generation, id };
        let key = |of: ElementsOf, set, name: &[u8]| {
            let mut out = Vec::new();
            of.key(set, name, &mut out);
            out
        };
        let within = |key: &[u8], (from, to): (Vec<u8>, Vec<u8>)| *from <= *key && *key < *to;
        for set in [RowSet::ByName, RowSet::ByOrder] {
            for name in [&b""[..], &[0xFF; 30]] {
                let key = key(at(3, u64::MAX), set, name);
                assert_eq!(name_in(&key), Some(name));
                assert_eq!(of_row(&key), Some(at(3, u64::MAX)));
                assert!(within(&key, at(3, u64::MAX).range(set)));
                assert!(within(&key, at(3, u64::MAX).whole_range()));
                assert!(within(&key, generation_range(partition, 3)));
                assert!(!within(&key, at(3, u64::MAX - 1).whole_range()));
                assert!(!within(&key, generation_range(partition, 2)));
                assert!(!within(&key, generation_range(partition, 4)));
            }
        }
        let last = key(at(u64::MAX, 1), RowSet::ByName, &[0xFF; 30]);
        assert!(within(&last, generation_range(partition, u64::MAX)));
        assert!(!within(&key(at(3, 1), RowSet::ByOrder, b"x"), at(3, 1).range(RowSet::ByName)));
    }
}
