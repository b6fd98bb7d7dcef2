//! Applying changes of a log to memory: what recovery does at start, and whatever else builds
//! memory from a log.
//!
//! [`Apply::op`] is the one place that knows what each op does to a partition. What is applied
//! becomes resident and dirty, as if a command had just done it. EXPIRE, SPLICE, REPLACE, EDIT and
//! VERSION need the value that they change; if it is not resident, it is read from the cold tier
//! there and then, a string in pieces with them; unless it is a collection whose elements have rows
//! of their own: its changes wait until somebody reads it (`basalt_keyspace::deferred`).
//!
//! How a database changes, it knows itself (`basalt_keyspace::database`): here is what a log adds
//! to that, that a key need not be resident.

use crate::residency::rows::{self, BadRow, LoadError, LoadedRow, Source};
use crate::store::key::Key;
use basalt_change::op::{Edit, Op, Origin, Put, PutValue, Replace, STRING_BYTES_MAX};
use basalt_change::place::PartitionId;
use basalt_change::row;
use basalt_change::version::Version;
use basalt_cold::{ColdError, ColdTier};
use basalt_keyspace::database::{Database, Known};
use basalt_keyspace::deferred::Change;
use basalt_keyspace::entry::{Access, Content, NewValue};
use basalt_keyspace::hash::KeyHasher;
use basalt_keyspace::keyspace::Keyspace;
use basalt_keyspace::partition::Partition;
use basalt_keyspace::retire::Retire;
use basalt_value::{FormLimits, Kind, Value};
use std::sync::Arc;

const UNKNOWN_KIND: basalt_value::DecodeError =
    basalt_value::DecodeError::Corrupt("a kind of collection that this version does not know");

/// Why a change of a log cannot be applied.
#[derive(Debug, thiserror::Error)]
pub enum ApplyError {
    /// The cold tier could not be read.
    #[error("{0}")]
    Cold(#[from] ColdError),
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
    /// A change of a string of the log ends behind the longest string: nothing has written that.
    #[error(
        "a change of a string in partition {partition} ends at byte {end}, where no string can be; the log is damaged"
    )]
    FarEnd {
        /// Where.
        partition: u16,
        /// The byte behind its last.
        end: u64,
    },
    /// A change of a library of functions where none are: nothing has written that.
    #[error("a change of a library in partition {partition}, which has none; the log is damaged")]
    Library {
        /// Where.
        partition: u16,
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

/// Where a key is that a change builds upon, if it is anywhere.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Residence {
    Memory,
    /// Its collection is spread, and its changes wait until somebody reads it.
    Disk,
}

/// What changes of a log are applied to, and with.
#[derive(Clone, Copy)]
pub(crate) struct Apply<'a, R> {
    pub(crate) keyspace: &'a Keyspace,
    pub(crate) cold: &'a dyn ColdTier,
    pub(crate) limits: FormLimits,
    /// When keys count as used: no log knows when they were.
    pub(crate) now: Access,
    /// Takes big values that have gone.
    pub(crate) retired: R,
}

