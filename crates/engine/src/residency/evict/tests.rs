//! What goes under which policy, round by round.

use super::*;
use crate::OutdatedCopies;
use crate::log::Gate;
use crate::residency::policy::First;
use crate::store::changes::ChangeSet;
use crate::store::context::CommandContext;
use crate::store::events::{EventClasses, EventSink, KeyEvent};
use crate::store::txn::{PutOptions, Txn};
use crate::testing::engine;
use basalt_change::element;
use basalt_env::ManualClock;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

const KEYS: u32 = 600;
const VALUE_BYTES: usize = 1_000;
const SAMPLES: u32 = 5;

/// Keys, by the names of their events.
#[derive(Clone, Default)]
struct Heard(Arc<Mutex<KeysByEvent>>);

type KeysByEvent = BTreeMap<&'static str, Vec<Vec<u8>>>;

impl Heard {
    fn keys(&self, name: &str) -> Vec<Vec<u8>> {
        self.0.lock().get(name).cloned().unwrap_or_default()
    }
}

impl EventSink for Heard {
    fn classes(&self) -> EventClasses {
        EventClasses::from_letters(b"AKE")
    }

    fn publish(&self, events: &mut Vec<KeyEvent>, after: &Gate) {
        assert!(!after.is_open(), "nobody hears of what a crash could take back");
        for event in events.drain(..) {
            self.0.lock().entry(event.name).or_default().push(event.key);
        }
    }

    fn tell_outdated(&self, _: &OutdatedCopies, _: &Gate) {}
}

struct Bench {
    engine: Engine,
    clock: Arc<ManualClock>,
    heard: Heard,
}

impl Bench {
    fn new(policy: Eviction) -> Bench {
        let (engine, clock) = engine();
        let heard = Heard::default();
        engine.announce_events_to(Box::new(heard.clone()));
        engine.set_eviction(policy, SAMPLES);
        engine.budget.set_kept(true);
        Bench { engine, clock, heard }
    }

