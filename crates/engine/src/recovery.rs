//! Recovery: the cold tier as it is, then the log's tail on top of it.
//!
//! Each partition's mark says up to which position of its shard's stream its rows go; replay skips
//! what is at or before it. Everything replayed becomes resident and dirty, as if it had just been
//! written. Start-up time thus depends on the length of the log's tail, which the checkpoint bounds,
//! and not on the amount of data. EXPIRE, SPLICE, REPLACE and EDIT need the value that they change; if it is
//! not resident, it is read from the cold tier there and then, unless it is a collection whose elements have
//! rows of their own: its changes wait until somebody reads it (`basalt_keyspace::deferred`).

use crate::belonging::Misfit;
use crate::key::Key;
use crate::log::LogError;
use crate::miss::adds_key;
use crate::rows::{self, BadRow, LoadedRow};
use crate::splice;
use crate::txn;
use basalt_change::op::{self, DecodeError, Edit, Op, Origin, Put, PutValue, Replace, Scope};
use basalt_change::place::{PARTITIONS, PartitionId, SHARDS, ShardId};
use basalt_change::row::{self, Mark, RowError};
use basalt_cold::{ColdError, ColdTier};
use basalt_keyspace::deferred::Change;
use basalt_keyspace::entry::{Content, NewValue};
use basalt_keyspace::keyspace::Keyspace;
use basalt_keyspace::partition::{Database, Partition};
use basalt_keyspace::table::bucket::{COLD, DIRTY};
use basalt_value::{Kind, Limits, Value, ValueRef};
use std::time::{Duration, Instant};

/// Up to here generations are for databases that were never flushed: there are at most so many.
const FIRST_GENERATION_MAX: u64 = 255;

const UNKNOWN_KIND: basalt_value::DecodeError =
    basalt_value::DecodeError::Corrupt("a kind of collection that this version does not know");
const NOT_THERE: basalt_value::DecodeError =
    basalt_value::DecodeError::Corrupt("an edit of a collection that is not there");

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
    /// A record of the log makes no sense although its checksum is right.
    #[error("a record of shard {shard} at position {position} cannot be read: {error}")]
    Record {
        /// Whose stream.
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
    /// A collection of the cold tier or of the log makes no sense.
    #[error("a collection in partition {partition} cannot be read: {error}")]
    Value {
        /// Where.
        partition: u16,
        /// What is wrong.
        error: basalt_value::DecodeError,
    },
    /// The data was written with more databases than are configured.
    #[error(
        "the data has {found} databases but only {configured} are configured; raise `databases`"
    )]
    Databases {
        /// On disk.
        found: usize,
        /// In the configuration.
        configured: usize,
    },
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

/// Where a key is that a change builds upon, if it is anywhere.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Residence {
    Memory,
    /// Its collection is spread, and its changes wait until somebody reads it.
    Disk,
}

/// Applies the log's records during start-up: those of all shards, or of some.
pub(crate) struct Applier<'a> {
    keyspace: &'a Keyspace,
    cold: &'a dyn ColdTier,
    limits: Limits,
    floor: Vec<u64>,
    generation_max: u64,
    /// Whether changes are dropped that build upon a value that is not there.
    accepts_loss: bool,
    stats: RecoveryStats,
}

impl<'a> Applier<'a> {
    /// Reads the marks of all partitions.
    pub(crate) fn begin(
        keyspace: &'a Keyspace,
        cold: &'a dyn ColdTier,
        limits: Limits,
        accepts_loss: bool,
    ) -> Result<Applier<'a>, RecoveryError> {
        let start = Instant::now();
        let mut applier = Applier {
            keyspace,
            cold,
            limits,
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
        applier.stats.marks_read_in = start.elapsed();
        Ok(applier)
    }

