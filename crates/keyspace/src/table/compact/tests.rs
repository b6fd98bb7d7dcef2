//! Compaction against a plain map, and how much it gives back.

use super::{COMPACT_CELLS_MAX, Compacted};
use crate::entry::{Access, Content, NewValue, StringValue};
use crate::hash::KeyHasher;
use crate::memory::pages::{PAGE_BYTES, PagePool, RUN_PAGE_BYTES};
use crate::table::bucket::{COLD, DIRTY};
use crate::table::{EntryHint, Table};
use basalt_change::op::StringForm;
use basalt_change::version::Version;
use basalt_value::{Kind, Value};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What a test knows of a key.
#[derive(Clone, PartialEq, Debug)]
struct Known {
    value: Vec<u8>,
    expire_ms: u64,
    version: Version,
    flags: u64,
    access: Access,
}

struct World {
    table: Table,
    pool: Arc<PagePool>,
    hasher: Arc<KeyHasher>,
    known: BTreeMap<Vec<u8>, Known>,
}

impl World {
    fn new(hasher: KeyHasher) -> World {
        let (pool, hasher) = (Arc::new(PagePool::default()), Arc::new(hasher));
        let table = Table::new(Arc::clone(&pool), Arc::clone(&hasher));
        World { table, pool, hasher, known: BTreeMap::new() }
    }

    fn put(&mut self, key: &[u8], known: Known) {
        let Known { value, expire_ms, version, flags, access } = known.clone();
        let value = NewValue::string(&value, StringForm::Whole);
        let content = Content { key, value, expire_ms, access, version };
        let hash = self.hasher.hash(key);
        if let Some(found) = self.table.find(hash, key) {
            self.table.remove(hash, found);
        }
        self.table.insert(hash, content, flags);
        self.known.insert(key.to_vec(), known);
    }

    fn fill(&mut self, keys: std::ops::Range<u32>, value_bytes: impl Fn(u32) -> usize) {
        for number in keys {
            let value = vec![number as u8; value_bytes(number)];
            let version = Version::NONE;
            let access = Access::default();
            let key = format!("key {number:012}");
            self.put(key.as_bytes(), Known { value, expire_ms: 0, version, flags: 0, access });
        }
    }

    fn remove(&mut self, key: &[u8]) {
        let hash = self.hasher.hash(key);
        if let Some(found) = self.table.find(hash, key) {
            self.table.remove(hash, found);
        }
        self.known.remove(key);
    }

    /// Removes each key but every `kept`th, in the order of the keys.
    fn thin_out(&mut self, kept: usize) {
        let keys: Vec<_> = self.known.keys().cloned().collect();
        let gone = keys.iter().enumerate().filter(|(number, _)| number % kept != 0);
        gone.for_each(|(_, key)| self.remove(key));
    }

    /// Compacts until there is nothing left to do; returns what that was in all.
    fn compact_all(&mut self) -> Compacted {
        let mut all = Compacted::default();
        let calls_max = 100 + self.table.slab.page_bytes() / PAGE_BYTES * 8;
        for _ in 0..calls_max {
            let one = self.table.compact(COMPACT_CELLS_MAX);
            assert!(one.moved <= COMPACT_CELLS_MAX);
            // A look at all pages takes Miri a second.
            if !cfg!(miri) {
                self.table.slab.check();
            }
            all.moved += one.moved;
            all.bytes_freed += one.bytes_freed;
            if !one.has_more {
                return all;
            }
        }
        panic!("compaction finds no end: {all:?}, slack {}", self.table.slack_bytes());
    }

    fn see(&self, key: &[u8]) -> Option<Known> {
        self.seen(self.table.find(self.hasher.hash(key), key)?)
    }

    fn seen(&self, found: crate::table::Found) -> Option<Known> {
        let entry = self.table.entry(found);
        Some(Known {
            value: entry.string().map(StringValue::bytes)?.to_vec(),
            expire_ms: entry.expire_ms(),
            version: entry.version(),
            flags: found.flags() & (DIRTY | COLD),
            access: entry.access(),
        })
    }

