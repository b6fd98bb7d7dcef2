//! HOT PATH
//! Editing a string in place: what APPEND, SETRANGE, SETBIT and PFADD do, and what replaying them does.
//!
//! Bytes inside a string are overwritten where they are. A string of [`SHARED_BYTES_MIN`] or more is
//! a vector of its own, which keeps spare capacity: an append costs what it adds. A shorter one that
//! grows is rewritten. Only the bytes that the client sent are logged, or those that give way to others,
//! unless the whole is short anyway.

use crate::key::Key;
use crate::txn::{PutOptions, Txn, WHOLE_BYTES_MAX};
use crate::view::access_at;
use basalt_change::op::{Op, Replace, StringForm};
use basalt_keyspace::entry::{Access, Content, NewValue, SHARED_BYTES_MIN, StringValue};
use basalt_keyspace::partition::Database;
use basalt_keyspace::table::Found;
use basalt_keyspace::table::bucket::{COLD, DIRTY};
use std::ops::Range;
use std::sync::Arc;

impl Txn<'_> {
    /// Overwrites or extends a string from `offset` on, filling a gap with zeros; gives its new
    /// length. The expiry stays. A missing key begins empty.
    pub fn splice(&mut self, key: &Key<'_>, offset: usize, bytes: &[u8]) -> usize {
        let Old { found, bytes: old_bytes, expire_ms } = self.old(key);
        let len = old_bytes.len().max(offset + bytes.len());
        if len <= WHOLE_BYTES_MAX {
            let mut whole = [0; WHOLE_BYTES_MAX];
            whole[..old_bytes.len()].copy_from_slice(old_bytes);
            whole[offset..offset + bytes.len()].copy_from_slice(bytes);
            self.put(key, &whole[..len], PutOptions { expire_ms, form: StringForm::Edited });
            return len;
        }
        match found {
            Some(found) => self.splice_found(key, found, offset, bytes),
            None => {
                // Empty first: the log then needs no byte of a gap, which may be large.
                self.put(key, &[], PutOptions { expire_ms, form: StringForm::Edited });
                if let Some((found, _)) = self.find_live(self.db(), key) {
                    self.splice_found(key, found, offset, bytes);
                }
            }
        }
        len
    }

    /// The same for a string of more than [`WHOLE_BYTES_MAX`], which is found.
    fn splice_found(&mut self, key: &Key<'_>, found: Found, offset: usize, bytes: &[u8]) {
        let access = access_at(self.now_ms());
        splice_entry(self.database(key), key, found, offset, bytes, access);
        let db = self.db();
        self.log(key, Op::Splice { db, key: key.bytes, offset: offset as u64, bytes });
    }

    /// Puts `bytes` in the place of those of a string that are in `range`, as far as there are any. The
    /// expiry stays. A missing key begins empty.
    pub fn replace(&mut self, key: &Key<'_>, range: Range<usize>, bytes: &[u8]) {
        let Old { found, bytes: old_bytes, expire_ms } = self.old(key);
        let range = inside(range, old_bytes.len());
        let len = old_bytes.len() - range.len() + bytes.len();
        if len <= WHOLE_BYTES_MAX {
            let mut whole = [0; WHOLE_BYTES_MAX];
            join(&mut whole[..len], old_bytes, &range, bytes);
            self.put(key, &whole[..len], PutOptions { expire_ms, form: StringForm::Edited });
            return;
        }
        let Some(found) = found else {
            self.put(key, bytes, PutOptions { expire_ms, form: StringForm::Edited });
            return;
        };
        if range.len() == bytes.len() {
            return self.splice_found(key, found, range.start, bytes);
        }
        let (offset, removed) = (range.start as u64, range.len() as u64);
        let access = access_at(self.now_ms());
        replace_entry(self.database(key), key, found, range, bytes, access);
        let db = self.db();
        self.log(key, Op::Replace(Replace { db, key: key.bytes, offset, removed, bytes }));
    }

    #[inline]
    fn old(&self, key: &Key<'_>) -> Old<'_> {
        match self.find_live(self.db(), key) {
            Some((found, object)) => match object.string() {
                Some(string) => {
                    Old { found: Some(found), bytes: string.bytes(), expire_ms: object.expire_ms() }
                }
                None => Old::default(),
            },
            None => Old::default(),
        }
    }
}

/// A string that is about to be edited.
#[derive(Default)]
struct Old<'a> {
    /// Where it is, if there is one.
    found: Option<Found>,
    bytes: &'a [u8],
    expire_ms: u64,
}

/// Applies a SPLICE to a resident string.
pub(crate) fn apply_splice(
    database: &mut Database,
    key: &Key<'_>,
    offset: usize,
    bytes: &[u8],
    access: Access,
) {
    if let Some(found) = database.table.find(key.hash, key.bytes) {
        splice_entry(database, key, found, offset, bytes, access);
    }
}

/// Applies a REPLACE to a resident string.
pub(crate) fn apply_replace(database: &mut Database, key: &Key<'_>, replace: &Replace<'_>) {
    if let Some(found) = database.table.find(key.hash, key.bytes) {
        let start = usize::try_from(replace.offset).unwrap_or(usize::MAX);
        let removed = usize::try_from(replace.removed).unwrap_or(usize::MAX);
        let range = start..start.saturating_add(removed);
        replace_entry(database, key, found, range, replace.bytes, Access::default());
    }
}

