//! HOT PATH
//! Changing a value where it is.
//!
//! Bytes inside a string are overwritten where they are. A string of [`SHARED_BYTES_MIN`] or more
//! is a vector of its own, which keeps spare capacity: an append costs what it adds. A shorter one
//! that grows is rewritten.

use super::{Database, Remade};
use crate::entry::{Access, Content, NewValue, SHARED_BYTES_MIN, StringValue};
use crate::table::Found;
use crate::table::bucket::DIRTY;
use basalt_change::op::StringForm;
use basalt_value::{DecodeError, DirtyElements, FormLimits, Kind, ValueMut, ValueRef};
use std::ops::Range;
use std::sync::Arc;

/// What has become of a collection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Edited {
    /// Nothing has changed, or the key is removed next.
    Nothing,
    /// It has changed.
    Changed {
        /// When its earliest field expires now, if that is earlier than before; otherwise all ones.
        earlier_field_ms: u64,
    },
}

impl Database {
    /// Changes the collection found. `change` gets it, and where to note which of its elements
    /// change if these have rows of their own. `None` if something else is there, or if `change`
    /// returns it, having changed nothing.
    #[inline]
    pub fn edit_collection<R>(
        &mut self,
        hash: u64,
        key: &[u8],
        found: Found,
        access: Access,
        change: impl FnOnce(ValueMut<'_>, Option<&mut DirtyElements>) -> Option<(R, Edited)>,
    ) -> Option<R> {
        let dirty = self.spread.dirty_elements_of(hash, key);
        let (result, edited) =
            self.table.edit_collection(found, |value| change(value, dirty))??;
        if let Edited::Changed { earlier_field_ms } = edited {
            self.table.mark(found, DIRTY);
            self.table.touch(found, access);
            self.field_expiries.note(earlier_field_ms, hash);
        }
        Some(result)
    }

    /// Applies edits of a log to the resident collection of this kind under a key.
    ///
    /// # Errors
    /// There is none, or the edits make no sense.
    pub fn apply_edits(
        &mut self,
        hash: u64,
        key: &[u8],
        kind: Kind,
        edits: &[u8],
        limits: &FormLimits,
    ) -> Result<(), DecodeError> {
        let table = &mut self.table;
        let found = table.find(hash, key).ok_or(NOT_THERE)?;
        let value = table.entry(found).collection().filter(|value| value.kind() == kind);
        let before_ms = value.ok_or(NOT_THERE)?.next_expiry_ms();
        let applied = table.edit_collection(found, |value| value.apply(edits, limits));
        table.mark(found, DIRTY);
        // Nobody notes here which elements change: the next checkpoint writes all of them, once.
        self.spread.forget(hash, key);
        let after_ms = table.entry(found).collection().map(ValueRef::next_expiry_ms);
        if let Some(after_ms) = after_ms.filter(|&after_ms| after_ms < before_ms) {
            self.field_expiries.note(after_ms, hash);
        }
        applied.unwrap_or(Ok(()))
    }

    /// Has a copy of the long string found take its place, if this is still the value that was
    /// copied. Returns what is not needed any more, to be dropped when no partition is locked. The
    /// copy may have more zeros at its end, for the edit that follows.
    pub fn take_copy(
        &mut self,
        found: Found,
        original: &Arc<Vec<u8>>,
        copy: Arc<Vec<u8>>,
    ) -> Arc<Vec<u8>> {
        match self.table.entry(found).string() {
            Some(StringValue::Shared(shared)) if shared.is(original) => {
                self.table.swap_shared(found, copy)
            }
            _ => copy,
        }
    }

    /// Takes the bytes of the long string found out and leaves an empty string, which the caller
    /// replaces; `None`, having changed nothing, if somebody else holds them.
    pub fn take_string(&mut self, found: Found) -> Option<Vec<u8>> {
        let value = self.table.swap_shared(found, Arc::default());
        match Arc::try_unwrap(value) {
            Ok(bytes) => Some(bytes),
            Err(value) => {
                self.table.swap_shared(found, value);
                None
            }
        }
    }

    /// Overwrites or extends the string found from `offset` on, filling a gap with zeros.
    pub fn splice(
        &mut self,
        key: &[u8],
        found: Found,
        offset: usize,
        bytes: &[u8],
        access: Access,
    ) {
        let entry = self.table.entry(found);
        match entry.string() {
            Some(StringValue::Shared(_)) => {
                self.table.edit_shared(found, |whole| splice_into(whole, offset, bytes));
                self.table.touch(found, access);
            }
            Some(StringValue::Inline(old)) if offset + bytes.len() <= old.len() => {
                self.table.edit_inline(found, |whole| {
                    whole[offset..offset + bytes.len()].copy_from_slice(bytes);
                });
                self.table.touch(found, access);
            }
            Some(StringValue::Inline(old)) => {
                // Longer than before, so the new bytes end it. Zeroed memory from the allocator
                // costs nothing where a gap is never touched.
                let mut whole = vec![0; offset + bytes.len()];
                whole[..old.len()].copy_from_slice(old);
                whole[offset..].copy_from_slice(bytes);
                let (expire_ms, version) = (entry.expire_ms(), entry.version());
                self.put_edited(key, found, whole, Remade { expire_ms, version, access });
            }
            None => {}
        }
    }

    /// Puts `bytes` in the place of those of the string found that are in `range`, as far as there
    /// are any.
    pub fn replace_range(
        &mut self,
        key: &[u8],
        found: Found,
        range: Range<usize>,
        bytes: &[u8],
        access: Access,
    ) {
        let entry = self.table.entry(found);
        match entry.string() {
            Some(StringValue::Shared(_)) => {
                self.table.edit_shared(found, |whole| {
                    let range = inside(range, whole.len());
                    whole.splice(range, bytes.iter().copied());
                });
                self.table.touch(found, access);
            }
            Some(StringValue::Inline(old)) => {
                let range = inside(range, old.len());
                let whole = [&old[..range.start], bytes, &old[range.end..]].concat();
                let (expire_ms, version) = (entry.expire_ms(), entry.version());
                self.put_edited(key, found, whole, Remade { expire_ms, version, access });
            }
            None => {}
        }
    }

    /// Has a string of another length take the place of the inline one found, in the same memory if
    /// it fits.
    fn put_edited(&mut self, key: &[u8], found: Found, whole: Vec<u8>, remade: Remade) {
        let Remade { expire_ms, version, access } = remade;
        let form = StringForm::Edited;
        let flags = found.row_flag() | DIRTY;
        if whole.len() >= SHARED_BYTES_MIN {
            let value = NewValue::Shared(Arc::new(whole), form);
            self.table.replace(found, Content { key, value, expire_ms, access, version }, flags);
            return;
        }
        let value = NewValue::Bytes(&whole, form);
        let content = Content { key, value, expire_ms, access, version };
        if !self.table.overwrite(found, &content) {
            self.table.replace(found, content, flags);
        }
    }
}

const NOT_THERE: DecodeError = DecodeError::Corrupt("an edit of a collection that is not there");

/// What of a range is inside a string of this many bytes.
pub fn inside(range: Range<usize>, len: usize) -> Range<usize> {
    let start = range.start.min(len);
    start..range.end.clamp(start, len)
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
