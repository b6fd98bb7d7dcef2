//! HOT PATH
//! Collections under keys: reading them, changing their elements, putting them as a whole.
//!
//! A command changes a collection in place and the collection itself writes down what that was
//! ([`basalt_value::Edits`]): straight into the thread's ChangeSet, as one EDIT a call, however
//! many elements it touches. A collection that has become empty is removed and logged as a DELETE
//! instead.

use crate::engine::Options;
use crate::store::changes::{EditOf, TooLarge, piece_bytes};
use crate::store::events::EventClass;
use crate::store::key::Key;
use crate::store::txn::Txn;
use crate::store::versions::clock_behind;
use crate::store::view::{Object, View, access_at};
use basalt_change::op::{self, Edit, Op, Origin, PutValue};
use basalt_change::version::Version;
use basalt_keyspace::database::Edited;
use basalt_keyspace::entry::{Content, NewValue};
use basalt_keyspace::interest::Event;
use basalt_keyspace::table::Found;
use basalt_stdx::lent::LentBytes;
use basalt_value::{Breaks, Edits, FormLimits, Value, ValueRef, Variant};
use std::sync::Arc;

/// The key holds a value of another kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the key holds a value of another kind")]
pub struct WrongType;

/// What happens when a key that is to be changed is not there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Absent {
    /// It begins empty.
    Create,
    /// Nothing is changed.
    Skip,
}

/// What has become of a collection that was changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fate {
    Unchanged,
    /// It is empty: its key goes.
    Emptied,
    Changed {
        /// A field of it expires earlier than any did before.
        expires_earlier: bool,
    },
}

/// An empty buffer in which a collection is encoded: nearly always large enough, so that it is not
/// copied to a larger one. Memory that is not used in the end is never touched.
fn buffer_for(value: ValueRef<'_>) -> Vec<u8> {
    Vec::with_capacity(value.heap_bytes())
}

/// How a collection is changed.
#[derive(Clone, Copy)]
struct Manner {
    /// The clients that watch the key are told.
    tells: bool,
    /// Elements get versions, even if none has had one so far.
    gives_versions: bool,
}

impl<'a> Object<'a> {
    /// The collection of this type.
    ///
    /// # Errors
    /// It is something else.
    #[inline]
    pub fn as_collection<C: Variant + 'a>(self) -> Result<&'a C, WrongType> {
        self.collection().and_then(C::of).ok_or(WrongType)
    }
}

impl View<'_> {
    /// The collection of this type under a key, counted as a hit or a miss and as a use of the key.
    ///
    /// # Errors
    /// Something else is under the key.
    #[inline]
    pub fn collection<C: Variant>(&self, key: &Key<'_>) -> Result<Option<&C>, WrongType> {
        self.get(key).map(Object::as_collection).transpose()
    }

    /// Up to where collections stay packed.
    pub fn limits(&self) -> FormLimits {
        self.engine.limits()
    }
}