    fn check(&mut self) {
        self.table.slab.check();
        for (key, known) in &self.known {
            assert_eq!(self.see(key).as_ref(), Some(known));
        }
        assert_eq!(self.table.counts().live, self.known.len());
        let (mut keys, mut from) = (Vec::new(), Some(0));
        while let Some(hash) = from {
            from = self.table.scan(hash, 2, |entry| keys.push(entry.key().to_vec()));
        }
        keys.sort();
        assert_eq!(keys, self.known.keys().cloned().collect::<Vec<_>>());
        assert_eq!(self.table.slab.page_bytes(), self.pool.bytes_used());
    }
}

/// Of equal cells, cells of several sizes, runs of one length, and of all lengths.
#[test]
fn pages_come_back_after_every_second_entry_has_gone() {
    type ValueBytes = fn(u32) -> usize;
    let sizes: [(&str, ValueBytes, usize); 6] = [
        ("64", |_| 64, 58),
        ("two sizes", |number| if number % 3 == 0 { 20 } else { 200 }, 58),
        ("1024", |_| 1024, 58),
        ("1990", |_| 1990, 58),
        ("500 to 2000", |number| 500 + (number as usize * 7919) % 1500, 58),
        // What stays is longer than the holes.
        ("1000 and 600", |number| if number % 2 == 0 { 1000 } else { 600 }, 70),
    ];
    // For Miri of cells and of runs one each.
    let (keys, step) = if cfg!(miri) { (100, 3) } else { (4_000, 1) };
    for (name, value_bytes, percent_max) in sizes.into_iter().step_by(step) {
        let mut world = World::new(KeyHasher::new(7));
        world.fill(0..keys, value_bytes);
        let full = world.pool.bytes_used();
        world.thin_out(2);
        let thin = world.pool.bytes_used();
        let all = world.compact_all();
        world.check();
        let left = world.pool.bytes_used();
        assert_eq!(thin - left, all.bytes_freed, "{name}");
        if !cfg!(miri) {
            assert!(thin * 10 > full * 8, "{name}: {full} {thin}");
            assert!(left * 100 < full * percent_max, "{name}: {full} {thin} {left}");
        }
        assert_eq!(world.table.compact(COMPACT_CELLS_MAX), Compacted::default(), "{name}");
    }
}

/// Entries that stand in cells of a larger size move as the others do.
#[test]
fn borrowed_cells_are_emptied() {
    let mut world = World::new(KeyHasher::new(7));
    let count = if cfg!(miri) { 150 } else { 1_000 };
    for number in 0..count {
        let bytes = if number % 40 == 7 { 10 } else { 100 };
        world.fill(number..number + 1, |_| bytes);
    }
    let full = world.pool.bytes_used();
    world.thin_out(3);
    world.compact_all();
    world.check();
    assert!(world.pool.bytes_used() * 2 < full);
    world.thin_out(usize::MAX);
    world.compact_all();
    world.check();
}

/// Where nothing can be gained nothing moves, and calls begin again when more slack has come.
#[test]
fn a_slack_that_stays_is_left_alone() {
    let mut world = World::new(KeyHasher::new(7));
    // 58 sizes with a page each, most of it free.
    world.fill(0..58, |number| 8 * number as usize);
    // One with two pages, of 16 cells each, that have more than one could take.
    world.fill(100..132, |_| 470);
    for number in (100..132).filter(|number| (number - 100) % 16 >= 10) {
        world.remove(format!("key {number:012}").as_bytes());
    }
    // And many that are full: nothing has to look for them to know that.
    world.fill(10_000..if cfg!(miri) { 10_100 } else { 30_000 }, |_| 100);
    assert!(world.table.slack_bytes() > 40 * PAGE_BYTES);
    let mut calls = (0..4).map(|_| world.table.compact(COMPACT_CELLS_MAX));
    let last = calls.find(|one| !one.has_more).expect("an end after two looks or three");
    assert_eq!(last, Compacted::default());
    world.check();
    let quiet = world.table.slack_bytes();
    assert_eq!(world.table.compact(COMPACT_CELLS_MAX), Compacted::default());
    world.fill(2_000..2_600, |_| 64);
    world.thin_out(3);
    assert!(world.table.slack_bytes() > quiet + 2 * PAGE_BYTES);
    assert!(world.compact_all().bytes_freed >= 2 * PAGE_BYTES);
    world.check();
}

