//! How much memory a long string takes between a command and the disk.
//!
//! It is a program of its own, with one test, so that nobody else's memory is counted.

use basalt_cold::{MemoryDisk, MemoryTier, Residency};
use basalt_engine::{
    ChangeSet, CommandContext, CommitLog, Destination, Engine, Gate, Key, Options, PutOptions,
    RecoveryError, Txn,
};
use basalt_env::{Env, RealDisk};
use basalt_journal::{Driver, FsyncPolicy};
use basalt_journal_log::{JournalLog, Trimming};
use basalt_stdx::counting_allocator::CountingAllocator;
use std::path::Path;
use std::sync::Arc;

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator::new();

const LONG: usize = 16 << 20;

fn open(dir: &Path) -> (Engine, Arc<JournalLog>) {
    let tier = MemoryTier::open(&Arc::new(MemoryDisk::new()), Path::new("cold"), Residency::Cached);
    let (policy, driver) = (FsyncPolicy::Always, Driver::Caller);
    let journal = basalt_journal::Options { policy, driver, ..Default::default() };
    let (env, mut opened) = (Env::system(), None);
    let engine = Engine::open(Options::default(), Arc::new(tier), env.clone(), |floor, replay| {
        let (disk, trimming) = (Arc::new(RealDisk), Trimming::Never);
        let log = Arc::new(JournalLog::open(&env, disk, dir, journal, trimming, floor, replay)?);
        opened = Some(Arc::clone(&log));
        Ok::<Arc<dyn CommitLog>, RecoveryError>(log)
    });
    (engine.expect("it opens"), opened.expect("the engine opens its log"))
}

/// Runs a command on keys of one partition and has the log write it; returns the most that it took,
/// in hundredths of a long string.
fn hundredths(
    (engine, log): &(Engine, Arc<JournalLog>),
    keys: &[Key<'_>],
    command: impl FnOnce(&mut Txn<'_>),
) -> usize {
    let peak = ALLOCATOR.peak_of(|| {
        let mut changes = ChangeSet::default();
        let context = CommandContext::background(0, engine.clock().unix_ms());
        let mut txn = Txn::new(engine, engine.lock(keys), context, &mut changes);
        command(&mut txn);
        txn.commit(&mut Gate::default());
        log.sync_all().expect("a healthy disk");
    });
    peak * 100 / LONG
}

#[test]
fn the_log_has_no_copy_of_a_long_string() {
    let dir = tempfile::tempdir().expect("a directory");
    let world = open(dir.path());
    let [a, b] = [b"{k}a", b"{k}b"].map(|key| world.0.key(key));
    let value = vec![b'v'; LONG];
    let to_b = Destination { db: 0, key: &b };
    let taken = [
        hundredths(&world, &[a], |txn| txn.put(&a, &value, PutOptions::whole(0))),
        hundredths(&world, &[a, b], |txn| assert_eq!(txn.copy(&a, to_b), Ok(true))),
        hundredths(&world, &[a, b], |txn| assert_eq!(txn.rename(&a, to_b), Ok(true))),
        hundredths(&world, &[b], |txn| assert_eq!(txn.splice(&b, 7, &value[..LONG / 2]), LONG)),
    ];
    // What is put as a new value is that value.
    let expected = [100, 0, 0, 0];
    for (taken, expected) in taken.iter().zip(expected) {
        assert!((expected..expected + 10).contains(taken), "{taken:?}, expected {expected:?}");
    }
    drop(world);
    let (engine, _) = open(dir.path());
    let context = CommandContext::background(0, engine.clock().unix_ms());
    let view = basalt_engine::View::new(&engine, engine.lock(&[b]), context);
    let found =
        view.peek(&b).and_then(|object| object.string().map(|string| string.bytes().to_vec()));
    assert!(found.is_some_and(|bytes| bytes == value), "the log has it");
}
