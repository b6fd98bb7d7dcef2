//! Keys that were put without a look at the cold tier: reading, later, what their rows begin with.
//!
//! ```text
//! a SET of a key that a filter lets pass         put unread, its partition noted: note_unread
//! twice a second, or when a partition has many   settle_soon
//!     a thread reads what the rows begin with, of many keys of a partition at once: neighbours
//!     share blocks; counts are corrected, elements of what was replaced die, a version goes on
//! a checkpoint is about to copy a partition      settle_for_copy
//! ```
//! So marks are exact, and a start finds in the log what had not been settled.

use crate::engine::Engine;
use crate::error::EngineError;
use crate::residency::queue::Miss;
use crate::residency::rows::{BadRow, spread_id};
use crate::store::changes::ChangeSet;
use crate::store::key::Key;
use crate::store::txn::Txn;
use basalt_change::place::PartitionId;
use basalt_change::row::{self, ObjectRow};
use basalt_cold::Beginning;
use basalt_keyspace::keyspace::Locked;
use basalt_keyspace::partition::Partition;
use basalt_keyspace::unread::{ReplacedRow, UnreadKey};

/// Keys of a database's share of a partition that may be put unread at a time; a checkpoint reads
/// that many rows before it copies the partition, in some milliseconds. Beyond, commands wait for
/// the row of the key as others do.
pub(crate) const UNREAD_MAX: usize = 128;
/// From here on they are read at once.
const UNREAD_MANY: usize = UNREAD_MAX / 2;
/// Rows that are read at once. A start may find many keys of one partition in the log.
const ROWS_AT_ONCE: usize = 256;

/// What the row of a key says that was put unread.
struct Replaced {
    row: ReplacedRow,
    is_versioned: bool,
}

impl Engine {
    /// A key of this partition, which is held, has been put unread.
    pub(crate) fn note_unread(&self, id: PartitionId, partition: &Partition) {
        self.unread.insert(id);
        if partition.unread() == UNREAD_MANY {
            self.misses.add_unread(&[id]);
        }
    }

    /// Has the rows of all keys read that were put unread: their thread does so twice a second.
    pub fn settle_soon(&self) {
        self.misses.add_unread(&self.unread.take());
    }

    /// Reads the rows of a partition's keys that were put unread.
    ///
    /// # Errors
    /// The cold tier cannot be read. A row that makes no sense is no error here: it goes.
    pub(crate) fn settle(&self, id: PartitionId) -> Result<(), EngineError> {
        let unread = self.unread_of(&self.keyspace.lock(id), id);
        for some in unread.chunks(ROWS_AT_ONCE) {
            if self.is_stopping() {
                return Err(EngineError::Stopping);
            }
            self.settle_some(id, some)?;
        }
        Ok(())
    }

    /// A thread of the pool has been told to [`Engine::settle`] a partition. What it could not read
    /// is read later.
    pub(super) fn settle_in_background(&self, id: PartitionId) {
        if self.timed(|| self.settle(id)).is_err() {
            self.unread.insert(id);
        }
    }

    /// Settles a partition that is copied next. From now on no key of it is put unread, until
    /// [`Partition::end_settling`].
    pub(crate) fn settle_for_copy(&self, id: PartitionId) -> Result<(), EngineError> {
        let mut locked = self.keyspace.lock(id);
        locked.partition_mut(id).begin_settling();
        let unread = self.unread_of(&locked, id);
        drop(locked);
        let settled = unread.chunks(ROWS_AT_ONCE).try_for_each(|some| self.settle_some(id, some));
        if settled.is_err() {
            self.keyspace.lock(id).partition_mut(id).end_settling();
        }
        settled
    }

    /// After recovery: keys that the log says were put unread.
    pub(crate) fn note_all_unread(&self) {
        for id in PartitionId::all() {
            if self.keyspace.lock(id).partition(id).unread() > 0 {
                self.unread.insert(id);
            }
        }
    }

