//! Keys that are put without a look at the cold tier: no put waits for a read, and counts, rows of
//! elements and versions come out right whatever happens before the rows have been read.

use crate::suspicions::{
    Disk, KEY, OTHER, checkpoint, checkpoint_with, counted_keys, delete, flush, in_world,
    in_world_of, keys, put, read, swap, unload,
};
use basalt_change::element;
use basalt_change::row::split_object_key;
use basalt_engine::{Key, PutOptions, Txn, Version};
use basalt_model::stage::{Cue, Point, TierFaults};
use basalt_model::world::{Setting, World};
use basalt_value::{Collection, Edits, Set, Variant};
use std::ops::ControlFlow;

/// Puts a string as a SET does; returns false if it has to wait for a read.
fn put_unread(world: &World<'_>, key: &[u8], value: &[u8]) -> bool {
    let put = |txn: &mut Txn<'_>, keys: &[Key<'_>]| {
        txn.put(&keys[0], value, PutOptions::whole(0));
    };
    world.write_unread(0, &[key], put).is_some()
}

/// The next read of the cold tier is held up; what has to be read of keys is.
fn begin_slow_settling(world: &World<'_>) {
    world.stage.arm(Point::Read);
    while !world.stage.is_waiting(Point::Read) {
        world.engine().settle_soon();
        std::thread::yield_now();
    }
}

/// A power cut behind all that was put.
fn crash(world: &mut World<'_>) {
    world.engine().log().sync_all().expect("synced");
    world.crash(1).expect("opens");
}

fn lie_about_filters(world: &World<'_>) {
    world.stage.set_faults(TierFaults { filters_are_wrong: true, ..TierFaults::default() });
}

fn rows_of_elements(disk: &Disk) -> usize {
    let mut rows = 0;
    let count = &mut |key: &[u8], _: &[u8]| {
        rows += usize::from(element::of_row(key).is_some() && split_object_key(key).is_none());
        ControlFlow::Continue(())
    };
    disk.open().scan(b"", &[0xFF; 3], count).expect("it is open");
    rows
}

#[test]
fn a_put_waits_for_no_read_and_is_counted_once() {
    in_world(|world, _| {
        put(world, KEY, b"old");
        put(world, OTHER, b"other");
        unload(world);
        assert!(put_unread(world, KEY, b"new"));
        assert_eq!((keys(world, 0), world.unread()), (2, 1));
        assert_eq!(read(world, 0, KEY).as_deref(), Some(&b"new"[..]));
        begin_slow_settling(world);
        assert!(put_unread(world, OTHER, b"newer"), "while reads are held up");
        assert_eq!((keys(world, 0), world.unread()), (2, 2));
        world.stage.release(Point::Read);
        world.settle().expect("read");
        assert_eq!(keys(world, 0), 2);
        assert_eq!(counted_keys(world, 0), 2);
    });
}

/// Until it is read, a new key is taken for one that was there.
#[test]
fn a_new_key_that_a_filter_lets_pass_is_counted_when_it_has_been_looked_for() {
    in_world(|world, _| {
        put(world, KEY, b"there");
        unload(world);
        lie_about_filters(world);
        assert!(put_unread(world, OTHER, b"new"));
        assert_eq!((keys(world, 0), world.unread()), (1, 1));
        // Nothing is left that another one could be taken for.
        assert!(!put_unread(world, b"{a}third", b"new"));
        world.settle().expect("read");
        assert_eq!(keys(world, 0), 2);
        assert_eq!(counted_keys(world, 0), 2);
    });
}

#[test]
fn a_crash_before_the_row_is_read_leaves_the_count_right() {
    for wrong_filters in [false, true] {
        for deletes in [false, true] {
            in_world(|world, _| {
                put(world, KEY, b"old");
                put(world, OTHER, b"other");
                unload(world);
                if wrong_filters {
                    lie_about_filters(world);
                }
                let key: &[u8] = if wrong_filters { b"{a}new" } else { KEY };
                assert!(put_unread(world, key, b"new"));
                if deletes {
                    delete(world, key);
                }
                crash(world);
                let there = read(world, 0, key);
                assert_eq!(there.as_deref(), (!deletes).then_some(&b"new"[..]));
                world.settle().expect("read");
                let expected = 1 + u64::from(wrong_filters) + u64::from(!deletes);
                assert_eq!(counted_keys(world, 0), expected);
                checkpoint(world);
                world.restart().expect("opens");
                assert_eq!(counted_keys(world, 0), expected);
            });
        }
    }
}