    fn change(&self, db: u8, key: &[u8], change: impl FnOnce(&mut Txn<'_>)) {
        let key = self.engine.key(key);
        let mut changes = ChangeSet::default();
        let session = CommandContext::background(db, self.engine.clock().unix_ms());
        let mut txn = Txn::new(&self.engine, self.engine.lock(&[key]), session, &mut changes);
        change(&mut txn);
        txn.append(&mut Gate::default());
    }

    fn put(&self, db: u8, name: &str, expire_ms: u64) {
        let (key, value) = (self.engine.key(name.as_bytes()), [b'v'; VALUE_BYTES]);
        let put = |txn: &mut Txn<'_>| txn.put(&key, &value, PutOptions::whole(expire_ms));
        self.change(db, name.as_bytes(), put);
    }

    fn touch(&self, name: &str) {
        let key = self.engine.key(name.as_bytes());
        self.change(0, name.as_bytes(), |txn| txn.touch(&key));
    }

    fn has(&self, db: u8, name: &str) -> bool {
        let key = self.engine.key(name.as_bytes());
        let locked = self.engine.lock(&[key]);
        let table = locked.partition(key.partition).database(db).table();
        table.find(key.hash, key.bytes).is_some_and(|found| !table.entry(found).is_tombstone())
    }

    fn keys(&self) -> u64 {
        self.engine.totals(0).keys + self.engine.totals(1).keys
    }

    /// Makes rounds as if memory were just for this part of what it holds, until it fits.
    fn shrink(&self, percent: u64) {
        self.engine.set_memory_target(Some(self.engine.usage().bytes / 100 * percent));
        let mut evictor = Evictor::new(&self.engine);
        for _ in 0..100 {
            evictor.round(&self.engine);
            self.clock.advance_ms(5);
        }
    }
}

fn name(number: u32) -> String {
    format!("key:{number}")
}

/// Names of which many stand in one partition.
fn tagged(number: u32) -> String {
    format!("{{{}}}{number}", number % 8)
}

/// Before memory is full of what cannot leave it.
#[test]
fn writers_are_slowed_by_what_waits_for_checkpoints() {
    let bench = Bench::new(Eviction::Demote);
    let engine = &bench.engine;
    (0..KEYS).for_each(|number| bench.put(0, &name(number), 0));
    let mut evictor = Evictor::new(engine);
    let mut behind = |percent: u64| {
        engine.set_memory_target(Some(engine.usage().bytes * 100 / percent));
        evictor.round(engine);
        engine.checkpoint_behind_percent()
    };
    // Percent of the target, all of which is dirty.
    assert_eq!((behind(40), behind(61)), (0, 44));
    assert!((59..=61).contains(&behind(65)));
    assert!((98..=102).contains(&behind(75)));
    assert!((178..=182).contains(&behind(95)));
    engine.checkpoint().expect("a checkpoint");
    assert_eq!((behind(94), engine.checkpointing.in_flight()), (0, 0));
    // What has been copied cannot leave before it has arrived.
    engine.checkpointing.note_in_flight(u64::from(KEYS));
    assert!((174..=182).contains(&behind(94)));
    engine.set_memory_target(None);
    evictor.round(engine);
    assert_eq!(engine.checkpoint_behind_percent(), 0);
}

#[test]
fn what_was_not_used_for_longest_is_deleted_and_announced() {
    let bench = Bench::new(Eviction::Delete(Among::All, First::LeastRecent));
    (0..KEYS).for_each(|number| bench.put(0, &name(number), 0));
    bench.clock.advance_ms(60_000);
    (0..KEYS).step_by(2).for_each(|number| bench.touch(&name(number)));
    bench.shrink(92);
    let gone = u64::from(KEYS) - bench.keys();
    assert!((80..290).contains(&gone), "{gone} of {KEYS}");
    assert_eq!(bench.engine.eviction_stats().deleted, gone);
    let heard = bench.heard.keys("evicted");
    assert_eq!(heard.len() as u64, gone);
    for number in (0..KEYS).step_by(2) {
        assert!(bench.has(0, &name(number)), "key {number} was in use");
    }
    assert_eq!(bench.engine.memory_room(), Some(Room::Free));
    let stats = bench.engine.eviction_stats();
    assert!(stats.exceeded > Duration::ZERO && stats.exceeded_now.is_zero(), "{stats:?}");
    bench.engine.reset_deleted();
    let stats = bench.engine.eviction_stats();
    assert_eq!((stats.deleted, stats.exceeded), (0, Duration::ZERO));
}

#[test]
fn what_is_used_least_often_is_deleted() {
    let bench = Bench::new(Eviction::Delete(Among::All, First::LeastFrequent));
    for number in 0..KEYS {
        let (name, frequency) = (name(number), if number % 2 == 0 { 100 } else { 5 });
        bench.put(0, &name, 0);
        let key = bench.engine.key(name.as_bytes());
        bench.change(0, name.as_bytes(), |txn| txn.set_use(&key, None, Some(frequency)));
    }
    bench.shrink(92);
    assert!(bench.keys() < u64::from(KEYS));
    assert!((0..KEYS).step_by(2).all(|number| bench.has(0, &name(number))));
}

/// All of few keys are compared, wherever they stand.
#[test]
fn what_expires_soonest_is_deleted_and_nothing_that_does_not_expire() {
    let bench = Bench::new(Eviction::Delete(Among::Expiring, First::Soonest));
    (0..KEYS).for_each(|number| bench.put(0, &name(number), 0));
    // In both databases.
    for number in 0..60u32 {
        bench.put(number as u8 % 2, &format!("expiring:{number}"), 1_000_000 + u64::from(number));
    }
    bench.shrink(100);
    let gone = bench.heard.keys("evicted").len() as u32;
    assert!((10..50).contains(&gone), "{gone}");
    for number in 0..60u32 {
        let has = bench.has(number as u8 % 2, &format!("expiring:{number}"));
        assert_eq!(has, number >= gone, "key {number} of which {gone} have gone");
    }
    assert!((0..KEYS).all(|number| bench.has(0, &name(number))));
}

#[test]
fn any_key_is_deleted_of_every_database() {
    for among in [Among::All, Among::Expiring] {
        let bench = Bench::new(Eviction::Delete(among, First::Any));
        for number in 0..KEYS {
            bench.put(number as u8 % 2, &tagged(number), u64::from(number % 3) * 1_000_000);
        }
        bench.shrink(92);
        let left =
            |db: u8| (0..KEYS).filter(|&number| bench.has(db, &tagged(number))).count() as u32;
        assert!(left(0) < KEYS / 2 && left(1) < KEYS / 2, "{} and {}", left(0), left(1));
        let lasting = (0..KEYS).step_by(3);
        let are_all_there =
            lasting.clone().all(|number| bench.has(number as u8 % 2, &tagged(number)));
        assert_eq!(are_all_there, among == Among::Expiring);
    }
}

#[test]
fn without_keys_that_expire_keys_leave_memory_and_stay() {
    let bench = Bench::new(Eviction::Delete(Among::Expiring, First::LeastRecent));
    (0..KEYS).for_each(|number| bench.put(0, &name(number), 0));
    bench.engine.checkpoint().expect("the tier works");
    bench.shrink(92);
    assert_eq!(bench.keys(), u64::from(KEYS));
    assert!(bench.engine.totals(0).keys_cold_only > 0);
    assert_eq!(bench.engine.eviction_stats().deleted, 0);
    assert_eq!(bench.engine.memory_room(), Some(Room::Free));
}

/// Nothing expires, and nothing is on disk.
#[test]
fn where_nothing_can_go_memory_is_full_after_a_second() {
    let bench = Bench::new(Eviction::Delete(Among::Expiring, First::LeastRecent));
    (0..KEYS).for_each(|number| bench.put(0, &name(number), 0));
    bench.engine.set_memory_target(Some(bench.engine.usage().bytes / 2));
    let mut evictor = Evictor::new(&bench.engine);
    evictor.round(&bench.engine);
    assert_eq!(bench.engine.memory_room(), Some(Room::Later));
    bench.clock.advance_ms(1_100);
    evictor.round(&bench.engine);
    assert_eq!(bench.engine.memory_room(), Some(Room::Full));
    let stats = bench.engine.eviction_stats();
    assert_eq!(
        (stats.exceeded, stats.exceeded_now),
        (stats.exceeded_now, Duration::from_nanos(1_099_999_999))
    );
    // A policy that may delete them ends it.
    bench.engine.set_eviction(Eviction::Delete(Among::All, First::LeastRecent), SAMPLES);
    for _ in 0..100 {
        evictor.round(&bench.engine);
    }
    assert_eq!(bench.engine.memory_room(), Some(Room::Free));
}

#[test]
fn nothing_is_deleted_while_clients_are_paused() {
    let bench = Bench::new(Eviction::Delete(Among::All, First::LeastRecent));
    (0..KEYS).for_each(|number| bench.put(0, &name(number), 0));
    bench.engine.pause_expiry(u64::MAX);
    bench.engine.set_memory_target(Some(bench.engine.usage().bytes / 2));
    let mut evictor = Evictor::new(&bench.engine);
    for _ in 0..10 {
        evictor.round(&bench.engine);
        bench.clock.advance_ms(1_000);
    }
    assert_eq!((bench.keys(), bench.engine.memory_room()), (u64::from(KEYS), Some(Room::Later)));
    bench.engine.pause_expiry(0);
    evictor.round(&bench.engine);
    assert!(bench.keys() < u64::from(KEYS));
}

/// A key that has expired goes as such.
#[test]
fn what_has_expired_counts_as_expired() {
    let bench = Bench::new(Eviction::Delete(Among::Expiring, First::Soonest));
    (0..KEYS)
        .for_each(|number| bench.put(0, &name(number), 100 + u64::from(number % 2) * 1_000_000));
    bench.clock.advance_ms(1_000);
    bench.shrink(92);
    assert!(bench.heard.keys("evicted").is_empty());
    assert_eq!(bench.engine.expired_keys(), bench.heard.keys("expired").len() as u64);
    assert!(bench.engine.expired_keys() > 0);
}

/// As after a start that finds more than memory holds.
#[test]
fn what_is_on_disk_only_and_does_not_fit_is_deleted() {
    let bench = Bench::new(Eviction::Delete(Among::All, First::LeastRecent));
    (0..KEYS).for_each(|number| bench.put(0, &name(number), 0));
    bench.put(0, "due", 100);
    // In pieces.
    let long = bench.engine.key(b"long");
    let value = vec![b'l'; 3 << 20];
    bench.change(0, b"long", |txn| txn.put_vec(&long, value, PutOptions::whole(0)));
    bench.engine.checkpoint().expect("the tier works");
    let pieces_on_disk = || {
        let mut pieces = 0;
        let count = &mut |key: &[u8], _: &[u8]| {
            pieces += u32::from(element::of_row(key).is_some());
            ControlFlow::Continue(())
        };
        bench.engine.cold.scan(&[], &[u8::MAX; 32], count).expect("the tier works");
        pieces
    };
    assert_eq!(pieces_on_disk(), 3);
    bench.engine.unload();
    (0..50).for_each(|number| bench.put(1, &name(number), 0));
    bench.clock.advance_ms(200);
    assert_eq!(bench.engine.totals(0).keys_cold_only, u64::from(KEYS) + 2);
    // Memory has room for what is in it, and little more.
    bench.engine.set_memory_target(Some(bench.engine.usage().bytes / 90 * 100));
    let mut evictor = Evictor::new(&bench.engine);
    for _ in 0..2_000 {
        evictor.round(&bench.engine);
        bench.clock.advance_ms(20);
        if bench.engine.checkpointing.under_way().is_requested {
            bench.engine.checkpoint().expect("the tier works");
        }
        if bench.engine.totals(0).keys == 0 {
            break;
        }
    }
    assert_eq!(bench.engine.totals(0).keys, 0);
    let evicted = bench.heard.keys("evicted");
    assert!(evicted.contains(&b"long".to_vec()) && !evicted.contains(&b"due".to_vec()));
    assert_eq!(
        (bench.heard.keys("expired"), bench.engine.expired_keys()),
        (vec![b"due".to_vec()], 1)
    );
    bench.engine.checkpoint().expect("the tier works");
    assert_eq!(pieces_on_disk(), 0, "what a key has of its own on disk goes with it");
}

const MIB: usize = 1 << 20;

/// No look at the keyspace, nor the log, sees them in time.
#[test]
fn zeros_count_at_once() {
    const ZEROED: usize = 40;
    let bench = Bench::new(Eviction::Demote);
    let mut evictor = Evictor::new(&bench.engine);
    bench.engine.set_memory_target(Some((ZEROED * MIB) as u64));
    bench.engine.memory_at_once();
    let zeroed = (0..2 * ZEROED).find(|number| {
        let name = format!("zeroed:{number}");
        let key = bench.engine.key(name.as_bytes());
        bench.change(0, name.as_bytes(), |txn| {
            txn.splice(&key, MIB, b"x");
        });
        bench.engine.memory_room() == Some(Room::Later)
    });
    assert!(zeroed.is_some_and(|zeroed| zeroed.abs_diff(ZEROED) <= 1), "{zeroed:?}");
    evictor.round(&bench.engine);
    assert_eq!(bench.engine.memory_room(), Some(Room::Later), "they are there");
    assert!(bench.engine.budget.zeros() > 0);
    bench.engine.memory_at_once();
    assert_eq!(bench.engine.budget.zeros(), 0, "they are in the sum");
    bench.engine.set_memory_target(Some((4 * ZEROED * MIB) as u64));
    evictor.round(&bench.engine);
    assert_eq!(bench.engine.memory_room(), Some(Room::Free));
}
