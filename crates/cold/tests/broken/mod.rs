//! Canaries: tiers that break one promise each. The suite must notice every one.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    path::Path,
    sync::{Arc, Condvar, Mutex},
    time::Duration,
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
    ReadsInTwoParts,
}

/// How long a torn read waits for a commit that tears it. Nobody commits meanwhile in most cases of
/// the suite; in the one that is to notice, somebody does all the time.
const TEAR_WAIT: Duration = Duration::from_millis(50);

struct Broken {
    tier: MemoryTier,
    defect: Defect,
    commits: Arc<Commits>,
}

/// Counts commits and lets others wait for the next one.
#[derive(Default)]
struct Commits {
    count: Mutex<u64>,
    more: Condvar,
}

impl Commits {
    fn add(&self) {
        *self.count.lock().unwrap() += 1;
        self.more.notify_all();
    }

    fn wait_for_next(&self) {
        let count = self.count.lock().unwrap();
        let before = *count;
        let _ = self.more.wait_timeout_while(count, TEAR_WAIT, |now| *now == before).unwrap();
    }
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
        ReadsInTwoParts,
    ] {
        assert!(!passes(defect), "{defect:?} went unnoticed");
    }
}

fn passes(defect: Defect) -> bool {
    let disk = Arc::new(MemoryDisk::new());
    let open = |dir: &Path| -> Box<dyn ColdTier> {
        let tier = MemoryTier::open(&disk, dir, Residency::Cached);
        Box::new(Broken { tier, defect, commits: Arc::default() })
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
        if self.defect != Defect::ReadsInTwoParts {
            return self.tier.read_many(keys);
        }
        let [first, rest @ ..] = keys else { return Ok(Vec::new()) };
        let mut values = self.tier.read_many(std::slice::from_ref(first))?;
        if !rest.is_empty() {
            self.commits.wait_for_next();
            values.extend(self.tier.read_many(rest)?);
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
        let inner = self.tier.checkpoint_writer()?;
        let commits = Arc::clone(&self.commits);
        Ok(Box::new(BrokenWriter { inner, defect: self.defect, commits }))
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
    commits: Arc<Commits>,
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
        Ok(Box::new(Counted { inner: prepared, commits: self.commits }))
    }
}

/// Tells those who wait for a commit.
struct Counted<'tier> {
    inner: Box<dyn PreparedCheckpoint + 'tier>,
    commits: Arc<Commits>,
}

impl PreparedCheckpoint for Counted<'_> {
    fn commit(self: Box<Self>) -> Result<(), ColdError> {
        let committed = self.inner.commit();
        self.commits.add();
        committed
    }

    fn discard(self: Box<Self>) {
        self.inner.discard();
    }
}

struct Nothing;

impl PreparedCheckpoint for Nothing {
    fn commit(self: Box<Self>) -> Result<(), ColdError> {
        Ok(())
    }

    fn discard(self: Box<Self>) {}
}
