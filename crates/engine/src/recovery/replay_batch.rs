//! HOT PATH
//! Records of the log on their way into memory, many at a time.
//!
//! Replay touches keys at random, and each would wait for memory several times over: 0.85 µs a
//! record. So what the later ones of some records touch is fetched while the earlier ones are
//! applied, as commands do it.

use basalt_change::op::{self, Edit, Op, Put, PutValue, Replace, Scope};
use basalt_change::place::{PartitionId, ShardId};
use basalt_keyspace::keyspace::Keyspace;
use std::ops::Range;

/// Records that are fetched ahead together.
const FETCHED_MAX: usize = 32;
/// A batch this large goes to its thread: enough that handing it over does not count, and little
/// enough to be in the cache still when it is applied.
const RECORDS_MAX: usize = 1024;
const BYTES_MAX: usize = 128 << 10;

/// Records that wait to be applied, in the order of the log.
#[derive(Default)]
pub(crate) struct ReplayBatch {
    bytes: Vec<u8>,
    records: Vec<WaitingRecord>,
}

struct WaitingRecord {
    shard: ShardId,
    position: u64,
    bytes: Range<usize>,
}

impl ReplayBatch {
    /// Adds a record.
    pub(crate) fn push(&mut self, shard: ShardId, position: u64, record: &[u8]) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(record);
        self.records.push(WaitingRecord { shard, position, bytes: start..self.bytes.len() });
    }

    /// It is time to apply them.
    pub(crate) fn is_full(&self) -> bool {
        self.records.len() >= RECORDS_MAX || self.bytes.len() >= BYTES_MAX
    }

    /// Calls `apply` with each record, in order, until one fails; then the batch is empty.
    pub(crate) fn drain<E>(
        &mut self,
        keyspace: &Keyspace,
        mut apply: impl FnMut(ShardId, u64, &[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let bytes = &self.bytes;
        let result = self.records.chunks(FETCHED_MAX).try_for_each(|records| {
            fetch(keyspace, bytes, records);
            let mut records = records.iter();
            records.try_for_each(|r| apply(r.shard, r.position, &bytes[r.bytes.clone()]))
        });
        self.records.clear();
        self.bytes.clear();
        result
    }
}

/// Brings what the records touch first into the cache.
fn fetch(keyspace: &Keyspace, bytes: &[u8], records: &[WaitingRecord]) {
    let mut touched = [None; FETCHED_MAX];
    for (touched, record) in touched.iter_mut().zip(records) {
        let first = first_key(&bytes[record.bytes.clone()]);
        *touched = first.map(|(partition, db, key)| (partition, db, keyspace.hasher().hash(key)));
        if let Some((partition, db, hash)) = *touched {
            keyspace.prefetch_bucket(partition, db, hash);
        }
    }
    for (partition, db, hash) in touched.into_iter().flatten() {
        keyspace.prefetch_entry(partition, db, hash);
    }
}

/// The key that a record's first change touches. A record that cannot be read is reported when it
/// is applied.
fn first_key(record: &[u8]) -> Option<(PartitionId, u8, &[u8])> {
    let (Scope::Partition(partition), mut ops) = op::decode(record).ok()? else { return None };
    match ops.next()?.ok()? {
        Op::Put(Put { db, key, .. })
        | Op::Delete { db, key }
        | Op::Expire { db, key, .. }
        | Op::Version { db, key, .. }
        | Op::Splice { db, key, .. }
        | Op::Replace(Replace { db, key, .. })
        | Op::Edit(Edit { db, key, .. })
        | Op::PutValue(PutValue { db, key, .. }) => Some((partition, db, key)),
        Op::FlushDb { .. } | Op::SwapDb { .. } | Op::Library { .. } => None,
    }
}
