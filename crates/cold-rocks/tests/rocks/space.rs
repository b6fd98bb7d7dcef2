//! Space of what is deleted comes back: whole files at once, the rest by merges.

use std::path::Path;
use std::sync::Barrier;
use std::time::Duration;

use basalt_cold::{ColdTier, Collecting, IDLE_PERCENT};
use basalt_cold_rocks::RocksTier;

use crate::{commit, noise, open};

const ROWS: u64 = 300;
const ROW_BYTES: usize = 20_000;
/// As it is while checkpoints come, and when none do.
const BUSY: u64 = 70;
const IDLE: u64 = IDLE_PERCENT;
/// And when the disk is nearly full.
const SHORT: u64 = 10;

/// Rows of a generation in each of some partitions, a file for each partition.
fn put_generation(tier: &RocksTier, generation: u8, rows: u64) {
    let mut writer = tier.checkpoint_writer().expect("begins");
    for partition in 0..3 {
        for row in 0..rows {
            let value = noise(u64::from(generation) * 1_000 + row, ROW_BYTES);
            writer.put(&key(partition, generation, row), &value).expect("puts");
        }
        writer.begin_file().expect("begins a file");
    }
    writer.put(b"\xff\xffmark", &[generation]).expect("puts");
    writer.prepare().expect("prepares").commit().expect("commits");
}

fn delete_generation(tier: &RocksTier, generation: u8) {
    let mut writer = tier.checkpoint_writer().expect("begins");
    for partition in 0..3 {
        let (from, to) = (key(partition, generation, 0), key(partition, generation + 1, 0));
        writer.delete_range(&from, &to).expect("deletes a range");
    }
    writer.prepare().expect("prepares").commit().expect("commits");
}

fn key(partition: u8, generation: u8, row: u64) -> Vec<u8> {
    let mut key = vec![0, partition, 1, generation];
    key.extend_from_slice(&row.to_be_bytes());
    key
}

fn count(tier: &RocksTier) -> usize {
    let mut rows = 0;
    tier.scan(b"", b"\xff\xff\xff", &mut |_, _| {
        rows += 1;
        std::ops::ControlFlow::Continue(())
    })
    .expect("scans");
    rows
}

fn collect_all(tier: &RocksTier, percent_min: u64) {
    while tier.collect(percent_min).expect("collects") > Collecting::Nothing {}
}

/// Until RocksDB has done what it was told to.
fn collect_and_merge(tier: &RocksTier, percent_min: u64) {
    for _ in 0..3 {
        collect_all(tier, percent_min);
        tier.wait_for_background_work().expect("merges");
    }
}

fn megabytes(tier: &RocksTier) -> u64 {
    tier.stats().table_bytes >> 20
}

fn bytes_of_files(dir: &Path) -> u64 {
    let files = std::fs::read_dir(dir.join("db")).expect("a directory");
    let sorted = files
        .map(|file| file.expect("a file"))
        .filter(|file| file.path().extension().is_some_and(|extension| extension == "sst"));
    sorted.map(|file| file.metadata().map_or(0, |metadata| metadata.len())).sum()
}

#[test]
fn files_of_a_deleted_generation_go_without_a_merge() {
    let root = tempfile::tempdir().expect("a temporary directory");
    let tier = open(root.path());
    // A file for each partition, and one for the mark.
    put_generation(&tier, 1, ROWS);
    assert!(megabytes(&tier) >= 16);
    delete_generation(&tier, 1);
    assert!(megabytes(&tier) >= 16, "only by being asked to");
    assert_eq!(tier.collect(BUSY), Ok(Collecting::Removed));
    assert_eq!(count(&tier), 1, "the mark");
    tier.wait_for_background_work().expect("nothing to merge");
    assert!(bytes_of_files(root.path()) < 1 << 20);
    drop(tier);
    assert_eq!(count(&open(root.path())), 1);
}

