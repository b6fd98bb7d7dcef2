//! What is removed from the disk, and what is not.

use super::*;
use crate::OutdatedCopies;
use crate::log::Gate;
use crate::residency::cold_removal::ColdKey;
use crate::store::context::CommandContext;
use crate::store::events::{EventClasses, EventSink, KeyEvent};
use crate::store::txn::{PutOptions, Txn};
use crate::testing::{engine, put};
use basalt_change::element;
use basalt_env::ManualClock;
use parking_lot::Mutex;
use std::ops::ControlFlow;
use std::sync::Arc;

/// Keys of one partition: more than are in a part.
const KEYS: u64 = 10_000;

/// The keys that have expired, as they were announced.
#[derive(Clone, Default)]
struct Heard(Arc<Mutex<Vec<Vec<u8>>>>);

impl EventSink for Heard {
    fn classes(&self) -> EventClasses {
        EventClasses::from_letters(b"AKE")
    }

    fn publish(&self, events: &mut Vec<KeyEvent>, _: &Gate) {
        let expired = events.drain(..).filter(|event| event.name == "expired");
        self.0.lock().extend(expired.map(|event| event.key));
    }

    fn tell_outdated(&self, _: &OutdatedCopies, _: &Gate) {}
}

fn listened_to() -> (Engine, Arc<ManualClock>, Heard) {
    let (engine, clock) = engine();
    let heard = Heard::default();
    engine.announce_events_to(Box::new(heard.clone()));
    (engine, clock, heard)
}

fn name(number: u64) -> String {
    format!("{{tag}}{number}")
}

/// Has everything on disk, and nothing in memory.
fn send_to_disk(engine: &Engine) {
    engine.checkpoint().expect("the tier works");
    engine.evict_clean();
}

/// Keys in memory.
fn resident(engine: &Engine) -> u64 {
    engine.usage().keys - engine.usage().tombstones
}

#[test]
fn keys_on_disk_are_removed_and_announced_once_and_do_not_come_into_memory() {
    let (engine, clock, heard) = listened_to();
    (0..KEYS).for_each(|number| put(&engine, name(number).as_bytes(), 1_000));
    put(&engine, b"{tag}later", 5_000);
    put(&engine, b"{tag}lasting", 0);
    send_to_disk(&engine);
    assert_eq!((resident(&engine), engine.totals(0).keys), (0, KEYS + 2));
    engine.reap_due();
    assert_eq!(engine.totals(0).keys, KEYS + 2, "nothing is due");
    clock.advance_ms(1_000);
    engine.reap_due();
    assert_eq!(engine.totals(0).keys, 2);
    assert_eq!((resident(&engine), engine.usage().tombstones), (0, KEYS));
    assert_eq!(engine.expired_keys(), KEYS);
    let mut names = std::mem::take(&mut *heard.0.lock());
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len() as u64, KEYS, "each once");
    send_to_disk(&engine);
    clock.advance_ms(4_000);
    engine.reap_due();
    assert_eq!(engine.totals(0).keys, 1);
    assert_eq!(*heard.0.lock(), [b"{tag}later".to_vec()]);
}

#[test]
fn rows_of_keys_that_have_changed_in_memory_say_nothing() {
    let (engine, clock, heard) = listened_to();
    for key in ["{tag}extended", "{tag}lasting", "{tag}due"] {
        put(&engine, key.as_bytes(), 1_000);
    }
    engine.checkpoint().expect("the tier works");
    put(&engine, b"{tag}extended", 9_000);
    put(&engine, b"{tag}lasting", 0);
    engine.evict_clean();
    assert_eq!((resident(&engine), engine.totals(0).keys), (2, 3));
    clock.advance_ms(1_000);
    engine.reap_due();
    engine.expire_due();
    assert_eq!(engine.totals(0).keys, 2);
    assert_eq!(*heard.0.lock(), [b"{tag}due".to_vec()]);
    // What a checkpoint has written meanwhile counts, not what was read before it.
    let id = engine.key(b"{tag}").partition;
    let place = Place::of(id, 0, engine.keyspace.lock(id).partition(id));
    let keys = [b"{tag}extended"].map(|key| ColdKey {
        key: key[..].into(),
        expire_ms: 1_000,
        spread_id: None,
        passing: None,
    });
    send_to_disk(&engine);
    let removed = engine.remove_cold(place, &keys, Which::Due, &mut ChangeSet::default());
    assert!(removed.is_none() && engine.totals(0).keys == 2);
}

