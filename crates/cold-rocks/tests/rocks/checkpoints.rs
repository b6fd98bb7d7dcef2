//! Files of checkpoints: staging, rotation, big values, range deletions after merging.

use std::{fs, path::Path};

use basalt_cold::{ColdTier, Probe};

use crate::{commit, noise, open};

fn staged(dir: &Path) -> usize {
    fs::read_dir(dir.join("staging")).expect("the staging directory").count()
}

#[test]
fn staging_holds_only_what_is_not_committed() {
    let root = tempfile::tempdir().expect("a temporary directory");
    let tier = open(root.path());
    let mut writer = tier.checkpoint_writer().expect("begins");
    writer.put(b"a", b"1").expect("puts");
    writer.delete_range(b"b", b"c").expect("deletes");
    let prepared = writer.prepare().expect("prepares");
    assert_eq!(staged(root.path()), 2);
    prepared.commit().expect("commits");
    assert_eq!(staged(root.path()), 0);
    let mut writer = tier.checkpoint_writer().expect("begins");
    writer.put(b"a", b"2").expect("puts");
    writer.prepare().expect("prepares").discard();
    assert_eq!(staged(root.path()), 0);
    drop(tier);
    fs::write(root.path().join("staging/00000007.sst"), b"left by a crash").expect("writes");
    open(root.path());
    assert_eq!(staged(root.path()), 0);
}

#[test]
fn a_checkpoint_of_several_files_is_one_state() {
    const ROWS: u64 = 200;
    let root = tempfile::tempdir().expect("a temporary directory");
    let tier = open(root.path());
    for round in 0..2u64 {
        let mut writer = tier.checkpoint_writer().expect("begins");
        writer.delete_range(b"", b"\xff").expect("deletes");
        for row in 0..ROWS {
            let value = noise(round * ROWS + row + 1, 700_000);
            writer.put(&row.to_be_bytes(), &value).expect("puts");
        }
        assert!(writer.bytes() > ROWS * 600_000);
        let prepared = writer.prepare().expect("prepares");
        assert_eq!(staged(root.path()), 4, "three files of rows and one of tombstones");
        prepared.commit().expect("commits");
    }
    for row in [0, ROWS / 2, ROWS - 1] {
        let found = tier.read_many(&[row.to_be_bytes().to_vec()]).expect("reads");
        assert!(found == [Some(noise(ROWS + row + 1, 700_000))], "row {row}");
    }
}

#[test]
fn merging_frees_what_was_overwritten_and_deleted() {
    let root = tempfile::tempdir().expect("a temporary directory");
    let tier = open(root.path());
    let rows = |from: u64| {
        (0..2000u64).map(move |i| (i.to_be_bytes().to_vec(), noise(from + i + 1, 3000)))
    };
    commit(&tier, rows(0));
    commit(&tier, rows(5000));
    tier.compact().expect("compacts");
    let bytes = tier.stats().table_bytes;
    assert!(bytes > 2000 * 2900 && bytes < 2000 * 3300, "{bytes}");
    let key = 1234u64.to_be_bytes();
    let found = tier.read_many(&[key.to_vec(), key.to_vec()]).expect("reads");
    assert!(found == vec![Some(noise(5000 + 1235, 3000)); 2]);
    assert_eq!(tier.probe(&99_999u64.to_be_bytes()), Probe::Absent);

    let mut writer = tier.checkpoint_writer().expect("begins");
    writer.delete_range(b"", b"\xff").expect("deletes");
    writer.prepare().expect("prepares").commit().expect("commits");
    assert_eq!(tier.probe(&key), Probe::Absent, "a range deletion is known without disk");
    tier.compact().expect("compacts");
    assert_eq!(tier.stats().table_bytes, 0);
}
