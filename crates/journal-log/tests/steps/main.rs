//! Engine and journal in one thread: every step is made by hand, and time passes by hand.
//!
//! It is a program of its own, so that a thread that somebody starts can be counted.

use basalt_cold::{MemoryDisk, MemoryTier, Residency};
use basalt_engine::{
    ChangeSet, Chores, CommandContext, CommitLog, Engine, Fate, Gate, Options, PutOptions, Txn,
    View,
};
use basalt_env::{Env, ManualClock, SimDisk};
use basalt_journal::{Driver, FsyncPolicy};
use basalt_journal_log::{JournalLog, Trimming};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

const START_MS: u64 = 1_000_000;

struct World {
    clock: Arc<ManualClock>,
    disk: SimDisk,
    cold: Arc<MemoryDisk>,
}

/// A life of the process.
struct Life {
    engine: Arc<Engine>,
    log: Arc<JournalLog>,
    chores: Chores,
}

impl World {
    fn open(&self, policy: FsyncPolicy) -> Life {
        let tier = MemoryTier::open(&self.cold, Path::new("cold"), Residency::Uncached);
        let journal =
            basalt_journal::Options { policy, driver: Driver::Caller, ..Default::default() };
        let env = Env::manual(&self.clock, 7);
        let mut opened = None;
        let engine =
            Engine::open(Options::default(), Arc::new(tier), env.clone(), |floor, replay| {
                let (disk, dir) = (Arc::new(self.disk.clone()), Path::new("/journal"));
                let trimming = Trimming::AfterCheckpoint;
                let log = JournalLog::open(&env, disk, dir, journal, trimming, floor, replay)?;
                let log = Arc::new(log);
                opened = Some(Arc::clone(&log));
                Ok::<Arc<dyn CommitLog>, basalt_engine::RecoveryError>(log)
            });
        let engine = Arc::new(engine.expect("it opens"));
        Life { engine, log: opened.expect("the engine opens its log"), chores: Chores::default() }
    }
}

impl Life {
    fn put(&self, key: &[u8], expire_ms: u64) -> Gate {
        let key = self.engine.key(key);
        let context = CommandContext::background(0, self.engine.clock().unix_ms());
        let (mut changes, mut gate) = (ChangeSet::default(), Gate::default());
        let mut txn = Txn::new(&self.engine, self.engine.lock(&[key]), context, &mut changes);
        txn.put(&key, b"value", PutOptions::whole(expire_ms));
        txn.commit(&mut gate);
        gate
    }

    /// Whether a key is there, read from the cold tier if need be.
    fn has(&mut self, key: &[u8]) -> bool {
        let key = self.engine.key(key);
        loop {
            let mut locked = self.engine.lock(&[key]);
            let missing = self.engine.missing(&mut locked, 0, &[key]);
            let Some(missing) = missing else {
                let context = CommandContext::background(0, self.engine.clock().unix_ms());
                return View::new(&self.engine, locked, context).peek(&key).is_some();
            };
            drop(locked);
            let done = Arc::new(AtomicBool::new(false));
            let told = Arc::clone(&done);
            let note = move |result: Result<(), _>| {
                result.expect("it is readable");
                told.store(true, Ordering::Relaxed);
            };
            self.engine.fetch(missing, Box::new(note));
            assert!(self.chores.step(&self.engine), "there is something to read");
            assert!(done.load(Ordering::Relaxed), "it was read");
        }
    }

    fn make_all_steps(&mut self) {
        while self.chores.step(&self.engine) | self.log.step().expect("a healthy disk") {}
    }
}

fn threads() -> usize {
    std::fs::read_dir("/proc/self/task").expect("this is Linux").count()
}

#[test]
fn everything_works_by_hand_in_one_thread() {
    let before = threads();
    let world = World {
        clock: Arc::new(ManualClock::at_unix_ms(START_MS)),
        disk: SimDisk::new(),
        cold: Arc::new(MemoryDisk::new()),
    };
    let mut life = world.open(FsyncPolicy::Always);
    let mut gate = life.put(b"stays", 0);
    life.put(b"goes", START_MS + 5_000);
    assert_eq!(gate.poll(&*life.log), Fate::Pending);
    life.log.step().expect("a healthy disk");
    assert_eq!(gate.poll(&*life.log), Fate::Acknowledged);

    let saved = Arc::new(AtomicBool::new(false));
    let told = Arc::clone(&saved);
    life.engine.request_checkpoint(Box::new(move |result| {
        result.expect("a healthy disk");
        told.store(true, Ordering::Relaxed);
    }));
    life.make_all_steps();
    assert!(saved.load(Ordering::Relaxed), "the checkpoint has run");
    assert_eq!(life.engine.unload().kept, 0);
    assert!(life.has(b"stays") && life.has(b"goes") && !life.has(b"neither"));

    world.clock.advance_ms(6_000);
    assert_eq!(life.engine.totals(0).keys, 2);
    life.make_all_steps();
    assert_eq!(life.engine.totals(0).keys, 1, "the other key has expired");
    drop(life);

    // Under `everysec` a second passes before it is synced, however many steps are made.
    let mut life = world.open(FsyncPolicy::EverySecond);
    assert!(life.has(b"stays") && !life.has(b"goes"));
    life.put(b"first", 0);
    life.make_all_steps();
    life.put(b"late", 0);
    let syncs = life.log.stats().fsyncs;
    life.make_all_steps();
    assert_eq!(life.log.stats().fsyncs, syncs, "the second is not over");
    world.clock.advance_ms(1_001);
    life.make_all_steps();
    assert_eq!(life.log.stats().fsyncs, syncs + 1);
    drop(life);
    assert!(world.open(FsyncPolicy::Always).has(b"late"));
    assert_eq!(threads(), before, "nobody has started a thread");
}
