//! Removing keys that are on disk only, without reading their values: a record in the log, an event
//! and the news that go with it need no more than the key.

use crate::engine::Engine;
use crate::store::changes::ChangeSet;
use crate::store::events::EventClass;
use crate::store::txn::Txn;
use basalt_change::place::PartitionId;
use basalt_keyspace::interest::Event;
use basalt_keyspace::partition::Partition;
use basalt_stdx::short_lock::LockWait;

/// A database's share of a partition, as of when its rows were read.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) id: PartitionId,
    pub(super) db: u8,
    pub(super) generation: u64,
    pub(super) cold_version: u64,
}

/// What a row says of its key.
#[derive(Debug)]
pub(super) struct ColdKey {
    pub(super) key: Box<[u8]>,
    /// 0 for never.
    pub(super) expire_ms: u64,
    /// Of a collection whose elements have rows of their own, or of a string in pieces.
    pub(super) spread_id: Option<u64>,
}

/// Which keys go.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Which {
    /// Those that have expired.
    Due,
    /// All of them: there is no memory for them.
    All,
}

/// What has gone under one lock.
#[derive(Clone, Copy, Default)]
pub(super) struct Removed {
    pub(super) evicted: u64,
    pub(super) expired: u64,
}

impl Place {
    pub(super) fn of(id: PartitionId, db: u8, partition: &Partition) -> Place {
        let generation = partition.database(db).generation();
        Place { id, db, generation, cold_version: partition.cold_version() }
    }

    /// No rows have been written or deleted since.
    pub(super) fn is_current(self, partition: &Partition) -> bool {
        partition.cold_version() == self.cold_version
            && partition.database(self.db).generation() == self.generation
    }
}

impl Engine {
    /// Removes those of the keys that are still on disk only, as their rows say; `None` if nothing
    /// can be removed there now.
    pub(super) fn remove_cold(
        &self,
        place: Place,
        keys: &[ColdKey],
        which: Which,
        changes: &mut ChangeSet,
    ) -> Option<Removed> {
        let Place { id, db, .. } = place;
        self.log().admit_removal(id.shard()).ok()?;
        let locked = self.keyspace.lock_within(id, LockWait::Brief)?;
        if self.are_removals_paused() || !place.is_current(locked.partition(id)) {
            return None;
        }
        let (start, now_ms) = (self.env.clock.now(), self.env.clock.unix_ms());
        let removed = self.change_by_itself(locked, (db, now_ms), changes, |txn| {
            let mut removed = Removed::default();
            for cold in keys {
                match cold.remove(txn, which) {
                    Some(Event::ExpiredRemoved) => removed.expired += 1,
                    Some(_) => removed.evicted += 1,
                    None => {}
                }
            }
            removed
        });
        self.count_expired(removed.expired);
        self.budget.note_deleted(removed.evicted, self.env.clock.since(start));
        Some(removed)
    }
}

impl ColdKey {
    /// Removes the key, unless its row is not all that there is: it is in memory or was deleted, or
    /// changes wait for it to be read.
    fn remove(&self, txn: &mut Txn<'_>, which: Which) -> Option<Event> {
        let key = txn.engine().key(&self.key);
        let database = txn.database(&key);
        if database.table().find(key.hash, key.bytes).is_some()
            || database.spread().deferred(key.bytes).is_some()
        {
            return None;
        }
        let is_due = self.expire_ms != 0 && self.expire_ms <= txn.now_ms();
        let (event, class, name) = match (is_due, which) {
            (true, _) => (Event::ExpiredRemoved, EventClass::Expired, "expired"),
            (false, Which::All) => (Event::Deleted, EventClass::Evicted, "evicted"),
            (false, Which::Due) => return None,
        };
        txn.delete_unread(&key, self.spread_id, event);
        txn.notify(class, name, &key);
        Some(event)
    }
}
