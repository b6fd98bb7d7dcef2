//! Keys of which clients keep copies (`CLIENT TRACKING`).
//!
//! The clients that have read a key stand in its partition, beside those that watch it or wait for
//! it ([`Interest`](basalt_keyspace::interest::Interest)); its next change takes them out, under
//! the partition's lock, and they are told when the locks are gone. A client that wants to hear of
//! keys that it has not read has all partitions say what changes (`broadcasts`). Nobody pays for
//! that in a partition of which no client keeps copies. `docs/decisions/0028-client-tracking.md`
//! says why no change is missed.

use crate::engine::Engine;
use crate::log::Gate;
use crate::outdated::OutdatedCopies;
use crate::store::changes::ChangeSet;
use crate::store::held::Held;
use crate::store::key::Key;
use basalt_change::place::{PartitionId, ShardSet};
use basalt_keyspace::interest::{Call, Called, Cause, Outdated};
use basalt_keyspace::keyspace::Locked;
use basalt_keyspace::partition::Partition;
use basalt_stdx::short_lock::LockWait;
use basalt_tracking::Untracked;
use std::sync::atomic::{AtomicU64, Ordering};

/// How many keys are tracked in all partitions, and by how many clients each. Written under the
/// lock of the partition that is concerned.
#[derive(Debug, Default)]
pub(crate) struct TrackedTotals {
    keys: AtomicU64,
    items: AtomicU64,
}

/// Held partitions, all of which can be told whether to say what changes.
pub struct BroadcastFlags<'e>(Locked<'e>);

impl TrackedTotals {
    fn note(&self, before: (usize, usize), after: (usize, usize)) {
        // Relaxed: a sum, which wraps around on its way.
        let change = |before: usize, after: usize| (after as u64).wrapping_sub(before as u64);
        self.keys.fetch_add(change(before.0, after.0), Ordering::Relaxed);
        self.items.fetch_add(change(before.1, after.1), Ordering::Relaxed);
    }

    /// Keys are tracked no longer.
    pub(crate) fn note_gone(&self, keys: usize, items: usize) {
        self.note((keys, items), (0, 0));
    }
}

impl BroadcastFlags<'_> {
    /// All partitions say what changes from here on.
    pub fn set(mut self) {
        set_broadcasts(&mut self.0);
    }
}

/// Has all partitions, which are held, say what changes.
pub(crate) fn set_broadcasts(locked: &mut Locked<'_>) {
    for id in PartitionId::all() {
        locked.partition_mut(id).interest.get_or_insert_default().broadcasts = true;
    }
}

impl Engine {
    /// The shards in which something has changed of which there are copies.
    fn shards_of(&self, copies: &OutdatedCopies) -> ShardSet {
        if copies.all {
            return ShardSet::ALL;
        }
        copies.keys.iter().map(|outdated| self.key(&outdated.key).partition.shard()).collect()
    }

    /// How many keys are tracked, and by how many clients in all.
    pub fn tracked(&self) -> (u64, u64) {
        let TrackedTotals { keys, items } = &self.tracked;
        (keys.load(Ordering::Relaxed), items.load(Ordering::Relaxed))
    }

