//! One test a suspicion: interleavings that a random walk meets rarely, told step by step.

use basalt_change::place::{PartitionId, ShardSet, Slot};
use basalt_cold::{ColdTier, MemoryDisk, MemoryTier, Residency};
use basalt_engine::{
    CommandContext, Engine, EntryHint, EventClasses, EventSink, Gate, KeyEvent, LockWait,
    OutdatedCopies, PutOptions,
};
use basalt_env::clock::ManualClock;
use basalt_journal::FsyncPolicy;
use basalt_model::access::{Fetching, wait_for};
use basalt_model::stage::{Cue, Point, TierFaults};
use basalt_model::world::{Setting, World};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

pub(crate) const KEY: &[u8] = b"{a}key";
pub(crate) const OTHER: &[u8] = b"{a}other";

pub(crate) struct Disk(Arc<MemoryDisk>);

impl Disk {
    fn new() -> Disk {
        Disk(Arc::new(MemoryDisk::new()))
    }

    pub(crate) fn open(&self) -> Arc<dyn ColdTier> {
        Arc::new(MemoryTier::open(&self.0, Path::new("cold"), Residency::Uncached))
    }

    fn rows(&self) -> usize {
        let mut rows = 0;
        let everything = [0xFF; 3];
        self.open()
            .scan(b"", &everything, &mut |key, _| {
                rows += usize::from(basalt_change::row::split_object_key(key).is_some());
                std::ops::ControlFlow::Continue(())
            })
            .expect("it is open");
        rows
    }
}

pub(crate) fn put(world: &World<'_>, key: &[u8], value: &[u8]) {
    put_until(world, key, value, 0);
}

fn put_until(world: &World<'_>, key: &[u8], value: &[u8], expire_ms: u64) {
    let options = PutOptions::whole(expire_ms);
    world.write(0, &[key], |txn, keys| txn.put(&keys[0], value, options)).expect("written");
}

pub(crate) fn delete(world: &World<'_>, key: &[u8]) {
    world
        .write(0, &[key], |txn, keys| {
            txn.delete(&keys[0]);
        })
        .expect("written");
}

pub(crate) fn read(world: &World<'_>, db: u8, key: &[u8]) -> Option<Vec<u8>> {
    world.read(db, key).expect("read").map(|value| value.string().to_vec())
}

pub(crate) fn checkpoint(world: &World<'_>) {
    world.engine().checkpoint().expect("a checkpoint");
}

pub(crate) fn unload(world: &World<'_>) {
    checkpoint(world);
    assert_eq!(world.engine().unload().kept, 0);
}

pub(crate) fn keys(world: &World<'_>, db: u8) -> u64 {
    world.engine().totals(db).keys
}

pub(crate) fn swap(world: &World<'_>, db: u8, other: u8) {
    let swapped = world.engine().swap(db, other, LockWait::Endless, &mut Gate::default());
    swapped.expect("an endless wait ends");
}

pub(crate) fn flush(world: &World<'_>, db: u8) {
    world
        .engine()
        .flush(db..db + 1, LockWait::Endless, &mut Gate::default())
        .expect("an endless wait ends");
}

fn partition() -> PartitionId {
    Slot::of(KEY).partition()
}

/// The number of keys, asked twice: counted, and with everything in memory.
pub(crate) fn counted_keys(world: &World<'_>, db: u8) -> u64 {
    let counted = keys(world, db);
    wait_for(&world.start_load(
        world.engine().incomplete(db, LockWait::Endless).expect("an endless wait ends"),
    ))
    .expect("loaded");
    assert_eq!(world.dump(db).expect("loaded").len() as u64, counted, "counted keys are there");
    counted
}

