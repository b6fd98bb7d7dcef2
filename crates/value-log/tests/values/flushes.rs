//! Ranges that are deleted, and what the locator makes of them.

use crate::faulty::{self, Late};
use crate::{World, collect_all, key, noise, put_all, read};
use basalt_cold::{ColdTier, Collecting, PreparedCheckpoint};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;

fn prepare_deletion<'t>(
    tier: &'t dyn ColdTier,
    numbers: Range<u64>,
) -> Box<dyn PreparedCheckpoint + 't> {
    let mut writer = tier.checkpoint_writer().expect("begins");
    writer.delete_range(&key(numbers.start), &key(numbers.end)).expect("is taken");
    // It stays: ranges are deleted before rows are put.
    writer.put(&key(numbers.start), &noise(numbers.start + 9_000, 1_000)).expect("is taken");
    writer.prepare().expect("prepares")
}

#[test]
fn what_is_left_of_a_large_deletion_is_gone_over_and_not_what_goes() {
    let (world, late) = (World::default(), Arc::new(Late::default()));
    let tier = faulty::open(&world, &late, false);
    collect_all(&tier, 15);
    put_all(&tier, 0..400, 0);
    let visited = || late.visited.swap(0, Ordering::Relaxed);
    visited();
    prepare_deletion(&tier, 0..300).commit().expect("commits");
    assert_eq!(visited(), 0, "while nothing else can be committed");
    let is_right = |number: u64| {
        let expected = match number {
            0 => Some(noise(9_000, 1_000)),
            1..300 => None,
            _ => Some(noise(number, 1_000)),
        };
        read(&tier, &key(number)) == expected
    };
    assert!((0..400).all(is_right));
    collect_all(&tier, 15);
    assert_eq!(visited(), 101);
    let stats = tier.stats();
    assert!(stats.locator_is_built && stats.value_log_values == 101, "{stats:?}");
    assert!(stats.value_log_bytes < 150 << 10, "{stats:?}");
    assert!((0..400).all(is_right));
    let reads = tier.stats().block_reads;
    assert!((0..400).all(is_right));
    assert_eq!(tier.stats().block_reads - reads, 101, "one read a value");
}

#[test]
fn segments_in_which_nothing_lives_are_removed_without_a_rest() {
    let world = World::default();
    let tier = world.open();
    put_all(&tier, 0..400, 0);
    prepare_deletion(&tier, 0..400).commit().expect("commits");
    let segments = || tier.stats().value_log_segments;
    let before = segments();
    assert_eq!(tier.collect(100), Ok(Collecting::GoesOn), "the row that is left is gone over");
    assert_eq!(segments(), before);
    let mut turns = 0;
    while tier.collect(100) == Ok(Collecting::Removed) {
        turns += 1;
    }
    assert!(turns > 1 && segments() <= 2, "{turns} turns, {before} segments, {} left", segments());
    // Moving what lives in one is work.
    put_all(&tier, 400..440, 0);
    prepare_deletion(&tier, 400..420).commit().expect("commits");
    assert_eq!(tier.collect(1), Ok(Collecting::GoesOn));
}

#[test]
fn rows_of_a_small_deletion_are_gone_over() {
    let (world, late) = (World::default(), Arc::new(Late::default()));
    let tier = faulty::open(&world, &late, false);
    collect_all(&tier, 15);
    put_all(&tier, 0..400, 0);
    late.visited.store(0, Ordering::Relaxed);
    prepare_deletion(&tier, 0..50).commit().expect("commits");
    assert_eq!(late.visited.load(Ordering::Relaxed), 50);
    let stats = tier.stats();
    assert!(stats.locator_is_built && stats.value_log_values == 351, "{stats:?}");
}

#[test]
fn a_large_deletion_that_fails_leaves_everything() {
    let (world, late) = (World::default(), Arc::new(Late::default()));
    let tier = faulty::open(&world, &late, false);
    collect_all(&tier, 15);
    put_all(&tier, 0..400, 0);
    late.fails.store(1, Ordering::Relaxed);
    prepare_deletion(&tier, 0..400).commit().expect_err("fails");
    assert!(tier.stats().locator_is_built && tier.stats().value_log_values == 400);
    collect_all(&tier, 1);
    assert!((0..400).all(|number| read(&tier, &key(number)) == Some(noise(number, 1_000))));
}