    /// One for some of the shards, that has applied nothing yet.
    pub(crate) fn for_some_shards(&self) -> Applier<'a> {
        let (floor, stats) = (Vec::new(), RecoveryStats::default());
        Applier { floor, stats, ..*self }
    }

    /// Enters into the books what another one has applied.
    pub(crate) fn take_over(&mut self, other: &Applier<'_>) {
        self.generation_max = self.generation_max.max(other.generation_max);
        self.stats.records_applied += other.stats.records_applied;
        self.stats.records_skipped += other.stats.records_skipped;
        self.stats.changes_dropped += other.stats.changes_dropped;
    }

    fn apply_mark(&mut self, id: PartitionId, mark: &Mark) -> Result<(), RecoveryError> {
        let mut locked = self.keyspace.lock(id);
        let partition = locked.partition_mut(id);
        let configured = partition.databases.len();
        let used = mark.databases.iter().rposition(|d| d.keys > 0).map_or(0, |last| last + 1);
        if used > configured {
            return Err(RecoveryError::Databases { found: used, configured });
        }
        partition.last_seq = mark.applied;
        partition.marked_seq = mark.applied;
        partition.next_spread_id = mark.next_id;
        let floor = &mut self.floor[id.shard().index()];
        *floor = (*floor).max(mark.applied);
        let mut databases = partition.databases.iter_mut();
        // The marks come first in the pairs, so that their end takes no database.
        for (mark, database) in mark.databases.iter().zip(databases.by_ref()) {
            database.generation = mark.generation;
            database.keys_cold_only = mark.keys;
            database.has_rows = mark.keys > 0;
            database.spread.set_cold_only(mark.spread);
            self.generation_max = self.generation_max.max(mark.generation);
            self.stats.keys_in_cold_tier += mark.keys;
        }
        for (database, generation) in databases.zip(unused_generations(mark)) {
            database.generation = generation;
        }
        Ok(())
    }

    /// Per shard, the highest position that the cold tier has.
    pub(crate) fn floor(&self) -> Vec<u64> {
        self.floor.clone()
    }

    pub(crate) fn keyspace(&self) -> &'a Keyspace {
        self.keyspace
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
        let mut locked = self.keyspace.lock(id);
        let partition = locked.partition_mut(id);
        if position <= partition.last_seq {
            self.stats.records_skipped += 1;
            return Ok(());
        }
        partition.last_seq = position;
        self.stats.records_applied += 1;
        for op in ops {
            let op = op.map_err(error)?;
            if let Op::FlushDb { generation, .. } = op {
                self.generation_max = self.generation_max.max(generation);
            }
            match self.apply_op(id, partition, op) {
                Err(RecoveryError::Value { .. } | RecoveryError::Row { .. })
                    if self.accepts_loss =>
                {
                    self.stats.changes_dropped += 1;
                }
                applied => applied?,
            }
        }
        Ok(())
    }

    fn apply_op(
        &self,
        id: PartitionId,
        partition: &mut Partition,
        op: Op<'_>,
    ) -> Result<(), RecoveryError> {
        let found = partition.databases.len();
        let key = |bytes| Key { bytes, hash: self.keyspace.hasher().hash(bytes), partition: id };
        let db = match op {
            Op::Put(Put { db, .. })
            | Op::Delete { db, .. }
            | Op::Expire { db, .. }
            | Op::Splice { db, .. }
            | Op::Replace(Replace { db, .. })
            | Op::Edit(Edit { db, .. })
            | Op::PutValue(PutValue { db, .. })
            | Op::FlushDb { db, .. } => usize::from(db),
            Op::SwapDb { db, other } => usize::from(db.max(other)),
        };
        if db >= found {
            return Err(RecoveryError::Databases { found: db + 1, configured: found });
        }
        match op {
            Op::Put(put) => {
                self.bury_elements(partition, db, &key(put.key))?;
                apply_put(partition, &key(put.key), &put);
            }
            Op::Delete { key: bytes, .. } => {
                self.bury_elements(partition, db, &key(bytes))?;
                apply_delete(partition, db, &key(bytes));
            }
            Op::Expire { key: bytes, expire_ms, .. } => {
                let residence = self.make_resident(partition, db, &key(bytes))?;
                let database = &mut partition.databases[db];
                match residence {
                    Residence::Memory => {
                        let access = Default::default();
                        txn::set_entry_expiry(database, &key(bytes), expire_ms, access);
                    }
                    Residence::Disk => database.spread.defer(bytes, Change::Expire(expire_ms)),
                }
            }
            Op::Splice { key: bytes, offset, bytes: new, .. } => {
                self.make_resident(partition, db, &key(bytes))?;
                let database = &mut partition.databases[db];
                let offset = offset as usize;
                splice::apply_splice(database, &key(bytes), offset, new, Default::default());
            }
            Op::Replace(replace) => {
                self.make_resident(partition, db, &key(replace.key))?;
                splice::apply_replace(&mut partition.databases[db], &key(replace.key), &replace);
            }
            Op::Edit(edit) => self.apply_edit(partition, &key(edit.key), &edit)?,
            Op::PutValue(put) => self.apply_put_value(partition, &key(put.key), &put)?,
            Op::FlushDb { .. } | Op::SwapDb { .. } => {
                let empty = |generation| self.keyspace.empty_database(generation);
                drop(crate::flush::apply(partition, op, &empty));
            }
        }
        Ok(())
    }

    fn apply_edit(
        &self,
        partition: &mut Partition,
        key: &Key<'_>,
        edit: &Edit<'_>,
    ) -> Result<(), RecoveryError> {
        let db = usize::from(edit.db);
        let error = |error| RecoveryError::Value { partition: key.partition.number(), error };
        let kind = Kind::from_number(edit.kind).ok_or(error(UNKNOWN_KIND))?;
        if adds_key(edit.origin) {
            let mut value = Value::new(kind);
            value.as_mut().apply(edit.edits, &self.limits).map_err(error)?;
            store(&mut partition.databases[db], key, NewValue::Collection(value), 0, edit.origin);
            return Ok(());
        }
        let residence = self.make_resident(partition, db, key)?;
        let database = &mut partition.databases[db];
        if residence == Residence::Disk {
            let change = Change::Edit { kind: edit.kind, edits: edit.edits.into() };
            database.spread.defer(key.bytes, change);
            return Ok(());
        }
        let table = &mut database.table;
        let found = table.find(key.hash, key.bytes).ok_or(error(NOT_THERE))?;
        let value = table.entry(found).collection().filter(|value| value.kind() == kind);
        let next_ms = value.ok_or(error(NOT_THERE))?.next_expiry_ms();
        let applied = table.edit_collection(found, |value| value.apply(edit.edits, &self.limits));
        table.mark(found, DIRTY);
        // Nobody notes here which elements change: the next checkpoint writes all of them, once.
        database.spread.forget(key.hash, key.bytes);
        let next_after_ms = table.entry(found).collection().map(ValueRef::next_expiry_ms);
        if let Some(next_after_ms) = next_after_ms.filter(|&after_ms| after_ms < next_ms) {
            database.field_expiries.note(next_after_ms, key.hash);
        }
        applied.unwrap_or(Ok(())).map_err(error)
    }

    fn apply_put_value(
        &self,
        partition: &mut Partition,
        key: &Key<'_>,
        put: &PutValue<'_>,
    ) -> Result<(), RecoveryError> {
        let error = |error| RecoveryError::Value { partition: key.partition.number(), error };
        let kind = Kind::from_number(put.kind).ok_or(error(UNKNOWN_KIND))?;
        let value = Value::decode(kind, put.value, &self.limits).map_err(error)?;
        self.bury_elements(partition, usize::from(put.db), key)?;
        let database = &mut partition.databases[usize::from(put.db)];
        store(database, key, NewValue::Collection(value), put.expire_ms, put.origin);
        Ok(())
    }

    /// A key that is about to be replaced or removed without having been read: if its collection is spread, its
    /// elements go, too.
    fn bury_elements(
        &self,
        partition: &mut Partition,
        db: usize,
        key: &Key<'_>,
    ) -> Result<(), RecoveryError> {
        let database = &mut partition.databases[db];
        if database.spread.cold_only() == 0 || database.table.find(key.hash, key.bytes).is_some() {
            return Ok(());
        }
        let mut row_key = Vec::new();
        row::object_key(key.partition, database.generation, key.bytes, &mut row_key);
        if let Some(row) = self.cold.read_many(&[row_key])?.pop().flatten() {
            let error = |error| RecoveryError::Row { partition: key.partition.number(), error };
            if let Some(id) = rows::spread_id(&row).map_err(error)? {
                database.spread.take_from_cold();
                database.spread.bury(id);
                database.spread.forget_deferred(key.bytes);
            }
        }
        Ok(())
    }

    /// Reads a key that a change builds upon, if it is not resident; but not if its collection is spread, for that
    /// would take as long as it is large.
    fn make_resident(
        &self,
        partition: &mut Partition,
        db: usize,
        key: &Key<'_>,
    ) -> Result<Residence, RecoveryError> {
        let database = &mut partition.databases[db];
        if database.table.find(key.hash, key.bytes).is_some() {
            return Ok(Residence::Memory);
        }
        if database.spread.deferred(key.bytes).is_some() {
            return Ok(Residence::Disk);
        }
        let mut row_key = Vec::new();
        row::object_key(key.partition, database.generation, key.bytes, &mut row_key);
        if let Some(row) = self.cold.read_many(&[row_key])?.pop().flatten() {
            let error = |error| RecoveryError::Row { partition: key.partition.number(), error };
            match LoadedRow::decode(&row, &self.limits).map_err(error)? {
                Some(row) => row.install(database, key.hash, key.bytes),
                None => return Ok(Residence::Disk),
            }
        }
        Ok(Residence::Memory)
    }

    /// The next generation to give out, and what was found.
    pub(crate) fn end(self) -> (u64, RecoveryStats) {
        (self.generation_max + 1, self.stats)
    }
}

