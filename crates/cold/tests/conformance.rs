//! The reference passes its own suite, and a broken tier does not.

mod broken;

use std::{path::Path, sync::Arc};

use basalt_cold::{
    CheckpointWriter, ColdError, ColdTier, Fault, MemoryDisk, MemoryTier, Probe, Residency,
    conformance,
};

#[test]
fn memory_tier_conforms() {
    for residency in [Residency::Cached, Residency::Uncached] {
        let disk = Arc::new(MemoryDisk::new());
        conformance::run(Path::new("/imaginary"), &|dir| {
            Box::new(MemoryTier::open(&disk, dir, residency))
        });
    }
}

#[test]
fn uncached_rows_probe_unknown() {
    let disk = Arc::new(MemoryDisk::new());
    let tier = MemoryTier::open(&disk, Path::new("/a"), Residency::Uncached);
    commit_one(&tier, b"k").expect("commits");
    assert_eq!(tier.probe(b"k"), Probe::Unknown);
    assert_eq!(tier.probe(b"other"), Probe::Absent);
}

#[test]
fn injected_faults_strike_once_and_leave_nothing() {
    let disk = Arc::new(MemoryDisk::new());
    let tier = MemoryTier::open(&disk, Path::new("/a"), Residency::Cached);
    for fault in [Fault::PrepareNoSpace, Fault::CommitNoSpace] {
        disk.inject(Path::new("/a"), fault);
        assert!(matches!(commit_one(&tier, b"k"), Err(ColdError::NoSpace { .. })));
        assert_eq!(tier.probe(b"k"), Probe::Absent);
    }
    commit_one(&tier, b"k").expect("the fault is gone");
    assert_eq!(tier.probe(b"k"), Probe::Present(b"v".to_vec()));
}

#[test]
fn rows_over_the_limit_are_refused() {
    let mut check = basalt_cold::RowCheck::default();
    let refused = check.check(b"k", basalt_cold::ROW_BYTES_MAX);
    assert!(matches!(refused, Err(ColdError::RowTooBig { .. })));
    check.check(b"k", basalt_cold::ROW_BYTES_MAX - 1).expect("a refused row does not count");
}

fn commit_one(tier: &dyn ColdTier, key: &[u8]) -> Result<(), ColdError> {
    let mut writer: Box<dyn CheckpointWriter<'_> + '_> = tier.checkpoint_writer()?;
    writer.put(key, b"v")?;
    writer.prepare()?.commit()
}