impl<R: Retire> Apply<'_, R> {
    fn hasher(&self) -> &KeyHasher {
        self.keyspace.hasher()
    }

    /// Applies one change to a partition. Returns the databases that were emptied, whose memory
    /// takes long to free.
    pub(crate) fn op(
        &self,
        id: PartitionId,
        partition: &mut Partition,
        op: Op<'_>,
    ) -> Result<Option<Database>, ApplyError> {
        check_databases(partition, op)?;
        check_end(id, op)?;
        let key = |bytes| Key { bytes, hash: self.hasher().hash(bytes), partition: id };
        match op {
            Op::Put(put) => {
                let cold_version = partition.cold_version();
                self.put(partition.database_mut(put.db), &key(put.key), &put, cold_version)?;
            }
            Op::Delete { db, key: bytes } => {
                let (key, database) = (key(bytes), partition.database_mut(db));
                self.bury_elements(database, &key)?;
                database.apply_remove(key.hash, key.bytes, &self.retired);
            }
            Op::Expire { db, key: bytes, expire_ms } => {
                let (key, database) = (key(bytes), partition.database_mut(db));
                match self.make_resident(database, &key)? {
                    Residence::Memory => {
                        database.set_expiry(key.hash, bytes, expire_ms, self.now);
                    }
                    Residence::Disk => database.defer(bytes, Change::Expire(expire_ms)),
                }
            }
            Op::Version { db, key: bytes, version } => {
                partition.note_version(version);
                let (key, database) = (key(bytes), partition.database_mut(db));
                match self.make_resident(database, &key)? {
                    Residence::Memory => {
                        database.set_version(key.hash, bytes, version);
                    }
                    Residence::Disk => database.defer(bytes, Change::Version(version)),
                }
            }
            Op::Splice { db, key: bytes, offset, bytes: new } => {
                let (key, database) = (key(bytes), partition.database_mut(db));
                self.make_resident(database, &key)?;
                let offset = usize::try_from(offset).unwrap_or(usize::MAX);
                if let Some(found) = database.table().find(key.hash, bytes) {
                    database.splice(bytes, found, offset, new, self.now);
                }
            }
            Op::Replace(replace) => {
                let (key, database) = (key(replace.key), partition.database_mut(replace.db));
                self.make_resident(database, &key)?;
                replace_range(database, &key, &replace, self.now);
            }
            Op::Edit(edit) => self.edit(partition.database_mut(edit.db), &key(edit.key), &edit)?,
            Op::PutValue(put) => {
                self.put_value(partition.database_mut(put.db), &key(put.key), &put)?;
            }
            Op::FlushDb { .. } | Op::SwapDb { .. } => {
                let empty = |generation| self.keyspace.empty_database(generation);
                return Ok(crate::store::whole::apply(partition, op, &empty));
            }
            Op::Library { name, code } => {
                if id != PartitionId::LIBRARIES {
                    return Err(ApplyError::Library { partition: id.number() });
                }
                let code = Arc::new(code.to_vec());
                partition.libraries.get_or_insert_default().change(name, &code);
            }
        }
        Ok(None)
    }

    fn put(
        &self,
        database: &mut Database,
        key: &Key<'_>,
        put: &Put<'_>,
        cold_version: u64,
    ) -> Result<(), ApplyError> {
        let known = match put.origin {
            Origin::Unread => Known::Unread { cold_version },
            origin => {
                self.bury_elements(database, key)?;
                known(origin)
            }
        };
        let value = NewValue::string(put.value, put.form);
        self.store(database, key, value, put.expire_ms, known);
        Ok(())
    }

    fn put_value(
        &self,
        database: &mut Database,
        key: &Key<'_>,
        put: &PutValue<'_>,
    ) -> Result<(), ApplyError> {
        let error = |error| ApplyError::Value { partition: key.partition.number(), error };
        let kind = Kind::from_number(put.kind).ok_or(error(UNKNOWN_KIND))?;
        let value = Value::decode(kind, put.value, &self.limits).map_err(error)?;
        self.bury_elements(database, key)?;
        self.store(database, key, NewValue::Collection(value), put.expire_ms, known(put.origin));
        Ok(())
    }

    fn store(
        &self,
        database: &mut Database,
        key: &Key<'_>,
        value: NewValue<'_>,
        expire_ms: u64,
        known: Known,
    ) {
        let (access, version) = (self.now, Version::NONE);
        let content = Content { key: key.bytes, value, expire_ms, access, version };
        database.apply_put(key.hash, content, known, &self.retired);
    }

    fn edit(
        &self,
        database: &mut Database,
        key: &Key<'_>,
        edit: &Edit<'_>,
    ) -> Result<(), ApplyError> {
        let error = |error| ApplyError::Value { partition: key.partition.number(), error };
        let kind = Kind::from_number(edit.kind).ok_or(error(UNKNOWN_KIND))?;
        if edit.origin == Origin::New {
            let mut value = Value::new(kind);
            value.as_mut().apply(edit.edits, &self.limits).map_err(error)?;
            self.store(database, key, NewValue::Collection(value), 0, Known::New);
            return Ok(());
        }
        match self.make_resident(database, key)? {
            Residence::Memory => {
                let (hash, bytes) = (key.hash, key.bytes);
                database.apply_edits(hash, bytes, kind, edit.edits, &self.limits).map_err(error)
            }
            Residence::Disk => {
                let change = Change::Edit { kind: edit.kind, edits: edit.edits.into() };
                database.defer(key.bytes, change);
                Ok(())
            }
        }
    }

    /// A key that is about to be replaced or removed without having been read: if its collection is
    /// spread, its elements go, too, and so do the pieces of a string.
    fn bury_elements(&self, database: &mut Database, key: &Key<'_>) -> Result<(), ApplyError> {
        if database.spread().cold_only() == 0
            || database.table().find(key.hash, key.bytes).is_some()
        {
            return Ok(());
        }
        let row_key = object_key(database, key);
        if let Some(row) = self.cold.read_many(&[row_key])?.pop().flatten() {
            let error = |error| ApplyError::Row { partition: key.partition.number(), error };
            if let Some(id) = rows::spread_id(&row).map_err(error)? {
                database.bury_unread(key.bytes, id);
            }
        }
        Ok(())
    }

    /// Reads a key that a change builds upon, if it is not resident; but not if its collection is
    /// spread, for that would take as long as it is large.
    fn make_resident(
        &self,
        database: &mut Database,
        key: &Key<'_>,
    ) -> Result<Residence, ApplyError> {
        if database.table().find(key.hash, key.bytes).is_some() {
            return Ok(Residence::Memory);
        }
        if database.spread().deferred(key.bytes).is_some() {
            return Ok(Residence::Disk);
        }
        let row_key = object_key(database, key);
        if let Some(row) = self.cold.read_many(&[row_key])?.pop().flatten() {
            let partition = key.partition;
            let source = Source { cold: self.cold, limits: self.limits, goes_on: &|| true };
            let read =
                LoadedRow::read_unless_spread(&row, partition, database.generation(), source);
            match read.map_err(|error| unread(partition, error))? {
                Some(row) => database.adopt_row(key.hash, key.bytes, row.into_row(self.now)),
                None => return Ok(Residence::Disk),
            }
        }
        Ok(Residence::Memory)
    }
}