/// Runs that fill eight ninths of their pages leave more slack than there should be, but no page
/// could have more of them.
#[test]
fn full_pages_of_runs_stay() {
    let mut world = World::new(KeyHasher::new(7));
    world.fill(0..140, |_| 1790);
    assert!(world.table.slack_bytes() > 2 * RUN_PAGE_BYTES);
    assert_eq!(world.compact_all(), Compacted::default());
    world.check();
}

/// A page of runs that has lost some of them takes others again, wherever it has the most room.
#[test]
fn a_part_of_a_page_of_runs_moves() {
    let mut world = World::new(KeyHasher::new(7));
    // 15 are in the allocator, and 15 fill a page.
    world.fill(0..135, |_| 1024);
    for number in (15..135).filter(|number| ![0, 1, 8].contains(&(number % 15))) {
        world.remove(format!("key {number:012}").as_bytes());
    }
    for _ in 0..if cfg!(miri) { 2 } else { 10 } {
        let one = world.table.compact(1);
        assert_eq!((one.moved, one.has_more), (1, true));
        world.check();
    }
}

/// The last key of a size has a page to itself, and the page goes with it when memory is wanted.
#[test]
fn empty_pages_go() {
    let mut world = World::new(KeyHasher::new(7));
    world.fill(0..50, |number| 8 * number as usize);
    for key in world.known.keys().cloned().collect::<Vec<_>>() {
        world.remove(&key);
    }
    assert!(world.pool.bytes_used() >= 40 * PAGE_BYTES);
    world.compact_all();
    assert!(world.pool.bytes_used() < 2 * PAGE_BYTES);
}

/// A page of the smallest cells has more entries than a call moves.
#[test]
fn a_call_moves_no_more_than_it_may() {
    let mut world = World::new(KeyHasher::new(7));
    let keys = if cfg!(miri) { 1_200 } else { 6_000_u32 };
    for number in 0..keys {
        let (expire_ms, version, flags, access) = (0, Version::NONE, 0, Access::default());
        let known = Known { value: Vec::new(), expire_ms, version, flags, access };
        world.put(&number.to_be_bytes(), known);
    }
    world.thin_out(3);
    let one = world.table.compact(5);
    assert_eq!((one.moved, one.has_more), (5, true));
    // The next one goes on with the same page.
    let (mut moved, mut freed) = (0, 0);
    while freed == 0 {
        let one = world.table.compact(40);
        assert!(one.moved > 0 && one.has_more);
        (moved, freed) = (moved + one.moved, freed + one.bytes_freed);
    }
    assert!(moved < PAGE_BYTES / 16 / 2, "{moved}");
    world.compact_all();
    world.check();
}

/// Entries without a place in a bucket move as others do.
#[test]
fn strays_move() {
    let mut world = World::new(KeyHasher::colliding(b"same"));
    let count = if cfg!(miri) { 120 } else { 600 };
    for number in 0..count {
        let key = format!("same {number:06}");
        let (value, version) = (vec![number as u8; 100], Version::NONE);
        let (flags, access) = (if number % 5 == 0 { DIRTY } else { COLD }, Access::default());
        world.put(key.as_bytes(), Known { value, expire_ms: 0, version, flags, access });
    }
    world.thin_out(2);
    assert!(!world.table.strays.is_empty());
    let moved = world.compact_all().moved;
    assert!(cfg!(miri) || moved > 60);
    world.check();
}