/// Runs a checkpoint up to this point, then `work`, then the rest as `cue` says.
pub(crate) fn checkpoint_with(
    world: &World<'_>,
    point: Point,
    cue: Cue,
    work: impl FnOnce(&World<'_>),
) -> Result<(), String> {
    world.stage.arm(point);
    let over = Arc::new(AtomicBool::new(false));
    let engine = Arc::clone(world.engine());
    let thread = {
        let over = Arc::clone(&over);
        std::thread::spawn(move || {
            let result = engine.checkpoint().map_err(|error| error.to_string());
            drop(engine);
            over.store(true, Ordering::Release);
            result
        })
    };
    let there = world.stage.wait(&[point], &|| over.load(Ordering::Acquire));
    assert_eq!(there, Some(point), "the checkpoint has something to write");
    work(world);
    world.stage.cue(point, cue);
    thread.join().expect("no panic")
}

/// Begins to fetch a key and holds the read up with what it has read.
pub(crate) fn slow_read(world: &World<'_>, key: &[u8]) -> Fetching {
    world.stage.arm(Point::Read);
    let fetching = world.start_fetch(0, key).expect("it is not in memory");
    assert_eq!(world.stage.wait(&[Point::Read], &|| false), Some(Point::Read));
    fetching
}

pub(crate) fn end_slow_read(world: &World<'_>, fetching: &Fetching) {
    world.stage.cue(Point::Read, Cue::GoOn);
    wait_for(fetching).expect("fetched");
}

pub(crate) fn in_world(test: impl FnOnce(&mut World<'_>, &Disk)) {
    in_world_of(Setting::default(), test);
}

pub(crate) fn in_world_of(setting: Setting, test: impl FnOnce(&mut World<'_>, &Disk)) {
    let disk = Disk::new();
    let open_cold = || disk.open();
    let mut world = World::new(setting, &open_cold).expect("an empty world");
    test(&mut world, &disk);
}

/// The mark was not rewritten, because nothing was dirty; then the log lost the put and kept the
/// deletion, which replay took for one of a key in the cold tier.
#[test]
fn a_key_that_came_and_went_between_two_checkpoints_does_not_spoil_the_count() {
    in_world(|world, _| {
        put(world, KEY, b"value");
        checkpoint(world);
        put(world, OTHER, b"short-lived");
        let filler = vec![7; 1000];
        for number in 0..200 {
            put(world, format!("{{b}}{number}").as_bytes(), &filler);
            world.engine().log().sync_all().expect("synced");
        }
        delete(world, OTHER);
        checkpoint(world);
        world.restart().expect("opens");
        assert_eq!(read(world, 0, KEY).as_deref(), Some(&b"value"[..]));
        assert_eq!(counted_keys(world, 0), 201);
    });
}

#[test]
fn a_slow_read_does_not_bring_back_what_was_deleted_and_forgotten() {
    in_world(|world, _| {
        put(world, KEY, b"old");
        unload(world);
        let fetching = slow_read(world, KEY);
        delete(world, KEY);
        checkpoint(world);
        checkpoint(world);
        end_slow_read(world, &fetching);
        assert_eq!(read(world, 0, KEY), None);
        assert_eq!(counted_keys(world, 0), 0);
    });
}

#[test]
fn a_slow_read_does_not_bring_back_what_was_overwritten_and_forgotten() {
    in_world(|world, _| {
        put(world, KEY, b"old");
        unload(world);
        let fetching = slow_read(world, KEY);
        put(world, KEY, b"new");
        unload(world);
        end_slow_read(world, &fetching);
        assert_eq!(read(world, 0, KEY).as_deref(), Some(&b"new"[..]));
        assert_eq!(counted_keys(world, 0), 1);
    });
}

/// The filter lets through keys that do not exist. Nothing is written, so no checkpoint comes to
/// forget them.
#[test]
fn what_reads_did_not_find_is_forgotten_without_a_checkpoint() {
    // Else nobody would have to read them.
    let setting = Setting { cold_filter_percent: 0, ..Setting::default() };
    in_world_of(setting, |world, _| {
        put(world, KEY, b"there");
        put(world, OTHER, b"removed");
        unload(world);
        world.stage.set_faults(TierFaults { filters_are_wrong: true, ..TierFaults::default() });
        delete(world, OTHER);
        let absent = |number: u32| format!("{{a}}absent-{number}").into_bytes();
        for number in 0..500 {
            assert_eq!(read(world, 0, &absent(number)), None);
        }
        let start = Instant::now();
        // A key that is known to be absent is not fetched.
        while world.start_fetch(0, &absent(0)).is_none() {
            assert!(start.elapsed() < Duration::from_secs(120), "they stay for ever");
            std::thread::sleep(Duration::from_millis(10));
        }
        assert!(world.start_fetch(0, OTHER).is_none(), "what was removed is known");
        assert_eq!(read(world, 0, OTHER), None);
        assert_eq!(counted_keys(world, 0), 1);
    });
}

#[test]
fn a_slow_read_that_found_nothing_does_not_hide_what_came_since() {
    in_world(|world, _| {
        put(world, OTHER, b"there");
        unload(world);
        world.stage.set_faults(TierFaults { filters_are_wrong: true, ..TierFaults::default() });
        let fetching = slow_read(world, KEY);
        put(world, KEY, b"new");
        unload(world);
        end_slow_read(world, &fetching);
        assert_eq!(read(world, 0, KEY).as_deref(), Some(&b"new"[..]));
        assert_eq!(counted_keys(world, 0), 2);
    });
}

#[test]
fn a_slow_load_does_not_bring_back_what_was_deleted_and_forgotten() {
    in_world(|world, _| {
        put(world, KEY, b"old");
        put(world, OTHER, b"other");
        unload(world);
        world.stage.arm(Point::Scan);
        let loading = world.start_load(vec![partition()]);
        assert_eq!(world.stage.wait(&[Point::Scan], &|| false), Some(Point::Scan));
        delete(world, KEY);
        checkpoint(world);
        world.stage.cue(Point::Scan, Cue::GoOn);
        wait_for(&loading).expect("loaded");
        assert_eq!(read(world, 0, KEY), None);
        assert_eq!(counted_keys(world, 0), 1);
    });
}

#[test]
fn a_slow_read_across_a_flush_or_a_swap_changes_nothing() {
    in_world(|world, _| {
        put(world, KEY, b"old");
        unload(world);
        let fetching = slow_read(world, KEY);
        flush(world, 0);
        end_slow_read(world, &fetching);
        assert_eq!((read(world, 0, KEY), counted_keys(world, 0)), (None, 0));

        put(world, KEY, b"new");
        unload(world);
        let fetching = slow_read(world, KEY);
        swap(world, 0, 1);
        end_slow_read(world, &fetching);
        assert_eq!((read(world, 0, KEY), counted_keys(world, 0)), (None, 0));
        assert_eq!(read(world, 1, KEY).as_deref(), Some(&b"new"[..]));
        assert_eq!(counted_keys(world, 1), 1);
    });
}

/// The rows that were collected before the flush arrive after it, in a generation that is dead.
#[test]
fn rows_that_arrive_after_a_flush_are_swept_away() {
    for point in [Point::Prepare, Point::Commit, Point::Committed] {
        for crash in [false, true] {
            in_world(|world, disk| {
                put(world, KEY, b"old");
                checkpoint_with(world, point, Cue::GoOn, |world| flush(world, 0)).expect("done");
                assert_eq!(disk.rows(), 1, "the row arrived after the flush");
                if crash {
                    world.restart().expect("opens");
                }
                assert_eq!((read(world, 0, KEY), counted_keys(world, 0)), (None, 0));
                checkpoint(world);
                assert_eq!(disk.rows(), 0, "rows of a dead generation stay for ever");
                world.restart().expect("opens");
                assert_eq!((read(world, 0, KEY), counted_keys(world, 0)), (None, 0));
            });
        }
    }
}

#[test]
fn a_flush_within_a_checkpoint_that_fails_is_swept_away_too() {
    for point in [Point::Prepare, Point::Commit, Point::Committed] {
        in_world(|world, disk| {
            put(world, KEY, b"old");
            checkpoint(world);
            put(world, KEY, b"newer");
            let result = checkpoint_with(world, point, Cue::NoSpace, |world| {
                flush(world, 0);
                put(world, OTHER, b"after");
            });
            assert!(result.is_err());
            checkpoint(world);
            assert_eq!(disk.rows(), 1, "only what came after the flush");
            world.restart().expect("opens");
            assert_eq!((read(world, 0, KEY), counted_keys(world, 0)), (None, 1));
        });
    }
}

#[test]
fn a_swap_within_a_checkpoint_reaches_the_mark() {
    for point in [Point::Prepare, Point::Commit, Point::Committed] {
        in_world(|world, _| {
            put(world, KEY, b"zero");
            checkpoint_with(world, point, Cue::GoOn, |world| {
                swap(world, 0, 1);
                put(world, KEY, b"new zero");
            })
            .expect("done");
            for _ in 0..2 {
                world.restart().expect("opens");
                assert_eq!(read(world, 0, KEY).as_deref(), Some(&b"new zero"[..]));
                assert_eq!(read(world, 1, KEY).as_deref(), Some(&b"zero"[..]));
                assert_eq!((counted_keys(world, 0), counted_keys(world, 1)), (1, 1));
                checkpoint(world);
            }
        });
    }
}

#[test]
fn a_failed_ingest_followed_by_a_crash_loses_nothing() {
    // At the last point the ingest has been done, although it is said to have failed.
    for point in [Point::Prepare, Point::Commit, Point::Committed] {
        for again in [false, true] {
            in_world(|world, _| {
                put(world, KEY, b"old");
                put(world, OTHER, b"old");
                checkpoint(world);
                delete(world, KEY);
                put(world, OTHER, b"new");
                checkpoint_with(world, point, Cue::NoSpace, |_| {}).expect_err("no space");
                if again {
                    checkpoint(world);
                }
                world.restart().expect("opens");
                assert_eq!(read(world, 0, KEY), None);
                assert_eq!(read(world, 0, OTHER).as_deref(), Some(&b"new"[..]));
                assert_eq!(counted_keys(world, 0), 1);
            });
        }
    }
}

#[test]
fn a_key_deleted_while_its_checkpoint_is_under_way_stays_deleted() {
    for (point, cue) in [
        (Point::Prepare, Cue::GoOn),
        (Point::Commit, Cue::GoOn),
        (Point::Committed, Cue::GoOn),
        (Point::Prepare, Cue::NoSpace),
        (Point::Commit, Cue::NoSpace),
        (Point::Committed, Cue::NoSpace),
    ] {
        in_world(|world, disk| {
            put(world, KEY, b"value");
            let _ = checkpoint_with(world, point, cue, |world| delete(world, KEY));
            checkpoint(world);
            assert_eq!(disk.rows(), 0);
            world.restart().expect("opens");
            assert_eq!((read(world, 0, KEY), counted_keys(world, 0)), (None, 0));
        });
    }
}

/// Every way in which a key that is only in the cold tier can be changed, live and replayed.
#[test]
fn cold_keys_are_counted_whatever_happens_to_them() {
    type Work = fn(&World<'_>);
    let long = [b'x'; 500];
    let cases: [(Work, u64); 7] = [
        (|world| put(world, KEY, b"new"), 2),
        (|world| delete(world, KEY), 1),
        (|world| expire(world, KEY, 1), 1),
        (|world| expire(world, KEY, u64::MAX), 2),
        (|world| splice(world, KEY, 300, b"tail"), 2),
        (|world| flush(world, 0), 0),
        (
            |world| {
                delete(world, KEY);
                put(world, KEY, b"again");
                delete(world, OTHER);
            },
            1,
        ),
    ];
    for (work, expected) in cases {
        in_world(|world, _| {
            put(world, KEY, &long);
            put(world, OTHER, b"short");
            unload(world);
            assert_eq!(keys(world, 0), 2);
            work(world);
            world.clock.advance_ms(10);
            world.engine().expire_due();
            assert_eq!(keys(world, 0), expected, "live");
            world.restart().expect("opens");
            assert_eq!(keys(world, 0), expected, "replayed");
            assert_eq!(counted_keys(world, 0), expected);
            unload(world);
            assert_eq!(counted_keys(world, 0), expected, "checkpointed");
        });
    }
}

fn expire(world: &World<'_>, key: &[u8], in_ms: u64) {
    let at_ms = world.now_ms().saturating_add(in_ms);
    world
        .write(0, &[key], |txn, keys| {
            txn.set_expiry(&keys[0], at_ms);
        })
        .expect("written");
}

pub(crate) fn splice(world: &World<'_>, key: &[u8], offset: usize, bytes: &[u8]) {
    world
        .write(0, &[key], |txn, keys| {
            txn.splice(&keys[0], offset, bytes);
        })
        .expect("written");
}

#[test]
fn expiry_and_splice_are_replayed_on_cold_keys() {
    for value_bytes in [129, 500, 5000] {
        in_world(|world, _| {
            let mut value = vec![b'x'; value_bytes];
            put(world, KEY, &value);
            put(world, OTHER, &value);
            unload(world);
            splice(world, KEY, 100, b"tail");
            expire(world, OTHER, 1_000_000);
            world.restart().expect("opens");
            value[100..104].copy_from_slice(b"tail");
            assert_eq!(read(world, 0, KEY), Some(value));
            let other = world.read(0, OTHER).expect("read").expect("there");
            assert_eq!(other.expire_ms, world.now_ms() + 1_000_000);
            assert_eq!(counted_keys(world, 0), 2);
        });
    }
}

/// An expired key in the cold tier that is overwritten, appended to or replayed is a new key.
#[test]
fn an_expired_cold_key_does_not_come_back() {
    in_world(|world, _| {
        let long = [b'x'; 500];
        put_until(world, KEY, &long, world.now_ms() + 10);
        put_until(world, OTHER, &long, world.now_ms() + 10);
        unload(world);
        world.clock.advance_ms(10);
        assert_eq!(read(world, 0, KEY), None);
        splice(world, KEY, 0, b"new");
        delete(world, OTHER);
        world.restart().expect("opens");
        assert_eq!(read(world, 0, KEY).as_deref(), Some(&b"new"[..]));
        assert_eq!(read(world, 0, OTHER), None);
        assert_eq!(counted_keys(world, 0), 1);
        unload(world);
        assert_eq!(counted_keys(world, 0), 1);
    });
}

/// Flushed databases get generations; so do databases that are configured later.
#[test]
fn more_databases_do_not_share_rows_with_flushed_ones() {
    let disk = Disk::new();
    let open_cold = || disk.open();
    let mut world = World::new(Setting::default(), &open_cold).expect("an empty world");
    for _ in 0..4 {
        flush(&world, 0);
        put(&world, KEY, b"mine");
        checkpoint(&world);
        world.setting.databases += 4;
        world.restart().expect("opens");
        for db in 1..world.setting.databases {
            assert_eq!(read(&world, db, KEY), None, "database {db}");
            flush(&world, db);
            checkpoint(&world);
        }
        world.restart().expect("opens");
        assert_eq!(read(&world, 0, KEY).as_deref(), Some(&b"mine"[..]));
        assert_eq!(counted_keys(&world, 0), 1);
    }
}

/// A database beyond the configured ones is empty and forgotten; its number may be in use
/// elsewhere.
#[test]
fn fewer_databases_and_more_again_do_not_share_rows() {
    let disk = Disk::new();
    let open_cold = || disk.open();
    let mut world = World::new(Setting::default(), &open_cold).expect("an empty world");
    put(&world, KEY, b"mine");
    swap(&world, 0, 1);
    swap(&world, 0, 2);
    // Database 1 holds what was put; 0 and 2 are empty and have other generations than at first.
    assert_eq!(keys(&world, 1), 1);
    checkpoint(&world);
    world.setting.databases = 2;
    world.restart().expect("opens");
    put(&world, KEY, b"zero");
    checkpoint(&world);
    world.setting.databases = 4;
    world.restart().expect("opens");
    for db in [2, 3] {
        assert_eq!(read(&world, db, KEY), None, "database {db}");
        flush(&world, db);
        checkpoint(&world);
    }
    world.restart().expect("opens");
    assert_eq!(read(&world, 0, KEY).as_deref(), Some(&b"zero"[..]));
    assert_eq!(read(&world, 1, KEY).as_deref(), Some(&b"mine"[..]));
}

/// Two power cuts: what was lost leaves no hole, and positions go on behind what the cold tier has.
#[test]
fn positions_go_on_after_each_crash() {
    let setting = Setting { policy: FsyncPolicy::Never, ..Setting::default() };
    in_world_of(setting, |world, _| {
        for round in 0u8..20 {
            put(world, KEY, &[round]);
            checkpoint(world);
            put(world, OTHER, &[round]);
            world.engine().log().sync_all().expect("synced");
            put(world, OTHER, b"lost, perhaps");
            world.crash(u64::from(round)).expect("opens");
            assert_eq!(read(world, 0, KEY), Some(vec![round]));
            let other = read(world, 0, OTHER).expect("it was synced");
            assert!(other == [round] || other == b"lost, perhaps", "{other:?}");
            assert_eq!(counted_keys(world, 0), 2);
        }
    });
}

/// A full disk does not stop the checkpoint that frees it.
#[test]
fn a_checkpoint_frees_a_full_journal() {
    in_world(|world, _| {
        let mut number = 0;
        let mut fill = |world: &World<'_>| {
            put(world, format!("{{b}}{number}").as_bytes(), &[7; 1000]);
            world.engine().log().sync_all().expect("what was admitted has room");
            number += 1;
            assert!(number < 10_000, "the disk is never full");
        };
        // Between taking the last file that was ready and learning that there is no other, the
        // journal takes records: no more of them than a file holds, which are few here.
        let knows = |world: &World<'_>| {
            let start = std::time::Instant::now();
            while world.prepared_files() == 0
                && world.engine().log().admit_all(ShardSet::ALL).is_ok()
            {
                assert!(start.elapsed().as_secs() < 120, "the journal learns nothing");
                std::thread::yield_now();
            }
        };
        (0..300).for_each(|_| fill(world));
        world.disk.limit_capacity(Some(world.disk.used_bytes()));
        while world.engine().log().admit_all(ShardSet::ALL).is_ok() {
            fill(world);
            knows(world);
        }
        checkpoint(world);
        // Freed segments are used again, although the disk has no byte more than before.
        let start = std::time::Instant::now();
        while world.engine().log().admit_all(ShardSet::ALL).is_err() {
            assert!(start.elapsed().as_secs() < 120, "the journal stays full");
            std::thread::yield_now();
        }
        assert_eq!(counted_keys(world, 0), number);
    });
}

/// The clock is the test's: a key expires at its millisecond, in memory and out of it.
#[test]
fn keys_expire_on_time_after_a_restart() {
    in_world(|world, _| {
        let at_ms = world.now_ms() + 100;
        put_until(world, KEY, b"value", at_ms);
        unload(world);
        let clock: &ManualClock = &world.clock;
        clock.advance_ms(99);
        assert!(read(world, 0, KEY).is_some());
        unload(world);
        world.clock.advance_ms(1);
        assert!(read(world, 0, KEY).is_none());
        world.restart().expect("opens");
        assert!(read(world, 0, KEY).is_none());
        world.engine().expire_due();
        assert_eq!(keys(world, 0), 0, "the read had brought it into memory");
        world.restart().expect("opens");
        assert!(read(world, 0, KEY).is_none());
        assert_eq!(counted_keys(world, 0), 0);
    });
}

/// More keys of one partition than expiry looks at under one lock, and a key set meanwhile.
#[test]
fn many_keys_of_a_partition_expire_over_several_locks() {
    in_world(|world, _| {
        let start_ms = world.now_ms();
        for i in 0..6_000u64 {
            let key = format!("{{a}}{i}");
            put_until(world, key.as_bytes(), b"value", start_ms + 10 + i % 3 * 1_000);
        }
        put(world, KEY, b"stays");
        // While much waits to be written, nothing is removed.
        world.engine().log().sync_all().expect("synced");
        for (advance_ms, left) in [(10, 4_001), (1_000, 2_001), (1_000, 1)] {
            world.clock.advance_ms(advance_ms);
            world.engine().expire_due();
            assert_eq!(keys(world, 0), left);
            put_until(world, OTHER, b"soon", world.now_ms() + 1);
            world.clock.advance_ms(1);
            world.engine().expire_due();
            assert_eq!(keys(world, 0), left, "what came after the look is looked for");
        }
    });
}

/// Pauses the expiry with the first key that it removes.
struct PausesExpiry(Weak<Engine>);

impl EventSink for PausesExpiry {
    fn classes(&self) -> EventClasses {
        EventClasses::from_letters(b"KEx")
    }

    fn publish(&self, events: &mut Vec<KeyEvent>, _: &Gate) {
        if let Some(engine) = self.0.upgrade()
            && !events.is_empty()
        {
            engine.pause_expiry(u64::MAX);
        }
        events.clear();
    }

    fn tell_outdated(&self, _: &OutdatedCopies, _: &Gate) {}
}

/// A round of the expiry may be under way when it is paused: nothing goes after that.
#[test]
fn a_pause_stops_the_expiry_where_it_is() {
    in_world(|world, _| {
        let engine = world.engine();
        for number in 0..20 {
            put_until(world, format!("key{number}").as_bytes(), b"value", world.now_ms() + 1);
        }
        world.engine().log().sync_all().expect("synced");
        engine.announce_events_to(Box::new(PausesExpiry(Arc::downgrade(engine))));
        world.clock.advance_ms(1);
        engine.set_active_expiry(true);
        let start = Instant::now();
        while engine.expired_keys() == 0 && start.elapsed() < Duration::from_secs(120) {
            std::thread::yield_now();
        }
        // As long as many rounds take.
        std::thread::sleep(Duration::from_millis(50));
        assert_eq!(engine.expired_keys(), 1);
    });
}

/// A swap whose other half is not configured any more must not be half done.
#[test]
fn a_swap_with_a_database_that_is_no_longer_configured_is_refused() {
    in_world(|world, _| {
        put(world, KEY, b"zero");
        checkpoint(world);
        swap(world, 0, 2);
        world.setting.databases = 2;
        assert!(world.restart().is_err(), "database 2 has keys");
        world.setting.databases = 3;
        world.restart().expect("opens");
        assert_eq!(read(world, 0, KEY), None);
        assert_eq!(read(world, 2, KEY).as_deref(), Some(&b"zero"[..]));
    });
}

/// Nothing that the log could still lose may reach the cold tier.
#[test]
fn a_checkpoint_is_committed_after_the_log_is_synced() {
    for policy in [FsyncPolicy::Always, FsyncPolicy::EverySecond, FsyncPolicy::Never] {
        in_world_of(Setting { policy, ..Setting::default() }, |world, _| {
            world.engine().log().sync_all().expect("synced");
            world.disk.hold_syncs();
            put(world, KEY, b"value");
            world.stage.arm(Point::Commit);
            let engine = Arc::clone(world.engine());
            let thread = std::thread::spawn(move || engine.checkpoint().is_ok());
            while world.disk.syncs_waiting() == 0 {
                std::thread::yield_now();
            }
            assert!(!world.stage.is_waiting(Point::Commit), "{policy:?}: the log is not synced");
            world.disk.release_syncs();
            let there = world.stage.wait(&[Point::Commit], &|| false);
            assert_eq!(there, Some(Point::Commit));
            world.stage.cue(Point::Commit, Cue::GoOn);
            assert!(thread.join().expect("no panic"));
        });
    }
}

/// A reply that shows a change, or the lack of a key, waits as long as the change itself does.
#[test]
fn reads_of_unacknowledged_changes_wait() {
    type Work = fn(&World<'_>);
    let cases: [(Work, bool); 5] = [
        (|world| put(world, KEY, b"new"), false),
        (
            |world| {
                let gate = world.overwrite(0, KEY, b"new").expect("it fits where the old one was");
                assert!(!gate.is_open(), "the reply to the change itself waits, too");
            },
            false,
        ),
        (|world| delete(world, KEY), false),
        (|world| flush(world, 0), true),
        (|world| swap(world, 0, 1), true),
    ];
    for (work, concerns_all) in cases {
        in_world(|world, _| {
            put(world, KEY, b"old");
            put(world, OTHER, b"old");
            world.engine().log().sync_all().expect("synced");
            world.disk.hold_syncs();
            work(world);
            let gate = |key: &[u8]| {
                let engine = world.engine();
                let keys = [engine.key(key)];
                let mut gate = Gate::default();
                engine.gate_reads(&mut engine.lock(&keys), &keys, &mut gate);
                let (session, mut of_point) = (CommandContext::background(0, 0), Gate::default());
                engine.read_point(&keys[0], EntryHint::default(), &session, &mut of_point, |_| ());
                assert_eq!(of_point, gate, "a look at the key alone waits for the same");
                gate
            };
            assert!(!gate(KEY).is_open(), "what was changed is not on disk");
            assert_eq!(!gate(OTHER).is_open(), concerns_all);
            let held = gate(KEY);
            world.disk.release_syncs();
            world.wait_for_gate(held).expect("it opens");
            assert!(gate(KEY).is_open());
        });
    }
}
