//! Keys that were put without a look at the cold tier, which may have a row of them.
//!
//! Each is in the table, as what was put or as the tombstone of that, and its row, if there is one,
//! is counted as that of a key in the cold tier only until somebody has read what it begins with
//! ([`UnreadKeys::take`]). That happens before the next checkpoint copies the partition, so the row
//! that is read is the one that was there when the key was put.

use hashbrown::HashTable;

/// Keys, by their hashes: two of one hash would be taken for one, once in 2^64. Takes a word as
/// long as there is none.
#[derive(Default)]
pub struct UnreadKeys(Option<Box<HashTable<UnreadKey>>>);

/// A key that was put unread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UnreadKey {
    /// Its hash.
    pub hash: u64,
    /// The partition's number of arrived checkpoints when it was put: a key that is put unread for
    /// a second time has another one, so that what was read for the first time is not taken for it.
    pub cold_version: u64,
}

/// What is known, without reading, of a key that has no entry.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sight {
    /// There is no such key.
    Absent,
    /// There may be one; it can be put unread.
    Unclear,
    /// There may be one; what is known of it is needed to put something in its place.
    Needed,
}

/// What a row begins with that belonged to a key which was put unread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReplacedRow {
    /// The id of a collection whose elements have rows of their own, or of a string in pieces.
    pub spread_id: Option<u64>,
}

impl UnreadKeys {
    /// How many there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.0.as_ref().map_or(0, |keys| keys.len())
    }

    /// There is none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// One of them has this hash.
    pub fn has(&self, hash: u64) -> bool {
        self.0.as_ref().is_some_and(|keys| keys.find(hash, |key| key.hash == hash).is_some())
    }

    /// All of them, in no order.
    pub fn iter(&self) -> impl Iterator<Item = UnreadKey> {
        self.0.iter().flat_map(|keys| keys.iter().copied())
    }

    /// Bytes of memory.
    pub fn heap_bytes(&self) -> usize {
        self.0.as_ref().map_or(0, |keys| keys.allocation_size() + size_of_val(&**keys))
    }

    pub(crate) fn add(&mut self, key: UnreadKey) {
        if !self.has(key.hash) {
            self.0.get_or_insert_default().insert_unique(key.hash, key, |key| key.hash);
        }
    }

    /// Takes a key out whose row has been read; returns false if it is not there, or there again.
    pub(crate) fn take(&mut self, key: UnreadKey) -> bool {
        let Some(keys) = &mut self.0 else { return false };
        let Ok(found) = keys.find_entry(key.hash, |other| *other == key) else { return false };
        found.remove();
        if keys.is_empty() {
            self.0 = None;
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_taken_once_and_for_the_put_that_it_was_read_for() {
        let mut keys = UnreadKeys::default();
        let key = |hash, cold_version| UnreadKey { hash, cold_version };
        keys.add(key(7, 1));
        keys.add(key(7, 1));
        keys.add(key(8, 1));
        assert_eq!(keys.len(), 2);
        assert!(keys.take(key(7, 1)));
        assert!(!keys.take(key(7, 1)), "once");
        keys.add(key(7, 2));
        assert!(!keys.take(key(7, 1)), "read before it was put again");
        assert_eq!(keys.iter().filter(|key| key.hash == 7).count(), 1);
        assert!(keys.take(key(7, 2)) && keys.take(key(8, 1)));
        assert_eq!((keys.len(), keys.heap_bytes()), (0, 0));
    }
}