/// Else its mark would count a key twice, or not at all.
#[test]
fn a_checkpoint_reads_the_row_before_it_copies_the_partition() {
    for wrong_filters in [false, true] {
        in_world(|world, _| {
            put(world, KEY, b"old");
            unload(world);
            if wrong_filters {
                lie_about_filters(world);
            }
            let key = if wrong_filters { OTHER } else { KEY };
            assert!(put_unread(world, key, b"new"));
            checkpoint(world);
            assert_eq!(world.unread(), 0);
            world.restart().expect("opens");
            assert_eq!(counted_keys(world, 0), 1 + u64::from(wrong_filters));
        });
    }
}

#[test]
fn what_is_put_while_a_checkpoint_is_under_way_is_read_by_the_next_one() {
    for point in [Point::Prepare, Point::Commit, Point::Committed] {
        for cue in [Cue::GoOn, Cue::NoSpace] {
            in_world(|world, _| {
                put(world, KEY, b"old");
                put(world, OTHER, b"other");
                unload(world);
                put(world, b"{a}third", b"third");
                let result = checkpoint_with(world, point, cue, |world| {
                    assert!(put_unread(world, KEY, b"new"));
                });
                assert_eq!(result.is_err(), cue == Cue::NoSpace);
                crash(world);
                assert_eq!(read(world, 0, KEY).as_deref(), Some(&b"new"[..]));
                world.settle().expect("read");
                assert_eq!(counted_keys(world, 0), 3);
            });
        }
    }
}

/// What was read for the first put says nothing of the second.
#[test]
fn a_slow_read_does_not_settle_a_later_put() {
    in_world(|world, _| {
        put(world, KEY, b"old");
        put(world, OTHER, b"other");
        unload(world);
        assert!(put_unread(world, KEY, b"new"));
        begin_slow_settling(world);
        // The checkpoint reads it itself, and then the key goes.
        unload(world);
        delete(world, KEY);
        unload(world);
        lie_about_filters(world);
        assert!(put_unread(world, KEY, b"newest"));
        world.stage.release(Point::Read);
        world.settle().expect("read");
        assert_eq!(counted_keys(world, 0), 2);
    });
}

#[test]
fn a_slow_read_across_a_flush_or_a_swap_settles_what_it_was_for() {
    in_world(|world, _| {
        put(world, KEY, b"old");
        put(world, OTHER, b"other");
        unload(world);
        assert!(put_unread(world, KEY, b"new"));
        begin_slow_settling(world);
        swap(world, 0, 1);
        world.stage.release(Point::Read);
        world.settle().expect("read");
        assert_eq!((counted_keys(world, 0), counted_keys(world, 1)), (0, 2));
        swap(world, 0, 1);
        unload(world);
        assert!(put_unread(world, OTHER, b"newer"));
        begin_slow_settling(world);
        flush(world, 0);
        put(world, KEY, b"after");
        world.stage.release(Point::Read);
        world.settle().expect("read");
        assert_eq!(counted_keys(world, 0), 1);
    });
}

fn put_set(world: &World<'_>, key: &[u8], members: usize) {
    let put = |txn: &mut Txn<'_>, keys: &[Key<'_>]| {
        let mut set = Set::new();
        for number in 0..members {
            set.add(format!("member {number}").as_bytes(), &txn.limits(), &mut Edits::none());
        }
        txn.put_value(&keys[0], set.into_value(), 0).expect("it is small");
    };
    world.write(0, &[key], put).expect("written");
}

#[test]
fn elements_of_what_was_replaced_go_with_the_next_checkpoint() {
    let setting =
        Setting { collection_row_bytes_max: 100, string_piece_bytes: 1_000, ..Setting::default() };
    for crashes in [false, true] {
        in_world_of(setting, |world, disk| {
            put_set(world, KEY, 300);
            put(world, OTHER, &[7; 10_000]);
            unload(world);
            assert!(rows_of_elements(disk) >= 310);
            assert!(put_unread(world, KEY, b"string") && put_unread(world, OTHER, b"short"));
            if crashes {
                crash(world);
            }
            checkpoint(world);
            assert_eq!((rows_of_elements(disk), world.unread()), (0, 0));
            world.restart().expect("opens");
            assert_eq!(read(world, 0, KEY).as_deref(), Some(&b"string"[..]));
            assert_eq!(counted_keys(world, 0), 2);
        });
    }
}

