//! An engine without files, for tests of this crate's inside.

use crate::engine::{Engine, Options};
use crate::log::{CommitLog, Fate, Gate, LogError, Refusal, Ticket};
use crate::recovery::RecoveryError;
use crate::store::changes::ChangeSet;
use crate::store::context::CommandContext;
use crate::store::txn::{PutOptions, Txn};
use basalt_change::op::{self, Op};
use basalt_change::place::{ShardId, ShardSet, Slot};
use basalt_cold::{MemoryDisk, MemoryTier, Residency};
use basalt_env::{Env, ManualClock};
use basalt_stdx::lent::Parts;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// An empty engine with two databases whose replies wait for the log, and its clock.
pub(crate) fn engine() -> (Engine, Arc<ManualClock>) {
    let clock = Arc::new(ManualClock::at_unix_ms(1));
    (replayed(&clock, &[]).expect("an empty engine opens"), clock)
}

/// An engine as [`engine`] returns it, that has found these changes of one key in its log.
pub(crate) fn replayed(clock: &Arc<ManualClock>, ops: &[Op<'_>]) -> Result<Engine, RecoveryError> {
    let options = Options { databases: 2, ..Default::default() };
    opened(clock, options, &Arc::new(MemoryDisk::new()), ops)
}

/// An engine as [`replayed`] returns it, with these options, on what the cold tier of another has
/// left on the disk.
pub(crate) fn opened(
    clock: &Arc<ManualClock>,
    options: Options,
    disk: &Arc<MemoryDisk>,
    ops: &[Op<'_>],
) -> Result<Engine, RecoveryError> {
    let tier = MemoryTier::open(disk, Path::new("cold"), Residency::Cached);
    Engine::open(options, Arc::new(tier), Env::manual(clock, 1), |floor, replay| {
        if let Some(key) = ops.first().map(Op::key) {
            let partition = Slot::of(key).partition();
            let mut record = Vec::new();
            op::begin(&mut record, partition);
            ops.iter().for_each(|op| op.encode(&mut record));
            replay.record(partition.shard(), 1, &record)?;
        }
        Ok::<Arc<dyn CommitLog>, RecoveryError>(Arc::new(CountingLog::after(floor)))
    })
}

/// Puts a string under a key of database 0, with this expiry.
pub(crate) fn put(engine: &Engine, key: &[u8], expire_ms: u64) {
    let key = engine.key(key);
    let mut changes = ChangeSet::default();
    let session = CommandContext::background(0, engine.clock().unix_ms());
    let mut txn = Txn::new(engine, engine.lock(&[key]), session, &mut changes);
    txn.put(&key, b"value", PutOptions::whole(expire_ms));
    txn.append(&mut Gate::default());
}

/// A log that keeps nothing but the numbers of its records, and acknowledges when it is synced.
struct CountingLog {
    positions: Vec<AtomicU64>,
    appended: AtomicU64,
    acknowledged: AtomicU64,
}

impl CountingLog {
    fn after(floor: &[u64]) -> CountingLog {
        let positions = floor.iter().map(|&position| AtomicU64::new(position)).collect();
        CountingLog { positions, appended: AtomicU64::new(0), acknowledged: AtomicU64::new(0) }
    }

    fn ticket(&self) -> Ticket {
        Ticket { stream: 0, position: self.appended.fetch_add(1, Ordering::Relaxed) + 1 }
    }

    fn next_position(&self, shard: ShardId) -> u64 {
        self.positions[shard.index()].fetch_add(1, Ordering::Relaxed) + 1
    }
}

impl CommitLog for CountingLog {
    fn append(&self, shard: ShardId, _: &[u8]) -> (u64, Ticket) {
        (self.next_position(shard), self.ticket())
    }

    fn append_all(&self, records: &[(ShardId, Parts<'_>)], appended: &mut Vec<(u64, Ticket)>) {
        let ticket = self.ticket();
        appended.extend(records.iter().map(|&(shard, _)| (self.next_position(shard), ticket)));
    }

    fn gates_replies(&self) -> bool {
        true
    }

    fn ticket_stream(&self, _: ShardId) -> u16 {
        0
    }

    fn fate(&self, ticket: Ticket) -> Fate {
        match ticket.position <= self.acknowledged.load(Ordering::Relaxed) {
            true => Fate::Acknowledged,
            false => Fate::Pending,
        }
    }

    fn latest(&self, _: ShardSet, gate: &mut Gate) {
        gate.add(Ticket { stream: 0, position: self.appended.load(Ordering::Relaxed) });
    }

    fn admit(&self, _: ShardId) -> Result<(), Refusal> {
        Ok(())
    }

    fn kick(&self) {}

    fn subscribe(&self, _: Arc<dyn Fn() + Send + Sync>) {}

    fn sync(&self, _: &[(ShardId, u64)]) -> Result<(), LogError> {
        self.acknowledged.store(self.appended.load(Ordering::Relaxed), Ordering::Relaxed);
        Ok(())
    }

    fn positions(&self) -> Vec<u64> {
        self.positions.iter().map(|position| position.load(Ordering::Relaxed)).collect()
    }

    fn trim(&self, _: &[u64]) {}

    fn bytes_to_replay(&self) -> u64 {
        0
    }
}
