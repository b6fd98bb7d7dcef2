//! Keys in an order: that of their arrival, unless a key is given another place.
//!
//! A tree by place and a map from key to place. The lists of a real cache are faster; this one is
//! plain to see through, and keeps any order that a policy may want.

use std::collections::BTreeMap;

use super::cache::KeyMap;

/// Keys with a value each, in the order of their places.
#[derive(Debug)]
pub(super) struct Queue<V> {
    entries: KeyMap<Entry<V>>,
    order: BTreeMap<u64, u64>,
    /// The place of what is pushed next.
    next: u64,
}

#[derive(Debug)]
struct Entry<V> {
    place: u64,
    value: V,
}

impl<V> Default for Queue<V> {
    fn default() -> Self {
        Self { entries: KeyMap::default(), order: BTreeMap::new(), next: 0 }
    }
}

impl<V> Queue<V> {
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(super) fn contains(&self, key: u64) -> bool {
        self.entries.contains_key(&key)
    }

    pub(super) fn get(&mut self, key: u64) -> Option<&mut V> {
        self.entries.get_mut(&key).map(|entry| &mut entry.value)
    }

    /// Puts a new key behind all others.
    pub(super) fn push(&mut self, key: u64, value: V) {
        self.insert(key, self.next, value);
        self.next += 1;
    }

    /// Puts a new key at a place that no other key has.
    pub(super) fn insert(&mut self, key: u64, place: u64, value: V) {
        let was = self.entries.insert(key, Entry { place, value });
        let taken = self.order.insert(place, key);
        debug_assert!(was.is_none() && taken.is_none(), "a key comes once, to a place of its own");
    }

    /// Moves a key behind all others.
    pub(super) fn renew(&mut self, key: u64) {
        if let Some(entry) = self.entries.get_mut(&key) {
            self.order.remove(&entry.place);
            entry.place = self.next;
            self.order.insert(self.next, key);
            self.next += 1;
        }
    }

    pub(super) fn remove(&mut self, key: u64) -> Option<V> {
        let entry = self.entries.remove(&key)?;
        self.order.remove(&entry.place);
        Some(entry.value)
    }

    /// The first key.
    pub(super) fn first(&self) -> Option<u64> {
        self.order.first_key_value().map(|(_, &key)| key)
    }

    /// Takes the first key out.
    pub(super) fn pop(&mut self) -> Option<(u64, V)> {
        let key = self.first()?;
        self.remove(key).map(|value| (key, value))
    }

    /// The place and key that come first at `place` or behind it, or else the first of all.
    pub(super) fn at_or_behind(&self, place: u64) -> Option<(u64, u64)> {
        let found = self.order.range(place..).next().or_else(|| self.order.first_key_value());
        found.map(|(&place, &key)| (place, key))
    }
}