/// It shows none until the row has been read, and then a greater one, also after a crash.
#[test]
fn a_key_that_had_a_version_gets_another_one() {
    for crashes in [false, true] {
        for settles_first in [false, true] {
            in_world(|world, _| {
                let versioned = |txn: &mut Txn<'_>, keys: &[Key<'_>]| {
                    txn.put(&keys[0], b"old", PutOptions::whole(0));
                    txn.make_versioned(&keys[0]);
                };
                world.write(0, &[KEY], versioned).expect("written");
                put(world, OTHER, b"other");
                let before = world.version(0, KEY);
                unload(world);
                assert!(put_unread(world, KEY, b"new") && put_unread(world, OTHER, b"new"));
                assert_eq!(world.version(0, KEY), Version::NONE);
                if settles_first {
                    world.settle().expect("read");
                }
                if crashes {
                    crash(world);
                }
                world.settle().expect("read");
                assert!(world.version(0, KEY) > before);
                assert_eq!(world.version(0, OTHER), Version::NONE);
                // The mark and the row have it, too.
                let version = world.version(0, KEY);
                unload(world);
                world.restart().expect("opens");
                assert_eq!(read(world, 0, KEY).as_deref(), Some(&b"new"[..]));
                assert_eq!(world.version(0, KEY), version);
            });
        }
    }
}

/// A version belongs to a name only until it is gone.
#[test]
fn a_key_that_was_removed_before_its_row_was_read_has_no_version() {
    in_world(|world, _| {
        let versioned = |txn: &mut Txn<'_>, keys: &[Key<'_>]| {
            txn.put(&keys[0], b"old", PutOptions::whole(0));
            txn.make_versioned(&keys[0]);
        };
        world.write(0, &[KEY], versioned).expect("written");
        put(world, OTHER, b"other");
        unload(world);
        assert!(put_unread(world, KEY, b"new"));
        delete(world, KEY);
        world.settle().expect("read");
        assert_eq!(world.version(0, KEY), Version::NONE);
        assert_eq!((read(world, 0, KEY), counted_keys(world, 0)), (None, 1));
    });
}

#[test]
fn no_more_are_put_unread_than_a_checkpoint_can_read() {
    in_world(|world, _| {
        let name = |number: u32| format!("{{a}}{number}").into_bytes();
        (0..400).for_each(|number| put(world, &name(number), b"old"));
        unload(world);
        world.stage.arm(Point::Read);
        for number in 0..400 {
            put_unread(world, &name(number), b"new");
        }
        assert!(world.unread() <= 128, "{}", world.unread());
        world.stage.release(Point::Read);
        world.settle().expect("read");
        assert!(put_unread(world, &name(399), b"new"));
        assert_eq!(keys(world, 0), 400);
        assert_eq!(counted_keys(world, 0), 400);
    });
}

/// A log that ends in many of them, and in edits of what they have put.
#[test]
fn a_start_finds_many_unread_keys_in_the_log() {
    in_world(|world, _| {
        let name = |number: u32| format!("key:{number}").into_bytes();
        (0..3_000).for_each(|number| put(world, &name(number), b"old"));
        unload(world);
        for number in 0..3_000 {
            if !put_unread(world, &name(number), b"new") {
                put(world, &name(number), b"new");
            }
        }
        let edit = |txn: &mut Txn<'_>, keys: &[Key<'_>]| {
            txn.splice(&keys[0], 200, b"x");
            txn.set_expiry(&keys[0], 0);
        };
        (0..100).for_each(|number| drop(world.write(0, &[&name(number)], edit).expect("written")));
        (100..200).for_each(|number| delete(world, &name(number)));
        crash(world);
        world.settle().expect("read");
        assert_eq!(counted_keys(world, 0), 2_900);
        assert_eq!(read(world, 0, &name(5)).expect("it is there").len(), 201);
    });
}
