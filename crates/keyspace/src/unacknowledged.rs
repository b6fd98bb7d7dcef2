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
//! Between two acknowledgements a partition has few changes, as a rule: there are 1,024 of them. So
//! a generation is one cache line with room for `FEW` notes, which can be prefetched by its
//! address alone ([`crate::keyspace::Keyspace::prefetch_unacknowledged`]); only what has no room
//! there is in a table.
//!
//! A key has one note in a generation: an acknowledgement covers all earlier positions, so only the
//! latest counts. Beyond `KEYS_MAX` keys a generation stops telling them apart, and a reader of
//! any key waits for the latest change: longer than it must, but never too short.
//!
//! Rejected: a list in order, which a read had to walk, and which held a million notes after a
//! million changes under one hash tag.

use hashbrown::HashTable;

/// In place of a key's hash: a change of every key.
pub const EVERY_KEY: u64 = 0;

/// Keys that a generation tells apart: 16 KiB of notes.
const KEYS_MAX: usize = 1024;
/// Notes in a generation's own cache line.
const FEW: usize = 3;
/// A table with room for more than this many notes gives its memory back when it is emptied.
const KEPT_KEYS_MAX: usize = 64;
/// In place of the position of a generation that has none.
const NO_POSITION: u64 = u64::MAX;

/// See the head of this file.
#[derive(Default, Debug)]
pub(crate) struct Unacknowledged {
    older: Generation,
    newer: Generation,
}

/// Changes that are dropped together.
#[repr(align(64))]
#[derive(Debug)]
struct Generation {
    /// The highest of all positions.
    latest: u64,
    /// What has no room in `few`.
    more: Option<Box<More>>,
    /// Notes from the front on.
    few: [Note; FEW],
}

/// Hash of a key and position of its latest change; the hash of [`EVERY_KEY`] where there is none.
type Note = (u64, u64);

const _: () = assert!(size_of::<Generation>() == 64);

/// Notes of a generation that are not in its own cache line.
#[derive(Default, Debug)]
struct More {
    keys: HashTable<Note>,
    /// Position of the latest change of every key.
    every_key: Option<u64>,
}

impl Unacknowledged {
    /// Notes a change of the key with this hash. Positions never go down.
    #[inline]
    pub(crate) fn note(&mut self, hash: u64, position: u64, is_acknowledged: impl Fn(u64) -> bool) {
        // Once for each position: what is acknowledged meanwhile is seen then.
        if self.newer.latest != position {
            self.forget(&is_acknowledged);
            if self.older.is_empty() {
                std::mem::swap(&mut self.older, &mut self.newer);
            }
        }
        self.newer.note(hash, position);
    }

    /// Drops what has been acknowledged; returns true if nothing is left.
    #[inline]
    pub(crate) fn forget_acknowledged(&mut self, is_acknowledged: impl Fn(u64) -> bool) -> bool {
        self.forget(&is_acknowledged);
        self.older.is_empty() && self.newer.is_empty()
    }

    /// The position of the latest change that a reader of the key with this hash has seen, if that
    /// may not be acknowledged yet.
    #[inline]
    pub(crate) fn position_of(&self, hash: u64) -> Option<u64> {
        // Of two positions the higher one counts, and `None` is less than any.
        self.newer.position_of(hash).max(self.older.position_of(hash))
    }

    /// How many notes there are.
    pub(crate) fn len(&self) -> usize {
        self.older.len() + self.newer.len()
    }

    #[inline]
    fn forget(&mut self, is_acknowledged: &impl Fn(u64) -> bool) {
        if self.newer.latest().is_some_and(is_acknowledged) {
            // All earlier ones are acknowledged with it.
            self.newer.clear();
            self.older.clear();
        } else if self.older.latest().is_some_and(is_acknowledged) {
            self.older.clear();
        }
    }
}

impl Default for Generation {
    fn default() -> Generation {
        Generation { latest: NO_POSITION, more: None, few: [(EVERY_KEY, 0); FEW] }
    }
}

impl Generation {
    #[inline]
    fn is_empty(&self) -> bool {
        self.latest == NO_POSITION
    }

    #[inline]
    fn latest(&self) -> Option<u64> {
        (!self.is_empty()).then_some(self.latest)
    }

    fn len(&self) -> usize {
        let few = self.few.iter().filter(|&&(hash, _)| hash != EVERY_KEY).count();
        few + self.more.as_ref().map_or(0, |more| more.len())
    }

    #[inline]
    fn note(&mut self, hash: u64, position: u64) {
        debug_assert!(self.is_empty() || self.latest <= position, "positions never go down");
        self.latest = position;
        if hash != EVERY_KEY {
            for note in &mut self.few {
                if note.0 == hash || note.0 == EVERY_KEY {
                    *note = (hash, position);
                    return;
                }
            }
        }
        self.note_more(hash, position);
    }

    #[cold]
    #[inline(never)]
    fn note_more(&mut self, hash: u64, position: u64) {
        let more = self.more.get_or_insert_default();
        if hash != EVERY_KEY && more.note(hash, position) {
            return;
        }
        more.every_key = Some(position);
        more.keys.clear();
        self.few = [(EVERY_KEY, 0); FEW];
    }

    #[inline]
    fn position_of(&self, hash: u64) -> Option<u64> {
        let known = self.few.iter().find(|note| note.0 == hash).map(|&(_, position)| position);
        match &self.more {
            None => known,
            Some(more) => known.max(more.position_of(hash)),
        }
    }

    fn clear(&mut self) {
        self.latest = NO_POSITION;
        self.few = [(EVERY_KEY, 0); FEW];
        if let Some(more) = &mut self.more {
            more.clear();
        }
    }
}

impl More {
    fn len(&self) -> usize {
        self.keys.len() + usize::from(self.every_key.is_some())
    }

    /// Notes a change unless there is no room; returns true if there was.
    fn note(&mut self, hash: u64, position: u64) -> bool {
        if let Some((_, known)) = self.keys.find_mut(hash, |&(other, _)| other == hash) {
            *known = position;
        } else if self.keys.len() < KEYS_MAX {
            self.keys.insert_unique(hash, (hash, position), |&(hash, _)| hash);
        } else {
            return false;
        }
        true
    }

    #[cold]
    #[inline(never)]
    fn position_of(&self, hash: u64) -> Option<u64> {
        let known = self.keys.find(hash, |&(other, _)| other == hash);
        known.map(|&(_, position)| position).max(self.every_key)
    }

    fn clear(&mut self) {
        if self.keys.capacity() > KEPT_KEYS_MAX {
            self.keys = HashTable::new();
        }
        self.keys.clear();
        self.every_key = None;
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
            assert!(list.len() <= 2 * (FEW + KEYS_MAX + 1));
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