    fn unread_of(&self, locked: &Locked<'_>, id: PartitionId) -> Vec<Miss> {
        let mut misses = Vec::new();
        for (db, database) in (0u8..).zip(locked.partition(id).databases()) {
            for UnreadKey { hash, cold_version } in database.unread().iter() {
                let Some(key) = database.unread_name(UnreadKey { hash, cold_version }) else {
                    continue;
                };
                let mut row_key = Vec::new();
                row::object_key(id, database.generation(), (hash, key), &mut row_key);
                misses.push(Miss { partition: id, db, cold_version, hash, row_key });
            }
        }
        misses.sort_unstable_by(|a, b| a.row_key.cmp(&b.row_key));
        misses
    }

    fn settle_some(&self, id: PartitionId, unread: &[Miss]) -> Result<(), EngineError> {
        let replaced = match self.read_replaced(unread) {
            Err(error) if error.is_damage() && unread.len() > 1 => {
                return unread.chunks(1).try_for_each(|one| self.settle_some(id, one));
            }
            // Whatever it was, it has been replaced, and its row goes with the next checkpoint.
            Err(error) if error.is_damage() => {
                tracing::error!(
                    %error,
                    partition = id.number(),
                    "the row of a key that was put again cannot be read; it is counted as one string"
                );
                let row = ReplacedRow { spread_id: None };
                vec![Some(Replaced { row, is_versioned: false })]
            }
            replaced => replaced?,
        };
        self.enter_replaced(id, unread, &replaced);
        self.misses.note_settled(unread.len());
        Ok(())
    }

    fn read_replaced(&self, unread: &[Miss]) -> Result<Vec<Option<Replaced>>, EngineError> {
        let keys: Vec<Vec<u8>> = unread.iter().map(|miss| miss.row_key.clone()).collect();
        let rows = self.cold.read_heads(&keys)?;
        let replaced = |(key, row): (Vec<u8>, Option<Beginning>)| {
            row.map(|row| self.replaced(key, &row)).transpose()
        };
        keys.into_iter().zip(rows).map(replaced).collect()
    }

    fn replaced(&self, key: Vec<u8>, row: &Beginning) -> Result<Replaced, EngineError> {
        let error = |error: BadRow| EngineError::from(error);
        let is_versioned =
            !ObjectRow::decode(&row.bytes).map_err(|bad| error(bad.into()))?.version.is_none();
        let spread_id = match spread_id(&row.bytes) {
            // The id may stand behind what the row begins with.
            Err(_) if (row.bytes.len() as u64) < row.value_bytes => {
                let rows = self.cold.read_many(&[key])?;
                let whole = rows.first().and_then(Option::as_deref);
                whole.map_or(Ok(None), |row| spread_id(row).map_err(error))?
            }
            read => read.map_err(error)?,
        };
        Ok(Replaced { row: ReplacedRow { spread_id }, is_versioned })
    }

    fn enter_replaced(&self, id: PartitionId, unread: &[Miss], replaced: &[Option<Replaced>]) {
        let mut versioned = Vec::new();
        let mut locked = self.keyspace.lock(id);
        let partition = locked.partition_mut(id);
        for (miss, replaced) in unread.iter().zip(replaced) {
            if let Some(Replaced { row, is_versioned: true }) = replaced {
                versioned.push((miss, *row));
                continue;
            }
            let Some((generation, key)) = row::split_object_key(&miss.row_key) else { continue };
            if let Some(db) = database_of(partition, generation) {
                let row = replaced.as_ref().map(|replaced| replaced.row);
                partition.database_mut(db).settle(unread_of_miss(miss), key, row);
            }
        }
        drop(locked);
        versioned.iter().for_each(|(miss, row)| self.enter_versioned(miss, *row));
    }

