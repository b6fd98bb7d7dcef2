//! HOT PATH
//! Which keys of a partition have changes that the log has not acknowledged, and up to
//! which position of the log's tickets a reader of such a key has to wait.
//!
//! Two generations of changes. A change goes to the newer one. When the log has acknowledged the
//! latest change of the older generation, that generation is dropped as a whole and the newer one
//! takes its place. So under changes that never pause, a change is forgotten after two
//! acknowledgements at the latest, no entry is ever looked for in order to be dropped, and a
//! look-up costs two probes of a hash table however many changes there are.
//!
//! A key has one note in a generation: an acknowledgement covers all earlier positions, so only the
//! latest counts. Beyond [`KEYS_MAX`] keys a generation stops telling them apart, and a reader of
//! any key waits for the latest change: longer than it must, but never too short.
//!
//! Rejected: a list in order, which a read had to walk, and which held a million notes after a
//! million changes under one hash tag.

use hashbrown::HashTable;

/// In place of a key's hash: a change of every key.
pub const EVERY_KEY: u64 = 0;

/// Keys that a generation tells apart: 16 KiB of notes.
const KEYS_MAX: usize = 1024;
/// A table with room for more than this many notes gives its memory back when it is emptied.
const KEPT_KEYS_MAX: usize = 64;

/// See the head of this file. Takes a word until the first change.
#[derive(Default, Debug)]
pub(crate) struct Unacknowledged(Option<Box<Generations>>);

#[derive(Default, Debug)]
struct Generations {
    older: Generation,
    newer: Generation,
}

/// Changes that are dropped together.
#[derive(Default, Debug)]
struct Generation {
    /// Hash of a key and position of its latest change.
    keys: HashTable<(u64, u64)>,
    /// Position of the latest change of every key.
    every_key: Option<u64>,
    /// The highest of all these positions.
    latest: Option<u64>,
}

impl Unacknowledged {
    /// Notes a change of the key with this hash. Positions never go down.
    #[inline]
    pub(crate) fn note(&mut self, hash: u64, position: u64, is_acknowledged: impl Fn(u64) -> bool) {
        let generations = self.0.get_or_insert_default();
        // Once for each position: what is acknowledged meanwhile is seen then.
        if generations.newer.latest != Some(position) {
            generations.forget_acknowledged(&is_acknowledged);
            if generations.older.is_empty() {
                std::mem::swap(&mut generations.older, &mut generations.newer);
            }
        }
        generations.newer.note(hash, position);
    }

    /// Drops what has been acknowledged; returns true if nothing is left.
    #[inline]
    pub(crate) fn forget_acknowledged(&mut self, is_acknowledged: impl Fn(u64) -> bool) -> bool {
        self.0.as_mut().is_none_or(|generations| {
            generations.forget_acknowledged(&is_acknowledged);
            generations.older.is_empty() && generations.newer.is_empty()
        })
    }

    /// The position of the latest change that a reader of the key with this hash has seen, if that
    /// may not be acknowledged yet.
    #[inline]
    pub(crate) fn position_of(&self, hash: u64) -> Option<u64> {
        let Generations { older, newer } = &**self.0.as_ref()?;
        // Of two positions the higher one counts, and `None` is less than any.
        newer.position_of(hash).max(older.position_of(hash))
    }

    /// How many notes there are.
    pub(crate) fn len(&self) -> usize {
        self.0.as_ref().map_or(0, |generations| generations.older.len() + generations.newer.len())
    }
}

impl Generations {
    fn forget_acknowledged(&mut self, is_acknowledged: &impl Fn(u64) -> bool) {
        if self.newer.latest.is_some_and(is_acknowledged) {
            // All earlier ones are acknowledged with it.
            self.newer.clear();
            self.older.clear();
        } else if self.older.latest.is_some_and(is_acknowledged) {
            self.older.clear();
        }
    }
}

impl Generation {
    fn is_empty(&self) -> bool {
        self.latest.is_none()
    }

