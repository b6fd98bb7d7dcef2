//! HOT PATH
//! Editing a string in place: what APPEND, SETRANGE and SETBIT do, and what replaying them does.
//!
//! Bytes inside a string are overwritten where they are. A string of [`SHARED_BYTES_MIN`] or more is
//! a vector of its own, which keeps spare capacity: an append costs what it adds. A shorter one that
//! grows is rewritten. Only the bytes that the client sent are logged, unless the whole is short
//! anyway.

use crate::key::Key;
use crate::txn::{PutOptions, Txn, WHOLE_BYTES_MAX};
use crate::view::access_at;
use basalt_change::op::{Op, StringForm};
use basalt_keyspace::entry::{Access, Content, NewValue, SHARED_BYTES_MIN, StringValue};
use basalt_keyspace::partition::Database;
use basalt_keyspace::table::bucket::{COLD, DIRTY};
use std::sync::Arc;

impl Txn<'_> {
    /// Overwrites or extends a string from `offset` on, filling a gap with zeros; gives its new
    /// length. The expiry stays. A missing key begins empty.
    pub fn splice(&mut self, key: &Key<'_>, offset: usize, bytes: &[u8]) -> usize {
        let old =
            self.get(key).and_then(|object| Some((object.string()?.bytes(), object.expire_ms())));
        let (old_bytes, expire_ms) = old.unwrap_or_default();
        let len = old_bytes.len().max(offset + bytes.len());
        if len <= WHOLE_BYTES_MAX {
            let mut whole = [0; WHOLE_BYTES_MAX];
            whole[..old_bytes.len()].copy_from_slice(old_bytes);
            whole[offset..offset + bytes.len()].copy_from_slice(bytes);
            self.put(key, &whole[..len], PutOptions { expire_ms, form: StringForm::Edited });
            return len;
        }
        if old.is_none() {
            // Empty first: the log then needs no byte of a gap, which may be large.
            self.put(key, &[], PutOptions { expire_ms, form: StringForm::Edited });
        }
        let access = access_at(self.now_ms());
        splice_entry(self.database(key), key, offset, bytes, access);
        let db = self.db();
        self.log(key, Op::Splice { db, key: key.bytes, offset: offset as u64, bytes });
        len
    }
}

/// Overwrites or extends a resident string.
pub(crate) fn splice_entry(
    database: &mut Database,
    key: &Key<'_>,
    offset: usize,
    bytes: &[u8],
    access: Access,
) {
    let Some(found) = database.table.find(key.hash, key.bytes) else { return };
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
            let value = if whole.len() < SHARED_BYTES_MIN {
                NewValue::Bytes(&whole, StringForm::Edited)
            } else {
                NewValue::Shared(Arc::new(std::mem::take(&mut whole)), StringForm::Edited)
            };
            let content = Content { key: key.bytes, value, expire_ms: entry.expire_ms(), access };
            database.table.replace(found, content, found.flags() & COLD | DIRTY);
        }
        None => {}
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
    use super::splice_into;

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
}