/// A row may be committed where a look has just found that nothing lives: at another moment of the
/// look in each round.
#[test]
fn a_row_that_comes_while_files_go_stays() {
    let root = tempfile::tempdir().expect("a temporary directory");
    let tier = open(root.path());
    let start = Barrier::new(2);
    for generation in 1..100 {
        put_generation(&tier, generation, 10);
        delete_generation(&tier, generation);
        let mut writer = tier.checkpoint_writer().expect("begins");
        let rows = || (0..3).map(|partition| key(partition, generation, 5));
        rows().for_each(|row| writer.put(&row, b"new").expect("puts"));
        let prepared = writer.prepare().expect("prepares");
        std::thread::scope(|scope| {
            scope.spawn(|| {
                start.wait();
                collect_all(&tier, BUSY);
            });
            start.wait();
            std::thread::sleep(Duration::from_micros(u64::from(generation) * 10));
            prepared.commit().expect("commits");
        });
        for row in rows() {
            assert_eq!(tier.read_many(&[row]), Ok(vec![Some(b"new".to_vec())]), "{generation}");
        }
        delete_generation(&tier, generation);
    }
}

/// Files that end with what lives stay, and are merged.
#[test]
fn what_lives_beside_a_deleted_generation_stays() {
    let root = tempfile::tempdir().expect("a temporary directory");
    let tier = open(root.path());
    for generation in 1..4 {
        put_generation(&tier, generation, ROWS / 3);
    }
    tier.compact().expect("merges");
    let before = megabytes(&tier);
    delete_generation(&tier, 2);
    collect_and_merge(&tier, IDLE);
    assert_eq!(count(&tier), 2 * 3 * (ROWS / 3) as usize + 1);
    tier.compact().expect("merges");
    let after = megabytes(&tier);
    assert!(after.abs_diff(before * 2 / 3) <= 1, "{before} MB, then {after}");
    assert_eq!(count(&tier), 2 * 3 * (ROWS / 3) as usize + 1);
}

/// A file that goes may be all that hides older rows in one that stays. Deletions of rows have a
/// file and a level of their own only where there is so much that a level is between.
#[test]
fn older_rows_do_not_come_back_with_the_files_that_hid_them() {
    let root = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a temporary directory");
    let tier = open(root.path());
    let value = noise(1, 1 << 20);
    commit(&tier, (0..560).map(|row| (key(9, 9, row), value.clone())));
    // One file of three generations, which stays, as parts of it live.
    let rows = (1..4).flat_map(|generation| (0..10).map(move |row| key(0, generation, row)));
    commit(&tier, rows.map(|key| (key, b"old".to_vec())));
    let mut writer = tier.checkpoint_writer().expect("begins");
    (0..10).for_each(|row| writer.delete(&key(0, 2, row)).expect("deletes"));
    writer.prepare().expect("prepares").commit().expect("commits");
    assert_eq!(tier.stats().files_per_level[5], 1, "the deletions");
    // The second generation is a gap between ranges, and nothing lives in it.
    let mut writer = tier.checkpoint_writer().expect("begins");
    writer.delete_range(&key(0, 1, 5), &key(0, 2, 0)).expect("deletes");
    writer.delete_range(&key(0, 3, 0), &key(0, 3, 5)).expect("deletes");
    writer.prepare().expect("prepares").commit().expect("commits");
    assert_eq!(tier.collect(BUSY), Ok(Collecting::Removed), "the file of the deletions goes");
    assert_eq!(count(&tier), 10 + 560);
    collect_and_merge(&tier, 1);
    assert_eq!(count(&tier), 10 + 560);
}

