//! HOT PATH
//! What a command has changed and has not appended to the log yet: the ChangeSet under construction,
//! and its way into the log.

use crate::events::{EventClasses, KeyEvent};
use crate::key::Key;
use crate::log::Ticket;
use crate::miss::Missing;
use crate::txn::Txn;
use crate::waiting::Patience;
use basalt_change::op::{self, Op, Put};
use basalt_change::place::{PartitionId, ShardId};
use basalt_keyspace::interest::Called;
use basalt_keyspace::unacknowledged::EVERY_KEY;

/// A thread's buffer for the ChangeSet of the command that it runs. Reused, so that a write
/// allocates nothing.
#[derive(Default, Debug)]
pub struct Changes {
    pub(crate) bytes: Vec<u8>,
    /// Where each record begins, and whose it is.
    records: Vec<(Owner, usize)>,
    /// The keys changed, by partition and hash; kept only when the log gates replies.
    keys: Vec<(PartitionId, u64)>,
    positions: Vec<u64>,
    /// Keys changed, for INFO's `rdb_changes_since_last_save`.
    count: u64,
    /// What the command found that it has to wait for, having changed nothing.
    pub(crate) ask: Option<Ask>,
    /// Clients to be woken when the locks are gone.
    pub(crate) called: Called,
    /// The events that somebody wants, and those that there were.
    pub(crate) classes: EventClasses,
    events: Vec<KeyEvent>,
}

/// What a command has to wait for before it runs again.
#[derive(Debug)]
pub enum Ask {
    /// Keys that have to be fetched.
    Fetch(Missing),
    /// Something under a key.
    Ready(Patience),
    /// Nothing, but to run again under the locks of these keys, too.
    Reach(Vec<Vec<u8>>),
}

/// An end of a ChangeSet under construction.
#[derive(Clone, Copy)]
pub(crate) struct ChangesMark {
    bytes: usize,
    records: usize,
    keys: usize,
    count: u64,
}

/// Whose a record is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Owner {
    /// A partition's.
    Partition(PartitionId),
    /// Of all partitions of a shard.
    Shard(ShardId),
}

impl Owner {
    fn shard(self) -> ShardId {
        match self {
            Owner::Partition(partition) => partition.shard(),
            Owner::Shard(shard) => shard,
        }
    }
}

impl Changes {
    /// The next op is about this key.
    #[inline]
    pub(crate) fn begin_op(&mut self, key: &Key<'_>, gated: bool) {
        self.count += 1;
        let owner = Owner::Partition(key.partition);
        if self.records.last().map(|&(owner, _)| owner) != Some(owner) {
            self.records.push((owner, self.bytes.len()));
            op::begin(&mut self.bytes, key.partition);
        }
        if gated {
            self.keys.push((key.partition, key.hash));
        }
    }

    /// The ChangeSet of a command that puts one string and does nothing else; to be cleared then.
    #[inline(always)]
    pub(crate) fn only_put(&mut self, partition: PartitionId, put: &Put<'_>) -> &[u8] {
        self.count += 1;
        op::begin(&mut self.bytes, partition);
        put.encode(&mut self.bytes);
        &self.bytes
    }

    /// Where the ChangeSet ends now.
    #[inline]
    pub(crate) fn mark(&self) -> ChangesMark {
        let (bytes, records, keys) = (self.bytes.len(), self.records.len(), self.keys.len());
        ChangesMark { bytes, records, keys, count: self.count }
    }

    /// Forgets what was appended since: nothing came of it.
    #[inline]
    pub(crate) fn reset(&mut self, to: ChangesMark) {
        self.bytes.truncate(to.bytes);
        self.records.truncate(to.records);
        self.keys.truncate(to.keys);
        self.count = to.count;
    }

    #[inline]
    pub(crate) fn clear(&mut self) {
        const KEPT_BYTES_MAX: usize = 1 << 20;
        self.bytes.clear();
        if self.bytes.capacity() > KEPT_BYTES_MAX {
            self.bytes = Vec::new();
        }
        self.records.clear();
        self.keys.clear();
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.records.is_empty() && self.bytes.is_empty()
    }

    /// Wakes the clients that wait for what the latest commands have put under keys; no partition is
    /// held.
    #[inline]
    pub fn wake_called(&mut self) {
        if !self.called.is_empty() {
            self.wake_some();
        }
    }