/// The clock may have been set back between a look and the removal.
#[test]
fn what_is_not_due_is_not_removed_whatever_was_seen() {
    let (engine, _, heard) = listened_to();
    put(&engine, b"{tag}later", 5_000);
    send_to_disk(&engine);
    let id = engine.key(b"{tag}").partition;
    let place = Place::of(id, 0, engine.keyspace.lock(id).partition(id));
    let key = b"{tag}later"[..].into();
    let seen = ColdKey { key, expire_ms: 5_000, spread_id: None, passing: None };
    let removed = engine.remove_cold(place, &[seen], Which::Due, &mut ChangeSet::default());
    assert!(removed.is_some_and(|removed| removed.expired + removed.evicted == 0));
    assert_eq!(engine.totals(0).keys, 1);
    assert!(heard.0.lock().is_empty());
}

#[test]
fn pieces_of_a_string_go_with_it() {
    let (engine, clock, heard) = listened_to();
    let long = engine.key(b"long");
    let mut changes = ChangeSet::default();
    let session = CommandContext::background(0, engine.clock().unix_ms());
    let mut txn = Txn::new(&engine, engine.lock(&[long]), session, &mut changes);
    txn.put_vec(&long, vec![b'l'; 3 << 20], PutOptions::whole(1_000));
    txn.append(&mut Gate::default());
    drop(txn);
    send_to_disk(&engine);
    let pieces = || {
        let mut pieces = 0;
        let count = &mut |key: &[u8], _: &[u8]| {
            pieces += u32::from(element::of_row(key).is_some());
            ControlFlow::Continue(())
        };
        engine.cold.scan(&[], &[u8::MAX; 32], count).expect("the tier works");
        pieces
    };
    assert_eq!(pieces(), 3);
    clock.advance_ms(1_000);
    engine.reap_due();
    assert_eq!((engine.totals(0).keys, resident(&engine)), (0, 0));
    assert_eq!(*heard.0.lock(), [b"long".to_vec()]);
    engine.checkpoint().expect("the tier works");
    assert_eq!(pieces(), 0);
}

#[test]
fn nothing_is_removed_while_removals_are_paused() {
    let (engine, clock, _) = listened_to();
    put(&engine, b"key", 1_000);
    send_to_disk(&engine);
    clock.advance_ms(1_000);
    engine.pause_expiry(3_000);
    let id = engine.key(b"key").partition;
    let reap = || Reaper::default().reap(&engine, id, &|| engine.may_remove_expired());
    reap();
    assert_eq!(engine.totals(0).keys, 1);
    clock.advance_ms(2_000);
    engine.set_active_expiry(false);
    reap();
    assert_eq!(engine.totals(0).keys, 1);
    engine.set_active_expiry(true);
    reap();
    assert_eq!(engine.totals(0).keys, 0);
}

/// Tombstones stay until a checkpoint: one is asked for before they take much.
#[test]
fn a_checkpoint_is_asked_for_when_tombstones_take_much_of_memory() {
    let (engine, clock, _) = listened_to();
    (0..KEYS).for_each(|number| put(&engine, name(number).as_bytes(), 1_000));
    send_to_disk(&engine);
    clock.advance_ms(1_000);
    engine.reap_due();
    // Three percent.
    engine.set_memory_target(Some(KEYS * TOMBSTONE_BYTES / 3 * 100));
    assert!(!engine.checkpointing.under_way().is_requested);
    engine.await_room_for_tombstones();
    assert!(engine.checkpointing.under_way().is_requested);
}
