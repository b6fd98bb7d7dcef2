//! The value log over RocksDB keeps the promises of a cold tier, on the system's files.
#![cfg(feature = "rocksdb")]

use basalt_cold::{ColdTier, Collecting, conformance};
use basalt_cold_rocks::{RocksOptions, RocksTier};
use basalt_env::RealDisk;
use basalt_value_log::{ValueOptions, ValueTier};
use std::path::Path;
use std::sync::Arc;

fn open(dir: &Path, value_bytes_min: usize) -> ValueTier {
    let options = RocksOptions { cache_bytes: 8 << 20, ..RocksOptions::default() };
    let rows = Arc::new(RocksTier::open(dir, &options).expect("RocksDB opens"));
    let options =
        ValueOptions { value_bytes_min, segment_bytes_min: 64 << 10, ..ValueOptions::default() };
    ValueTier::open(rows, Arc::new(RealDisk), dir, options).expect("the log opens")
}

#[test]
fn it_conforms_before_it_knows_where_values_are_and_after() {
    for value_bytes_min in [1, 512] {
        for is_built in [false, true] {
            let root = tempfile::tempdir().expect("a directory");
            conformance::run(root.path(), &|dir| {
                let tier = open(dir, value_bytes_min);
                while is_built && tier.collect(0).expect("collects") > Collecting::Nothing {}
                Box::new(tier)
            });
        }
    }
}
