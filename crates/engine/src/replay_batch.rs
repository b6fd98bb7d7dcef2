//! HOT PATH
//! Records of the log on their way into memory, a few at a time.
//!
//! Replay touches keys at random, and each would wait for memory several times over: 0.85 µs a
//! record. Taken in batches, as commands are, what the later records touch is fetched while the
//! earlier ones are applied.

use basalt_change::op::{self, Edit, Op, Put, PutValue, Scope};
use basalt_change::place::{PartitionId, ShardId};
use basalt_keyspace::keyspace::Keyspace;
use std::ops::Range;

/// Records of a batch.
pub(crate) const RECORDS_MAX: usize = 32;

/// Records that wait to be applied, in the order of the log.
#[derive(Default)]
pub(crate) struct ReplayBatch {
    bytes: Vec<u8>,
    records: Vec<Waiting>,
}

struct Waiting {
    shard: ShardId,
    position: u64,
    bytes: Range<usize>,
    /// What its first change touches, if that is a key.
    first: Option<(PartitionId, u8, u64)>,
}

impl ReplayBatch {
    /// Adds a record and fetches the head of its partition.
    pub(crate) fn push(
        &mut self,
        keyspace: &Keyspace,
        shard: ShardId,
        position: u64,
        record: &[u8],
    ) {
        let first = first_key(record)
            .map(|(partition, db, key)| (partition, db, keyspace.hasher().hash(key)));
        if let Some((partition, db, hash)) = first {
            keyspace.prefetch_bucket(partition, db, hash);
        }
        let start = self.bytes.len();
        self.bytes.extend_from_slice(record);
        self.records.push(Waiting { shard, position, bytes: start..self.bytes.len(), first });
    }

    /// It is time to apply them.
    pub(crate) fn is_full(&self) -> bool {
        self.records.len() >= RECORDS_MAX
    }

    /// Brings what the records touch first into the cache.
    pub(crate) fn prefetch(&self, keyspace: &Keyspace) {
        for (partition, db, hash) in self.records.iter().filter_map(|record| record.first) {
            keyspace.prefetch_entry(partition, db, hash);
        }
    }

    /// Calls `apply` with each record, in order, until one fails; then the batch is empty.
    pub(crate) fn drain<E>(
        &mut self,
        mut apply: impl FnMut(ShardId, u64, &[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let bytes = std::mem::take(&mut self.bytes);
        let result = self
            .records
            .drain(..)
            .try_for_each(|record| apply(record.shard, record.position, &bytes[record.bytes]));
        self.bytes = bytes;
        self.bytes.clear();
        result
    }
}

/// The key that a record's first change touches. A record that cannot be read is reported when it is
/// applied.
fn first_key(record: &[u8]) -> Option<(PartitionId, u8, &[u8])> {
    let (Scope::Partition(partition), mut ops) = op::decode(record).ok()? else { return None };
    match ops.next()?.ok()? {
        Op::Put(Put { db, key, .. })
        | Op::Delete { db, key }
        | Op::Expire { db, key, .. }
        | Op::Splice { db, key, .. }
        | Op::Edit(Edit { db, key, .. })
        | Op::PutValue(PutValue { db, key, .. }) => Some((partition, db, key)),
        Op::FlushDb { .. } | Op::SwapDb { .. } => None,
    }
}
