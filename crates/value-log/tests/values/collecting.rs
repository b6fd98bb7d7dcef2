//! What is garbage, and what becomes of it.

use crate::{DIR, World, collect_all, commit, key, noise, put_all, read};
use basalt_cold::{ColdTier, MemoryTier, Residency};
use basalt_env::Disk;
use basalt_value_log::{ValueOptions, ValueTier};
use std::path::Path;
use std::sync::Arc;

#[test]
fn space_of_overwritten_values_comes_back_and_none_is_lost() {
    let world = World::default();
    let tier = world.open();
    for round in 0..20 {
        put_all(&tier, 0..200, round);
        // A part of the keys, so that segments have both.
        put_all(&tier, 0..50, round + 100);
        collect_all(&tier, 15);
    }
    let stats = tier.stats();
    assert!(stats.value_log_values == 200 && stats.locator_is_built);
    assert!(stats.value_log_collected_bytes > 0);
    assert_eq!(
        (stats.checkpoints_committed, stats.checkpoint_rows),
        (40, 20 * 250),
        "its own are none"
    );
    // 200 records of 1,040 bytes and segments that are being filled.
    assert!(stats.value_log_bytes < 200 * 1_100 * 3 / 2, "{stats:?}");
    assert!(world.disk.used_bytes() < 600 << 10, "{}", world.disk.used_bytes());
    for number in 0..200 {
        let round = if number < 50 { 119 } else { 19 };
        assert_eq!(read(&tier, &key(number)), Some(noise(number + round * 1_000, 1_000)));
    }
    drop(tier);
    let tier = world.open();
    assert_eq!(read(&tier, &key(7)), Some(noise(7 + 119_000, 1_000)));
}

/// Garbage that needs collecting counts for how far the tier is behind; what is gone as a whole,
/// and what lives, do not.
#[test]
fn writers_hear_of_garbage_that_is_not_collected() {
    let world = World::default();
    let tier = world.open();
    collect_all(&tier, 15);
    put_all(&tier, 0..400, 0);
    assert_eq!(tier.pressure().behind_percent, 0);
    for round in 1..4 {
        // Every third value stays, in each segment.
        for number in (0..400).filter(|number| number % 3 != 0) {
            put_all(&tier, number..number + 1, round);
        }
    }
    let behind = tier.pressure().behind_percent;
    assert!(behind > 100, "{behind}: {:?}", tier.stats());
    collect_all(&tier, 15);
    assert_eq!(tier.pressure().behind_percent, 0, "{:?}", tier.stats());
    put_all(&tier, 0..400, 9);
    put_all(&tier, 0..400, 10);
    let stats = tier.stats();
    assert!(stats.value_log_bytes > 2 * stats.value_log_live_bytes, "{stats:?}");
    assert_eq!(tier.pressure().behind_percent, 0, "{stats:?}");
}

/// Values that are larger than a segment fill one each.
#[test]
fn what_has_no_garbage_is_left_where_it_is() {
    let world = World::default();
    let tier = world.open();
    let rows: Vec<_> = (0..5).map(|number| (key(number), noise(number, 40_000))).collect();
    let rows: Vec<_> = rows.iter().map(|(key, value)| (&key[..], Some(&value[..]))).collect();
    commit(&tier, &rows);
    collect_all(&tier, 0);
    assert_eq!(tier.stats().value_log_collected_bytes, 0);
}

#[test]
fn each_value_takes_one_read_and_what_is_absent_none() {
    let world = World::default();
    let tier = world.open();
    put_all(&tier, 0..200, 0);
    collect_all(&tier, 15);
    let before = tier.stats().block_reads;
    for number in 0..400 {
        assert_eq!(read(&tier, &key(number)).is_some(), number < 200);
    }
    assert_eq!(tier.stats().block_reads - before, 200);
}

#[test]
fn a_head_is_read_without_its_value() {
    let world = World::default();
    let tier = world.open();
    put_all(&tier, 0..200, 0);
    collect_all(&tier, 15);
    let before = tier.stats().block_reads;
    let keys: Vec<Vec<u8>> = (0..201).map(key).collect();
    let heads = tier.read_heads(&keys).expect("reads");
    for (number, head) in (0..).zip(heads) {
        let value = read(&tier, &key(number));
        assert_eq!(
            head.as_ref().map(|head| head.value_bytes as usize),
            value.as_ref().map(Vec::len)
        );
        assert!(head.is_none_or(|head| value.is_some_and(|value| value.starts_with(&head.bytes))));
    }
    assert_eq!(tier.stats().block_reads - before, 200, "those of the values");
}

#[test]
fn a_row_has_what_is_asked_for_of_its_value_and_no_more() {
    let world = World::default();
    let rows = Arc::new(MemoryTier::open(&world.rows, Path::new(DIR), Residency::Cached));
    let disk = Arc::new(world.disk.clone());
    let head_bytes = |value: &[u8]| 1 + usize::from(value[0] % 31);
    let options = ValueOptions { head_bytes, segment_bytes_min: 16 << 10, ..Default::default() };
    let tier = ValueTier::open(Arc::clone(&rows) as _, disk, Path::new(DIR), options);
    let tier = tier.expect("opens");
    for round in 0..4 {
        put_all(&tier, 0..100, round);
        // Some are moved, and have the same in their new rows.
        put_all(&tier, 0..30, 10 + round);
        collect_all(&tier, 15);
        let keys: Vec<Vec<u8>> = (0..100).map(key).collect();
        let rows = rows.read_many(&keys).expect("reads");
        for (head, row) in tier.read_heads(&keys).expect("reads").into_iter().zip(rows) {
            let (head, row) = (head.expect("a head").bytes, row.expect("a row"));
            assert_eq!(head.len(), (1 + usize::from(row[0] % 31)).min(20));
            assert_eq!(row.len(), head.len() + 18, "where the value is");
        }
    }
    assert!(tier.stats().value_log_collected_bytes > 0);
}

