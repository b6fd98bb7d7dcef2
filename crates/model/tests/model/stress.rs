//! Real threads: transfers between keys, changes of strings and collections, reads, checkpoints,
//! flushes, expiry and misses at once.
//!
//! Transfers keep the sum of what their keys hold; a thread that reads all of them under their
//! locks must see that sum, at any time and after recovery. `BASALT_STRESS_SECONDS` says how long
//! (3 by default).

use basalt_cold::{ColdTier, MemoryDisk, MemoryTier, Residency};
use basalt_engine::{
    Absent, ChangeSet, CommandContext, Engine, Fate, Gate, LockWait, PutOptions, Touch, Txn, View,
};
use basalt_env::random::Random;
use basalt_journal::FsyncPolicy;
use basalt_model::access::wait_for;
use basalt_model::stage::TierFaults;
use basalt_model::state::Value;
use basalt_model::world::{Setting, World};
use basalt_value::list::Side;
use basalt_value::{Collection, List, Set, SortedSet};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

const ACCOUNTS: u64 = 40;
const START_SUM: u64 = ACCOUNTS * 1000;
/// Without progress for so long there is a deadlock.
const STUCK: Duration = Duration::from_secs(120);
/// The databases of the accounts, of what is flushed, and of the collections.
const BANK: u8 = 0;
const SCRATCH: u8 = 1;
const SHELF: u8 = 2;

fn seconds() -> u64 {
    std::env::var("BASALT_STRESS_SECONDS").map_or(3, |text| text.parse().expect("a number"))
}

fn account(number: u64) -> Vec<u8> {
    format!("{{p{}}}account{number}", number % 11).into_bytes()
}

/// What the threads share.
struct Shared {
    engine: Arc<Engine>,
    stop: AtomicBool,
    progress: Vec<AtomicU64>,
}

/// One thread's means.
struct Client<'s> {
    shared: &'s Shared,
    number: usize,
    random: Random,
    changes: ChangeSet,
}

