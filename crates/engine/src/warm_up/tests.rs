//! Lists that are written, and what comes of them after a start.

use super::file::{HotKeysDir, ListReader};
use super::format::ListError;
use super::*;
use crate::engine::Options;
use crate::log::Gate;
use crate::store::changes::ChangeSet;
use crate::store::context::CommandContext;
use crate::store::txn::{PutOptions, Txn};
use crate::testing::opened;
use crate::threads::Background;
use basalt_cold::MemoryDisk;
use basalt_env::{Clock, Disk, ManualClock, SimDisk};
use basalt_stdx::short_lock::LockWait;
use std::collections::BTreeSet;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

const KEYS: u32 = 4_000;
/// Of this many keys one is hot.
const HOT_ONE_IN: usize = 10;
const DIR: &str = "hot";

struct Bench {
    engine: Arc<Engine>,
    clock: Arc<ManualClock>,
    disk: SimDisk,
    cold: Arc<MemoryDisk>,
}

impl Bench {
    /// All keys in the cold tier and in memory, and one in [`HOT_ONE_IN`] of database 0 has been
    /// used.
    fn new() -> Bench {
        let clock = Arc::new(ManualClock::at_unix_ms(1_700_000_000_000));
        let bench = Bench::open(clock, SimDisk::new(), Arc::default());
        for number in 0..KEYS {
            let name = name(number);
            let put = |txn: &mut Txn<'_>| {
                let key = bench.engine.key(&name);
                txn.put(&key, b"value", PutOptions::whole(0));
            };
            bench.run(0, &name, put);
            bench.run(1, &name, put);
        }
        bench.engine.checkpoint().expect("a checkpoint");
        bench.clock.advance_ms(5_000);
        hot().iter().for_each(|name| bench.use_key(name));
        bench
    }

    fn open(clock: Arc<ManualClock>, disk: SimDisk, cold: Arc<MemoryDisk>) -> Bench {
        let hot_keys = Some(HotKeysDir::new(Arc::new(disk.clone()), Path::new(DIR)));
        // Of a database that is there, the seed of its keys stays.
        let hash_seed = clock.unix_ms();
        let options = Options { databases: 2, hash_seed, hot_keys, ..Options::default() };
        let engine = opened(&clock, options, &cold, &[]).expect("the rows can be read");
        Bench { engine: Arc::new(engine), clock, disk, cold }
    }

    /// Another engine on the same disks, after the power has failed.
    fn reopen(self) -> Bench {
        self.disk.crash(1);
        Bench::open(self.clock, self.disk, self.cold)
    }

    fn run(&self, db: u8, name: &[u8], run: impl FnOnce(&mut Txn<'_>)) {
        let key = self.engine.key(name);
        let mut changes = ChangeSet::default();
        let session = CommandContext::background(db, self.engine.clock().unix_ms());
        let mut txn = Txn::new(&self.engine, self.engine.lock(&[key]), session, &mut changes);
        run(&mut txn);
        txn.append(&mut Gate::default());
    }

    fn use_key(&self, name: &[u8]) {
        self.run(0, name, |txn| txn.touch(&self.engine.key(name)));
    }

    /// The keys in memory.
    fn resident(&self, db: u8) -> BTreeSet<Vec<u8>> {
        let mut resident = BTreeSet::new();
        for id in PartitionId::all() {
            let locked = self.engine.keyspace.lock(id);
            let table = locked.partition(id).database(db).table();
            table.walk(0, |entry, _| {
                resident.insert(entry.key().to_vec());
            });
        }
        resident
    }

    fn place(&self) -> &HotKeysDir {
        self.engine.options.hot_keys.as_ref().expect("the bench has one")
    }

    fn list(&self) -> io::Result<Option<u64>> {
        self.engine.write_hot_keys(self.place(), Pace::Background)
    }

    /// What the list says; `None` if there is none.
    fn listed(&self) -> Result<Option<Vec<Vec<u8>>>, ListError> {
        let Some(mut list) = ListReader::open(self.place())? else { return Ok(None) };
        let mut keys = Vec::new();
        while let Some(section) = list.next()? {
            keys.extend(section.keys);
        }
        Ok(Some(keys))
    }

    fn listed_set(&self) -> BTreeSet<Vec<u8>> {
        self.listed().expect("it can be read").expect("there is one").into_iter().collect()
    }

    /// As after a restart.
    fn forget(&self) {
        assert_eq!(self.engine.unload().kept, 0);
        assert_eq!(self.resident(0).len(), 0);
    }
}