impl Txn<'_> {
    /// The collection of this type under a key.
    ///
    /// # Errors
    /// Something else is under the key.
    #[inline]
    pub fn collection<C: Variant>(&self, key: &Key<'_>) -> Result<Option<&C>, WrongType> {
        self.get(key).map(Object::as_collection).transpose()
    }

    /// Up to where collections stay packed.
    #[inline]
    pub fn limits(&self) -> FormLimits {
        self.engine.limits()
    }

    /// Changes the collection of this type under a key. What `change` writes as edits is logged;
    /// if it writes nothing, nothing has changed. Returns what `change` returns, or `None` if the
    /// key is not there and is to be skipped.
    ///
    /// # Errors
    /// Something else is under the key; `change` has not been called.
    #[inline]
    pub fn edit<C: Variant, R>(
        &mut self,
        key: &Key<'_>,
        absent: Absent,
        change: impl FnOnce(&mut C, &mut Edits<'_>) -> R,
    ) -> Result<Option<R>, WrongType> {
        let manner = Manner { tells: true, gives_versions: false };
        self.edit_in(manner, key, absent, change)
    }

    /// Changes a collection for a command of which elements get versions. The key has a version
    /// from then on, too, greater than those of all its elements; so each change of it comes by the
    /// clock of its partition, and the log tells replay how far that has gone. Apart from that
    /// [`Txn::edit`].
    ///
    /// # Errors
    /// Something else is under the key; `change` has not been called.
    #[cold]
    pub fn edit_versioned<C: Variant, R>(
        &mut self,
        key: &Key<'_>,
        absent: Absent,
        change: impl FnOnce(&mut C, &mut Edits<'_>) -> R,
    ) -> Result<Option<R>, WrongType> {
        let manner = Manner { tells: true, gives_versions: true };
        self.edit_in(manner, key, absent, change)
    }

    /// Changes something that hangs on a collection but is no part of its content, the groups of
    /// a stream: those who watch the key are not told. Apart from that [`Txn::edit`].
    ///
    /// # Errors
    /// Something else is under the key; `change` has not been called.
    #[inline]
    pub fn edit_aside<C: Variant, R>(
        &mut self,
        key: &Key<'_>,
        absent: Absent,
        change: impl FnOnce(&mut C, &mut Edits<'_>) -> R,
    ) -> Result<Option<R>, WrongType> {
        let manner = Manner { tells: false, gives_versions: false };
        self.edit_in(manner, key, absent, change)
    }

    #[inline]
    fn edit_in<C: Variant, R>(
        &mut self,
        manner: Manner,
        key: &Key<'_>,
        absent: Absent,
        change: impl FnOnce(&mut C, &mut Edits<'_>) -> R,
    ) -> Result<Option<R>, WrongType> {
        match self.find_live(self.session.db, key) {
            Some((_, object)) if object.collection().and_then(C::of).is_none() => Err(WrongType),
            Some((found, _)) => {
                self.note_use(key, found);
                Ok(self.edit_existing(manner, key, found, change))
            }
            None if absent == Absent::Skip => Ok(None),
            None => Ok(Some(self.create(manner, key, change))),
        }
    }

    fn edit_existing<C: Variant, R>(
        &mut self,
        manner: Manner,
        key: &Key<'_>,
        found: Found,
        change: impl FnOnce(&mut C, &mut Edits<'_>) -> R,
    ) -> Option<R> {
        let (db, gated) = (self.session.db, self.gated);
        let record_bytes_max = self.engine.options.record_bytes_max;
        let of = EditOf { db, key, kind: C::KIND };
        let access = access_at(self.session.now_ms);
        let partition = self.locked.partition_mut(key.partition);
        let last = partition.last_version();
        let database = partition.database_mut(db);
        let is_versioned = manner.gives_versions || database.table().entry(found).is_versioned();
        let mut clock = is_versioned.then(|| clock_behind(last, self.session.now_ms));
        let changes = &mut *self.changes;
        let before = changes.mark();
        changes.begin_op(key, gated);
        let start = changes.begin_edit(of, Origin::Existing, record_bytes_max);
        let (result, fate) =
            database.edit_collection(key.hash, key.bytes, found, access, |value, touched| {
                let collection = C::of_mut(value)?;
                // What no key without a version can do is not asked of it.
                let expires = C::EXPIRES_WITHOUT_VERSIONS || is_versioned;
                let before_ms = if expires { collection.next_expiry_ms() } else { u64::MAX };
                let (bytes, breaks) = (&mut changes.bytes, &mut changes.breaks);
                let mut edits = Edits::to_log(bytes, breaks, touched, clock.as_mut());
                let result = change(collection, &mut edits);
                let count = edits.count();
                changes.count_edits(count);
                if op::is_empty_edit(&changes.bytes, start) {
                    return Some(((result, Fate::Unchanged), Edited::Nothing));
                }
                if !C::STAYS_WHEN_EMPTY && collection.is_empty() {
                    return Some(((result, Fate::Emptied), Edited::Nothing));
                }
                let after_ms = if expires { collection.next_expiry_ms() } else { u64::MAX };
                let earlier_field_ms = if after_ms < before_ms { after_ms } else { u64::MAX };
                let fate = Fate::Changed { expires_earlier: after_ms < before_ms };
                Some(((result, fate), Edited::Changed { earlier_field_ms }))
            })?;
        let Fate::Changed { expires_earlier } = fate else {
            changes.reset(before);
            self.note_given(key, clock);
            if fate == Fate::Emptied {
                self.delete(key);
            }
            return Some(result);
        };
        changes.end_edit(of, start, record_bytes_max);
        if is_versioned {
            self.note_given(key, clock);
            self.renew_version(key);
        }
        if manner.tells {
            self.note(key, Event::Changed);
        }
        if expires_earlier {
            self.engine.note_expiring(db);
        }
        Some(result)
    }

    fn create<C: Variant, R>(
        &mut self,
        manner: Manner,
        key: &Key<'_>,
        change: impl FnOnce(&mut C, &mut Edits<'_>) -> R,
    ) -> R {
        let db = self.session.db;
        // A key that has expired is still there for the log.
        self.delete(key);
        let before = self.changes.mark();
        self.changes.begin_op(key, self.gated);
        let record_bytes_max = self.engine.options.record_bytes_max;
        let mut clock = manner.gives_versions.then(|| self.version_clock(key));
        let of = EditOf { db, key, kind: C::KIND };
        let changes = &mut *self.changes;
        let start = changes.begin_edit(of, Origin::New, record_bytes_max);
        let mut collection = C::new();
        let (bytes, breaks) = (&mut changes.bytes, &mut changes.breaks);
        let mut edits = Edits::to_log(bytes, breaks, None, clock.as_mut());
        let result = change(&mut collection, &mut edits);
        let count = edits.count();
        changes.count_edits(count);
        let is_nothing = op::is_empty_edit(&changes.bytes, start);
        if is_nothing || collection.is_empty() && !C::STAYS_WHEN_EMPTY {
            changes.reset(before);
            self.note_given(key, clock);
            return result;
        }
        changes.end_edit(of, start, record_bytes_max);
        self.store_value(key, collection.into_value(), 0, Version::NONE);
        if manner.gives_versions {
            self.note_given(key, clock);
            self.renew_version(key);
        }
        self.note(key, Event::Made);
        self.notify(EventClass::New, "new", key);
        result
    }

    /// Puts a collection under a key, whatever was there. An empty one removes the key, unless its
    /// kind stays when empty.
    ///
    /// # Errors
    /// It is too large for the log; nothing has changed.
    pub fn put_value(
        &mut self,
        key: &Key<'_>,
        value: Value,
        expire_ms: u64,
    ) -> Result<(), TooLarge> {
        if value.is_gone() {
            self.delete(key);
            return Ok(());
        }
        self.check_room(value.as_ref().heap_bytes())?;
        self.put_collection(key, value, expire_ms);
        Ok(())
    }

    /// Puts a collection that is not empty and not too large under a key.
    pub(crate) fn put_collection(&mut self, key: &Key<'_>, value: Value, expire_ms: u64) {
        let found = self.database(key).table().find(key.hash, key.bytes);
        let version = match value.as_ref().newest_version() {
            0 => self.version_of_put(key, found),
            newest => self.version_behind(key, Version::new(newest)),
        };
        let origin = self.origin(key, found);
        self.log_value(key, value.as_ref(), expire_ms, origin);
        self.log_version_of_put(key, version);
        self.store_value(key, value, expire_ms, version);
        self.note(key, Event::Made);
        if origin == Origin::New {
            self.notify(EventClass::New, "new", key);
        }
    }

    /// Whether a key that is put now is a new one.
    fn origin(&mut self, key: &Key<'_>, found: Option<Found>) -> Origin {
        let table = self.database(key).table();
        let exists = found.is_some_and(|found| !table.entry(found).is_tombstone());
        if exists { Origin::Existing } else { Origin::New }
    }

    /// Writes that the key holds this collection: as a whole, or as the edits that make it if it is
    /// large. It is encoded once, into memory that the log is lent if it is much.
    fn log_value(&mut self, key: &Key<'_>, value: ValueRef<'_>, expire_ms: u64, origin: Origin) {
        let record_bytes_max = self.engine.options.record_bytes_max;
        if value.heap_bytes() > record_bytes_max {
            return self.log_as_edits(key, value, expire_ms, origin);
        }
        let mut bytes = buffer_for(value);
        value.encode(&mut bytes);
        if bytes.len() > record_bytes_max {
            drop(bytes);
            return self.log_as_edits(key, value, expire_ms, origin);
        }
        let bytes = Arc::new(bytes);
        let (db, kind) = (self.session.db, value.kind() as u8);
        let put = PutValue { db, key: key.bytes, kind, expire_ms, origin, value: &bytes };
        self.log_lending(key, Op::PutValue(put), |_| LentBytes::whole(Arc::clone(&bytes)));
    }

    #[cold]
    fn log_as_edits(
        &mut self,
        key: &Key<'_>,
        value: ValueRef<'_>,
        expire_ms: u64,
        mut origin: Origin,
    ) {
        let (db, kind) = (self.session.db, value.kind() as u8);
        let Options { record_bytes_max, lent_bytes_min, .. } = self.engine.options;
        self.changes.note_change(key, self.gated);
        if origin == Origin::Existing {
            self.changes.go_on(key.partition);
            self.encode(Op::Delete { db, key: key.bytes });
        }
        let (mut edits, mut breaks) = (buffer_for(value), Breaks::default());
        breaks.restart(piece_bytes(record_bytes_max, key.bytes));
        value.write_as_edits(&mut Edits::to_log(&mut edits, &mut breaks, None, None));
        let edits = Arc::new(edits);
        origin = Origin::New;
        let mut begin = 0;
        for end in breaks.places().iter().copied().chain([edits.len()]) {
            let piece = &edits[begin..end];
            let op = Op::Edit(Edit { db, key: key.bytes, kind, origin, edits: piece });
            if piece.len() < lent_bytes_min {
                self.changes.go_on(key.partition);
                self.encode(op);
            } else {
                let lent = LentBytes::new(Arc::clone(&edits), begin..end);
                self.changes.lend(key, op, lent, record_bytes_max);
            }
            (begin, origin) = (end, Origin::Existing);
        }
        if expire_ms != 0 {
            self.changes.go_on(key.partition);
            self.encode(Op::Expire { db, key: key.bytes, expire_ms });
        }
    }

    fn store_value(&mut self, key: &Key<'_>, value: Value, expire_ms: u64, version: Version) {
        let access = access_at(self.session.now_ms);
        let next_ms = value.as_ref().next_expiry_ms();
        let value = NewValue::Collection(value);
        self.store(key, Content { key: key.bytes, value, expire_ms, access, version });
        if next_ms != u64::MAX {
            self.engine.note_expiring(self.session.db);
        }
    }

    /// Takes the collection out of a key, which is deleted next.
    pub(crate) fn take_value(&mut self, key: &Key<'_>) -> Option<Value> {
        let database = self.database(key);
        let found = database.table().find(key.hash, key.bytes)?;
        database.take_collection(found)
    }
}
