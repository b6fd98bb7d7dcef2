//! Canaries: tiers that break one promise each. The suite must notice every one.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
    sync::Arc,
};

use basalt_cold::{
    CheckpointWriter, ColdError, ColdStats, ColdTier, MemoryDisk, MemoryTier, PreparedCheckpoint,
    Pressure, Probe, Residency, Visit, conformance,
};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Defect {
    None,
    ForgetsDeletes,
    ForgetsRanges,
    CommitsWhenPrepared,
    ScansIncludingTheEnd,
    ProbesAlwaysAbsent,
    ProbesAlwaysUnknown,
    ReadsRowByRow,
}

struct Broken {
    tier: MemoryTier,
    defect: Defect,
}

#[test]
fn the_suite_notices_every_defect() {
    use Defect::*;
    assert!(passes(None), "the wrapper itself must be sound");
    for defect in [
        ForgetsDeletes,
        ForgetsRanges,
        CommitsWhenPrepared,
        ScansIncludingTheEnd,
        ProbesAlwaysAbsent,
        ProbesAlwaysUnknown,
        ReadsRowByRow,
    ] {
        assert!(!passes(defect), "{defect:?} went unnoticed");
    }
}

fn passes(defect: Defect) -> bool {
    let disk = Arc::new(MemoryDisk::new());
    let open = |dir: &Path| -> Box<dyn ColdTier> {
        Box::new(Broken { tier: MemoryTier::open(&disk, dir, Residency::Cached), defect })
    };
    catch_unwind(AssertUnwindSafe(|| conformance::run(Path::new("/broken"), &open))).is_ok()
}

impl ColdTier for Broken {
    fn probe(&self, key: &[u8]) -> Probe {
        match self.defect {
            Defect::ProbesAlwaysAbsent => Probe::Absent,
            Defect::ProbesAlwaysUnknown => Probe::Unknown,
            _ => self.tier.probe(key),
        }
    }

    fn read_many(&self, keys: &[Vec<u8>]) -> Result<Vec<Option<Vec<u8>>>, ColdError> {
        if self.defect != Defect::ReadsRowByRow {
            return self.tier.read_many(keys);
        }
        let mut values = Vec::new();
        for key in keys {
            values.extend(self.tier.read_many(std::slice::from_ref(key))?);
            std::thread::yield_now();
        }
        Ok(values)
    }

    fn scan(&self, from: &[u8], to: &[u8], visit: &mut Visit<'_>) -> Result<(), ColdError> {
        let mut to = to.to_vec();
        if self.defect == Defect::ScansIncludingTheEnd {
            to.push(0);
        }
        self.tier.scan(from, &to, visit)
    }

    fn checkpoint_writer(&self) -> Result<Box<dyn CheckpointWriter<'_> + '_>, ColdError> {
        Ok(Box::new(BrokenWriter { inner: self.tier.checkpoint_writer()?, defect: self.defect }))
    }

    fn backup(&self, dir: &Path) -> Result<(), ColdError> {
        self.tier.backup(dir)
    }

    fn stats(&self) -> ColdStats {
        self.tier.stats()
    }

    fn pressure(&self) -> Pressure {
        self.tier.pressure()
    }

    fn close(&self) {
        self.tier.close();
    }
}

struct BrokenWriter<'tier> {
    inner: Box<dyn CheckpointWriter<'tier> + 'tier>,
    defect: Defect,
}

impl<'tier> CheckpointWriter<'tier> for BrokenWriter<'tier> {
    fn put(&mut self, key: &[u8], value: &[u8]) -> Result<(), ColdError> {
        self.inner.put(key, value)
    }

    fn delete(&mut self, key: &[u8]) -> Result<(), ColdError> {
        if self.defect == Defect::ForgetsDeletes { Ok(()) } else { self.inner.delete(key) }
    }

    fn delete_range(&mut self, from: &[u8], to: &[u8]) -> Result<(), ColdError> {
        if self.defect == Defect::ForgetsRanges {
            return Ok(());
        }
        self.inner.delete_range(from, to)
    }

    fn bytes(&self) -> u64 {
        self.inner.bytes()
    }

    fn prepare(self: Box<Self>) -> Result<Box<dyn PreparedCheckpoint + 'tier>, ColdError> {
        let prepared = self.inner.prepare()?;
        if self.defect == Defect::CommitsWhenPrepared {
            prepared.commit()?;
            return Ok(Box::new(Nothing));
        }
        Ok(prepared)
    }
}

struct Nothing;

impl PreparedCheckpoint for Nothing {
    fn commit(self: Box<Self>) -> Result<(), ColdError> {
        Ok(())
    }

    fn discard(self: Box<Self>) {}
}