    #[cold]
    fn wake_some(&mut self) {
        self.called.drain(..).for_each(|client| client.wake());
    }

    /// The keys that the command has to wait for before it runs again, if it said so.
    pub fn take_missing(&mut self) -> Option<Missing> {
        match self.ask.take()? {
            Ask::Fetch(missing) => Some(missing),
            Ask::Ready(_) | Ask::Reach(_) => None,
        }
    }

    /// From now on events of these classes are noted.
    pub fn listen_for(&mut self, classes: EventClasses) {
        self.classes = classes;
    }

    /// The classes of events that are noted.
    #[inline]
    pub fn event_classes(&self) -> EventClasses {
        self.classes
    }

    #[cold]
    pub(crate) fn note_event(&mut self, db: u8, name: &'static str, key: &[u8]) {
        self.events.push(KeyEvent { db, name, key: key.to_vec() });
    }

    /// The events of the command that has run, in order: to be taken out when it is committed.
    #[inline]
    pub fn events(&mut self) -> &mut Vec<KeyEvent> {
        &mut self.events
    }

    /// Changes of keys since the last call.
    pub fn take_count(&mut self) -> u64 {
        std::mem::take(&mut self.count)
    }
}

impl Txn<'_> {
    /// Adds records that concern every partition, a shard's worth each. All are held.
    pub(crate) fn log_everywhere(&mut self, ops: &[Op<'_>]) {
        let changes = &mut *self.changes;
        for shard in ShardId::all() {
            changes.records.push((Owner::Shard(shard), changes.bytes.len()));
            op::begin_shard(&mut changes.bytes);
            ops.iter().for_each(|op| op.encode(&mut changes.bytes));
        }
        if self.gated {
            changes.keys.extend(PartitionId::all().map(|id| (id, EVERY_KEY)));
        }
    }

    /// Appends the command's ChangeSet to the log, still under the locks, and lets go of them. Gives
    /// the ticket that the reply waits for, or `None` if nothing changed or nothing waits.
    #[inline]
    pub fn commit(mut self) -> Option<Ticket> {
        let ticket = self.append();
        if !self.changes.called.is_empty() {
            self.unlock_and_wake();
        }
        ticket
    }

    /// The same, but the locks are held until `self` goes: it needs not be moved here. Then
    /// [`Changes::wake_called`] is due.
    #[inline]
    pub fn append(&mut self) -> Option<Ticket> {
        match self.changes.records[..] {
            [] => None,
            [(Owner::Partition(partition), _)] => self.append_one(partition),
            _ => self.append_many(),
        }
    }

    /// Waking takes a system call, so nothing is locked any more.
    #[cold]
    fn unlock_and_wake(self) {
        let called = std::mem::take(&mut self.changes.called);
        drop(self);
        called.iter().for_each(|client| client.wake());
    }

    #[inline]
    fn append_one(&mut self, partition: PartitionId) -> Option<Ticket> {
        let (seq, ticket) = self.engine.log().append(partition.shard(), &self.changes.bytes);
        self.locked.partition_mut(partition).last_seq = seq;
        self.finish(ticket)
    }

    #[cold]
    fn append_many(&mut self) -> Option<Ticket> {
        let changes = &mut *self.changes;
        let ends = changes.records.iter().skip(1).map(|&(_, start)| start);
        let ends = ends.chain([changes.bytes.len()]);
        let records: Vec<(ShardId, &[u8])> = changes
            .records
            .iter()
            .zip(ends)
            .map(|(&(owner, start), end)| (owner.shard(), &changes.bytes[start..end]))
            .collect();
        changes.positions.clear();
        let ticket = self.engine.log().append_atomically(&records, &mut changes.positions);
        for (&(owner, _), &seq) in changes.records.iter().zip(&changes.positions) {
            match owner {
                Owner::Partition(id) => self.locked.partition_mut(id).last_seq = seq,
                Owner::Shard(shard) => {
                    shard.partitions().for_each(|id| self.locked.partition_mut(id).last_seq = seq);
                }
            }
        }
        self.finish(ticket)
    }

    #[inline]
    fn finish(&mut self, ticket: Ticket) -> Option<Ticket> {
        if self.gated {
            for &(id, hash) in &self.changes.keys {
                let partition = self.locked.partition_mut(id);
                self.engine.note_unacknowledged(id, partition, hash, ticket);
            }
        }
        self.changes.clear();
        self.gated.then_some(ticket)
    }
}