    /// A client reads keys and keeps copies. `is_live` returns true if a client still does.
    ///
    /// # Errors
    /// Somebody holds a partition for longer than the thread waits: none has been noted.
    pub fn track(
        &self,
        keys: &[Key<'_>],
        (reader, is_live): (u64, &dyn Fn(u64) -> bool),
        wait: LockWait,
        changes: &mut ChangeSet,
    ) -> Result<(), Held> {
        let mut locked = self.lock_within(keys, wait).ok_or(Held)?;
        self.track_held(&mut locked, keys, (reader, is_live), &mut changes.called);
        Ok(())
    }

    pub(crate) fn track_held(
        &self,
        locked: &mut Locked<'_>,
        keys: &[Key<'_>],
        (reader, is_live): (u64, &dyn Fn(u64) -> bool),
        called: &mut Called,
    ) {
        for key in keys {
            let partition = locked.partition_mut(key.partition);
            let tracked = &mut partition.interest.get_or_insert_default().tracked;
            let before = (tracked.len(), tracked.items());
            let displaced = tracked.note((key.hash, key.bytes), reader, is_live);
            self.tracked.note(before, (tracked.len(), tracked.items()));
            called.extend(displaced.map(forgotten));
        }
    }

    /// While more than `keys_max` keys are tracked, has a random one tracked no longer, and has its
    /// readers told; at most `count` of them. `random` is different each time.
    pub fn shed_tracked(
        &self,
        (keys_max, count): (u64, usize),
        random: &mut dyn FnMut() -> u64,
        wait: LockWait,
        changes: &mut ChangeSet,
    ) {
        for _ in 0..count {
            if self.tracked().0 <= keys_max {
                return;
            }
            let (first, hash) = (random() as usize, random());
            let partitions = PartitionId::all().len();
            let has_shed = (0..partitions).any(|offset| {
                let number = (first.wrapping_add(offset)) % partitions;
                let id = PartitionId::new(number as u16).expect("below the count");
                let Some(mut locked) = self.keyspace.lock_within(id, wait) else { return false };
                let untracked = self.take_near(locked.partition_mut(id), hash);
                let has_shed = untracked.is_some();
                changes.called.extend(untracked.map(forgotten));
                has_shed
            });
            if !has_shed {
                return;
            }
        }
    }

    fn take_near(&self, partition: &mut Partition, hash: u64) -> Option<Untracked> {
        let interest = partition.interest.as_mut()?;
        let untracked = interest.tracked.take_near(hash)?;
        self.tracked.note_gone(1, untracked.readers.len());
        if interest.is_empty() {
            partition.interest = None;
        }
        Some(untracked)
    }

    /// No key of a partition is tracked any more. The caller has all readers told.
    pub(crate) fn forget_tracked(&self, partition: &mut Partition) {
        let Some(interest) = &mut partition.interest else { return };
        self.tracked.note_gone(interest.tracked.len(), interest.tracked.items());
        interest.tracked.clear();
        if interest.is_empty() {
            partition.interest = None;
        }
    }

    /// Forgets clients that keep no copies any more, and has partitions say what changes only if
    /// somebody wants to hear of that, which is asked under each lock. Partitions that somebody
    /// holds for long are left as they are: they are right, but for what they need not do.
    pub fn sweep_tracked(
        &self,
        is_live: &dyn Fn(u64) -> bool,
        has_broadcasts: &dyn Fn() -> bool,
        wait: LockWait,
    ) {
        for id in PartitionId::all() {
            let Some(mut locked) = self.keyspace.lock_within(id, wait) else { continue };
            self.sweep_held(locked.partition_mut(id), is_live, has_broadcasts);
        }
    }

    pub(crate) fn sweep_held(
        &self,
        partition: &mut Partition,
        is_live: &dyn Fn(u64) -> bool,
        has_broadcasts: &dyn Fn() -> bool,
    ) {
        let Some(interest) = &mut partition.interest else { return };
        let tracked = &mut interest.tracked;
        let before = (tracked.len(), tracked.items());
        tracked.sweep(is_live);
        self.tracked.note(before, (tracked.len(), tracked.items()));
        interest.broadcasts &= has_broadcasts();
        if interest.is_empty() {
            partition.interest = None;
        }
    }

    /// Holds all partitions, so that a client can be put down as one that wants to hear of all
    /// changes from one moment on.
    ///
    /// # Errors
    /// Somebody holds a partition for longer than the thread waits.
    pub fn hold_broadcasts(&self, wait: LockWait) -> Result<BroadcastFlags<'_>, Held> {
        self.lock_all_within(wait).map(BroadcastFlags).ok_or(Held)
    }

    /// What the news of copies that are out of date has to wait for, as replies do: the changes,
    /// which are in the log by now.
    pub fn gate_of_outdated(&self, copies: &OutdatedCopies) -> Gate {
        let mut gate = Gate::default();
        if self.log().gates_replies() {
            self.log().latest(self.shards_of(copies), &mut gate);
        }
        gate
    }

    /// Wakes the clients that wait for what was put under keys, and tells those that keep copies;
    /// no partition is held.
    pub fn wake_called(&self, called: Called) {
        if called.is_empty() {
            return;
        }
        let mut copies = OutdatedCopies::default();
        let waiters = copies.sort(called);
        if !copies.is_empty()
            && let Some(sink) = self.event_sink.get()
        {
            sink.tell_outdated(&copies, &self.gate_of_outdated(&copies));
        }
        waiters.iter().for_each(|client| client.wake());
    }
}

fn forgotten(untracked: Untracked) -> Call {
    let Untracked { name: key, readers } = untracked;
    Call::Outdated(Outdated { key, readers, cause: Cause::Forgotten })
}
