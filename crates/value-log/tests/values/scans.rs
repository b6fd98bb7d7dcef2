//! Scans, commits and collections side by side.

use crate::{World, collect_all, commit};
use basalt_cold::ColdTier;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

const KEYS: u32 = 100;

fn put_round(tier: &dyn ColdTier, round: u32) {
    let rows: Vec<_> = (0..KEYS)
        .map(|number| (format!("key:{number:04}").into_bytes(), round.to_le_bytes().repeat(100)))
        .collect();
    let rows: Vec<_> = rows.iter().map(|(key, value)| (&key[..], Some(&value[..]))).collect();
    commit(tier, &rows);
}

/// Its segments stay as long as it runs, and go then.
#[test]
fn a_scan_is_of_one_moment_although_its_values_are_moved_and_removed() {
    let world = World::default();
    let tier = world.open();
    put_round(&tier, 0);
    collect_all(&tier, 1);
    let (mut seen, mut round) = (0, 0);
    tier.scan(b"", b"z", &mut |_, value| {
        assert_eq!(value, 0u32.to_le_bytes().repeat(100));
        seen += 1;
        round += 1;
        put_round(&tier, round);
        collect_all(&tier, 1);
        ControlFlow::Continue(())
    })
    .expect("scans");
    assert_eq!(seen, KEYS);
    collect_all(&tier, 1);
    let segments = tier.stats().value_log_segments;
    assert!(segments <= 4, "{segments}");
}

#[test]
fn readers_see_whole_checkpoints_while_values_are_moved() {
    let world = World::default();
    let tier = world.open();
    put_round(&tier, 0);
    let has_ended = AtomicBool::new(false);
    let keys: Vec<_> = (0..KEYS).map(|number| format!("key:{number:04}").into_bytes()).collect();
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while !has_ended.load(Ordering::Relaxed) {
                    let rows = tier.read_many(&keys).expect("reads");
                    assert!(rows.iter().all(|row| row.is_some() && *row == rows[0]), "mixed");
                }
            });
        }
        scope.spawn(|| {
            while !has_ended.load(Ordering::Relaxed) {
                tier.collect(0).expect("collects");
            }
        });
        for round in 1..300 {
            put_round(&tier, round);
        }
        has_ended.store(true, Ordering::Relaxed);
    });
}