impl Client<'_> {
    fn session(&self, db: u8) -> CommandContext {
        let now_ms = self.shared.engine.clock().unix_ms();
        CommandContext { touch: Touch::Yes, ..CommandContext::background(db, now_ms) }
    }

    fn fetch(&self, missing: basalt_engine::Missing) {
        let (sender, done) = channel();
        // The thread that asked waits below.
        self.shared.engine.fetch(missing, Box::new(move |result| drop(sender.send(result))));
        done.recv_timeout(STUCK).expect("a fetch ends").expect("and well");
    }

    /// Runs a write and, sometimes, waits for its acknowledgement.
    fn write(&mut self, db: u8, keys: &[Vec<u8>], work: impl Fn(&mut Txn<'_>)) {
        let engine = Arc::clone(&self.shared.engine);
        let keys: Vec<_> = keys.iter().map(|key| engine.key(key)).collect();
        let mut gate = loop {
            let mut locked = engine.lock(&keys);
            if let Some(missing) = engine.missing(&mut locked, db, &keys) {
                drop(locked);
                self.fetch(missing);
                continue;
            }
            let mut txn = Txn::new(&engine, locked, self.session(db), &mut self.changes);
            work(&mut txn);
            let mut gate = Gate::default();
            txn.commit(&mut gate);
            break gate;
        };
        engine.log().kick();
        if !gate.is_open() && self.random.chance(1, 4) {
            let start = Instant::now();
            while gate.poll(engine.log()) != Fate::Acknowledged {
                assert!(start.elapsed() < STUCK, "a change is never acknowledged");
                std::thread::yield_now();
            }
        }
        self.shared.progress[self.number].fetch_add(1, Ordering::Relaxed);
    }

    fn transfer(&mut self) {
        let from = self.random.below(ACCOUNTS);
        let to = (from + 1 + self.random.below(ACCOUNTS - 1)) % ACCOUNTS;
        let amount = self.random.below(50);
        let keys = [account(from), account(to)];
        let removes_empty = self.random.chance(1, 2);
        self.write(BANK, &keys, |txn| {
            let engine = txn.engine();
            let [from, to] = [engine.key(&keys[0]), engine.key(&keys[1])];
            let held = txn
                .get(&from)
                .map_or(0, |object| amount_of(object.string().expect("a string").bytes()));
            let amount = if removes_empty { held } else { amount.min(held) };
            let there = txn
                .get(&to)
                .map_or(0, |object| amount_of(object.string().expect("a string").bytes()));
            match held - amount {
                0 => drop_key(txn, &from),
                rest => txn.put(&from, &text_of(rest), PutOptions::whole(0)),
            }
            txn.put(&to, &text_of(there + amount), PutOptions::whole(0));
        });
    }

    /// Everything in the bank, in one look.
    fn audit(&mut self) {
        let engine = Arc::clone(&self.shared.engine);
        let keys: Vec<Vec<u8>> = (0..ACCOUNTS).map(account).collect();
        let keys: Vec<_> = keys.iter().map(|key| engine.key(key)).collect();
        let mut gate = Gate::default();
        let sum: u64 = loop {
            let mut locked = engine.lock(&keys);
            if let Some(missing) = engine.missing(&mut locked, BANK, &keys) {
                drop(locked);
                self.fetch(missing);
                continue;
            }
            engine.gate_reads(&mut locked, &keys, &mut gate);
            let view = View::new(&engine, locked, self.session(BANK));
            let amounts = keys.iter().filter_map(|key| view.get(key));
            break amounts
                .map(|object| amount_of(object.string().expect("a string").bytes()))
                .sum();
        };
        assert_eq!(sum, START_SUM, "a transfer was seen half done");
        self.shared.progress[self.number].fetch_add(1, Ordering::Relaxed);
    }

    fn scribble(&mut self) {
        let key = format!("{{s{}}}{}", self.random.below(30), self.random.below(200)).into_bytes();
        let expire_ms = match self.random.below(3) {
            0 => self.session(SCRATCH).now_ms + self.random.below(50),
            _ => 0,
        };
        let len = self.random.below(3000) as usize;
        let action = self.random.below(4);
        self.write(SCRATCH, std::slice::from_ref(&key), |txn| {
            let key = txn.engine().key(&key);
            match action {
                0 => drop_key(txn, &key),
                1 => {
                    txn.splice(&key, len / 2, &vec![b's'; len / 2]);
                }
                _ => txn.put(&key, &vec![b'p'; len], PutOptions::whole(expire_ms)),
            }
        });
    }

    /// Elements come and go, mostly come, until a collection has thousands and loses nearly all.
    fn collect(&mut self) {
        let number = self.random.below(30);
        let key = format!("{{c{}}}{number}", number % 10).into_bytes();
        let mut element = || self.random.below(5_000).to_string().into_bytes();
        let elements: [Vec<u8>; 8] = std::array::from_fn(|_| element());
        let action = self.random.below(12);
        self.write(SHELF, std::slice::from_ref(&key), |txn| {
            let key = txn.engine().key(&key);
            let limits = txn.limits();
            let created = match number % 3 {
                0 => txn.edit::<List, _>(&key, Absent::Create, |list, edits| match action {
                    0 if list.len() > 2_000 => list.trim(0, 10, &limits, edits),
                    0..=3 => list.pop(Side::Left, 2, &limits, edits, |_| ()),
                    _ => elements.iter().for_each(|it| list.push(Side::Right, it, &limits, edits)),
                }),
                1 => txn.edit::<Set, _>(&key, Absent::Create, |set, edits| {
                    for element in &elements {
                        match action {
                            0..=3 => set.remove(element, edits),
                            _ => set.add(element, &limits, edits),
                        };
                    }
                }),
                _ => txn.edit::<SortedSet, _>(&key, Absent::Create, |set, edits| {
                    if action == 0 && set.len() > 2_000 {
                        set.remove_ranks(10..usize::MAX, edits);
                    }
                    for (score, element) in elements.iter().enumerate() {
                        if action > 3 {
                            set.set(element, &limits, edits, |_| Some(score as f64));
                        } else {
                            set.remove(element, edits);
                        }
                    }
                }),
            };
            created.expect("a key keeps its kind");
        });
    }

    fn run(mut self) {
        while !self.shared.stop.load(Ordering::Relaxed) {
            match self.random.below(100) {
                0..=39 => self.transfer(),
                40..=64 => self.scribble(),
                65..=89 => self.collect(),
                _ => self.audit(),
            }
        }
    }
}

fn drop_key(txn: &mut Txn<'_>, key: &basalt_engine::Key<'_>) {
    txn.delete(key);
}

fn amount_of(bytes: &[u8]) -> u64 {
    std::str::from_utf8(bytes).expect("digits").trim_end().parse().expect("digits")
}

/// Of differing lengths, so that entries move, and so that some are in pieces.
fn text_of(amount: u64) -> Vec<u8> {
    let mut text = amount.to_string().into_bytes();
    let long = if amount.is_multiple_of(4) { 2_500 } else { 0 };
    text.resize(text.len() + (amount % 300) as usize + long, b' ');
    text
}