fn name(number: u32) -> Vec<u8> {
    format!("key:{number}").into_bytes()
}

fn hot() -> BTreeSet<Vec<u8>> {
    (0..KEYS).step_by(HOT_ONE_IN).map(name).collect()
}

#[test]
fn hot_keys_come_back_and_no_others_and_are_hot_again() {
    let bench = Bench::new();
    assert_eq!(bench.list().expect("a list"), Some(bench.disk.used_bytes()));
    assert_eq!(bench.listed_set(), hot());
    bench.forget();
    bench.engine.bring_in_listed();
    assert_eq!((bench.resident(0), bench.resident(1).len()), (hot(), 0));
    assert_eq!(bench.engine.warm_up_stats().keys, hot().len() as u64);
    // Nobody has used them since, and the next start finds them all the same.
    bench.list().expect("a list");
    assert_eq!(bench.listed_set(), hot());
    bench.engine.load_all();
    assert_eq!(bench.resident(0).len(), KEYS as usize, "the others come behind them");
}

#[test]
fn after_a_restart_hot_keys_come_before_all_others() {
    let bench = Bench::new();
    bench.list().expect("a list");
    let bench = bench.reopen();
    assert_eq!(bench.resident(0).len(), 0);
    bench.engine.bring_in_listed();
    assert_eq!((bench.resident(0), bench.resident(1).len()), (hot(), 0));
    bench.engine.load_all();
    let all = KEYS as usize;
    assert_eq!((bench.resident(0).len(), bench.resident(1).len()), (all, all));
}

#[test]
fn keys_stand_in_the_order_of_their_rows_and_those_that_were_changed_since_stay_so() {
    let bench = Bench::new();
    bench.list().expect("a list");
    let listed = bench.listed().expect("it can be read").expect("there is one");
    let rows = listed.iter().map(|key| {
        let key = bench.engine.key(key);
        (key.partition, key.hash)
    });
    assert!(rows.is_sorted());
    bench.forget();
    let (changed, gone) = (&listed[0], &listed[1]);
    for (key, becomes) in [(changed, Some(&b"other"[..])), (gone, None)] {
        let key = bench.engine.key(key);
        let missing = bench.engine.missing(&mut bench.engine.lock(&[key]), 0, &[key]);
        assert!(missing.is_none(), "the tier has all rows in its cache");
        bench.run(0, key.bytes, |txn| match becomes {
            Some(value) => txn.put(&key, value, PutOptions::whole(0)),
            None => drop(txn.delete(&key)),
        });
    }
    bench.engine.bring_in_listed();
    assert_eq!(bench.engine.warm_up_stats().keys, hot().len() as u64 - 2);
    let key = bench.engine.key(changed);
    let locked = bench.engine.lock(&[key]);
    let table = locked.partition(key.partition).database(0).table();
    let found = table.find(key.hash, key.bytes).expect("it is in memory");
    assert_eq!(table.entry(found).string().expect("a string").bytes(), b"other");
}

#[test]
fn keys_of_a_flushed_database_are_not_looked_for() {
    let bench = Bench::new();
    bench.list().expect("a list");
    bench.forget();
    let mut gate = Gate::default();
    bench.engine.flush(0..1, LockWait::Endless, &mut gate).expect("nobody holds a partition");
    let brought = bench.engine.bring_in_hot_keys(bench.place()).expect("a list").expect("is there");
    assert_eq!((brought.keys, brought.outdated), (0, hot().len() as u64));
}

#[test]
fn a_list_takes_a_hundredth_of_the_target_and_has_what_was_used_last() {
    let bench = Bench::new();
    bench.clock.advance_ms(60_000);
    let last: BTreeSet<_> = (0..KEYS).step_by(5 * HOT_ONE_IN).map(name).collect();
    last.iter().for_each(|name| bench.use_key(name));
    // Most of it are heads of sections: here there are few keys in each.
    const LIST_BYTES: u64 = 8_500;
    bench.engine.set_memory_target(Some(LIST_BYTES * 100));
    let bytes = bench.list().expect("a list").expect("there was time");
    assert!((LIST_BYTES / 2..=LIST_BYTES).contains(&bytes), "{bytes} bytes");
    let listed = bench.listed_set();
    let lacks: Vec<_> = last.difference(&listed).collect();
    assert!(lacks.is_empty(), "{} of {} are missing, {bytes} bytes", lacks.len(), listed.len());
    assert!((last.len() + 50..hot().len() - 50).contains(&listed.len()), "{}", listed.len());
}

