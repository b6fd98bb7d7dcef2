//! The promises of a cold tier: before the locator is built, and after.

use crate::{World, collect_all};
use basalt_cold::{ColdTier, conformance};
use basalt_env::{Disk, RealDisk};
use basalt_value_log::{ValueOptions, ValueTier};
use std::path::Path;
use std::sync::Arc;

#[test]
fn it_conforms_while_values_are_found_by_their_rows() {
    let world = World::default();
    conformance::run(Path::new("/imaginary"), &|dir| {
        // Where there is a segment, rows may point to it, and have to be gone over.
        let path = dir.join("values/00000001.vlog");
        if world.disk.open(&path).is_err() {
            world.disk.create(&path, 64).expect("a file can be made");
        }
        let tier = world.open_at(dir);
        assert!(!tier.stats().locator_is_built);
        Box::new(tier)
    });
}

#[test]
fn it_conforms_once_the_locator_is_built() {
    let world = World::default();
    conformance::run(Path::new("/imaginary"), &|dir| {
        let tier = world.open_at(dir);
        collect_all(&tier, 1);
        assert!(tier.stats().locator_is_built);
        Box::new(tier)
    });
}

#[test]
fn it_conforms_on_the_systems_files_while_all_garbage_is_collected() {
    let root = tempfile::tempdir().expect("a directory");
    let rows = Arc::default();
    conformance::run(root.path(), &|dir| {
        let rows = basalt_cold::MemoryTier::open(&rows, dir, basalt_cold::Residency::Cached);
        let options = ValueOptions { value_bytes_min: 1, ..ValueOptions::default() };
        let tier =
            ValueTier::open(Arc::new(rows), Arc::new(RealDisk), dir, options).expect("opens");
        collect_all(&tier, 0);
        Box::new(tier)
    });
}
