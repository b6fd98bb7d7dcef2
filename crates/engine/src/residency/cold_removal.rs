//! Removing keys that are on disk only, without reading their values: a record in the log, an event
//! and the news that go with it need no more than the key.

use crate::engine::Engine;
use crate::store::changes::ChangeSet;
use crate::store::events::EventClass;
use crate::store::hold::Hold;
use crate::store::txn::Txn;
use basalt_change::place::PartitionId;
use basalt_keyspace::interest::Event;
use basalt_keyspace::partition::Partition;
use basalt_stdx::short_lock::LockWait;
use std::sync::atomic::Ordering;

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
    /// Of a hash of which all fields expire, if they need not be read to know that.
    pub(super) passing: Option<PassingHash>,
}

/// A hash of which all fields expire.
#[derive(Clone, Copy, Debug)]
pub(super) struct PassingHash {
    /// When the last of them has expired.
    pub(super) gone_ms: u64,
    /// How many there are.
    pub(super) fields: u64,
}

/// Which keys go.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Which {
    /// Those that have expired, and hashes of which all fields have.
    Due,
    /// All of them: there is no memory for them.
    All,
}

/// What has gone under one lock.
#[derive(Clone, Copy, Default)]
pub(super) struct Removed {
    pub(super) evicted: u64,
    pub(super) expired: u64,
    /// Hashes of which all fields had expired …
    pub(super) gone: u64,
    /// … and these fields.
    pub(super) fields: u64,
}

/// What has become of a key.
enum Fate {
    Evicted,
    Expired,
    /// All of these fields had expired.
    Gone(u64),
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
        let (hold, now_ms) = (Hold::begin(self.clock()), self.env.clock.unix_ms());
        let removed = self.change_by_itself(locked, (db, now_ms), changes, |txn| {
            let mut removed = Removed::default();
            for cold in keys {
                match cold.remove(txn, which) {
                    Some(Fate::Expired) => removed.expired += 1,
                    Some(Fate::Evicted) => removed.evicted += 1,
                    Some(Fate::Gone(fields)) => {
                        removed.gone += 1;
                        removed.fields += fields;
                    }
                    None => {}
                }
            }
            removed
        });
        self.count_expired(removed.expired);
        self.expired_fields.fetch_add(removed.fields, Ordering::Relaxed);
        self.budget.note_deleted(removed.evicted, self.clock(), &hold);
        Some(removed)
    }
}

impl ColdKey {
    /// Removes the key, unless its row is not all that there is: it is in memory or was deleted, or
    /// changes wait for it to be read.
    fn remove(&self, txn: &mut Txn<'_>, which: Which) -> Option<Fate> {
        let key = txn.engine().key(&self.key);
        let database = txn.database(&key);
        if database.table().find(key.hash, key.bytes).is_some()
            || database.spread().deferred(key.bytes).is_some()
        {
            return None;
        }
        let now_ms = txn.now_ms();
        let is_due = self.expire_ms != 0 && self.expire_ms <= now_ms;
        let gone = self.passing.filter(|hash| hash.gone_ms <= now_ms);
        let (fate, event) = match (gone, which) {
            _ if is_due => (Fate::Expired, Event::ExpiredRemoved),
            (Some(hash), _) => (Fate::Gone(hash.fields), Event::ExpiredRemoved),
            (None, Which::All) => (Fate::Evicted, Event::Deleted),
            (None, Which::Due) => return None,
        };
        txn.delete_unread(&key, self.spread_id, event);
        match fate {
            Fate::Expired => txn.notify(EventClass::Expired, "expired", &key),
            Fate::Evicted => txn.notify(EventClass::Evicted, "evicted", &key),
            // As in memory: of fields that expire nothing is said.
            Fate::Gone(_) => {}
        }
        Some(fate)
    }
}
