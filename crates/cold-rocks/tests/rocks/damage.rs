//! Damaged files: found, named, and never papered over.

use std::{
    fs,
    path::{Path, PathBuf},
};

use basalt_cold::{ColdError, ColdTier};
use basalt_cold_rocks::{RocksOptions, RocksTier};

use crate::{commit, noise, open};

fn sorted_file(dir: &Path) -> PathBuf {
    fs::read_dir(dir.join("db"))
        .expect("the database")
        .map(|entry| entry.expect("an entry").path())
        .find(|path| path.extension().is_some_and(|extension| extension == "sst"))
        .expect("a sorted file")
}

fn filled(dir: &Path) {
    let tier = open(dir);
    commit(&tier, (0..1000u64).map(|i| (i.to_be_bytes().to_vec(), noise(i + 1, 200))));
}

#[test]
fn a_flipped_bit_is_reported_with_its_file() {
    let root = tempfile::tempdir().expect("a temporary directory");
    filled(root.path());
    let path = sorted_file(root.path());
    let mut bytes = fs::read(&path).expect("reads the file");
    bytes[100] ^= 4;
    fs::write(&path, bytes).expect("writes the file");
    let tier = open(root.path());
    let error = tier.read_many(&[0u64.to_be_bytes().to_vec()]).expect_err("is damaged");
    let ColdError::Corrupt { place, .. } = &error else { panic!("{error}") };
    assert!(place.ends_with(".sst"), "{place}");
    assert!(error.to_string().contains("restore"), "{error}");
    // The rest is still readable.
    tier.read_many(&[999u64.to_be_bytes().to_vec()]).expect("another block is sound");
}

#[test]
fn a_missing_file_stops_the_opening() {
    let root = tempfile::tempdir().expect("a temporary directory");
    filled(root.path());
    fs::remove_file(sorted_file(root.path())).expect("removes");
    let error = RocksTier::open(root.path(), &RocksOptions::default()).err().expect("is damaged");
    let ColdError::Corrupt { place, .. } = &error else { panic!("{error}") };
    assert!(place.ends_with(".sst"), "{error}");
}

#[test]
fn data_without_its_catalogue_is_not_thrown_away() {
    let root = tempfile::tempdir().expect("a temporary directory");
    filled(root.path());
    fs::remove_file(root.path().join("db/CURRENT")).expect("removes");
    let opened = RocksTier::open(root.path(), &RocksOptions::default());
    assert!(matches!(opened.err(), Some(ColdError::Corrupt { .. })));
    sorted_file(root.path());
}
