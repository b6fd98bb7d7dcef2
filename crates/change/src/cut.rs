//! Long changes of strings as several short ones.
//!
//! A record of the log is bounded, a string is not. So a PUT of a long string becomes a PUT of its
//! beginning and a SPLICE for each further piece, a SPLICE becomes several, and a REPLACE puts its
//! pieces in one behind the other. The edits of collections are cut by their writer, between
//! two.

use crate::op::{Op, Put, Replace};

impl<'a> Op<'a> {
    /// Whether it carries more than `bytes_max` bytes and can be cut, as a change of a string can.
    pub fn can_be_cut(&self, bytes_max: usize) -> bool {
        let is_of_a_string = matches!(self, Op::Put(_) | Op::Splice { .. } | Op::Replace(_));
        is_of_a_string && self.payload().len() > bytes_max
    }

    /// Cuts it into changes of at most `bytes_max` bytes each that together do the same, and calls
    /// `visit` with each, in order. A PUT and a REPLACE keep the first bytes; those behind are
    /// spliced or put in behind them.
    pub fn cut(self, bytes_max: usize, mut visit: impl FnMut(Op<'a>)) {
        if !self.can_be_cut(bytes_max) {
            return visit(self);
        }
        let (db, key, start, bytes) = match self {
            Op::Put(put) => (put.db, put.key, 0, put.value),
            Op::Splice { db, key, offset, bytes } => (db, key, offset, bytes),
            Op::Replace(Replace { db, key, offset, bytes, .. }) => (db, key, offset, bytes),
            _ => return visit(self),
        };
        let mut offset = start;
        for piece in bytes.chunks(bytes_max.max(1)) {
            visit(match self {
                Op::Put(put) if offset == start => Op::Put(Put { value: piece, ..put }),
                Op::Replace(replace) if offset == start => {
                    Op::Replace(Replace { bytes: piece, ..replace })
                }
                Op::Replace(replace) => {
                    Op::Replace(Replace { offset, removed: 0, bytes: piece, ..replace })
                }
                _ => Op::Splice { db, key, offset, bytes: piece },
            });
            // A string ends long before that; bytes from elsewhere may say anything.
            offset = offset.saturating_add(piece.len() as u64);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::op::{Origin, StringForm};
    use proptest::prelude::*;

    /// What an op makes of a string.
    fn apply(op: Op<'_>, string: &mut Vec<u8>) {
        match op {
            Op::Put(put) => *string = put.value.to_vec(),
            Op::Splice { offset, bytes, .. } => {
                let start = offset as usize;
                string.resize(string.len().max(start + bytes.len()), 0);
                string[start..start + bytes.len()].copy_from_slice(bytes);
            }
            Op::Replace(replace) => {
                let start = (replace.offset as usize).min(string.len());
                let end = (start + replace.removed as usize).min(string.len());
                string.splice(start..end, replace.bytes.iter().copied());
            }
            _ => unreachable!("ops of strings only"),
        }
    }

    /// It is refused when it is applied: no string is as long.
    #[test]
    fn a_place_behind_all_strings_is_cut_as_others_are() {
        let (db, key, bytes) = (0, &b"key"[..], &b"bytes"[..]);
        let mut offsets = Vec::new();
        Op::Splice { db, key, offset: u64::MAX - 2, bytes }.cut(2, |piece| match piece {
            Op::Splice { offset, .. } => offsets.push(offset),
            _ => unreachable!("it splices"),
        });
        assert_eq!(offsets, [u64::MAX - 2, u64::MAX, u64::MAX]);
    }

    proptest! {
        #[test]
        fn the_pieces_do_what_the_whole_does(
            old in proptest::collection::vec(any::<u8>(), 0..60),
            bytes in proptest::collection::vec(any::<u8>(), 0..60),
            (at, removed, bytes_max) in (0..60usize, 0..60u64, 1..20usize),
        ) {
            let (db, key, bytes) = (1, &b"key"[..], &bytes[..]);
            let offset = at.min(old.len()) as u64;
            let (origin, form) = (Origin::New, StringForm::Whole);
            for op in [
                Op::Put(Put { db, key, value: bytes, expire_ms: 7, origin, form }),
                Op::Splice { db, key, offset: at as u64, bytes },
                Op::Replace(Replace { db, key, offset, removed, bytes }),
            ] {
                let (mut whole, mut pieces) = (old.clone(), old.clone());
                apply(op, &mut whole);
                let mut count = 0;
                op.cut(bytes_max, |piece| {
                    assert!(piece.payload().len() <= bytes_max && piece.key() == key);
                    apply(piece, &mut pieces);
                    count += 1;
                });
                prop_assert_eq!(&pieces, &whole);
                prop_assert_eq!(count, bytes.len().div_ceil(bytes_max).max(1));
            }
        }
    }
}