/// Collections and long strings stand apart: what refers to them moves.
#[test]
fn what_stands_apart_stays_where_it_is() {
    let mut world = World::new(KeyHasher::new(7));
    let keys = if cfg!(miri) { 900 } else { 2_000_u32 };
    let put = |world: &mut World, number: u32, value: NewValue<'_>| {
        let (key, access, version) = (number.to_be_bytes(), Access::default(), Version::NONE);
        let content = Content { key: &key, value, expire_ms: 0, access, version };
        world.table.insert(world.hasher.hash(&key), content, DIRTY);
    };
    for number in 0..keys {
        let long = vec![number as u8; 3000];
        put(
            &mut world,
            number,
            match number % 2 {
                0 => NewValue::Collection(Value::new(Kind::List)),
                _ => NewValue::string(&long, StringForm::Whole),
            },
        );
    }
    let find = |world: &World, number: u32| {
        let key = number.to_be_bytes();
        world.table.find(world.hasher.hash(&key), &key)
    };
    for number in (0..keys).filter(|number| number % 5 > 1) {
        let found = find(&world, number).expect("it is there");
        let hash = world.hasher.hash(&number.to_be_bytes());
        world.table.remove(hash, found);
    }
    let apart = world.table.counts().apart_bytes;
    assert!(world.compact_all().moved > 0);
    assert_eq!(world.table.counts().apart_bytes, apart);
    for number in 0..keys {
        let found = find(&world, number);
        assert_eq!(found.is_some(), number % 5 < 2);
        let Some(found) = found else { continue };
        let entry = world.table.entry(found);
        match number % 2 {
            0 => assert!(entry.collection().is_some()),
            _ => {
                assert_eq!(entry.string().expect("a string").bytes(), &vec![number as u8; 3000][..])
            }
        }
    }
}

#[derive(Debug, Clone)]
enum Op {
    Put { number: u8, value_bytes: usize, extra: u8 },
    Remove(u8),
    ThinOut,
    Compact(usize),
}

fn op() -> impl Strategy<Value = Op> {
    let put = |bytes: std::ops::Range<usize>| {
        (any::<u8>(), bytes, any::<u8>()).prop_map(|(number, value_bytes, extra)| Op::Put {
            number,
            value_bytes,
            extra,
        })
    };
    prop_oneof![
        8 => put(0..80),
        8 => put(400..2300),
        6 => any::<u8>().prop_map(Op::Remove),
        1 => Just(Op::ThinOut),
        6 => (1_usize..80).prop_map(Op::Compact),
    ]
}

fn key(number: u8) -> Vec<u8> {
    match number % 3 {
        0 => vec![number; 12],
        1 => vec![number; 255 + usize::from(number % 7)],
        _ => vec![number; 2],
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: if cfg!(miri) { 2 } else { 96 }, ..Default::default() })]
    #[test]
    fn compaction_changes_nothing_that_can_be_seen(
        ops in proptest::collection::vec(op(), 1..if cfg!(miri) { 80 } else { 900 }),
    ) {
        let mut world = World::new(KeyHasher::new(7));
        let mut hints: Vec<(Vec<u8>, EntryHint)> = Vec::new();
        for (step, op) in ops.into_iter().enumerate() {
            match op {
                Op::Put { number, value_bytes, extra } => {
                    let known = Known {
                        value: vec![number ^ extra; value_bytes],
                        expire_ms: u64::from(extra % 3),
                        version: if extra % 5 == 0 { Version::new(step as u64 + 1) } else { Version::NONE },
                        flags: [0, DIRTY, COLD, DIRTY | COLD][usize::from(extra % 4)],
                        access: Access::at(step as u32),
                    };
                    world.put(&key(number), known);
                    let hash = world.hasher.hash(&key(number));
                    hints.push((key(number), world.table.prefetch_entry(hash)));
                }
                Op::Remove(number) => world.remove(&key(number)),
                Op::ThinOut => world.thin_out(2),
                Op::Compact(entries_max) => {
                    let one = world.table.compact(entries_max);
                    prop_assert!(one.moved <= entries_max.min(COMPACT_CELLS_MAX));
                    world.table.slab.check();
                }
            }
        }
        world.check();
        world.compact_all();
        world.check();
        for (key, seen) in hints {
            let found = world.table.find_again(seen, world.hasher.hash(&key), &key);
            prop_assert_eq!(found.and_then(|found| world.seen(found)), world.known.get(&key).cloned());
        }
        world.known.clear();
        drop(world.table);
        prop_assert_eq!(world.pool.bytes_used(), 0);
    }
}
