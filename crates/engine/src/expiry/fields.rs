//! Active expiry of hashes' fields and of members of sets and sorted sets, and what time does to
//! queues: removing what nobody asks for any more.
//!
//! Expired fields are invisible at once, and so is a hash that has no others; this gives their
//! memory back. Expired members are seen by plain reads until they are removed here. A database's
//! share of a partition knows which hashes may have a field that is due
//! ([`basalt_keyspace::field_expiries`]), so that nothing is walked: a hash is visited when its
//! earliest field is due, and then again when its next one is. A queue is visited when a lease or a
//! delay ends or a message expires.

use crate::engine::Engine;
use crate::log::Gate;
use crate::store::changes::ChangeSet;
use crate::store::collections::Absent;
use crate::store::context::CommandContext;
use crate::store::key::Key;
use crate::store::txn::Txn;
use crate::timer_thread::MESSAGES_A_LOCK;
use basalt_change::place::PartitionId;
use basalt_keyspace::database::Database;
use basalt_keyspace::entry::Entry;
use basalt_value::{Hash, Queue, Set, SortedSet, ValueRef, Variant};
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Hashes that are visited under one lock.
const HASHES_A_LOCK: usize = 32;
/// Fields that are removed under one lock: about 50 µs.
const FIELDS_A_LOCK: usize = 256;

/// Where the cycle goes on.
#[derive(Default)]
pub(crate) struct FieldExpiryCycle {
    next: usize,
    changes: ChangeSet,
    due: Vec<Vec<u8>>,
}

impl FieldExpiryCycle {
    /// Goes once over the partitions, or as far as `budget` lasts.
    pub(crate) fn run(&mut self, engine: &Engine, budget: Duration) {
        if !engine.may_expire_at_all() || !engine.may_remove_expired() {
            return;
        }
        let start = engine.env.clock.now();
        let goes_on = || engine.may_remove_expired() && engine.env.clock.since(start) < budget;
        for _ in 0..PartitionId::all().len() {
            self.expire_next(engine, &goes_on);
            if engine.env.clock.since(start) > budget || engine.is_stopping() {
                return;
            }
        }
    }

    /// Removes the due fields of the next partition while `goes_on` says so; what is left is the
    /// next call's.
    fn expire_next(&mut self, engine: &Engine, goes_on: &dyn Fn() -> bool) {
        let now_ms = engine.env.clock.unix_ms();
        let partitions = PartitionId::all().len();
        let id = PartitionId::new((self.next % partitions) as u16).expect("below the count");
        for db in (0..engine.options.databases).filter(|&db| engine.may_expire(db)) {
            while self.expire_some(engine, id, db, now_ms, goes_on) {
                if !goes_on() {
                    return;
                }
            }
        }
        self.next += 1;
    }

    /// Removes some due fields of one database; true if there may be more.
    fn expire_some(
        &mut self,
        engine: &Engine,
        id: PartitionId,
        db: u8,
        now_ms: u64,
        goes_on: &dyn Fn() -> bool,
    ) -> bool {
        let mut locked = engine.keyspace.lock(id);
        if !goes_on() {
            return true;
        }
        let database = locked.partition_mut(id).database_mut(db);
        if database.next_field_expiry_ms() > now_ms
            || engine.log().admit_removal(id.shard()).is_err()
        {
            return false;
        }
        self.due.clear();
        for _ in 0..HASHES_A_LOCK {
            let Some(key_hash) = database.take_due_field(now_ms) else { break };
            find_due(database, key_hash, now_ms, &mut self.due);
        }
        self.due.sort_unstable();
        self.due.dedup();
        let session = CommandContext::background(db, now_ms);
        let mut txn = Txn::new(engine, locked, session, &mut self.changes);
        let mut removed = 0;
        for bytes in &self.due {
            let key = Key::new(bytes, engine.keyspace.hasher());
            if txn.stored(&key).and_then(Queue::of).is_some() {
                txn.settle_queue(&key, MESSAGES_A_LOCK);
                txn.signal_waiters_of_queue(&key);
            } else {
                removed += expire_fields(&mut txn, &key, FIELDS_A_LOCK.saturating_sub(removed));
            }
        }
        // Nobody waits for it, but reads of these keys do.
        txn.commit(&mut Gate::default());
        engine.wake_called(self.changes.take_called());
        engine.log().kick();
        engine.expired_fields.fetch_add(removed as u64, Ordering::Relaxed);
        true
    }
}

/// Gathers the keys with this hash under which fields are due.
fn find_due(database: &Database, key_hash: u64, now_ms: u64, due: &mut Vec<Vec<u8>>) {
    let is_due = |entry: &Entry<'_>| {
        entry.collection().is_some_and(|value| value.next_expiry_ms() <= now_ms)
    };
    // The bucket may show neighbours, too: if they are due, so much the better.
    database.table().scan(key_hash, 1, |entry| {
        if is_due(&entry) {
            due.push(entry.key().to_vec());
        }
    });
}

/// Removes expired fields or members, at most `max`, or the key if it has no others, and notes when
/// the next one is due. Returns the number of fields removed.
fn expire_fields(txn: &mut Txn<'_>, key: &Key<'_>, max: usize) -> usize {
    let now_ms = txn.now_ms();
    let fields = txn.stored(key).map_or(0, ValueRef::len);
    // A hash with nothing but expired fields is not there for anybody: what goes is the key.
    let Some(_) = txn.get(key) else {
        txn.delete(key);
        return fields;
    };
    let removed = match txn.stored(key) {
        Some(ValueRef::Set(_)) => txn
            .edit::<Set, _>(key, Absent::Skip, |set, edits| set.remove_expired(now_ms, max, edits)),
        Some(ValueRef::SortedSet(_)) => {
            txn.edit::<SortedSet, _>(key, Absent::Skip, |set, edits| {
                set.remove_expired(now_ms, max, edits)
            })
        }
        _ => txn.edit::<Hash, _>(key, Absent::Skip, |hash, edits| {
            hash.remove_expired(now_ms, max, edits)
        }),
    };
    txn.note_field_expiry(key);
    removed.ok().flatten().unwrap_or(0)
}

impl Txn<'_> {
    /// The collection under a key, even a hash of which all fields have expired.
    fn stored(&self, key: &Key<'_>) -> Option<ValueRef<'_>> {
        let partition = self.locked.partition(key.partition);
        let table = partition.database(self.session.db).table();
        table.entry(table.find(key.hash, key.bytes)?).collection()
    }

    /// Notes when time changes something in the collection under a key, if it does.
    pub(crate) fn note_field_expiry(&mut self, key: &Key<'_>) {
        let next_ms = self.stored(key).map_or(u64::MAX, ValueRef::next_expiry_ms);
        if next_ms != u64::MAX {
            self.engine.note_expiring(self.session.db);
            self.database(key).note_field_expiry(next_ms, key.hash);
        }
    }
}

impl Engine {
    /// Removes the fields that have expired by now, as the background does bit by bit, whether or
    /// not that is switched on.
    pub(crate) fn expire_due_fields(&self) {
        let mut cycle = FieldExpiryCycle::default();
        for _ in 0..PartitionId::all().len() {
            cycle.expire_next(self, &|| true);
        }
    }

    /// Fields that were removed in the background because they had expired.
    pub fn expired_fields(&self) -> u64 {
        self.expired_fields.load(Ordering::Relaxed)
    }
}
