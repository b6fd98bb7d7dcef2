//! What is known of keys on disk: without a filter, with one, and while one is being made.

use super::*;
use crate::log::Gate;
use crate::store::context::CommandContext;
use crate::testing::{engine, put};
use basalt_keyspace::table::EntryHint;

const KEYS: u32 = 2_000;

fn name(number: u32) -> Vec<u8> {
    format!("key:{number}").into_bytes()
}

/// Keys that need not be looked for on disk: they are in memory, or nowhere.
fn known(engine: &Engine, keys: std::ops::Range<u32>) -> usize {
    let session = CommandContext::background(0, engine.clock().unix_ms());
    let is_known = |number: &u32| {
        let (key, mut gate) = (name(*number), Gate::default());
        let key = engine.key(&key);
        engine.read_point(&key, EntryHint::default(), &session, &mut gate, |_| ()).is_some()
    };
    keys.filter(is_known).count()
}

fn filled() -> Engine {
    let (engine, _) = engine();
    (0..KEYS).for_each(|number| put(&engine, &name(number), 0));
    engine.checkpoint().expect("a checkpoint");
    engine
}

fn make_all(engine: &Engine) {
    for id in PartitionId::all() {
        engine.make_cold_filters(id).expect("rows can be read");
    }
}

#[test]
fn after_a_start_absent_keys_are_known_once_the_rows_have_been_gone_over() {
    let engine = filled();
    engine.unload();
    let absent = KEYS..3 * KEYS;
    assert!(known(&engine, absent.clone()) < 2 * KEYS as usize);
    make_all(&engine);
    assert_eq!(known(&engine, 0..KEYS), 0, "each of them is on disk");
    let absent = known(&engine, absent);
    assert!(absent > KEYS as usize * 2 * 95 / 100, "{absent} of {}", 2 * KEYS);
}

#[test]
fn what_leaves_memory_is_known_at_once_and_counted() {
    let engine = filled();
    assert_eq!(known(&engine, 0..3 * KEYS), 3 * KEYS as usize, "all is in memory");
    let before = engine.usage();
    assert_eq!(engine.evict_clean(), u64::from(KEYS));
    assert_eq!(known(&engine, 0..KEYS), 0, "each of them is on disk");
    let absent = known(&engine, KEYS..3 * KEYS);
    assert!(absent > KEYS as usize * 2 * 95 / 100, "{absent} of {}", 2 * KEYS);
    assert_eq!(before.filter_bytes, 0);
    // A line at least for each partition, and here there are two keys in each.
    assert!(engine.usage().filter_bytes >= u64::from(KEYS) * 3 / 2);
}

#[test]
fn without_memory_for_it_nothing_is_known() {
    let engine = filled();
    engine.budget.are_filters_full.store(true, Ordering::Relaxed);
    assert_eq!(engine.evict_clean(), u64::from(KEYS));
    assert_eq!(engine.usage().filter_bytes, 0);
    assert_eq!(known(&engine, 0..KEYS), 0);
    engine.set_memory_target(Some(1 << 20));
    assert!(engine.has_memory_for_filters());
    make_all(&engine);
    assert!(!engine.has_memory_for_filters());
}