/// What a log knows that does not say that it knows nothing.
fn known(origin: Origin) -> Known {
    match origin {
        Origin::New => Known::New,
        Origin::Existing | Origin::Unread => Known::Existing,
    }
}

/// There are all databases that a change names.
fn check_databases(partition: &Partition, op: Op<'_>) -> Result<(), ApplyError> {
    let db = match op {
        Op::Put(Put { db, .. })
        | Op::Delete { db, .. }
        | Op::Expire { db, .. }
        | Op::Version { db, .. }
        | Op::Splice { db, .. }
        | Op::Replace(Replace { db, .. })
        | Op::Edit(Edit { db, .. })
        | Op::PutValue(PutValue { db, .. })
        | Op::FlushDb { db, .. } => db,
        Op::SwapDb { db, other } => db.max(other),
        Op::Library { .. } => return Ok(()),
    };
    let (found, configured) = (usize::from(db) + 1, partition.databases().len());
    if found > configured { Err(ApplyError::Databases { found, configured }) } else { Ok(()) }
}

/// A change leaves no string longer than there can be. Its bytes are there, but the gap before them
/// is as long as its offset says.
fn check_end(partition: PartitionId, op: Op<'_>) -> Result<(), ApplyError> {
    let Op::Splice { offset, bytes, .. } = op else { return Ok(()) };
    let end = offset.saturating_add(bytes.len() as u64);
    if end <= STRING_BYTES_MAX {
        return Ok(());
    }
    Err(ApplyError::FarEnd { partition: partition.number(), end })
}

fn replace_range(database: &mut Database, key: &Key<'_>, replace: &Replace<'_>, now: Access) {
    if let Some(found) = database.table().find(key.hash, key.bytes) {
        let start = usize::try_from(replace.offset).unwrap_or(usize::MAX);
        let removed = usize::try_from(replace.removed).unwrap_or(usize::MAX);
        let range = start..start.saturating_add(removed);
        database.replace_range(key.bytes, found, range, replace.bytes, now);
    }
}

fn unread(partition: PartitionId, error: LoadError) -> ApplyError {
    let partition = partition.number();
    match error {
        LoadError::Cold(error) => ApplyError::Cold(error),
        LoadError::Row(error) => ApplyError::Row { partition, error },
        LoadError::Interrupted => unreachable!("nobody interrupts a start"),
    }
}

fn object_key(database: &Database, key: &Key<'_>) -> Vec<u8> {
    let mut row_key = Vec::new();
    row::object_key(key.partition, database.generation(), (key.hash, key.bytes), &mut row_key);
    row_key
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recovery::RecoveryError;
    use crate::store::context::CommandContext;
    use crate::store::view::View;
    use crate::testing::replayed;
    use basalt_change::op::StringForm;
    use basalt_env::ManualClock;
    use std::sync::Arc;

    const KEY: &[u8] = b"k";

    /// The length of the string that an engine has which finds a PUT of `value` and then a SPLICE
    /// of `bytes` in its log.
    fn spliced(value: &[u8], offset: u64, bytes: &[u8]) -> Result<usize, RecoveryError> {
        let (origin, form) = (Origin::New, StringForm::Whole);
        let put = Put { db: 0, key: KEY, value, expire_ms: 0, origin, form };
        let splice = Op::Splice { db: 0, key: KEY, offset, bytes };
        let engine = replayed(&Arc::new(ManualClock::at_unix_ms(1)), &[Op::Put(put), splice])?;
        let key = engine.key(KEY);
        let locked = engine.lock(&[key]);
        let view = View::new(&engine, locked, CommandContext::background(0, 1));
        let string = view.get(&key).and_then(|object| object.string());
        Ok(string.expect("it was put").bytes().len())
    }

    /// Found by a fuzzer: a byte at 2^40 had the start ask for a terabyte, which ends the process.
    #[test]
    fn a_change_beyond_the_longest_string_is_refused_and_not_tried() {
        // One that stands in its entry, and one that stands by itself.
        for value in [&[b'v'; 10][..], &[b'v'; 100_000]] {
            for (offset, bytes) in [
                (1 << 40, &b"x"[..]),
                (u64::MAX, b"x"),
                (STRING_BYTES_MAX, b"x"),
                (STRING_BYTES_MAX - 1, b"xy"),
            ] {
                let error = spliced(value, offset, bytes).map(drop);
                assert!(
                    matches!(error, Err(RecoveryError::Apply(ApplyError::FarEnd { .. }))),
                    "{offset}: {error:?}"
                );
            }
        }
        let longest = spliced(b"v", STRING_BYTES_MAX - 2, b"xy").expect("as long as may be");
        assert_eq!(longest as u64, STRING_BYTES_MAX);
    }
}
