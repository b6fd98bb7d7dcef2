//! Recovery: the cold tier as it is, then the log's tail on top of it.
//!
//! Each partition's mark says up to which position of its shard's stream its rows go; replay skips
//! what is at or before it. Everything replayed becomes resident and dirty, as if it had just been
//! written. Start-up time thus depends on the length of the log's tail, which the checkpoint
//! bounds, and not on the amount of data. What a record does to memory is in `recovery/apply.rs`.

pub(crate) mod apply;
pub(crate) mod belonging;
pub(crate) mod replay;
mod replay_batch;

use crate::log::LogError;
use crate::recovery::apply::{Apply, ApplyError};
use crate::recovery::belonging::Misfit;
use crate::residency::rows::BadRow;
use basalt_change::library;
use basalt_change::op::{self, DecodeError, Op, Scope};
use basalt_change::place::{PARTITIONS, PartitionId, SHARDS, ShardId};
use basalt_change::row::{self, Mark, RowError};
use basalt_cold::{ColdError, ColdTier};
use basalt_env::{Env, Random};
use basalt_keyspace::database::Stored;
use basalt_keyspace::entry::Access;
use basalt_keyspace::keyspace::Keyspace;
use basalt_keyspace::partition::StoredPartition;
use basalt_keyspace::retire::FreeAtOnce;
use basalt_value::FormLimits;
use std::ops::ControlFlow;
use std::time::Duration;

/// Up to here generations are for databases that were never flushed: there are no more databases.
const FIRST_GENERATION_MAX: u64 = 255;

/// Why the database does not open.
#[derive(Debug, thiserror::Error)]
pub enum RecoveryError {
    /// The cold tier could not be read.
    #[error("{0}")]
    Cold(#[from] ColdError),
    /// The log could not be opened or read.
    #[error("{0}")]
    Log(#[from] LogError),
    /// The log and the cold tier do not belong together.
    #[error("{0}")]
    Misfit(#[from] Misfit),
    /// The cold tier's row about the log makes no sense.
    #[error("the row that names the journal cannot be read: {0}")]
    LogMark(RowError),
    /// The cold tier's row with the seed of the hash makes no sense.
    #[error("the row with the seed of the key hash cannot be read: {0}")]
    Seed(RowError),
    /// A library of functions makes no sense.
    #[error("a library of functions cannot be read: {0}")]
    Library(RowError),
    /// A record of the log makes no sense although its checksum is right.
    #[error("a record of shard {shard} at position {position} cannot be read: {error}")]
    Record {
        /// The shard of the stream.
        shard: u16,
        /// Where in it.
        position: u64,
        /// What is wrong.
        error: DecodeError,
    },
    /// A row of the cold tier makes no sense.
    #[error("a row of partition {partition} cannot be read: {error}")]
    Row {
        /// Where.
        partition: u16,
        /// What is wrong.
        error: BadRow,
    },
    /// A change of the log cannot be applied.
    #[error("{0}")]
    Apply(#[from] ApplyError),
}

/// What recovery found.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RecoveryStats {
    /// Keys that the cold tier's marks count.
    pub keys_in_cold_tier: u64,
    /// Records of the log that were applied.
    pub records_applied: u64,
    /// Changes that were dropped because what they build upon is lost, and that is accepted.
    pub changes_dropped: u64,
    /// Records that the cold tier already had.
    pub records_skipped: u64,
    /// How long it took to read the marks of the partitions.
    pub marks_read_in: Duration,
    /// How long it took to open the log and to replay it.
    pub log_replayed_in: Duration,
}

/// Applies the log's records during start-up: those of all shards, or of some.
pub(crate) struct RecordApplier<'a> {
    apply: Apply<'a, FreeAtOnce>,
    floor: Vec<u64>,
    generation_max: u64,
    /// Whether changes are dropped that build upon a value that is not there.
    accepts_loss: bool,
    stats: RecoveryStats,
}

impl<'a> RecordApplier<'a> {
    /// Reads the marks of all partitions.
    pub(crate) fn begin(
        keyspace: &'a Keyspace,
        cold: &'a dyn ColdTier,
        (limits, now): (FormLimits, Access),
        accepts_loss: bool,
    ) -> Result<RecordApplier<'a>, RecoveryError> {
        let mut applier = RecordApplier {
            apply: Apply { keyspace, cold, limits, now, retired: FreeAtOnce },
            floor: vec![0; SHARDS],
            generation_max: FIRST_GENERATION_MAX,
            accepts_loss,
            stats: RecoveryStats::default(),
        };
        let mut keys = Vec::with_capacity(PARTITIONS);
        for id in PartitionId::all() {
            let mut key = Vec::new();
            row::mark_key(id, &mut key);
            keys.push(key);
        }
        for (id, row) in PartitionId::all().zip(cold.read_many(&keys)?) {
            if let Some(row) = row {
                let error = |error| RecoveryError::Row { partition: id.number(), error };
                let mark = Mark::decode(&row).map_err(BadRow::from).map_err(error)?;
                applier.apply_mark(id, &mark)?;
            }
        }
        applier.read_libraries()?;
        Ok(applier)
    }

    fn read_libraries(&self) -> Result<(), RecoveryError> {
        let (from, to) = library::library_range();
        let mut locked = self.apply.keyspace.lock(PartitionId::LIBRARIES);
        let partition = locked.partition_mut(PartitionId::LIBRARIES);
        let mut failed = Ok(());
        self.apply.cold.scan(&from, &to, &mut |key, row| match library::decode_library(row) {
            Ok(code) => {
                let libraries = partition.libraries.get_or_insert_default();
                libraries.restore(library::library_name(key), code);
                ControlFlow::Continue(())
            }
            Err(error) => {
                failed = Err(RecoveryError::Library(error));
                ControlFlow::Break(())
            }
        })?;
        failed
    }

    /// One for some of the shards, that has applied nothing yet.
    pub(crate) fn for_some_shards(&self) -> RecordApplier<'a> {
        let (floor, stats) = (Vec::new(), RecoveryStats::default());
        RecordApplier { floor, stats, ..*self }
    }

