//! An engine without files, for tests of this crate's inside.

use crate::changes::ChangeSet;
use crate::engine::{Engine, Options};
use crate::journal_log::{JournalLog, Trimming};
use crate::log::CommitLog;
use crate::recovery::RecoveryError;
use crate::txn::{PutOptions, Txn};
use crate::view::CommandContext;
use basalt_cold::{MemoryDisk, MemoryTier, Residency};
use basalt_env::{SimDisk, clock::ManualClock};
use basalt_journal::FsyncPolicy;
use std::path::Path;
use std::sync::Arc;

/// An empty engine with two databases whose replies wait for the log, and its clock.
pub(crate) fn engine() -> (Engine, Arc<ManualClock>) {
    let tier = MemoryTier::open(&Arc::new(MemoryDisk::new()), Path::new("cold"), Residency::Cached);
    let options = Options { databases: 2, checkpoint_log_bytes: u64::MAX, ..Default::default() };
    let journal = basalt_journal::Options { policy: FsyncPolicy::Always, ..Default::default() };
    let clock = Arc::new(ManualClock::at_unix_ms(1));
    let engine = Engine::open(options, Arc::new(tier), Arc::clone(&clock) as _, |floor, replay| {
        let (disk, dir) = (Arc::new(SimDisk::new()), Path::new("/journal"));
        let trimming = Trimming::AfterCheckpoint;
        let log = JournalLog::open(disk, dir, journal, trimming, floor, replay)?;
        Ok::<Arc<dyn CommitLog>, RecoveryError>(Arc::new(log))
    });
    (engine.expect("an empty engine opens"), clock)
}

/// Puts a string under a key of database 0, with this expiry.
pub(crate) fn put(engine: &Engine, key: &[u8], expire_ms: u64) {
    let key = engine.key(key);
    let mut changes = ChangeSet::default();
    let session = CommandContext::background(0, engine.clock.unix_ms());
    let mut txn = Txn::new(engine, engine.lock(&[key]), session, &mut changes);
    txn.put(&key, b"value", PutOptions::whole(expire_ms));
    txn.append();
}

/// A journal under `always` that nothing has been appended to, and its disk.
pub(crate) fn journal_log() -> (JournalLog, SimDisk) {
    let disk = SimDisk::new();
    let (mut log, tier) = (None, MemoryDisk::new());
    let tier = MemoryTier::open(&Arc::new(tier), Path::new("cold"), Residency::Cached);
    let journal = basalt_journal::Options { policy: FsyncPolicy::Always, ..Default::default() };
    let clock = Arc::new(ManualClock::at_unix_ms(1));
    let opened = Engine::open(Options::default(), Arc::new(tier), clock, |floor, replay| {
        let (disk, dir) = (Arc::new(disk.clone()), Path::new("/journal"));
        let trimming = Trimming::AfterCheckpoint;
        log = Some(JournalLog::open(disk, dir, journal, trimming, floor, replay)?);
        Err(RecoveryError::Log(crate::log::LogError("only the log is wanted".to_owned())))
    });
    assert!(opened.is_err());
    (log.expect("it opens"), disk)
}
