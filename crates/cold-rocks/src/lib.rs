//! bytes ▸ resp ▸ command ▸ engine ▸ log ▸ \[cold\]
//!
//! RocksDB behind the [`ColdTier`](basalt_cold::ColdTier) trait, used as a sorted store of whole
//! checkpoints: no write-ahead log, a memtable that stays empty.
//! It owns every RocksDB option, the staging directory and the translation of RocksDB's errors.
//! It must never know what keys and values mean, and no other crate names RocksDB.
//! Its one invariant: rows enter only by one atomic ingestion per checkpoint, so that what is on
//! disk is always exactly some sequence of whole checkpoints.
//! Read `checkpoint.rs` next (how rows get in), then `tier.rs` (how they get out), then
//! `options.rs` (every choice with its reason), then `space.rs` (how space comes back).
#![forbid(unsafe_code)]

mod checkpoint;
mod deleted;
mod error;
mod options;
mod reads;
mod space;
mod staging;
mod tier;
mod whole_files;

pub use options::{CompactionIo, LastLevel, RocksOptions};
pub use tier::RocksTier;
