//! What the journal tells as the engine's log.

use basalt_change::place::ShardId;
use basalt_cold::{MemoryDisk, MemoryTier, Residency};
use basalt_engine::{CommitLog, Engine, Fate, LogError, Options, RecoveryError};
use basalt_env::{Env, ManualClock, SimDisk};
use basalt_journal::FsyncPolicy;
use basalt_journal_log::{JournalLog, Trimming};
use parking_lot::Mutex;
use std::path::Path;
use std::sync::Arc;

/// A journal under `always` that nothing has been appended to, and its disk.
fn journal_log() -> (JournalLog, SimDisk) {
    let disk = SimDisk::new();
    let (mut log, tier) = (None, MemoryDisk::new());
    let tier = MemoryTier::open(&Arc::new(tier), Path::new("cold"), Residency::Cached);
    let journal = basalt_journal::Options { policy: FsyncPolicy::Always, ..Default::default() };
    let clock = Arc::new(ManualClock::at_unix_ms(1));
    let opened = Engine::open(
        Options::default(),
        Arc::new(tier),
        Env::manual(&clock, 1),
        |floor, replay| {
            let (disk, dir) = (Arc::new(disk.clone()), Path::new("/journal"));
            let trimming = Trimming::AfterCheckpoint;
            log = Some(JournalLog::open(
                &Env::system(),
                disk,
                dir,
                journal,
                trimming,
                floor,
                replay,
            )?);
            Err(RecoveryError::Log(LogError("only the log is wanted".to_owned())))
        },
    );
    assert!(opened.is_err());
    (log.expect("it opens"), disk)
}

#[test]
fn a_change_of_policy_is_told_when_it_holds() {
    let (log, disk) = journal_log();
    let log = Arc::new(log);
    disk.hold_syncs();
    let shard = ShardId::all().next().expect("there are some");
    let (_, ticket) = log.append(shard, b"record");
    log.kick();
    while disk.syncs_waiting() == 0 {
        std::thread::yield_now();
    }
    let seen = Arc::new(Mutex::new(Vec::new()));
    let (weak, notes) = (Arc::downgrade(&log), Arc::clone(&seen));
    log.subscribe(Arc::new(move || {
        notes.lock().extend(weak.upgrade().map(|log| log.fate(ticket)));
    }));
    log.set_policy(FsyncPolicy::Never);
    let last = seen.lock().last().copied();
    disk.release_syncs();
    assert_eq!(last, Some(Fate::Acknowledged));
}