    /// Enters into the books what another one has applied.
    pub(crate) fn take_over(&mut self, other: &RecordApplier<'_>) {
        self.generation_max = self.generation_max.max(other.generation_max);
        self.stats.records_applied += other.stats.records_applied;
        self.stats.records_skipped += other.stats.records_skipped;
        self.stats.changes_dropped += other.stats.changes_dropped;
    }

    fn apply_mark(&mut self, id: PartitionId, mark: &Mark) -> Result<(), RecoveryError> {
        let mut locked = self.apply.keyspace.lock(id);
        let partition = locked.partition_mut(id);
        let configured = partition.databases().len();
        let used = mark.databases.iter().rposition(|d| d.keys > 0).map_or(0, |last| last + 1);
        if used > configured {
            return Err(ApplyError::Databases { found: used, configured }.into());
        }
        let floor = &mut self.floor[id.shard().index()];
        *floor = (*floor).max(mark.applied);
        for database in &mark.databases {
            self.generation_max = self.generation_max.max(database.generation);
            self.stats.keys_in_cold_tier += database.keys;
        }
        let stored = mark.databases.iter().map(|mark| Stored {
            generation: mark.generation,
            keys: mark.keys,
            spread: mark.spread,
            expiry_ms: Some(mark.expiry_ms).filter(|&expiry_ms| expiry_ms != 0),
        });
        let unused =
            unused_generations(mark).map(|generation| Stored { generation, ..Stored::default() });
        partition.restore(StoredPartition {
            applied: mark.applied,
            next_spread_id: mark.next_id,
            last_version: mark.last_version,
            databases: &mut stored.chain(unused),
        });
        Ok(())
    }

    /// Per shard, the highest position that the cold tier has.
    pub(crate) fn floor(&self) -> Vec<u64> {
        self.floor.clone()
    }

    pub(crate) fn keyspace(&self) -> &'a Keyspace {
        self.apply.keyspace
    }

    /// Applies one record. Records of a shard come in the order of their positions.
    pub(crate) fn apply_record(
        &mut self,
        shard: ShardId,
        position: u64,
        record: &[u8],
    ) -> Result<(), RecoveryError> {
        let error = |error| RecoveryError::Record { shard: shard.number(), position, error };
        let (scope, ops) = op::decode(record).map_err(error)?;
        match scope {
            Scope::Partition(id) => {
                self.apply(id, position, ops, &error)?;
            }
            Scope::Shard => {
                for id in shard.partitions() {
                    self.apply(id, position, ops.clone(), &error)?;
                }
            }
        }
        Ok(())
    }

    fn apply(
        &mut self,
        id: PartitionId,
        position: u64,
        ops: op::Ops<'_>,
        error: &dyn Fn(DecodeError) -> RecoveryError,
    ) -> Result<(), RecoveryError> {
        let mut locked = self.apply.keyspace.lock(id);
        let partition = locked.partition_mut(id);
        if position <= partition.last_seq() {
            self.stats.records_skipped += 1;
            return Ok(());
        }
        partition.advance(position);
        self.stats.records_applied += 1;
        for op in ops {
            let op = op.map_err(error)?;
            if let Op::FlushDb { generation, .. } = op {
                self.generation_max = self.generation_max.max(generation);
            }
            match self.apply.op(id, partition, op) {
                Err(ApplyError::Value { .. } | ApplyError::Row { .. }) if self.accepts_loss => {
                    self.stats.changes_dropped += 1;
                }
                applied => drop(applied?),
            }
        }
        Ok(())
    }

    /// The next generation to give out, and what was found.
    pub(crate) fn end(self, env: &Env) -> (u64, RecoveryStats) {
        let (now_ms, mut random) = (env.clock.unix_ms(), Random::new(env.entropy.seed()));
        for id in PartitionId::all() {
            let mut locked = self.apply.keyspace.lock(id);
            locked.partition_mut(id).skip_lost_versions(now_ms, random.next_u64());
        }
        (self.generation_max + 1, self.stats)
    }
}

/// Generations for databases that were configured after a mark was written: a swap may have given
/// the one of their own number to another database. The same ones whenever the same mark is read.
fn unused_generations(mark: &Mark) -> impl Iterator<Item = u64> {
    (0..=FIRST_GENERATION_MAX)
        .filter(|&first| mark.databases.iter().all(|database| database.generation != first))
}
