//! RocksDB behind the trait: the common suite, and what only a real disk can show.

mod checkpoints;
mod crash;
mod damage;
mod full_disk;
mod probes;
mod space;

use std::path::Path;

use basalt_cold::{ColdError, ColdTier, conformance};
use basalt_cold_rocks::{CompactionIo, LastLevel, RocksOptions, RocksTier};

fn open(dir: &Path) -> RocksTier {
    RocksTier::open(dir, &RocksOptions::default()).expect("opens")
}

fn commit(tier: &dyn ColdTier, rows: impl IntoIterator<Item = (Vec<u8>, Vec<u8>)>) {
    try_commit(tier, rows).expect("commits");
}

fn try_commit(
    tier: &dyn ColdTier,
    rows: impl IntoIterator<Item = (Vec<u8>, Vec<u8>)>,
) -> Result<(), ColdError> {
    let mut writer = tier.checkpoint_writer()?;
    for (key, value) in rows {
        writer.put(&key, &value)?;
    }
    writer.prepare()?.commit()
}

/// Bytes that do not compress.
fn noise(seed: u64, len: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()
    };
    std::iter::repeat_with(next).flatten().take(len).collect()
}

#[test]
fn rocks_tier_conforms() {
    let root = tempfile::tempdir().expect("a temporary directory");
    conformance::run(root.path(), &|dir| Box::new(open(dir)));
}

#[test]
fn rocks_tier_conforms_with_every_other_option() {
    // Beside the build rather than in /tmp, which may be in memory and know no direct I/O.
    let root = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a temporary directory");
    let options = RocksOptions {
        cache_bytes: 0,
        file_bytes: 1 << 20,
        background_threads: 1,
        compaction_bytes_per_second: Some(64 << 20),
        compaction_io: CompactionIo::Direct,
        last_level: LastLevel::Small,
    };
    conformance::run(root.path(), &|dir| Box::new(RocksTier::open(dir, &options).expect("opens")));
}

#[test]
fn a_second_opening_is_refused() {
    let root = tempfile::tempdir().expect("a temporary directory");
    let tier = open(root.path());
    let second = RocksTier::open(root.path(), &RocksOptions::default());
    assert!(matches!(second.err(), Some(ColdError::Locked { .. })));
    tier.close();
    drop(tier);
    open(root.path());
}