/// Generations for databases that were configured after a mark was written: a swap may have given
/// the one of their own number to another database. The same ones whenever the same mark is read.
fn unused_generations(mark: &Mark) -> impl Iterator<Item = u64> {
    (0..=FIRST_GENERATION_MAX)
        .filter(|&first| mark.databases.iter().all(|database| database.generation != first))
}

fn apply_put(partition: &mut Partition, key: &Key<'_>, put: &Put<'_>) {
    let database = &mut partition.databases[usize::from(put.db)];
    let value = NewValue::string(put.value, put.form);
    store(database, key, value, put.expire_ms, put.origin);
}

/// Puts an entry into memory, whatever was there.
fn store(
    database: &mut Database,
    key: &Key<'_>,
    value: NewValue<'_>,
    expire_ms: u64,
    origin: Origin,
) {
    let content = Content { key: key.bytes, value, expire_ms, access: Default::default() };
    if expire_ms != 0 {
        database.next_expiry_ms = database.next_expiry_ms.min(expire_ms);
    }
    if let NewValue::Collection(value) = &content.value {
        database.field_expiries.note(value.as_ref().next_expiry_ms(), key.hash);
    }
    match database.table.find(key.hash, key.bytes) {
        Some(found) => {
            database.spread.forget(key.hash, key.bytes);
            if !database.table.overwrite(found, &content) {
                database.table.replace(found, content, found.flags() & COLD | DIRTY);
            }
        }
        None if adds_key(origin) => database.table.insert(key.hash, content, DIRTY),
        None => {
            database.table.insert(key.hash, content, COLD | DIRTY);
            database.keys_cold_only = database.keys_cold_only.saturating_sub(1);
        }
    }
}

fn apply_delete(partition: &mut Partition, db: usize, key: &Key<'_>) {
    let database = &mut partition.databases[db];
    match database.table.find(key.hash, key.bytes) {
        Some(found) => {
            if !database.table.entry(found).is_tombstone() {
                txn::remove(database, key, found);
            }
        }
        None => {
            let content = Content {
                key: key.bytes,
                value: NewValue::Tombstone,
                expire_ms: 0,
                access: Default::default(),
            };
            database.table.insert(key.hash, content, COLD | DIRTY);
            database.keys_cold_only = database.keys_cold_only.saturating_sub(1);
        }
    }
}