    fn len(&self) -> usize {
        self.keys.len() + usize::from(self.every_key.is_some())
    }

    fn note(&mut self, hash: u64, position: u64) {
        debug_assert!(self.latest <= Some(position), "positions never go down");
        self.latest = Some(position);
        if hash == EVERY_KEY {
            self.every_key = Some(position);
            self.keys.clear();
            return;
        }
        if let Some((_, known)) = self.keys.find_mut(hash, |&(other, _)| other == hash) {
            *known = position;
        } else if self.keys.len() < KEYS_MAX {
            self.keys.insert_unique(hash, (hash, position), |&(hash, _)| hash);
        } else {
            self.note(EVERY_KEY, position);
        }
    }

    fn position_of(&self, hash: u64) -> Option<u64> {
        let known = self.keys.find(hash, |&(other, _)| other == hash);
        known.map(|&(_, position)| position).max(self.every_key)
    }

    fn clear(&mut self) {
        if self.keys.capacity() > KEPT_KEYS_MAX {
            self.keys = HashTable::new();
        }
        self.keys.clear();
        (self.every_key, self.latest) = (None, None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    const STEPS: u64 = if cfg!(miri) { 300 } else { 20_000 };

    /// The next of a fixed sequence of numbers that look random.
    fn next(state: &mut u64) -> u64 {
        *state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        *state >> 33
    }

    /// Against a map of the latest change of each key: a reader never waits too short, and while
    /// the keys are told apart never longer than it must, but for what has been acknowledged since.
    #[test]
    fn readers_wait_for_the_latest_change_of_their_key() {
        let mut state = 7;
        for keys in [1, 5, 40] {
            let mut list = Unacknowledged::default();
            let mut model: HashMap<u64, u64> = HashMap::new();
            let (mut position, mut acknowledged, mut every_key) = (1, 0, 0);
            for _ in 0..STEPS {
                match next(&mut state) % 10 {
                    0 => position += 1,
                    1 => acknowledged = acknowledged.max(next(&mut state) % position),
                    2 => {
                        let is_empty = list.forget_acknowledged(|at| at <= acknowledged);
                        let latest = model.values().copied().max().unwrap_or(0).max(every_key);
                        assert_eq!(is_empty, latest <= acknowledged);
                    }
                    3 if next(&mut state).is_multiple_of(20) => {
                        list.note(EVERY_KEY, position, |at| at <= acknowledged);
                        every_key = position;
                    }
                    _ => {
                        let hash = 1 + next(&mut state) % keys;
                        list.note(hash, position, |at| at <= acknowledged);
                        model.insert(hash, position);
                    }
                }
                for hash in 1..=keys + 1 {
                    let latest = model.get(&hash).copied().unwrap_or(0).max(every_key);
                    let waits = list.position_of(hash).filter(|&at| at > acknowledged);
                    assert_eq!(waits, (latest > acknowledged).then_some(latest), "key {hash}");
                }
                assert!(list.len() as u64 <= 2 * keys + 2);
            }
        }
    }

    #[test]
    fn many_keys_are_not_told_apart_and_take_no_room() {
        let mut list = Unacknowledged::default();
        for hash in 1..=5_000 {
            list.note(hash, 9, |_| false);
            assert!(list.len() <= 2 * (KEYS_MAX + 1));
        }
        for hash in [1, 5_000, 5_001] {
            assert_eq!(list.position_of(hash), Some(9));
        }
        assert!(list.forget_acknowledged(|at| at <= 9) && list.position_of(1).is_none());
    }

    /// The log never catches up with the latest change, but goes on.
    #[test]
    fn changes_without_a_pause_are_forgotten_all_the_same() {
        let mut list = Unacknowledged::default();
        for position in 1..=STEPS {
            list.note(position, position, |at| at + 10 < position);
            assert!(list.len() < 40, "{} notes", list.len());
        }
    }
}
