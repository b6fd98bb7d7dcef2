//! HOT PATH
//! Which keys of a partition have changes that the log has not acknowledged, and up to
//! which position of the log's tickets a reader of such a key has to wait.
//!
//! Two generations of changes. A change goes to the newer one. When the log has acknowledged the
//! latest change of the older generation, that generation is dropped as a whole and the newer one
//! takes its place. So under changes that never pause, a change is forgotten after two
//! acknowledgements at the latest, no entry is ever looked for in order to be dropped, and a
//! look-up takes the same time however many changes there are.
//!
//! A generation is the position of its latest change and a Bloom filter of the keys: two bits a
//! key. A reader whose key's bits are set waits for that position. So a reader never waits too
//! short, and two kinds of readers wait longer than they must: those of a key that has changed
//! again, by another key's change of the same generation, for the same group of the journal as a
//! rule; and those of a key that has not changed and whose bits others have set.
//!
//! Between two acknowledgements a partition has few changes, as a rule: there are 1,024 of them,
//! and two or three changes in each when 50 clients have 50 SETs under way. Then one reader in a
//! thousand waits for nothing. Both generations are one cache line, which can be prefetched by its
//! address alone ([`crate::keyspace::Keyspace::prefetch_unacknowledged`]). A generation with many
//! keys gets a larger filter on the heap: under one hash tag 1,000 changes have 1.4% of the readers
//! of other keys wait, beside the 4% of the filter that was full.
//!
//! Rejected: a list in order, which a read had to walk, and which held a million notes after a
//! million changes under one hash tag; notes of each key's hash and position, three in a cache line
//! a generation and the others in a hash table, which took two lines, and a walk of notes where a
//! bit is set now.

/// In place of a key's hash: a change of every key.
pub const EVERY_KEY: u64 = 0;

/// Words of the filter in a generation's half of the cache line.
const FEW_WORDS: usize = 2;
/// From this number of bits on, twelve keys, that filter takes no more keys.
const FEW_BITS_MAX: u32 = 24;
/// Words of the filter for what it does not take: 2 KiB.
const MORE_WORDS: usize = 256;
/// In place of the position of a generation that has none.
const NO_POSITION: u64 = u64::MAX;

/// See the head of this file.
#[derive(Default, Debug)]
#[repr(align(64))]
pub(crate) struct Unacknowledged {
    older: Generation,
    newer: Generation,
}

const _: () = assert!(size_of::<Unacknowledged>() == 64);

/// Changes that are dropped together.
#[derive(Debug)]
struct Generation {
    /// The highest of all positions.
    latest: u64,
    few: Filter<FEW_WORDS>,
    /// Takes the keys for which there is no room in `few`.
    more: Option<Box<Filter<MORE_WORDS>>>,
}

/// A Bloom filter of two bits a key, with a power of two of words.
#[derive(PartialEq, Eq, Debug)]
struct Filter<const WORDS: usize> {
    words: [u64; WORDS],
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

    /// The position that a reader of the key with this hash waits for, if that may not be
    /// acknowledged yet.
    #[inline]
    pub(crate) fn position_of(&self, hash: u64) -> Option<u64> {
        // Of two positions the higher one counts, and `None` is less than any.
        self.newer.position_of(hash).max(self.older.position_of(hash))
    }

    /// Bytes of memory on the heap.
    pub(crate) fn heap_bytes(&self) -> usize {
        [&self.older, &self.newer].iter().map(|generation| generation.heap_bytes()).sum()
    }

    #[inline]
    fn forget(&mut self, is_acknowledged: &impl Fn(u64) -> bool) {
        if self.newer.latest().is_some_and(is_acknowledged) {
            // All earlier ones are acknowledged with it.
            self.newer = Generation::default();
            self.older = Generation::default();
        } else if self.older.latest().is_some_and(is_acknowledged) {
            self.older = Generation::default();
        }
    }
}

impl Default for Generation {
    fn default() -> Generation {
        Generation { latest: NO_POSITION, few: Filter::default(), more: None }
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

    #[inline]
    fn note(&mut self, hash: u64, position: u64) {
        debug_assert!(self.is_empty() || self.latest <= position, "positions never go down");
        self.latest = position;
        if hash == EVERY_KEY {
            self.few = Filter::full();
            self.more = None;
        } else if self.few.has(hash) {
            // It is noted, or every reader of it takes it for noted.
        } else if self.few.bits() < FEW_BITS_MAX {
            self.few.add(hash);
        } else {
            self.note_more(hash);
        }
    }

    #[cold]
    #[inline(never)]
    fn note_more(&mut self, hash: u64) {
        self.more.get_or_insert_default().add(hash);
    }

    #[inline]
    fn position_of(&self, hash: u64) -> Option<u64> {
        let is_noted = self.few.has(hash) || self.more.as_ref().is_some_and(|more| more.has(hash));
        if is_noted { self.latest() } else { None }
    }

    fn heap_bytes(&self) -> usize {
        self.more.as_ref().map_or(0, |more| size_of_val(&**more))
    }
}

impl<const WORDS: usize> Default for Filter<WORDS> {
    fn default() -> Self {
        Filter { words: [0; WORDS] }
    }
}

impl<const WORDS: usize> Filter<WORDS> {
    /// A word and a bit of it.
    const PLACES: u32 = (WORDS * 64).ilog2();

    fn full() -> Self {
        Filter { words: [u64::MAX; WORDS] }
    }