/// Checkpoints, unloads, flushes and passing time, over and over.
fn disturb(shared: &Shared, world: &World<'_>, until: Instant) {
    let mut random = Random::new(99);
    let mut seen = (Instant::now(), vec![0; shared.progress.len()]);
    while Instant::now() < until {
        match random.below(8) {
            0..=2 => shared.engine.checkpoint().expect("a healthy disk"),
            3 => {
                shared.engine.unload();
            }
            4 => {
                let mut gate = Gate::default();
                shared
                    .engine
                    .flush(SCRATCH..SCRATCH + 1, LockWait::Endless, &mut gate)
                    .expect("an endless wait ends");
            }
            5 => shared.engine.expire_due(),
            6 => world.clock.advance_ms(random.below(20)),
            _ => std::thread::sleep(Duration::from_millis(2)),
        }
        let now: Vec<u64> = shared.progress.iter().map(|p| p.load(Ordering::Relaxed)).collect();
        assert!(seen.0.elapsed() < STUCK, "a thread makes no progress: {now:?}");
        if now.iter().zip(&seen.1).all(|(now, before)| now > before) {
            seen = (Instant::now(), now);
        }
    }
}

fn everything(world: &World<'_>, db: u8) -> BTreeMap<Vec<u8>, Value> {
    let counted = world.engine().totals(db).keys;
    while !world
        .engine()
        .incomplete(db, LockWait::Endless)
        .expect("an endless wait ends")
        .is_empty()
    {
        wait_for(&world.start_load(
            world.engine().incomplete(db, LockWait::Endless).expect("an endless wait ends"),
        ))
        .expect("loaded");
    }
    let keys = world.dump(db).expect("loaded");
    assert_eq!(keys.len() as u64, counted, "database {db}: counted keys are there");
    keys
}

fn stress(policy: FsyncPolicy, residency: Residency, threads: usize, time: Duration) -> u64 {
    let disk = Arc::new(MemoryDisk::new());
    let open_cold =
        || -> Arc<dyn ColdTier> { Arc::new(MemoryTier::open(&disk, Path::new("cold"), residency)) };
    let setting = Setting { policy, databases: 3, string_piece_bytes: 700, ..Setting::default() };
    let mut world = World::new(setting, &open_cold).expect("an empty world");
    let wrong = residency == Residency::Uncached;
    world.stage.set_faults(TierFaults { filters_are_wrong: wrong, ..TierFaults::default() });
    for number in 0..ACCOUNTS {
        let put = |txn: &mut Txn<'_>, keys: &[basalt_engine::Key<'_>]| {
            txn.put(&keys[0], &text_of(1000), PutOptions::whole(0));
        };
        world.write(BANK, &[&account(number)], put).expect("written");
    }
    let shared = Shared {
        engine: Arc::clone(world.engine()),
        stop: AtomicBool::new(false),
        progress: (0..threads).map(|_| AtomicU64::new(0)).collect(),
    };
    std::thread::scope(|scope| {
        for number in 0..threads {
            let random = Random::new(number as u64);
            let client = Client { shared: &shared, number, random, changes: ChangeSet::default() };
            scope.spawn(|| client.run());
        }
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            disturb(&shared, &world, Instant::now() + time);
        }));
        shared.stop.store(true, Ordering::Relaxed);
        outcome.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    });
    let commands = shared.progress.iter().map(|progress| progress.load(Ordering::Relaxed)).sum();
    drop(shared);
    let before = [BANK, SCRATCH, SHELF].map(|db| everything(&world, db));
    world.engine().log().sync_all().expect("synced");
    let now_ms = world.now_ms();
    let live = |keys: &BTreeMap<Vec<u8>, Value>| -> BTreeMap<Vec<u8>, Value> {
        keys.iter()
            .filter(|(_, value)| value.is_live(now_ms))
            .map(|(k, v)| (k.clone(), v.clone()))
            .collect()
    };
    for seed in 0..3 {
        world.crash(seed).expect("opens");
        for (db, before) in [BANK, SCRATCH, SHELF].into_iter().zip(&before) {
            assert!(live(&everything(&world, db)) == live(before), "recovery equals memory");
        }
        let sum: u64 =
            everything(&world, BANK).values().map(|value| amount_of(value.string())).sum();
        assert_eq!(sum, START_SUM);
    }
    commands
}

#[test]
fn threads_keep_the_sum_and_recovery_equals_memory() {
    let cases = [
        (FsyncPolicy::Always, Residency::Uncached, 3),
        (FsyncPolicy::EverySecond, Residency::Cached, 4),
        (FsyncPolicy::Never, Residency::Uncached, 2),
    ];
    let time = Duration::from_millis(seconds() * 1000 / cases.len() as u64);
    for (policy, residency, threads) in cases {
        let commands = stress(policy, residency, threads, time);
        assert!(commands > 0);
        report(commands, policy);
    }
}

#[allow(clippy::print_stderr, reason = "how much was tested is worth knowing")]
fn report(commands: u64, policy: FsyncPolicy) {
    eprintln!("{commands} commands under {policy:?}");
}
