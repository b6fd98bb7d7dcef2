//! Watching keys for a transaction that is to fail if they change (WATCH).
//!
//! A watch stands in its key's partition ([`Interest`](basalt_keyspace::interest::Interest)); the
//! first change of the key sets the client's mark and removes the watch, under the partition's
//! lock. A thread that then executes a transaction holds the partitions of all watched keys, so
//! that no change is missed and none comes between the look at the mark and the transaction's own
//! changes.
//!
//! Nothing happens at the moment at which a key expires. But any change of *when* it expires is a
//! change of the key; so as long as the mark is not set, the earliest expiry that was seen when the
//! keys were first watched still holds, and one comparison tells whether a key has expired since. A
//! hash expires, too, when the last of its fields does.
//!
//! Rejected: a version in every entry (8 bytes a key for all keys, and the cold tier would have to
//! keep it), versions by bucket of hashes (every write pays for a store, and neighbours make
//! transactions fail). See `docs/decisions/0009-watch.md`.

use crate::engine::Engine;
use crate::store::held::Held;
use crate::store::key::Key;
use crate::store::view::live;
use crate::waiting::watching::Watching;
use basalt_change::place::PartitionId;
use basalt_keyspace::database::Database;
use basalt_keyspace::interest::{KeyId, Watch, WatchedState};
use basalt_keyspace::keyspace::{Locked, PartitionSet};
use basalt_keyspace::table::Lookup;
use basalt_stdx::short_lock::LockWait;
use std::sync::Arc;

impl Engine {
    /// Watches a key of a database, whose partition is held and which is resident or absent.
    pub fn watch(
        &self,
        locked: &mut Locked<'_>,
        watching: &mut Watching,
        key: &Key<'_>,
        db: u8,
        now_ms: u64,
    ) {
        let place = KeyId { hash: key.hash, db };
        if !watching.keys.insert((key.partition, place)) {
            return;
        }
        let partition = locked.partition_mut(key.partition);
        let database = partition.database(db);
        let seen = seen(database, key.hash, key.bytes, now_ms);
        if seen == WatchedState::Live
            && let Lookup::Live(entry) = database.table().lookup(key.hash, key.bytes)
        {
            if entry.expire_ms() != 0 {
                watching.expires_ms = watching.expires_ms.min(entry.expire_ms());
            }
            let gone_ms = entry.collection().map_or(u64::MAX, |value| value.gone_ms());
            watching.expires_ms = watching.expires_ms.min(gone_ms);
        }
        let watch = Watch { mark: Arc::clone(&watching.mark), key: key.bytes.into(), seen };
        partition.interest.get_or_insert_default().watch(place, watch);
    }

    /// Watches nothing any more; takes the partitions one after the other. Ending a watch twice
    /// changes nothing.
    ///
    /// # Errors
    /// Somebody holds a partition for longer than the thread waits: some watches are still there.
    pub fn unwatch(&self, watching: &Watching, wait: LockWait) -> Result<(), Held> {
        watching.keys.iter().try_for_each(|(partition, place)| {
            let mut locked = self.keyspace.lock_within(*partition, wait).ok_or(Held)?;
            unwatch(&mut locked, watching, *partition, *place);
            Ok(())
        })
    }

    /// Ends the watches for a caller that holds the partitions.
    pub(crate) fn unwatch_held(locked: &mut Locked<'_>, watching: &Watching) {
        for (partition, place) in &watching.keys {
            unwatch(locked, watching, *partition, *place);
        }
    }

    /// Whether anybody watches a key. Partitions are asked one after the other.
    pub fn is_watched(&self) -> bool {
        PartitionId::all().any(|id| self.keyspace.lock(id).partition(id).interest.is_some())
    }

    /// Locks the partitions of these keys and of these watched ones.
    pub fn lock_with_watched(
        &self,
        keys: &[Key<'_>],
        watching: Option<&Watching>,
        wait: LockWait,
    ) -> Option<Locked<'_>> {
        let Some(watching) = watching else { return self.lock_within(keys, wait) };
        let mut set = PartitionSet::EMPTY;
        keys.iter().for_each(|key| set.insert(key.partition));
        watching.partitions().for_each(|partition| set.insert(partition));
        self.keyspace.lock_many_within(&set, wait)
    }
}

fn unwatch(locked: &mut Locked<'_>, watching: &Watching, id: PartitionId, place: KeyId) {
    let partition = locked.partition_mut(id);
    let Some(interest) = &mut partition.interest else { return };
    interest.unwatch(place, &watching.mark);
    if interest.is_empty() {
        partition.interest = None;
    }
}

/// What a database has under a key. What only the cold tier could tell counts as live: a
/// transaction rather fails without need than runs without right.
pub(crate) fn seen(database: &Database, hash: u64, key: &[u8], now_ms: u64) -> WatchedState {
    match database.table().lookup(hash, key) {
        Lookup::Live(entry) if live(entry, now_ms).is_some() => WatchedState::Live,
        Lookup::Live(_) => WatchedState::Expired,
        Lookup::Tombstone => WatchedState::Absent,
        Lookup::Unknown if database.is_complete() => WatchedState::Absent,
        Lookup::Unknown => WatchedState::Live,
    }
}
