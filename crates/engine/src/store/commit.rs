//! HOT PATH
//! The way of a ChangeSet into the log.

use crate::log::Ticket;
use crate::store::changes::{Owner, TooLarge};
use crate::store::txn::Txn;
use basalt_change::op::{self, Op};
use basalt_change::place::{PartitionId, ShardId};
use basalt_keyspace::unacknowledged::EVERY_KEY;

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
    /// Returns the ticket that the reply waits for, or `None` if nothing changed or nothing waits.
    /// Clients that were called are due to be served
    /// ([`take_called`](crate::ChangeSet::take_called)).
    #[inline]
    pub fn commit(mut self) -> Option<Ticket> {
        self.append()
    }

    /// Commits while the locks are held until `self` goes: it needs not be moved here.
    #[inline]
    pub fn append(&mut self) -> Option<Ticket> {
        match self.changes.records[..] {
            [] => None,
            [(Owner::Partition(partition), _)] => self.append_one(partition),
            _ => self.append_many(),
        }
    }

    #[inline]
    fn append_one(&mut self, partition: PartitionId) -> Option<Ticket> {
        let (seq, ticket) = self.engine.log().append(partition.shard(), &self.changes.bytes);
        self.locked.partition_mut(partition).advance(seq);
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
                Owner::Partition(id) => self.locked.partition_mut(id).advance(seq),
                Owner::Shard(shard) => {
                    shard.partitions().for_each(|id| self.locked.partition_mut(id).advance(seq));
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
