//! Strings that are longer than a piece, and what happens in the midst of their checkpoints.

use crate::suspicions::{
    Disk, KEY, checkpoint, checkpoint_with, delete, end_slow_read, in_world_of, put, read,
    slow_read, splice, unload,
};
use basalt_change::element::of_row;
use basalt_engine::{ChangeSet, StringValue, Txn, View};
use basalt_model::stage::{Cue, Point};
use basalt_model::world::{Setting, World};
use std::ops::ControlFlow;

/// A string of five pieces.
const LONG: usize = 5_000;

fn with_pieces() -> Setting {
    Setting { string_piece_bytes: 1_000, ..Setting::default() }
}

/// How many pieces there are, of any string.
fn pieces(disk: &Disk) -> usize {
    let mut pieces = 0;
    let visited = disk.open().scan(b"", &[0xFF; 3], &mut |key, _| {
        pieces += usize::from(of_row(key).is_some());
        ControlFlow::Continue(())
    });
    visited.expect("it is open");
    pieces
}

/// Whether anybody but its entry holds the string under [`KEY`].
fn is_held_elsewhere(world: &World<'_>) -> bool {
    let engine = world.engine();
    let keys = [engine.key(KEY)];
    let view = View::new(engine, engine.lock(&keys), world.session(0));
    match view.peek(&keys[0]).and_then(|object| object.string()) {
        Some(StringValue::Shared(shared)) => shared.is_held_elsewhere(),
        _ => panic!("it stands by itself"),
    }
}

/// An edit in place copies a string that somebody holds, and what a command has replaced stays in
/// memory for as long: so a checkpoint lets go of a string when it has written it.
#[test]
fn a_checkpoint_that_waits_holds_no_string() {
    for string_piece_bytes in [1_000, 1 << 20] {
        // Each partition is an ingest of its own, so that nothing is copied before that.
        let setting = Setting { string_piece_bytes, ingest_bytes: 1, ..Setting::default() };
        in_world_of(setting, |world, _| {
            put(world, KEY, &[1; LONG]);
            assert!(!is_held_elsewhere(world));
            let done = checkpoint_with(world, Point::Prepare, Cue::GoOn, |world| {
                assert!(!is_held_elsewhere(world), "pieces of {string_piece_bytes}");
            });
            assert_eq!(done, Ok(()));
        });
    }
}

/// Whether a command that would have another string in the place of that under [`KEY`] waits.
fn waits(world: &World<'_>) -> bool {
    let engine = world.engine();
    let keys = [engine.key(KEY)];
    let mut changes = ChangeSet::default();
    let mut txn = Txn::new(engine, engine.lock(&keys), world.session(0), &mut changes);
    let waits = txn.must_wait_for_checkpoint(&keys[0]);
    assert_eq!(txn.has_to_settle(), waits);
    waits
}

#[test]
fn a_very_long_string_is_not_edited_while_a_checkpoint_holds_it() {
    for (single_string_bytes_min, cue) in
        [(LONG, Cue::GoOn), (LONG, Cue::NoSpace), (LONG + 1, Cue::GoOn)]
    {
        let setting = Setting { single_string_bytes_min, ingest_bytes: 1, ..with_pieces() };
        in_world_of(setting, |world, _| {
            put(world, KEY, &[1; LONG]);
            assert!(!waits(world), "nobody writes it");
            let done = checkpoint_with(world, Point::Element, cue, |world| {
                assert!(is_held_elsewhere(world));
                assert_eq!(waits(world), single_string_bytes_min == LONG, "{cue:?}");
            });
            assert_eq!(done.is_ok(), cue == Cue::GoOn);
            assert!(!waits(world), "it has been written, or not: {cue:?}");
            // What is written and not yet visible is not held any more.
            put(world, KEY, &[2; LONG]);
            let done = checkpoint_with(world, Point::Prepare, cue, |world| assert!(!waits(world)));
            assert_eq!(done.is_ok(), cue == Cue::GoOn);
        });
    }
}

#[test]
fn a_crash_in_a_checkpoint_leaves_the_old_pieces_or_the_new_ones() {
    for point in [Point::Prepare, Point::Commit, Point::Committed] {
        for cue in [Cue::GoOn, Cue::NoSpace] {
            in_world_of(with_pieces(), |world, disk| {
                put(world, KEY, &[1; LONG]);
                checkpoint(world);
                put(world, KEY, &[2; LONG + 1]);
                world.engine().log().sync_all().expect("the disk has room");
                let _ = checkpoint_with(world, point, cue, |world| world.cut_power(1));
                let is_there = cue == Cue::GoOn || point == Point::Committed;
                assert_eq!(pieces(disk), if is_there { 6 } else { 5 }, "{point:?}, {cue:?}");
                world.bury();
                world.open().expect("it opens");
                assert_eq!(read(world, 0, KEY), Some(vec![2; LONG + 1]));
                unload(world);
                assert_eq!(pieces(disk), 6, "{point:?}, {cue:?}");
                assert_eq!(read(world, 0, KEY), Some(vec![2; LONG + 1]));
            });
        }
    }
}

#[test]
fn a_string_that_changes_while_its_pieces_are_written_is_written_again() {
    type Change = (fn(&World<'_>), usize, usize);
    let changes: [Change; 4] = [
        (|world| put(world, KEY, &[3; LONG + 1]), LONG + 1, 6),
        (|world| splice(world, KEY, LONG, b"x"), LONG + 1, 6),
        (|world| put(world, KEY, b"short"), 5, 0),
        (|world| delete(world, KEY), 0, 0),
    ];
    for (number, (change, len, expected)) in changes.into_iter().enumerate() {
        for cue in [Cue::GoOn, Cue::NoSpace] {
            for point in [Point::Prepare, Point::Commit, Point::Committed] {
                in_world_of(with_pieces(), |world, disk| {
                    put(world, KEY, &[1; LONG]);
                    let done = checkpoint_with(world, point, cue, change);
                    assert_eq!(done.is_ok(), cue == Cue::GoOn);
                    unload(world);
                    assert_eq!(pieces(disk), expected, "change {number}, {point:?}, {cue:?}");
                    assert_eq!(read(world, 0, KEY).map_or(0, |string| string.len()), len);
                });
            }
        }
    }
}

#[test]
fn a_slow_read_of_a_string_that_is_replaced_meanwhile_changes_nothing() {
    for (value, expected) in [(vec![2; LONG], 5), (b"short".to_vec(), 0)] {
        in_world_of(with_pieces(), |world, disk| {
            put(world, KEY, &[1; LONG]);
            unload(world);
            let fetching = slow_read(world, KEY);
            // The object has been read; its pieces go before anybody reads them.
            put(world, KEY, &value);
            unload(world);
            assert_eq!(pieces(disk), expected);
            end_slow_read(world, &fetching);
            assert_eq!(read(world, 0, KEY), Some(value));
        });
    }
}