    /// Settles a key whose row has a version, which what was put in its place has to go on.
    fn enter_versioned(&self, miss: &Miss, row: ReplacedRow) {
        let Some((generation, bytes)) = row::split_object_key(&miss.row_key) else { return };
        let locked = self.keyspace.lock(miss.partition);
        let Some(db) = database_of(locked.partition(miss.partition), generation) else { return };
        let (key, mut changes) = (self.key(bytes), ChangeSet::default());
        let now_ms = self.env.clock.unix_ms();
        self.change_by_itself(locked, (db, now_ms), &mut changes, |txn| {
            txn.settle_versioned(&key, unread_of_miss(miss), row);
        });
        self.log().kick();
    }
}

impl Txn<'_> {
    fn settle_versioned(&mut self, key: &Key<'_>, unread: UnreadKey, row: ReplacedRow) {
        let is_first = self.database(key).settle(unread, key.bytes, Some(row));
        if is_first && self.get(key).is_some() {
            self.make_versioned(key);
        }
    }
}

fn unread_of_miss(miss: &Miss) -> UnreadKey {
    UnreadKey { hash: miss.hash, cold_version: miss.cold_version }
}

/// The database whose rows have this generation: it may have changed places, or have been flushed.
fn database_of(partition: &Partition, generation: u64) -> Option<u8> {
    let mut databases = (0u8..).zip(partition.databases());
    databases.find(|(_, database)| database.generation() == generation).map(|(db, _)| db)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::Gate;
    use crate::store::context::CommandContext;
    use crate::store::txn::PutOptions;
    use crate::testing::{engine, put};

    const KEY: &[u8] = b"k";

    fn put_unread(engine: &Engine) {
        let keys = [engine.key(KEY)];
        let mut changes = ChangeSet::default();
        let session = CommandContext::background(0, engine.clock().unix_ms());
        let mut txn = Txn::new(engine, engine.lock(&keys), session, &mut changes);
        assert!(txn.may_put_unread(&keys));
        txn.put(&keys[0], b"new", PutOptions::whole(0));
        txn.append(&mut Gate::default());
    }

    /// Its place is on disk only, and holds this.
    fn overwrite_row(engine: &Engine, row: &[u8]) {
        let Key { bytes, hash, partition } = engine.key(KEY);
        let mut row_key = Vec::new();
        row::object_key(partition, 0, (hash, bytes), &mut row_key);
        let mut writer = engine.cold.checkpoint_writer().expect("a writer");
        writer.put(&row_key, row).expect("a row");
        writer.prepare().and_then(|prepared| prepared.commit()).expect("a commit");
    }

    #[test]
    fn a_row_that_makes_no_sense_goes_and_holds_nothing_up() {
        for row in [&b""[..], b"\x00", b"\x1f"] {
            let (engine, _) = engine();
            put(&engine, KEY, 0);
            engine.checkpoint().expect("a checkpoint");
            assert_eq!(engine.unload().kept, 0);
            overwrite_row(&engine, row);
            put_unread(&engine);
            engine.checkpoint().expect("a checkpoint");
            assert_eq!(engine.checkpoint_stats().partitions_left_out, 0);
            let totals = engine.totals(0);
            assert_eq!((totals.keys, totals.keys_unread), (1, 0));
            assert_eq!(engine.unload().kept, 0);
            engine.load_partition(engine.key(KEY).partition).expect("it is read");
            assert_eq!((engine.totals(0).keys, engine.totals(0).keys_cold_only), (1, 0));
        }
    }

    /// A step at a time, as a simulator makes them.
    #[test]
    fn housekeeping_has_the_rows_read() {
        let (engine, clock) = engine();
        put(&engine, KEY, 0);
        engine.checkpoint().expect("a checkpoint");
        engine.unload();
        put_unread(&engine);
        let mut chores = crate::Chores::default();
        for _ in 0..20 {
            chores.step(&engine);
            clock.advance_ms(100);
        }
        assert_eq!((engine.totals(0).keys, engine.totals(0).keys_unread), (1, 0));
        assert_eq!(engine.miss_stats().settled, 1);
    }
}
