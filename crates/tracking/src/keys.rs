//! The keys that clients have read since those changed last.
//!
//! A key is found by its hash, and its name is kept to be told. Of two keys with one hash the newer
//! one takes the place of the other, whose readers are told as if it had changed: that happens once
//! in 2^64 and costs them a read.
//!
//! A client that goes is not looked for in all keys. Its number stays until its key changes, or
//! until the list that it stands in has to grow: then all numbers of clients that are gone leave
//! it. So a list is at most twice as long as it has had living readers, and a few more.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// Readers that a list has room for before it is looked through for clients that are gone.
const READERS_MIN: usize = 8;

/// The keys of one partition that clients have read, and those clients.
#[derive(Debug, Default)]
pub struct TrackedKeys {
    by_hash: BTreeMap<u64, Tracked>,
    items: usize,
}

#[derive(Debug)]
struct Tracked {
    name: Box<[u8]>,
    /// In ascending order.
    readers: Vec<u64>,
}

/// A key that is tracked no longer, and the clients that have read it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Untracked {
    /// The key.
    pub name: Box<[u8]>,
    /// The clients, in ascending order of their numbers.
    pub readers: Vec<u64>,
}

impl TrackedKeys {
    /// No key is tracked.
    pub fn is_empty(&self) -> bool {
        self.by_hash.is_empty()
    }

    /// How many keys are tracked.
    pub fn len(&self) -> usize {
        self.by_hash.len()
    }

    /// How many readers they have, each counted once for each key.
    pub fn items(&self) -> usize {
        self.items
    }

    /// A client reads a key. Returns the key that had to make room, if there is one. `is_live` says
    /// whether a client still tracks what it reads.
    pub fn note(
        &mut self,
        (hash, name): (u64, &[u8]),
        reader: u64,
        is_live: &dyn Fn(u64) -> bool,
    ) -> Option<Untracked> {
        let mut displaced = None;
        match self.by_hash.entry(hash) {
            Entry::Vacant(vacant) => {
                vacant.insert(Tracked::new(name, reader));
                self.items += 1;
            }
            Entry::Occupied(mut occupied) if *occupied.get().name != *name => {
                let before = occupied.insert(Tracked::new(name, reader));
                self.items = self.items + 1 - before.readers.len();
                displaced = Some(before.untracked());
            }
            Entry::Occupied(mut occupied) => {
                let tracked = occupied.get_mut();
                self.items -= tracked.readers.len();
                tracked.add(reader, is_live);
                self.items += tracked.readers.len();
            }
        }
        displaced
    }

    /// A key changes: it is tracked no longer.
    pub fn take(&mut self, hash: u64, name: &[u8]) -> Option<Untracked> {
        if *self.by_hash.get(&hash)?.name != *name {
            return None;
        }
        self.remove(hash)
    }

    /// Takes the key whose hash is the first from `hash` on, or the first of all: with a random
    /// hash a random key.
    pub fn take_near(&mut self, hash: u64) -> Option<Untracked> {
        let from = self.by_hash.range(hash..).next().or_else(|| self.by_hash.iter().next());
        let hash = *from?.0;
        self.remove(hash)
    }

    /// No key is tracked any more.
    pub fn clear(&mut self) {
        *self = TrackedKeys::default();
    }

    /// Forgets the clients that are gone, and the keys that none but these have read.
    pub fn sweep(&mut self, is_live: &dyn Fn(u64) -> bool) {
        self.by_hash.retain(|_, tracked| {
            tracked.readers.retain(|reader| is_live(*reader));
            !tracked.readers.is_empty()
        });
        self.items = self.by_hash.values().map(|tracked| tracked.readers.len()).sum();
    }

    fn remove(&mut self, hash: u64) -> Option<Untracked> {
        let tracked = self.by_hash.remove(&hash)?;
        self.items -= tracked.readers.len();
        Some(tracked.untracked())
    }
}

impl Tracked {
    fn new(name: &[u8], reader: u64) -> Tracked {
        // Most keys have one reader: no room for more is made in advance.
        Tracked { name: name.into(), readers: vec![reader] }
    }

    fn add(&mut self, reader: u64, is_live: &dyn Fn(u64) -> bool) {
        if self.readers.binary_search(&reader).is_ok() {
            return;
        }
        if self.readers.len() == self.readers.capacity() && self.readers.len() >= READERS_MIN {
            self.readers.retain(|other| is_live(*other));
        }
        let (Ok(at) | Err(at)) = self.readers.binary_search(&reader);
        self.readers.insert(at, reader);
    }

