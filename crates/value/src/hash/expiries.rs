//! When the fields of a native hash expire, in the order of time.
//!
//! A field is known here by its time and the hash of its name: 16 bytes, whatever the name. Two
//! fields with the same of both are counted.

use std::collections::BTreeMap;

/// Bytes that a field takes here, about: a node of the tree is two thirds full.
const FIELD_BYTES: usize = (size_of::<(u64, u64)>() + size_of::<u32>()) * 3 / 2;

/// A field, as far as this file knows it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Due {
    pub(super) expire_ms: u64,
    pub(super) hash: u64,
}

/// The fields that expire.
#[derive(Default)]
pub(super) struct Expiries {
    fields: BTreeMap<Due, u32>,
    len: usize,
}

impl Expiries {
    /// Notes a field. One that does not expire is none.
    pub(super) fn add(&mut self, due: Due) {
        if due.expire_ms != 0 {
            *self.fields.entry(due).or_default() += 1;
            self.len += 1;
        }
    }

    /// Forgets a field.
    pub(super) fn remove(&mut self, due: Due) {
        let Some(count) = self.fields.get_mut(&due) else { return };
        *count -= 1;
        self.len -= 1;
        if *count == 0 {
            self.fields.remove(&due);
        }
    }

    /// Fields that expire.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// The field that expires first.
    pub(super) fn first(&self) -> Option<Due> {
        self.fields.first_key_value().map(|(&due, _)| due)
    }

    /// When the last of them expires.
    pub(super) fn last_ms(&self) -> u64 {
        self.fields.last_key_value().map_or(0, |(due, _)| due.expire_ms)
    }

    /// Fields that have expired by now.
    pub(super) fn expired(&self, now_ms: u64) -> usize {
        let last = Due { expire_ms: now_ms, hash: u64::MAX };
        self.fields.range(..=last).map(|(_, &count)| count as usize).sum()
    }

    pub(super) fn heap_bytes(&self) -> usize {
        self.fields.len() * FIELD_BYTES
    }
}