/// What of a range is inside a string of so many bytes.
fn inside(range: Range<usize>, len: usize) -> Range<usize> {
    let start = range.start.min(len);
    start..range.end.clamp(start, len)
}

/// Writes what is before the range, `bytes`, and what is behind it.
fn join(whole: &mut [u8], old: &[u8], range: &Range<usize>, bytes: &[u8]) {
    let (before, rest) = whole.split_at_mut(range.start);
    let (new, behind) = rest.split_at_mut(bytes.len());
    before.copy_from_slice(&old[..range.start]);
    new.copy_from_slice(bytes);
    behind.copy_from_slice(&old[range.end..]);
}

fn splice_entry(
    database: &mut Database,
    key: &Key<'_>,
    found: Found,
    offset: usize,
    bytes: &[u8],
    access: Access,
) {
    let entry = database.table.entry(found);
    match entry.string() {
        Some(StringValue::Shared(_)) => {
            database.table.edit_shared(found, |whole| splice_into(whole, offset, bytes));
            database.table.touch(found, access);
        }
        Some(StringValue::Inline(old)) if offset + bytes.len() <= old.len() => {
            database.table.edit_inline(found, |whole| {
                whole[offset..offset + bytes.len()].copy_from_slice(bytes);
            });
            database.table.touch(found, access);
        }
        Some(StringValue::Inline(old)) => {
            // Longer than before, so the new bytes end it. Zeroed memory from the allocator costs
            // nothing where a gap is never touched.
            let mut whole = vec![0; offset + bytes.len()];
            whole[..old.len()].copy_from_slice(old);
            whole[offset..].copy_from_slice(bytes);
            let expire_ms = entry.expire_ms();
            put_edited(database, key, found, whole, Times { expire_ms, access });
        }
        None => {}
    }
}

fn replace_entry(
    database: &mut Database,
    key: &Key<'_>,
    found: Found,
    range: Range<usize>,
    bytes: &[u8],
    access: Access,
) {
    let entry = database.table.entry(found);
    match entry.string() {
        Some(StringValue::Shared(_)) => {
            database.table.edit_shared(found, |whole| {
                let range = inside(range, whole.len());
                whole.splice(range, bytes.iter().copied());
            });
            database.table.touch(found, access);
        }
        Some(StringValue::Inline(old)) => {
            let range = inside(range, old.len());
            let mut whole = Vec::with_capacity(old.len() - range.len() + bytes.len());
            whole.extend_from_slice(&old[..range.start]);
            whole.extend_from_slice(bytes);
            whole.extend_from_slice(&old[range.end..]);
            let expire_ms = entry.expire_ms();
            put_edited(database, key, found, whole, Times { expire_ms, access });
        }
        None => {}
    }
}

/// When an entry expires, and when it was used.
struct Times {
    expire_ms: u64,
    access: Access,
}

/// Has a string of another length take the place of the one found, in the same memory if it fits.
fn put_edited(database: &mut Database, key: &Key<'_>, found: Found, whole: Vec<u8>, times: Times) {
    let Times { expire_ms, access } = times;
    let form = StringForm::Edited;
    if whole.len() >= SHARED_BYTES_MIN {
        let value = NewValue::Shared(Arc::new(whole), form);
        let content = Content { key: key.bytes, value, expire_ms, access };
        database.table.replace(found, content, found.flags() & COLD | DIRTY);
        return;
    }
    let value = NewValue::Bytes(&whole, form);
    let content = Content { key: key.bytes, value, expire_ms, access };
    if !database.table.overwrite(found, &content) {
        database.table.replace(found, content, found.flags() & COLD | DIRTY);
    }
}

/// An append must not write what it adds twice: only a gap is filled with zeros.
fn splice_into(whole: &mut Vec<u8>, offset: usize, bytes: &[u8]) {
    if whole.len() < offset {
        whole.resize(offset, 0);
    }
    let (inside, behind) = bytes.split_at(bytes.len().min(whole.len() - offset));
    whole[offset..offset + inside.len()].copy_from_slice(inside);
    whole.extend_from_slice(behind);
}

#[cfg(test)]
mod tests {
    use super::{inside, join, splice_into};

    #[test]
    fn bytes_go_inside_across_the_end_and_behind_a_gap() {
        for (offset, bytes, expected) in [
            (1, "x", &b"axcd"[..]),
            (2, "xyz", b"abxyz"),
            (4, "xy", b"abcdxy"),
            (6, "x", b"abcd\0\0x"),
            (0, "", b"abcd"),
        ] {
            let mut whole = b"abcd".to_vec();
            splice_into(&mut whole, offset, bytes.as_bytes());
            assert_eq!(whole, expected, "{bytes} at {offset}");
        }
    }

    #[test]
    fn bytes_give_way_as_far_as_there_are_any() {
        for (range, bytes, expected) in [
            (1..2, "xyz", "axyzcd"),
            (1..3, "", "ad"),
            (0..9, "x", "x"),
            (3..usize::MAX, "xy", "abcxy"),
            (7..9, "x", "abcdx"),
            (2..2, "", "abcd"),
        ] {
            let range = inside(range, 4);
            let mut whole = vec![0; 4 - range.len() + bytes.len()];
            join(&mut whole, b"abcd", &range, bytes.as_bytes());
            assert_eq!(whole, expected.as_bytes(), "{bytes} for {range:?}");
        }
    }
}