#[test]
fn deletions_are_merged_when_they_are_much_of_what_that_rewrites() {
    let root = tempfile::tempdir().expect("a temporary directory");
    let tier = open(root.path());
    put_generation(&tier, 1, ROWS);
    tier.compact().expect("merges");
    let delete = |rows: std::ops::Range<u64>| {
        let mut writer = tier.checkpoint_writer().expect("begins");
        for partition in 0..3 {
            for row in rows.clone() {
                writer.delete(&key(partition, 1, row)).expect("deletes");
            }
        }
        writer.prepare().expect("prepares").commit().expect("commits");
    };
    delete(0..ROWS / 20);
    collect_and_merge(&tier, IDLE);
    assert_eq!(tier.stats().files_per_level[0], 1, "not for so little");
    delete(ROWS / 20..ROWS / 2);
    collect_and_merge(&tier, BUSY);
    assert_eq!(tier.stats().files_per_level[0], 2, "not while checkpoints come");
    let before = megabytes(&tier);
    collect_and_merge(&tier, IDLE);
    assert_eq!(tier.stats().files_per_level[0], 0);
    assert!(megabytes(&tier) <= before / 2 + 1);
    assert_eq!(count(&tier), 3 * (ROWS / 2) as usize + 1);
    // As before: one file is too few.
    commit(&tier, [(key(9, 9, 9), b"more".to_vec()), (b"\xff\xffmark".to_vec(), b"1".to_vec())]);
    collect_and_merge(&tier, IDLE);
    delete(ROWS - 1..ROWS);
    collect_and_merge(&tier, IDLE);
    assert!(tier.stats().files_per_level[0] > 0);
}

/// Each merge of the youngest level rewrites the next one, so it waits until that is worth it.
#[test]
fn small_files_are_merged_when_they_have_half_of_what_that_rewrites() {
    let root = tempfile::tempdir().expect("a temporary directory");
    let tier = open(root.path());
    put_generation(&tier, 1, ROWS);
    tier.compact().expect("merges");
    let next = megabytes(&tier);
    let row = |number: u64| (key((number % 3) as u8, 1, number), noise(number, ROW_BYTES));
    let mut number = 0;
    let mut put = |rows: u64| {
        number += 1;
        let mut rows: Vec<_> = (0..rows).map(|add| row(number + 7 * add)).collect();
        rows.sort_unstable();
        commit(&tier, rows);
        collect_and_merge(&tier, BUSY);
    };
    (0..30).for_each(|_| put(2));
    assert_eq!(tier.stats().files_per_level[0], 30, "they are few bytes");
    let mut rounds = 0;
    while tier.stats().files_per_level[0] > 0 {
        rounds += 1;
        assert!(rounds < 17, "{:?}", tier.stats());
        put(40);
    }
    assert!(megabytes(&tier).abs_diff(next) <= 1 && rounds > 8, "{rounds}");
}

/// So that reads look into fewer files.
#[test]
fn small_files_are_merged_when_there_is_time() {
    let root = tempfile::tempdir().expect("a temporary directory");
    let tier = open(root.path());
    put_generation(&tier, 1, ROWS);
    tier.compact().expect("merges");
    let put = |number: u64| commit(&tier, [(key(0, 1, number), noise(number, ROW_BYTES))]);
    (0..15).for_each(put);
    collect_and_merge(&tier, IDLE);
    assert_eq!(tier.stats().files_per_level[0], 15, "they are few");
    put(15);
    collect_and_merge(&tier, BUSY);
    collect_and_merge(&tier, SHORT);
    assert_eq!(tier.stats().files_per_level[0], 16, "not while checkpoints come, nor without room");
    collect_and_merge(&tier, IDLE);
    assert_eq!(tier.stats().files_per_level[0], 0);
    assert_eq!(count(&tier), 3 * ROWS as usize + 1);
}

#[test]
fn a_backup_keeps_what_is_deleted_meanwhile() {
    let root = tempfile::tempdir().expect("a temporary directory");
    let tier = open(&root.path().join("tier"));
    put_generation(&tier, 1, 20);
    let copy = root.path().join("copy");
    tier.backup(&copy).expect("backs up");
    delete_generation(&tier, 1);
    collect_and_merge(&tier, 1);
    assert_eq!(count(&tier), 1);
    assert_eq!(count(&open(&copy)), 61);
}