    fn untracked(self) -> Untracked {
        Untracked { name: self.name, readers: self.readers }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn all(_: u64) -> bool {
        true
    }

    #[test]
    fn a_change_names_all_readers_once() {
        let mut keys = TrackedKeys::default();
        for reader in [3, 1, 3, 2] {
            assert_eq!(keys.note((7, b"k"), reader, &all), None);
        }
        assert_eq!((keys.len(), keys.items()), (1, 3));
        assert_eq!(keys.take(7, b"other"), None, "another key with this hash");
        let untracked = Untracked { name: b"k"[..].into(), readers: vec![1, 2, 3] };
        assert_eq!(keys.take(7, b"k"), Some(untracked));
        assert_eq!((keys.take(7, b"k"), keys.items()), (None, 0));
    }

    #[test]
    fn a_key_with_the_hash_of_another_takes_its_place() {
        let mut keys = TrackedKeys::default();
        keys.note((7, b"a"), 1, &all);
        keys.note((7, b"a"), 2, &all);
        let displaced = keys.note((7, b"b"), 3, &all).expect("two keys with one hash");
        assert_eq!((&*displaced.name, displaced.readers), (&b"a"[..], vec![1, 2]));
        assert_eq!((keys.len(), keys.items()), (1, 1));
    }

    #[test]
    fn clients_that_come_and_go_do_not_gather() {
        let mut keys = TrackedKeys::default();
        for reader in 0..10_000 {
            keys.note((7, b"k"), reader, &|other| other + 5 > reader);
            assert!(keys.items() <= 2 * READERS_MIN, "{} readers of {reader}", keys.items());
        }
    }

    #[derive(Clone, Debug)]
    enum Step {
        Note(u8, u64),
        Take(u8),
        TakeNear(u64),
        Sweep(u64),
        Clear,
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let step = prop_oneof![
            8 => (0..12_u8, 0..20_u64).prop_map(|(key, reader)| Step::Note(key, reader)),
            4 => (0..12_u8).prop_map(Step::Take),
            1 => any::<u64>().prop_map(Step::TakeNear),
            1 => (0..20_u64).prop_map(Step::Sweep),
            1 => Just(Step::Clear),
        ];
        prop::collection::vec(step, 0..200)
    }

    proptest! {
        /// Against a plain map. Clients below the number of the last sweep are gone: whether they
        /// are still listed is open.
        #[test]
        fn the_table_agrees_with_a_map(steps in steps()) {
            let (mut keys, mut model) = (TrackedKeys::default(), BTreeMap::<u8, BTreeSet<u64>>::new());
            let mut first_live = 0;
            let hash = |key: u8| u64::from(key) << 56 | 1;
            for step in steps {
                match step {
                    Step::Note(key, reader) if reader >= first_live => {
                        let displaced = keys.note((hash(key), &[key]), reader, &|it| it >= first_live);
                        prop_assert_eq!(displaced, None);
                        model.entry(key).or_default().insert(reader);
                    }
                    Step::Note(..) => {}
                    Step::Take(key) => {
                        let live = |readers: Vec<u64>| -> Vec<u64> {
                            readers.into_iter().filter(|it| *it >= first_live).collect()
                        };
                        let taken = keys.take(hash(key), &[key]).map(|it| live(it.readers));
                        let expected = model.remove(&key).map(|it| live(it.into_iter().collect()));
                        prop_assert_eq!(taken.unwrap_or_default(), expected.unwrap_or_default());
                    }
                    Step::TakeNear(near) => {
                        let taken = keys.take_near(near);
                        prop_assert_eq!(taken.is_some(), !model.is_empty());
                        if let Some(taken) = taken {
                            prop_assert!(model.remove(&taken.name[0]).is_some());
                        }
                    }
                    Step::Sweep(from) => {
                        first_live = first_live.max(from);
                        keys.sweep(&|it| it >= first_live);
                        model.values_mut().for_each(|it| it.retain(|it| *it >= first_live));
                        model.retain(|_, it| !it.is_empty());
                    }
                    Step::Clear => {
                        keys.clear();
                        model.clear();
                    }
                }
                prop_assert_eq!(keys.len(), model.len());
                let listed = keys.by_hash.values().map(|it| it.readers.len()).sum::<usize>();
                prop_assert_eq!(keys.items(), listed);
            }
        }
    }
}
