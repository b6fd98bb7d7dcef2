//! What has been found by attack: commits and collections that cross, segments that never end,
//! numbers and bytes that nobody has written.

use crate::faulty::{Late, open};
use crate::{DIR, World, collect_all, commit, key, noise, put_all, read};
use basalt_cold::{ColdTier, Collecting, MemoryTier, Residency};
use basalt_env::{Disk, RealDisk};
use basalt_value_log::{ValueOptions, ValueTier};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

fn segments(world: &World) -> usize {
    let names = world.disk.list(&Path::new(DIR).join("values")).expect("a directory");
    names.iter().filter(|name| name.ends_with(".vlog")).count()
}

/// A range is forgotten before its rows are gone; if they do not go, their values are still there.
#[test]
fn a_segment_does_not_go_before_the_commit_that_makes_it_superfluous() {
    let world = World::default();
    let late = Arc::<Late>::default();
    let tier = open(&world, &late, false);
    put_all(&tier, 0..100, 0);
    collect_all(&tier, 15);
    let mut writer = tier.checkpoint_writer().expect("begins");
    writer.delete_range(&key(0), &key(100)).expect("is taken");
    let prepared = writer.prepare().expect("prepares");
    late.close_gate();
    late.fails.store(u32::MAX, Ordering::Relaxed);
    std::thread::scope(|scope| {
        let committer = scope.spawn(|| prepared.commit());
        late.wait_for_commit();
        // The locator has forgotten the range, and the rows are all there.
        let collector =
            scope.spawn(|| while tier.collect(15).is_ok_and(|did| did > Collecting::Nothing) {});
        std::thread::sleep(Duration::from_millis(300));
        late.open_gate();
        assert!(committer.join().expect("no panic").is_err());
        collector.join().expect("no panic");
    });
    late.fails.store(0, Ordering::Relaxed);
    for number in 0..100 {
        let value = tier.read_many(&[key(number)]);
        assert_eq!(value, Ok(vec![Some(noise(number, 1_000))]), "key {number}");
    }
}

/// The locator is given up while a collection goes by it.
#[test]
fn a_collection_that_the_locator_is_taken_from_removes_nothing_that_lives() {
    let world = World::default();
    let late = Arc::<Late>::default();
    let tier = open(&world, &late, false);
    put_all(&tier, 0..100, 0);
    // Something is garbage, and most is not.
    put_all(&tier, 0..5, 1);
    while !tier.stats().locator_is_built {
        tier.collect(100).expect("learns");
    }
    world.disk.hold_syncs();
    std::thread::scope(|scope| {
        let collector = scope.spawn(|| tier.collect(1));
        while world.disk.syncs_waiting() == 0 {
            std::thread::yield_now();
        }
        late.scan_fails.store(u32::MAX, Ordering::Relaxed);
        let mut writer = tier.checkpoint_writer().expect("begins");
        writer.delete_range(b"x", b"y").expect("is taken");
        let prepared = writer.prepare().expect("prepares");
        assert!(prepared.commit().is_err(), "the range cannot be gone over");
        late.scan_fails.store(0, Ordering::Relaxed);
        world.disk.release_syncs();
        let _ = collector.join().expect("no panic");
    });
    for number in 0..100 {
        let round = if number < 5 { 1_000 } else { 0 };
        let value = tier.read_many(&[key(number)]);
        assert_eq!(value, Ok(vec![Some(noise(number + round, 1_000))]), "key {number}");
    }
}

/// Each commit brings one value, so each goes on in the segment of the one before.
#[test]
fn a_segment_is_full_some_day_although_each_checkpoint_has_one_value_only() {
    let world = World::default();
    let tier = world.open();
    collect_all(&tier, 15);
    for round in 0..300 {
        commit(&tier, &[(b"key", Some(&noise(round, 2_000)))]);
        collect_all(&tier, 15);
    }
    // One value of 2 KB lives; segments are of 16 KiB.
    let bytes = tier.stats().value_log_bytes;
    assert!(bytes < 64 << 10, "{bytes} bytes in {} segments", segments(&world));
}

/// Each record begins where a slot of the locator has a number for it.
#[test]
fn values_are_found_where_segments_are_as_large_as_they_may_be() {
    let root = tempfile::tempdir().expect("a directory");
    let rows = Arc::new(MemoryTier::open(&Arc::default(), root.path(), Residency::Cached));
    let tier = ValueTier::open(
        rows,
        Arc::new(RealDisk),
        root.path(),
        ValueOptions { segment_bytes_min: 1 << 30, ..ValueOptions::default() },
    )
    .expect("opens");
    collect_all(&tier, 15);
    let large = noise(1, 1 << 20).repeat(128);
    for number in 0..10 {
        commit(&tier, &[(&key(number), Some(&large))]);
    }
    for number in 0..10 {
        let value = tier.read_many(&[key(number)]).map(|mut rows| rows.remove(0));
        assert!(
            value.as_ref().is_ok_and(|value| value.as_ref() == Some(&large)),
            "key {number}: {:?}",
            value.err()
        );
    }
}