#[test]
fn hot_keys_fill_nine_tenths_of_the_target_at_most() {
    let bench = Bench::new();
    bench.list().expect("a list");
    bench.forget();
    let bring_in = || bench.engine.bring_in_hot_keys(bench.place()).expect("a list").expect("one");
    assert!(!bring_in().is_full);
    let all = bench.engine.usage().bytes;
    bench.forget();
    bench.engine.set_memory_target(Some(all));
    let brought = bring_in();
    assert!(brought.is_full, "{brought:?}");
    let percent = bench.engine.usage().bytes * 100 / all;
    assert!((90..95).contains(&percent), "{percent}%");
}

#[test]
fn damage_costs_what_stands_behind_it() {
    let bench = Bench::new();
    let bytes = bench.list().expect("a list").expect("there was time");
    bench.disk.corrupt(&bench.place().path(), bytes / 2, 1).expect("the file is there");
    assert!(matches!(bench.listed(), Err(ListError::Damaged)));
    bench.forget();
    bench.engine.bring_in_listed();
    let brought = bench.resident(0).len();
    assert!((hot().len() / 3..hot().len() * 2 / 3).contains(&brought), "{brought}");
}

#[test]
fn the_thread_brings_hot_keys_in_and_lists_them_when_the_engine_stops() {
    let bench = Bench::new();
    bench.list().expect("a list");
    bench.forget();
    let background = Background::start(&bench.engine, WarmUp::Hot).expect("threads");
    while bench.engine.warm_up_stats().is_running {
        std::thread::yield_now();
    }
    assert_eq!(bench.resident(0), hot());
    let late = name(1);
    let key = bench.engine.key(&late);
    assert!(bench.engine.missing(&mut bench.engine.lock(&[key]), 0, &[key]).is_none());
    bench.clock.advance_ms(2_000);
    bench.use_key(&late);
    background.stop();
    let mut expected = hot();
    expected.insert(late);
    assert_eq!(bench.listed_set(), expected);
}

#[test]
fn a_server_that_ends_before_it_is_warm_keeps_the_list_that_it_found() {
    for warm_up in [WarmUp::Hot, WarmUp::All, WarmUp::No] {
        let bench = Bench::new();
        bench.list().expect("a list");
        bench.forget();
        bench.engine.stopping.store(true, Ordering::Release);
        bench.engine.run_warm_up_thread(warm_up);
        assert_eq!(bench.listed_set(), hot(), "{warm_up:?}");
    }
}

#[test]
fn lists_come_soon_after_a_start_and_then_every_ten_minutes() {
    let bench = Bench::new();
    let mut lists = Lists::after(WarmUp::Hot, bench.engine.env.clock.now());
    let mut listed_after_s = Vec::new();
    for second in (0..2_400).step_by(10) {
        lists.look(&bench.engine);
        if bench.disk.used_bytes() > 0 {
            listed_after_s.push(second);
            bench.disk.remove(&bench.place().path()).expect("it was written");
        }
        bench.clock.advance_ms(10_000);
    }
    assert_eq!(listed_after_s, [0, 30, 90, 210, 450, 930, 1_530, 2_130]);
    // What memory holds without a warm-up is less than the list that was found.
    let mut lists = Lists::after(WarmUp::No, bench.engine.env.clock.now());
    lists.look(&bench.engine);
    lists.end(&bench.engine);
    assert_eq!(bench.disk.used_bytes(), 0);
}

#[test]
fn the_end_of_the_server_waits_for_a_list_only_so_long() {
    let bench = Bench::new();
    let (place, now) = (bench.place(), bench.clock.now());
    let written = bench.engine.write_hot_keys(place, Pace::Until(now));
    assert!(matches!(written, Ok(None)));
    assert_eq!((bench.listed().ok().flatten(), bench.disk.used_bytes()), (None, 0));
}
