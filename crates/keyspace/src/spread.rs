//! Which of a database's keys hold spread collections: those of which every element has a row of
//! its own in the cold tier; and which hold strings of which every piece has one.
//!
//! Each has an id, by which its rows are found. A collection notes which of its elements change; a
//! string gets another id when it is written again. An id whose collection or string is gone, or
//! has become one row again, is *dead*: the next checkpoint deletes its rows.

use crate::deferred::{Change, Deferred};
use basalt_value::DirtyElements;
use hashbrown::HashTable;
use std::sync::Arc;

/// See the head of this file. Takes a word as long as nothing is spread.
#[derive(Default)]
pub struct SpreadKeys(Option<Box<Keys>>);

#[derive(Default)]
struct Keys {
    resident: HashTable<SpreadKey>,
    cold_only: u64,
    dead: Vec<u64>,
    /// Of some that are in the cold tier only.
    deferred: Deferred,
}

/// A resident key with a spread collection or a string in pieces.
#[derive(Debug)]
pub struct SpreadKey {
    /// Hash of the key.
    pub hash: u64,
    /// The key.
    pub key: Box<[u8]>,
    /// By which its rows are found.
    pub id: u64,
    /// Which elements have changed since their rows were written; none of a string.
    pub dirty: DirtyElements,
    /// A checkpoint under way writes its rows.
    pub in_flight: bool,
}

impl SpreadKeys {
    /// None, resident or not, and nothing is dead.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// How many there are, resident or not.
    pub fn len(&self) -> u64 {
        self.0.as_ref().map_or(0, |keys| keys.resident.len() as u64 + keys.cold_only)
    }

    /// How many are in the cold tier only.
    pub fn cold_only(&self) -> u64 {
        self.0.as_ref().map_or(0, |keys| keys.cold_only)
    }

    /// How many are in the cold tier only.
    pub fn set_cold_only(&mut self, count: u64) {
        if count > 0 || self.0.is_some() {
            self.0.get_or_insert_default().cold_only = count;
        }
    }

    /// Elements that the next checkpoint has to write.
    pub fn dirty_elements(&self) -> usize {
        let keys = self.0.iter().flat_map(|keys| &keys.resident);
        keys.map(|key| key.dirty.len()).sum()
    }

    /// Where a resident key notes which elements change, if it is spread.
    #[inline]
    pub fn dirty_elements_of(&mut self, hash: u64, key: &[u8]) -> Option<&mut DirtyElements> {
        if self.is_empty() { None } else { self.resident_mut(hash, key).map(|key| &mut key.dirty) }
    }

    /// A resident key, if it is spread.
    pub fn resident_mut(&mut self, hash: u64, key: &[u8]) -> Option<&mut SpreadKey> {
        self.0.as_mut()?.resident.find_mut(hash, |spread| *spread.key == *key)
    }

    /// Whether a checkpoint under way writes the rows of a key.
    pub fn is_in_flight(&self, hash: u64, key: &[u8]) -> bool {
        let resident = self.0.as_ref().map(|keys| &keys.resident);
        let found = resident.and_then(|keys| keys.find(hash, |spread| *spread.key == *key));
        found.is_some_and(|spread| spread.in_flight)
    }

    /// Whether all elements, or pieces, of a resident key are on disk; true if it is not spread.
    pub(crate) fn is_on_disk(&self, hash: u64, key: &[u8]) -> bool {
        let resident = self.0.as_ref().map(|keys| &keys.resident);
        let found = resident.and_then(|keys| keys.find(hash, |spread| *spread.key == *key));
        found.is_none_or(|spread| !spread.in_flight && spread.dirty.is_empty())
    }

    /// Whether a resident key is spread.
    pub(crate) fn is_resident(&self, hash: u64, key: &[u8]) -> bool {
        let resident = self.0.as_ref().map(|keys| &keys.resident);
        resident.is_some_and(|keys| keys.find(hash, |spread| *spread.key == *key).is_some())
    }

    /// A resident key is in the cold tier only from now on.
    pub(crate) fn leave(&mut self, hash: u64, key: &[u8]) {
        let Some(keys) = &mut self.0 else { return };
        if let Ok(found) = keys.resident.find_entry(hash, |spread| *spread.key == *key) {
            found.remove();
            keys.cold_only += 1;
        }
    }

    /// Those that are resident.
    pub fn resident(&self) -> impl Iterator<Item = &SpreadKey> {
        self.0.iter().flat_map(|keys| &keys.resident)
    }

    /// Notes a resident key.
    pub fn insert(&mut self, spread: SpreadKey) {
        let keys = self.0.get_or_insert_default();
        debug_assert!(keys.resident.find(spread.hash, |other| other.key == spread.key).is_none());
        keys.resident.insert_unique(spread.hash, spread, |spread| spread.hash);
    }

