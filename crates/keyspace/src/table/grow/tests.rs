//! How often a segment is built again, and that it does become smaller.

use crate::entry::{Access, Content, NewValue};
use crate::hash::KeyHasher;
use crate::table::Table;
use crate::table::bucket::DIRTY;
use basalt_change::version::Version;
use std::sync::Arc;

/// More than one segment holds.
const KEYS: u32 = if cfg!(miri) { 100 } else { 10_000 };
/// Bytes of segments that hold next to nothing.
const SMALL_BYTES: usize = 1_024;

struct World {
    table: Table,
    hasher: Arc<KeyHasher>,
    /// How often a smaller segment was tried.
    tries: u32,
}

impl World {
    fn new() -> World {
        let hasher = Arc::new(KeyHasher::new(7));
        World { table: Table::new(Arc::default(), Arc::clone(&hasher)), hasher, tries: 0 }
    }

    fn filled() -> World {
        let mut world = World::new();
        world.fill(0..KEYS);
        world
    }

    fn fill(&mut self, keys: std::ops::Range<u32>) {
        for number in keys {
            let key = &number.to_be_bytes()[..];
            let (value, version) = (NewValue::Tombstone, Version::NONE);
            let content = Content { key, value, expire_ms: 0, access: Access::default(), version };
            self.table.insert(self.hasher.hash(key), content, DIRTY);
        }
    }

    fn remove(&mut self, key: &[u8]) {
        let hash = self.hasher.hash(key);
        let found = self.table.find(hash, key).expect("it is there");
        let (before, awaited) = self.segment(hash);
        self.table.remove(hash, found);
        let (after, awaits) = self.segment(hash);
        self.tries += u32::from(before != after || awaits > awaited);
    }

    /// The segment of a hash, and how many removals it awaits.
    fn segment(&self, hash: u64) -> (u64, u32) {
        let segment = self.table.segment(hash).expect("the table has had entries");
        // SAFETY: the segment is alive, and the table is borrowed.
        (segment.bits(), unsafe { (*segment.head()).removals_to_await })
    }

    /// The keys in the order in which a walk meets them.
    fn keys(&self) -> Vec<Vec<u8>> {
        let mut keys = Vec::new();
        self.table.walk(0, |entry, _| keys.push(entry.key().to_vec()));
        keys
    }

    fn remove_walked(&mut self, count: usize) {
        self.keys()[..count].iter().for_each(|key| self.remove(key));
    }

    fn index_bytes(&self) -> usize {
        self.table.counts().index_bytes
    }
}

/// As the tombstones of a partition come and go from one checkpoint to the next.
#[test]
fn what_goes_in_the_order_of_hashes_has_few_segments_built_again() {
    let mut world = World::new();
    for round in 1..=3 {
        world.fill(0..KEYS);
        world.remove_walked(KEYS as usize);
        assert!(world.tries <= round * 40, "{} tries in {round} rounds", world.tries);
        assert!(world.index_bytes() <= SMALL_BYTES, "{} bytes", world.index_bytes());
    }
}

#[test]
fn what_goes_all_over_gives_memory_back() {
    let mut world = World::filled();
    let before = world.index_bytes();
    // Numbers are in no order of their hashes.
    (0..KEYS / 10 * 9).for_each(|number| world.remove(&number.to_be_bytes()));
    assert!(world.index_bytes() < before / 2, "{} of {before} bytes", world.index_bytes());
    (KEYS / 10 * 9..KEYS).for_each(|number| world.remove(&number.to_be_bytes()));
    assert!(world.index_bytes() <= SMALL_BYTES, "{} bytes", world.index_bytes());
    assert!(world.tries <= 20, "{} tries", world.tries);
}

/// That a smaller segment had no room once is not held against it for long.
#[test]
fn a_segment_that_was_filled_again_becomes_smaller_as_others_do() {
    let mut world = World::filled();
    let before = world.index_bytes();
    world.remove_walked(KEYS as usize / 100 * 95);
    let left: Vec<u32> = world.keys().iter().map(|key| number_of(key)).collect();
    let others = || (0..KEYS).filter(|number| !left.contains(number));
    others().for_each(|number| world.fill(number..number + 1));
    (0..KEYS / 10 * 9).for_each(|number| world.remove(&number.to_be_bytes()));
    assert!(world.index_bytes() < before / 2, "{} of {before} bytes", world.index_bytes());
}

fn number_of(key: &[u8]) -> u32 {
    key.try_into().map_or(0, u32::from_be_bytes)
}
