//! HOT PATH
//! Editing a string in place: what APPEND, SETRANGE, SETBIT and PFADD do, and what
//! replaying them does.
//!
//! How the bytes change in memory is in `basalt_keyspace::database`. Only the bytes that the client
//! sent are logged, or those that give way to others, unless the whole is short anyway.

use crate::store::ask::Ask;
use crate::store::context::RunMode;
use crate::store::copying::{COPIED_BYTES_MAX, Copying, StringCopy};
use crate::store::key::Key;
use crate::store::txn::{PutOptions, Txn, WHOLE_BYTES_MAX};
use crate::store::view::access_at;
use basalt_change::op::{Op, Replace, StringForm};
use basalt_keyspace::database::inside;
use basalt_keyspace::entry::StringValue;
use basalt_keyspace::interest::Event;
use basalt_keyspace::table::Found;
use basalt_stdx::lent::LentBytes;
use std::ops::Range;
use std::sync::Arc;

impl Txn<'_> {
    /// Overwrites or extends a string from `offset` on, filling a gap with zeros; returns its new
    /// length. The expiry stays. A missing key begins empty.
    pub fn splice(&mut self, key: &Key<'_>, offset: usize, bytes: &[u8]) -> usize {
        let Old { found, bytes: old_bytes, expire_ms } = self.old(key);
        let len = old_bytes.len().max(offset + bytes.len());
        let zeros = offset.saturating_sub(old_bytes.len());
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
        if zeros > 0 {
            self.note_zeros(zeros);
        }
        len
    }

    /// Whether a string that has `len` bytes may be given zeros up to `offset`: not within a
    /// transaction or script, whose commands do not wait for memory, if strings have been given
    /// more of them just now than the keyspace may take in all.
    #[inline]
    pub fn may_add_zeros(&self, len: usize, offset: usize) -> bool {
        let waits = self.run_mode == RunMode::Alone;
        offset <= len || waits || !self.engine.budget.has_too_many_zeros()
    }

    #[cold]
    fn note_zeros(&mut self, zeros: usize) {
        if let Some(zeros) = self.changes.note_zeros(zeros) {
            self.engine.budget.note_zeros(zeros);
        }
    }

    /// Splices a string of more than [`WHOLE_BYTES_MAX`], which is found.
    fn splice_found(&mut self, key: &Key<'_>, found: Found, offset: usize, bytes: &[u8]) {
        debug_assert!(
            !self.may_ask() || self.copying(key, offset..offset + bytes.len()).is_none(),
            "a long string is copied before its partition is locked"
        );
        let access = access_at(self.now_ms());
        let is_versioned = self.is_versioned(key, found);
        self.database(key).splice(key.bytes, found, offset, bytes, access);
        let db = self.db();
        let op = Op::Splice { db, key: key.bytes, offset: offset as u64, bytes };
        self.log_lending(key, op, |txn| txn.lent_part(key, offset, bytes));
        if is_versioned {
            self.renew_version(key);
        }
        self.note(key, Event::Changed);
    }

    /// What the log is lent of a string, in which `bytes` stand from `offset` on. If they are much
    /// of it, they are lent as a part of it, for then a copy of the whole, which an edit before the
    /// log has been written has to make, costs about what they cost. Otherwise they are copied.
    #[cold]
    fn lent_part(&self, key: &Key<'_>, offset: usize, bytes: &[u8]) -> LentBytes {
        if let Some((_, object)) = self.find_live(self.db(), key)
            && let Some(StringValue::Shared(shared)) = object.string()
            && bytes.len() >= shared.vec().len() / 2
        {
            return LentBytes::new(shared.to_arc(), offset..offset + bytes.len());
        }
        LentBytes::whole(Arc::new(bytes.to_vec()))
    }

    /// Puts `bytes` in the place of those of a string that are in `range`, as far as there are any.
    /// The expiry stays. A missing key begins empty.
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
        let is_versioned = self.is_versioned(key, found);
        self.database(key).replace_range(key.bytes, found, range, bytes, access);
        let db = self.db();
        self.log(key, Op::Replace(Replace { db, key: key.bytes, offset, removed, bytes }));
        if is_versioned {
            self.renew_version(key);
        }
    }

    /// Whether the command has to wait for a copy of a string, which has `len` bytes, before it
    /// writes `range` of it; a short one is copied at once. If so, it returns at once, without a
    /// reply and having changed nothing: it runs again when the copy has been made, with no
    /// partition locked. To be asked before the first [`Txn::splice`] of a command; a transaction
    /// never waits.
    #[inline]
    pub fn must_copy_first(&mut self, key: &Key<'_>, len: usize, range: Range<usize>) -> bool {
        len.max(range.start) > COPIED_BYTES_MAX && self.must_copy_long(key, range)
    }

    #[inline(never)]
    fn must_copy_long(&mut self, key: &Key<'_>, range: Range<usize>) -> bool {
        if !self.may_ask() {
            return false;
        }
        if self.changes.copy.is_some() {
            self.take_copy(key);
        }
        self.changes.ask = self.copying(key, range).map(|copying| match self.is_written(key) {
            true => Ask::Written,
            false => Ask::Copy(copying),
        });
        self.changes.ask.is_some()
    }

    /// Whether the command, which is about to make another string in the place of the one under a
    /// key, has to wait until a checkpoint has written that: both would be in memory meanwhile. If
    /// so, it returns at once, without a reply and having changed nothing. Only for strings of
    /// [`Options::single_string_bytes_min`](crate::Options::single_string_bytes_min) and more; a
    /// transaction never waits.
    #[cold]
    pub fn must_wait_for_checkpoint(&mut self, key: &Key<'_>) -> bool {
        if !self.may_ask() || !self.is_written(key) {
            return false;
        }
        self.changes.ask = Some(Ask::Written);
        true
    }

    /// Whether a checkpoint under way writes the string under a key, which is very long. It holds
    /// the string until it has written its last piece. Others may hold it for longer, such as a
    /// client that does not read: they are waited for no longer than the checkpoint takes.
    fn is_written(&self, key: &Key<'_>) -> bool {
        let Some((_, object)) = self.find_live(self.db(), key) else { return false };
        let Some(StringValue::Shared(shared)) = object.string() else { return false };
        let database = self.locked.partition(key.partition).database(self.db());
        shared.vec().len() >= self.engine.options.single_string_bytes_min
            && shared.is_held_elsewhere()
            && database.spread().is_in_flight(key.hash, key.bytes)
    }

    /// Whether the command, which is about to do what may take long under its locks, has to run
    /// again where its thread's other clients are served meanwhile. If so, it returns at once,
    /// without a reply and having changed nothing.
    #[cold]
    pub fn must_run_apart(&mut self) -> bool {
        if self.changes.runs_apart || !self.may_ask() {
            return false;
        }
        self.changes.ask = Some(Ask::Apart);
        true
    }

    /// Has the copy that the command has asked for take the place of what was copied, if that is
    /// still there. Nothing is freed here.
    #[cold]
    fn take_copy(&mut self, key: &Key<'_>) {
        let found = self.find_live(self.db(), key).map(|(found, _)| found);
        if let (Some(StringCopy { old, new }), Some(found)) = (self.changes.copy.take(), found) {
            let new = self.database(key).take_copy(found, &old, new);
            self.changes.copy = Some(StringCopy { old, new });
        }
    }

    /// Whether the command may ask to be run again: it has changed nothing, and runs alone.
    fn may_ask(&self) -> bool {
        self.run_mode == RunMode::Alone && self.changes.is_empty()
    }

    /// What has to be copied for `range` of a string to be written in place, if that is much: the
    /// whole, because somebody else holds it or it has no room, or a gap of zeros.
    fn copying(&self, key: &Key<'_>, range: Range<usize>) -> Option<Copying> {
        let (_, object) = self.find_live(self.db(), key)?;
        let StringValue::Shared(shared) = object.string()? else { return None };
        Copying::of(shared, range)
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

/// Writes what is before the range, `bytes`, and what is behind it.
fn join(whole: &mut [u8], old: &[u8], range: &Range<usize>, bytes: &[u8]) {
    let (before, rest) = whole.split_at_mut(range.start);
    let (new, behind) = rest.split_at_mut(bytes.len());
    before.copy_from_slice(&old[..range.start]);
    new.copy_from_slice(bytes);
    behind.copy_from_slice(&old[range.end..]);
}

#[cfg(test)]
mod tests {
    use super::{inside, join};

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