    /// What it held is gone, or is to be one row, or pieces under another id: its rows are to be
    /// deleted.
    #[inline]
    pub fn forget(&mut self, hash: u64, key: &[u8]) {
        if !self.is_empty() {
            self.forget_some(hash, key);
        }
    }

    #[cold]
    fn forget_some(&mut self, hash: u64, key: &[u8]) {
        let Some(keys) = &mut self.0 else { return };
        if let Ok(found) = keys.resident.find_entry(hash, |spread| *spread.key == *key) {
            let (spread, _) = found.remove();
            keys.dead.push(spread.id);
        }
    }

    /// Those that a checkpoint under way writes are on disk.
    pub fn arrive(&mut self) {
        let keys = self.0.iter_mut().flat_map(|keys| keys.resident.iter_mut());
        keys.for_each(|spread| spread.in_flight = false);
    }

    /// Those that a checkpoint under way writes will not come to be on disk, as a whole at least.
    pub fn give_up_in_flight(&mut self) {
        let Some(keys) = &mut self.0 else { return };
        let Keys { resident, dead, .. } = &mut **keys;
        dead.extend(resident.extract_if(|spread| spread.in_flight).map(|spread| spread.id));
    }

    /// A key in the cold tier only is resident now, or gone.
    pub fn take_from_cold(&mut self) {
        if let Some(keys) = &mut self.0 {
            keys.cold_only = keys.cold_only.saturating_sub(1);
        }
    }

    /// A key in the cold tier only changes when it is read.
    pub fn defer(&mut self, key: &[u8], change: Change) {
        self.0.get_or_insert_default().deferred.add(key, change);
    }

    /// The changes that wait for a key to be read.
    pub fn deferred(&self, key: &[u8]) -> Option<Arc<Vec<Change>>> {
        self.0.as_ref()?.deferred.of(key)
    }

    /// Keys with changes that wait.
    pub fn deferred_keys(&self) -> impl Iterator<Item = &[u8]> {
        self.0.iter().flat_map(|keys| keys.deferred.keys())
    }

    /// The changes that waited have been made, or are not needed any more.
    pub fn forget_deferred(&mut self, key: &[u8]) {
        if let Some(keys) = &mut self.0 {
            keys.deferred.forget(key);
        }
    }

    /// The rows of this id are to be deleted.
    pub fn bury(&mut self, id: u64) {
        self.0.get_or_insert_default().dead.push(id);
    }

    /// Ids whose rows are to be deleted.
    pub fn dead(&self) -> &[u64] {
        self.0.as_ref().map_or(&[], |keys| &keys.dead)
    }

    /// How many of the first dead ids have had their rows deleted.
    pub fn forget_dead(&mut self, count: usize) {
        let Some(keys) = &mut self.0 else { return };
        keys.dead.drain(..count.min(keys.dead.len()));
        if keys.resident.is_empty() && keys.dead.is_empty() && keys.cold_only == 0 {
            self.0 = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(number: u64, in_flight: bool) -> SpreadKey {
        let key = Box::from(number.to_le_bytes());
        SpreadKey { hash: number % 2, key, id: number, dirty: DirtyElements::default(), in_flight }
    }

    #[test]
    fn ids_die_with_their_keys_and_with_checkpoints_that_fail() {
        let mut keys = SpreadKeys::default();
        (0..6).for_each(|number| keys.insert(key(number, number >= 3)));
        keys.forget(1, &1u64.to_le_bytes());
        keys.forget(1, &99u64.to_le_bytes());
        keys.give_up_in_flight();
        let mut dead = keys.dead().to_vec();
        dead.sort_unstable();
        assert_eq!((dead, keys.len()), (vec![1, 3, 4, 5], 2));
        keys.forget_dead(4);
        keys.forget(0, &0u64.to_le_bytes());
        keys.forget(0, &2u64.to_le_bytes());
        assert!(!keys.is_empty(), "there are rows to be deleted");
        keys.forget_dead(2);
        assert!(keys.is_empty());
    }

    #[test]
    fn what_is_touched_is_counted() {
        let mut keys = SpreadKeys::default();
        assert!(keys.dirty_elements_of(0, b"").is_none());
        keys.insert(key(4, false));
        let touched = keys.dirty_elements_of(0, &4u64.to_le_bytes()).expect("it is spread");
        touched.note(b"element", |_| false);
        assert_eq!(keys.dirty_elements(), 1);
        assert!(keys.dirty_elements_of(0, &6u64.to_le_bytes()).is_none());
    }
}