/// A tier may have any key; learning has to go over all of them.
#[test]
fn the_highest_keys_are_learned() {
    let world = World::default();
    let tier = world.open();
    let high = vec![0xFF; 2_000];
    commit(&tier, &[(&high, Some(&noise(1, 2_000)))]);
    drop(tier);
    let tier = world.open();
    collect_all(&tier, 15);
    assert_eq!(read(&tier, &high), Some(noise(1, 2_000)));
}

/// The engine takes a new checkpoint for a sign that the server is not idle.
#[test]
fn a_collection_is_no_checkpoint() {
    let world = World::default();
    let tier = world.open();
    put_all(&tier, 0..100, 0);
    put_all(&tier, 0..50, 1);
    let before = tier.stats();
    collect_all(&tier, 1);
    let after = tier.stats();
    assert!(after.value_log_collected_bytes > 0);
    assert_eq!(after.checkpoints_committed, before.checkpoints_committed);
}

/// Nothing that is in the directory by mistake makes numbers wrong.
#[test]
fn files_of_foreign_numbers_do_no_harm() {
    for name in ["99999999.vlog", "4294967295.vlog", "+0000001.vlog", "000000001.vlog"] {
        let world = World::default();
        let tier = world.open();
        put_all(&tier, 0..100, 0);
        drop(tier);
        world.disk.create(&Path::new(DIR).join("values").join(name), 64).expect("is made");
        let tier = world.open();
        put_all(&tier, 0..5, 1);
        collect_all(&tier, 1);
        put_all(&tier, 5..10, 1);
        collect_all(&tier, 1);
        for number in 0..100 {
            let round = if number < 10 { 1_000 } else { 0 };
            let value = tier.read_many(&[key(number)]);
            assert_eq!(value, Ok(vec![Some(noise(number + round, 1_000))]), "{name} key {number}");
        }
    }
}

/// A full disk makes checkpoints fail again and again; once there is room they take no more than
/// before.
#[test]
fn checkpoints_that_failed_take_no_space_when_one_has_succeeded() {
    let world = World::default();
    let late = Arc::<Late>::default();
    let tier = open(&world, &late, false);
    put_all(&tier, 0..100, 0);
    collect_all(&tier, 15);
    late.fails.store(u32::MAX, Ordering::Relaxed);
    for _ in 0..30 {
        let mut writer = tier.checkpoint_writer().expect("begins");
        for number in 0..100 {
            writer.put(&key(number), &noise(number + 1_000, 1_000)).expect("is taken");
        }
        assert!(writer.prepare().expect("prepares").commit().is_err());
    }
    late.fails.store(0, Ordering::Relaxed);
    put_all(&tier, 0..100, 1);
    collect_all(&tier, 15);
    let bytes = tier.stats().value_log_bytes;
    assert!(bytes < 400 << 10, "{bytes} bytes for 100 values of 1 KB");
}

/// A part of a damaged record looks like the beginnings of many long ones.
#[test]
fn what_looks_like_records_is_gone_over_in_time() {
    let world = World::default();
    let rows = Arc::new(MemoryTier::open(&world.rows, Path::new(DIR), Residency::Cached));
    let options = ValueOptions { segment_bytes_min: 64 << 20, ..ValueOptions::default() };
    let tier = ValueTier::open(rows, Arc::new(world.disk.clone()), Path::new(DIR), options)
        .expect("opens");
    // Of the record: the head's nine bytes and the key. So these heads are at multiples of 16, and
    // each says 1 MiB or more.
    let mut value = vec![0; 7];
    let mut random = basalt_env::Random::new(1);
    while value.len() < 2 << 20 {
        let noise = random.below(u64::MAX).to_le_bytes();
        let (form, stored_high) = (0x31, 0x10);
        value.extend_from_slice(&noise[..4]);
        value.extend_from_slice(&[form, noise[4], noise[5], noise[6], stored_high]);
        value.extend_from_slice(&random.below(u64::MAX).to_le_bytes()[..7]);
    }
    commit(&tier, &[(b"sixteen bytes ..", Some(&value)), (b"two", Some(&noise(2, 1_000)))]);
    drop(tier);
    let path = Path::new(DIR).join("values/00000001.vlog");
    world.disk.corrupt(&path, 64 + 9 + 16 + 1_000, 1).expect("is damaged");
    let rows = Arc::new(MemoryTier::open(&world.rows, Path::new(DIR), Residency::Cached));
    let tier = ValueTier::open(rows, Arc::new(world.disk.clone()), Path::new(DIR), options)
        .expect("opens");
    let start = std::time::Instant::now();
    collect_all(&tier, 1);
    let took = start.elapsed();
    assert!(took < Duration::from_secs(3), "{took:?} for 2 MiB");
}