#[test]
fn small_segments_are_collected_together() {
    let world = World::default();
    let rows = Arc::new(MemoryTier::open(&world.rows, Path::new(DIR), Residency::Cached));
    let disk = Arc::new(world.disk.clone());
    let options = ValueOptions { segment_bytes_min: 16 << 10, ..ValueOptions::default() };
    let tier = ValueTier::open(Arc::clone(&rows) as _, disk, Path::new(DIR), options);
    let tier = tier.expect("opens");
    collect_all(&tier, 15);
    put_all(&tier, 0..400, 0);
    for number in (0..400).filter(|number| number % 2 == 0) {
        put_all(&tier, number..number + 1, 1);
    }
    let (before, segments) = (rows.stats().checkpoints_committed, tier.stats().value_log_segments);
    collect_all(&tier, 40);
    let collected = segments - tier.stats().value_log_segments;
    let commits = rows.stats().checkpoints_committed - before;
    assert!(collected > 8 && commits <= collected.div_ceil(4), "{collected} by {commits}");
    for number in 0..400 {
        let round = if number % 2 == 0 { 1 } else { 0 };
        assert_eq!(read(&tier, &key(number)), Some(noise(number + round * 1_000, 1_000)));
    }
}

#[test]
fn what_is_deleted_or_becomes_small_is_garbage() {
    let world = World::default();
    let tier = world.open();
    collect_all(&tier, 15);
    put_all(&tier, 0..100, 0);
    let live = tier.stats().value_log_live_bytes;
    assert!((100_000..130_000).contains(&live), "{live}");
    let rows: Vec<_> = (0..50).map(key).collect();
    let rows: Vec<_> = rows.iter().map(|key| (&key[..], None)).collect();
    commit(&tier, &rows);
    let rows: Vec<_> = (50..75).map(key).collect();
    let rows: Vec<_> = rows.iter().map(|key| (&key[..], Some(&b"small"[..]))).collect();
    commit(&tier, &rows);
    assert_eq!(tier.stats().value_log_live_bytes, live / 4);
    let mut writer = tier.checkpoint_writer().expect("begins");
    writer.delete_range(&key(0), &key(1_000)).expect("is taken");
    writer.prepare().expect("prepares").commit().expect("commits");
    assert_eq!(tier.stats().value_log_live_bytes, 0);
    collect_all(&tier, 15);
    assert!(tier.stats().value_log_segments <= 1, "one that is not full");
    // After a start nobody goes on with that one.
    drop(tier);
    let tier = world.open();
    collect_all(&tier, 15);
    assert_eq!(world.disk.list(&Path::new(DIR).join("values")).expect("a directory"), ["FORMAT"]);
    assert_eq!(tier.stats().value_log_segments, 0);
}

#[test]
fn what_a_checkpoint_has_written_and_not_committed_is_no_garbage() {
    let world = World::default();
    let tier = world.open();
    collect_all(&tier, 1);
    let mut writer = tier.checkpoint_writer().expect("begins");
    for number in 0..200 {
        writer.put(&key(number), &noise(number, 1_000)).expect("is taken");
        collect_all(&tier, 0);
    }
    let prepared = writer.prepare().expect("prepares");
    collect_all(&tier, 0);
    prepared.commit().expect("commits");
    assert!((0..200).all(|number| read(&tier, &key(number)) == Some(noise(number, 1_000))));
}

#[test]
fn values_stay_with_their_rows_when_the_locator_is_full() {
    let world = World::default();
    let rows = MemoryTier::open(&world.rows, Path::new(DIR), Residency::Cached);
    let options = ValueOptions { locator_bytes_max: 64 << 10, ..ValueOptions::default() };
    let disk = Arc::new(world.disk.clone());
    let tier = ValueTier::open(Arc::new(rows), disk, Path::new(DIR), options).expect("opens");
    for from in 0..50 {
        put_all(&tier, from * 200..from * 200 + 200, 0);
    }
    let stats = tier.stats();
    assert!((300..5_000).contains(&stats.value_log_values), "{stats:?}");
    assert!((0..10_000).all(|number| read(&tier, &key(number)) == Some(noise(number, 1_000))));
}

/// A segment has room for a record, however small it is to be.
#[test]
fn each_record_may_have_a_segment_to_itself() {
    let world = World::default();
    let rows = Arc::new(MemoryTier::open(&world.rows, Path::new(DIR), Residency::Cached));
    let options = ValueOptions { segment_bytes_min: 1, ..ValueOptions::default() };
    let tier = ValueTier::open(rows, Arc::new(world.disk.clone()), Path::new(DIR), options)
        .expect("opens");
    put_all(&tier, 0..10, 0);
    for number in 0..10 {
        assert_eq!(tier.read_many(&[key(number)]), Ok(vec![Some(noise(number, 1_000))]));
    }
}
