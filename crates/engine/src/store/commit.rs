//! HOT PATH
//! The way of a ChangeSet into the log.

use crate::log::{Gate, Ticket};
use crate::store::changes::{Owner, TooLarge};
use crate::store::txn::Txn;
use basalt_change::op::{self, Op};
use basalt_change::place::{PartitionId, SHARDS, ShardId};
use basalt_keyspace::unacknowledged::EVERY_KEY;
use basalt_stdx::lent::Parts;

impl Txn<'_> {
    /// Whether the log takes `bytes` more together with what has been changed already.
    ///
    /// # Errors
    /// It does not.
    pub(crate) fn check_room(&self, bytes: usize) -> Result<(), TooLarge> {
        let bytes_max = self.engine.options.change_set_bytes_max;
        let fits = self.changes.len().saturating_add(bytes) <= bytes_max;
        if fits { Ok(()) } else { Err(TooLarge { bytes_max }) }
    }

    /// Adds a record that concerns every partition for each shard of some partitions, which are in
    /// ascending order. All partitions are held.
    pub(crate) fn log_everywhere(&mut self, ops: &[Op<'_>], concerned: &[PartitionId]) {
        let changes = &mut *self.changes;
        let mut shards: Vec<ShardId> = concerned.iter().map(|id| id.shard()).collect();
        shards.dedup();
        changes.count += ops.len() as u64;
        for shard in shards {
            changes.records.push((Owner::Shard(shard), changes.bytes.len()));
            op::begin_shard(&mut changes.bytes);
            ops.iter().for_each(|op| op.encode(&mut changes.bytes));
        }
        if self.gated {
            changes.keys.extend(concerned.iter().map(|&id| (id, EVERY_KEY)));
        }
    }

    /// Appends the command's ChangeSet to the log, still under the locks, and lets go of them.
    /// The reply waits for what goes to `gate`: nothing, if nothing changed or nothing waits.
    /// Clients that were called are due to be served
    /// ([`take_called`](crate::ChangeSet::take_called)).
    #[inline]
    pub fn commit(mut self, gate: &mut Gate) {
        self.append(gate);
    }

    /// Commits while the locks are held until `self` goes: it needs not be moved here.
    #[inline]
    pub fn append(&mut self, gate: &mut Gate) {
        match self.changes.records[..] {
            [] => {}
            [(Owner::Partition(partition), _)] => self.append_one(partition, gate),
            _ => self.append_many(gate),
        }
    }

    #[inline]
    fn append_one(&mut self, partition: PartitionId, gate: &mut Gate) {
        let (seq, ticket) = self.engine.log().append(partition.shard(), &self.changes.bytes);
        self.locked.partition_mut(partition).advance(seq);
        if self.gated {
            gate.add(ticket);
        } else if self.changes.wait_for_disk {
            gate.add(self.engine.log().on_disk(ticket));
        } else {
            gate.add_demanded(ticket, self.engine.log());
        }
        self.finish(|_| ticket);
    }

    #[cold]
    fn append_many(&mut self, gate: &mut Gate) {
        let changes = &mut *self.changes;
        let ends = changes.records.iter().skip(1).map(|&(_, start)| start);
        let ends = ends.chain([changes.bytes.len()]);
        let mut all_lent = changes.lent.iter();
        let record = |(&(owner, start), end): (&(Owner, usize), usize)| {
            let lent = if let Owner::Lending(_) = owner { all_lent.next() } else { None };
            (owner.shard(), Parts { copied: &changes.bytes[start..end], lent })
        };
        let records: Vec<(ShardId, Parts<'_>)> =
            changes.records.iter().zip(ends).map(record).collect();
        changes.appended.clear();
        self.engine.log().append_all(&records, &mut changes.appended);
        let mut tickets = [None; SHARDS];
        for (&(owner, _), &(seq, ticket)) in changes.records.iter().zip(&changes.appended) {
            tickets[owner.shard().index()] = Some(ticket);
            if self.gated {
                gate.add(ticket);
            } else if changes.wait_for_disk {
                gate.add(self.engine.log().on_disk(ticket));
            } else {
                gate.add_demanded(ticket, self.engine.log());
            }
            match owner {
                Owner::Partition(id) | Owner::Lending(id) => {
                    self.locked.partition_mut(id).advance(seq);
                }
                Owner::Shard(shard) => {
                    shard.partitions().for_each(|id| self.locked.partition_mut(id).advance(seq));
                }
            }
        }
        self.finish(|shard| tickets[shard.index()].expect("what was changed was appended"));
    }

    /// Notes what waits for which ticket, and is ready for the next command's changes.
    #[inline]
    fn finish(&mut self, ticket_of: impl Fn(ShardId) -> Ticket) {
        if self.gated {
            for &(id, hash) in &self.changes.keys {
                let partition = self.locked.partition_mut(id);
                self.engine.note_unacknowledged(id, partition, hash, ticket_of(id.shard()));
            }
        }
        self.changes.clear();
    }
}