    /// The two places of a key: each a word and a mask. The table of keys chooses by the leading
    /// bits of the hash; these are the others.
    #[inline]
    fn places(hash: u64) -> [(usize, u64); 2] {
        [hash, hash >> Self::PLACES].map(|bits| {
            let place = bits as usize % (WORDS * 64);
            (place / 64, 1 << (place % 64))
        })
    }

    #[inline]
    fn has(&self, hash: u64) -> bool {
        Self::places(hash).iter().all(|&(word, mask)| self.words[word] & mask != 0)
    }

    #[inline]
    fn add(&mut self, hash: u64) {
        for (word, mask) in Self::places(hash) {
            self.words[word] |= mask;
        }
    }

    #[inline]
    fn bits(&self) -> u32 {
        self.words.iter().map(|word| word.count_ones()).sum()
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

    /// A hash of a key, as good as the real one.
    fn hash_of(key: u64) -> u64 {
        let mixed = (key + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9)
    }

    /// How many of the readers of `keys` keys that have not changed would wait.
    fn waiting_for_nothing(list: &Unacknowledged, keys: u64) -> usize {
        let unchanged = 1_000_000..1_000_000 + keys;
        unchanged.filter(|&key| list.position_of(hash_of(key)).is_some()).count()
    }

    /// Against a map of the latest change of each key: a reader waits for the latest change of its
    /// key, at least, and for no later position than that of the latest change of all.
    #[test]
    fn readers_wait_for_the_latest_change_of_their_key() {
        let mut state = 7;
        for keys in [1, 5, 40, 2_000] {
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
                        let key = next(&mut state) % keys;
                        list.note(hash_of(key), position, |at| at <= acknowledged);
                        model.insert(key, position);
                    }
                }
                let latest_of_all = model.values().copied().max().unwrap_or(0).max(every_key);
                for key in (0..=keys).step_by(1 + keys as usize / 50) {
                    let latest = model.get(&key).copied().unwrap_or(0).max(every_key);
                    let waits = list.position_of(hash_of(key)).filter(|&at| at > acknowledged);
                    assert!(waits >= (latest > acknowledged).then_some(latest), "key {key}");
                    assert!(waits.is_none_or(|at| at <= latest_of_all), "key {key}");
                }
            }
        }
    }

    /// A change waits for the group that it is in, and not for later ones of other keys: under a
    /// journal two groups are under way.
    #[test]
    fn a_reader_does_not_wait_for_the_group_after_that_of_its_key() {
        let mut list = Unacknowledged::default();
        list.note(hash_of(1), 7, |_| false);
        list.note(hash_of(2), 8, |_| false);
        assert_eq!([1, 2].map(|key| list.position_of(hash_of(key))), [Some(7), Some(8)]);
        list.note(hash_of(3), 9, |at| at <= 7);
        assert_eq!([1, 2, 3].map(|key| list.position_of(hash_of(key))), [None, Some(8), Some(9)]);
    }

    #[test]
    fn few_readers_wait_for_nothing() {
        for (changes, per_thousand) in [(1, 1), (3, 3), (12, 45), (1_000, 70), (4_000, 220)] {
            let mut list = Unacknowledged::default();
            (0..changes).for_each(|key| list.note(hash_of(key), 9, |_| false));
            assert!((0..changes).all(|key| list.position_of(hash_of(key)) == Some(9)));
            let waiting = waiting_for_nothing(&list, 10_000);
            assert!(waiting <= 10 * per_thousand, "{waiting} of 10,000 beside {changes} changes");
        }
    }

    #[test]
    fn a_change_of_every_key_concerns_every_key_and_takes_no_room() {
        // With each number of keys noted before, its own bits among theirs or not.
        for keys in 0..100 {
            let mut list = Unacknowledged::default();
            (0..keys).for_each(|key| list.note(hash_of(key), 8, |_| false));
            assert!(keys < 20 || list.heap_bytes() == 8 * MORE_WORDS);
            list.note(EVERY_KEY, 8, |_| false);
            list.note(hash_of(5), 8, |_| false);
            assert_eq!((list.heap_bytes(), waiting_for_nothing(&list, 100)), (0, 100), "{keys}");
            assert!(list.forget_acknowledged(|at| at <= 8));
            assert_eq!(waiting_for_nothing(&list, 100), 0);
        }
    }

    #[test]
    fn many_keys_take_little_room_and_give_it_back() {
        let mut list = Unacknowledged::default();
        for key in 0..5_000 {
            list.note(hash_of(key), 8 + key / 2_500, |_| false);
            assert!(list.heap_bytes() <= 2 * 8 * MORE_WORDS);
        }
        for (key, position) in [(0, 8), (2_499, 8), (2_500, 9), (4_999, 9)] {
            assert!(list.position_of(hash_of(key)).is_some_and(|at| at >= position), "key {key}");
        }
        assert!(list.forget_acknowledged(|at| at <= 9));
        assert_eq!((list.heap_bytes(), waiting_for_nothing(&list, 100)), (0, 0));
    }

    /// The log never catches up with the latest change, but goes on.
    #[test]
    fn changes_without_a_pause_are_forgotten_all_the_same() {
        let mut list = Unacknowledged::default();
        for position in 1..=STEPS {
            list.note(hash_of(position), position, |at| at + 10 < position);
            assert_eq!(list.heap_bytes(), 0, "more than twelve keys");
        }
    }
}
