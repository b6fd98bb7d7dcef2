//! HOT PATH
//! What a write command sees: the keys that it named, under their locks, and the means to change
//! them. Every change goes to memory and to the ChangeSet in one call, so that they cannot differ.

use crate::engine::Engine;
use crate::log::{Gate, Gating};
use crate::residency::queue::Missing;
use crate::store::changes::ChangeSet;
use crate::store::context::{Attempt, CommandContext, Issuer, RunMode, Touch};
use crate::store::events::EventClass;
use crate::store::key::Key;
use crate::store::view::{Object, access_at, live};
use basalt_change::op::{Op, Origin, Put, StringForm};
use basalt_keyspace::database::{Before, Database};
use basalt_keyspace::entry::{Access, Content, NewValue, SHARED_BYTES_MIN, StringValue};
use basalt_keyspace::interest::{Cause, Event, KeyId};
use basalt_keyspace::keyspace::Locked;
use basalt_keyspace::partition::Partition;
use basalt_keyspace::table::Found;
use basalt_stdx::lent::LentBytes;
use std::ops::RangeInclusive;
use std::sync::Arc;

/// Values up to this size are logged whole when only their expiry changes: recovery then needs no
/// read of the cold tier to apply it.
pub(crate) const WHOLE_BYTES_MAX: usize = 128;

/// Write access to the keys of one command.
pub struct Txn<'e> {
    pub(crate) engine: &'e Engine,
    pub(crate) locked: Locked<'e>,
    pub(crate) session: CommandContext,
    pub(crate) changes: &'e mut ChangeSet,
    pub(crate) gated: bool,
    pub(crate) run_mode: RunMode,
}

/// A key that was looked for, to be replaced by what becomes of it.
pub struct Spot<'t, 'e> {
    txn: &'t mut Txn<'e>,
    key: &'t Key<'t>,
    /// As long as `txn` is borrowed nothing else changes the table.
    found: Option<Found>,
}

impl Spot<'_, '_> {
    /// The live object under the key.
    #[inline(always)]
    pub fn object(&self) -> Option<Object<'_>> {
        let Txn { locked, session, .. } = &*self.txn;
        let database = locked.partition(self.key.partition).database(session.db);
        let entry = database.table().entry(self.found?);
        if entry.is_tombstone() { None } else { live(entry, session.now_ms) }
    }

    /// Puts a string under the key.
    #[inline]
    pub fn put(self, value: &[u8], options: PutOptions) {
        self.txn.put_at(self.key, self.found, value, options);
    }
}

/// How a string is put.
#[derive(Clone, Copy, Debug)]
pub struct PutOptions {
    /// Unix time in milliseconds, 0 for none.
    pub expire_ms: u64,
    /// Set whole or edited.
    pub form: StringForm,
}

impl PutOptions {
    /// A string set whole, with this expiry.
    #[inline]
    pub fn whole(expire_ms: u64) -> PutOptions {
        PutOptions { expire_ms, form: StringForm::Whole }
    }
}

impl<'e> Txn<'e> {
    /// Works on keys whose partitions `locked` holds. `changes` is empty.
    #[inline]
    pub fn new(
        engine: &'e Engine,
        locked: Locked<'e>,
        session: CommandContext,
        changes: &'e mut ChangeSet,
    ) -> Txn<'e> {
        Txn::with_gating(engine, locked, session, changes, engine.gating())
    }

    /// Begins a transaction for a caller that knows whether replies wait for the log.
    #[inline(always)]
    pub fn with_gating(
        engine: &'e Engine,
        locked: Locked<'e>,
        session: CommandContext,
        changes: &'e mut ChangeSet,
        gating: Gating,
    ) -> Txn<'e> {
        debug_assert!(changes.is_empty());
        let gated = gating == Gating::On;
        engine.note_used(session.db);
        changes.has_made_short = false;
        changes.unread.clear();
        Txn { engine, locked, session, changes, gated, run_mode: RunMode::Alone }
    }

    /// Begins the part of one of several commands that share their locks and their ChangeSet.
    pub(crate) fn within(
        engine: &'e Engine,
        locked: Locked<'e>,
        session: CommandContext,
        changes: &'e mut ChangeSet,
        run_mode: RunMode,
    ) -> Txn<'e> {
        let gated = engine.gating() == Gating::On;
        engine.note_used(session.db);
        changes.unread.clear();
        Txn { engine, locked, session, changes, gated, run_mode }
    }

    /// Those of these keys that must be fetched before the command can run.
    #[inline(always)]
    pub fn missing(&mut self, keys: &[Key<'_>]) -> Option<Missing> {
        self.engine.missing(&mut self.locked, self.session.db, keys)
    }

    /// Has the reply wait until the transaction's changes are on disk, whatever the log's policy.
    pub fn wait_for_disk(&mut self) {
        self.changes.wait_for_disk = true;
    }

    /// Has `gate` wait for what a crash could still take back of these keys.
    pub fn gate_reads(&mut self, keys: &[Key<'_>], gate: &mut Gate) {
        self.engine.gate_reads(&mut self.locked, keys, gate);
    }

    /// Now, in unix milliseconds.
    #[inline]
    pub fn now_ms(&self) -> u64 {
        self.session.now_ms
    }

    /// What has issued the command.
    pub fn issuer(&self) -> Issuer {
        self.session.issuer
    }

    /// Number of the selected database.
    pub fn db(&self) -> u8 {
        self.session.db
    }

    /// Largest value that a command may make, in bytes.
    pub fn value_bytes_max(&self) -> usize {
        self.session.value_bytes_max
    }

    /// Works on another database from here on (`MOVE`, `COPY … DB`).
    pub fn select(&mut self, db: u8) {
        self.engine.note_used(db);
        self.session.db = db;
    }

    #[inline(always)]
    pub(crate) fn partition(&mut self, key: &Key<'_>) -> &mut Partition {
        self.locked.partition_mut(key.partition)
    }

    #[inline(always)]
    pub(crate) fn database(&mut self, key: &Key<'_>) -> &mut Database {
        let db = self.session.db;
        self.partition(key).database_mut(db)
    }

    /// The live object under a key; looking at it may count as a use of the key.
    #[inline]
    pub fn get(&self, key: &Key<'_>) -> Option<Object<'_>> {
        let (found, object) = self.find_live(self.session.db, key)?;
        self.note_use(key, found);
        Some(object)
    }

    /// Notes a use of the key found, also if nothing comes of it, unless the session says that
    /// there is none to note.
    #[inline(always)]
    pub(crate) fn note_use(&self, key: &Key<'_>, found: Found) {
        if self.session.touch == Touch::Yes {
            let database = self.locked.partition(key.partition).database(self.session.db);
            database.touch(found, access_at(self.session.now_ms));
        }
    }

    /// The live object under a key of a database, and where it is.
    // Inlined always: see `Table::find`.
    #[inline(always)]
    pub(crate) fn find_live(&self, db: u8, key: &Key<'_>) -> Option<(Found, Object<'_>)> {
        let table = self.locked.partition(key.partition).database(db).table();
        let found = table.find(key.hash, key.bytes)?;
        let entry = table.entry(found);
        if entry.is_tombstone() {
            return None;
        }
        Some((found, live(entry, self.session.now_ms)?))
    }

    /// The live object under a key of a database.
    pub(crate) fn object_in(&self, db: u8, key: &Key<'_>) -> Option<Object<'_>> {
        self.find_live(db, key).map(|(_, object)| object)
    }

    /// Brings the buckets, then the entries of some keys into the cache.
    pub fn prefetch(&self, keys: &[Key<'_>]) {
        let db = self.session.db;
        let table = |key: &Key<'_>| self.locked.partition(key.partition).database(db).table();
        keys.iter().for_each(|key| table(key).prefetch_bucket(key.hash));
        for key in keys {
            table(key).prefetch_entry(key.hash);
        }
    }

    /// Puts a string under a key, whatever was there.
    // Never inlined: all that is inlined into it makes it large, and one copy serves many commands.
    #[inline(never)]
    pub fn put(&mut self, key: &Key<'_>, value: &[u8], options: PutOptions) {
        let found = self.database(key).table().find(key.hash, key.bytes);
        self.put_at(key, found, value, options);
    }

    /// Looks for a key that is to be replaced.
    #[inline]
    pub fn spot<'t>(&'t mut self, key: &'t Key<'t>) -> Spot<'t, 'e> {
        let found = self.database(key).table().find(key.hash, key.bytes);
        Spot { txn: self, key, found }
    }

    // Inlined always, as `store_at`: see `Table::find`.
    #[inline(always)]
    fn put_at(&mut self, key: &Key<'_>, found: Option<Found>, value: &[u8], options: PutOptions) {
        let origin = self.put_untold(key, found, value, options);
        self.note(key, Event::Made);
        if origin == Origin::New {
            self.changes.has_made_short = value.len() < SHARED_BYTES_MIN;
            self.notify(EventClass::New, "new", key);
        }
    }

    /// Puts a string and logs it; nobody is told.
    #[inline(always)]
    fn put_untold(
        &mut self,
        key: &Key<'_>,
        found: Option<Found>,
        value: &[u8],
        options: PutOptions,
    ) -> Origin {
        if value.len() >= SHARED_BYTES_MIN {
            return self.put_shared_untold(key, found, Arc::new(value.to_vec()), options);
        }
        let PutOptions { expire_ms, form } = options;
        let access = access_at(self.session.now_ms);
        let (inline, version) = (NewValue::Bytes(value, form), self.version_of_put(key, found));
        let content = Content { key: key.bytes, value: inline, expire_ms, access, version };
        let origin = self.store_at(key, found, content);
        let db = self.session.db;
        // Not as an `Op`, which would be copied on the way.
        let put = Put { db, key: key.bytes, value, expire_ms, origin, form };
        self.changes.begin_op(key, self.gated);
        put.encode(&mut self.changes.bytes);
        self.changes.end_op(self.engine.options.record_bytes_max);
        self.log_version_of_put(key, version);
        origin
    }

    /// Puts a string that stands apart and logs it, lent if it is long; nobody is told.
    #[cold]
    #[inline(never)]
    fn put_shared_untold(
        &mut self,
        key: &Key<'_>,
        found: Option<Found>,
        shared: Arc<Vec<u8>>,
        options: PutOptions,
    ) -> Origin {
        let PutOptions { expire_ms, form } = options;
        let access = access_at(self.session.now_ms);
        let value = NewValue::Shared(Arc::clone(&shared), form);
        let version = self.version_of_put(key, found);
        let content = Content { key: key.bytes, value, expire_ms, access, version };
        let origin = self.store_at(key, found, content);
        let db = self.session.db;
        let put = Put { db, key: key.bytes, value: &shared, expire_ms, origin, form };
        self.log_lending(key, Op::Put(put), |_| LentBytes::whole(Arc::clone(&shared)));
        self.log_version_of_put(key, version);
        origin
    }

    /// Writes an op about the key. A long payload is not copied but lent, as `lent` returns it.
    pub(crate) fn log_lending(
        &mut self,
        key: &Key<'_>,
        op: Op<'_>,
        lent: impl FnOnce(&Self) -> LentBytes,
    ) {
        if op.payload().len() < self.engine.options.lent_bytes_min {
            self.changes.begin_op(key, self.gated);
            return self.encode(op);
        }
        let lent = lent(self);
        self.changes.note_change(key, self.gated);
        self.changes.lend(key, op, lent, self.engine.options.record_bytes_max);
    }

    /// Puts a string under a key, whatever was there, without copying it.
    pub fn put_vec(&mut self, key: &Key<'_>, value: Vec<u8>, options: PutOptions) {
        if value.len() < SHARED_BYTES_MIN {
            return self.put(key, &value, options);
        }
        self.put_shared(key, Arc::new(value), options);
    }

    /// Takes a long string out of its key, so that the next one can be made in its memory, if
    /// nobody else holds it and it has room for as many bytes as `room` says. The caller puts a
    /// string under the key next: until then the key holds nothing that makes sense.
    pub fn take_string(&mut self, key: &Key<'_>, room: RangeInclusive<usize>) -> Option<Vec<u8>> {
        let (found, object) = self.find_live(self.session.db, key)?;
        let StringValue::Shared(shared) = object.string()? else { return None };
        if !room.contains(&shared.vec().capacity()) || shared.is_held_elsewhere() {
            return None;
        }
        self.database(key).take_string(found)
    }

    /// Puts a string under a key, whatever was there, that may have other owners.
    pub(crate) fn put_shared(&mut self, key: &Key<'_>, shared: Arc<Vec<u8>>, options: PutOptions) {
        let found = self.database(key).table().find(key.hash, key.bytes);
        let origin = self.put_shared_untold(key, found, shared, options);
        self.note(key, Event::Made);
        if origin == Origin::New {
            self.notify(EventClass::New, "new", key);
        }
    }

    /// Turns a string into the form that editing leaves ([`StringForm::Edited`]). Its bytes stay,
    /// so nobody who watches the key is told. A string of more than `WHOLE_BYTES_MAX` has that
    /// form already.
    pub fn reform(&mut self, key: &Key<'_>) {
        let Some((found, object)) = self.find_live(self.session.db, key) else { return };
        let (Some(value), expire_ms) = (object.string(), object.expire_ms()) else { return };
        let len = value.bytes().len();
        let mut copy = [0; WHOLE_BYTES_MAX];
        if len <= WHOLE_BYTES_MAX {
            copy[..len].copy_from_slice(value.bytes());
            let options = PutOptions { expire_ms, form: StringForm::Edited };
            self.put_untold(key, Some(found), &copy[..len], options);
        }
    }

    /// Puts an entry into memory, whatever was there; returns whether it replaced a key.
    pub(crate) fn store(&mut self, key: &Key<'_>, content: Content<'_>) -> Origin {
        let found = self.database(key).table().find(key.hash, key.bytes);
        self.store_at(key, found, content)
    }

    /// Puts an entry into memory under a key that has been looked for.
    #[inline(always)]
    fn store_at(&mut self, key: &Key<'_>, found: Option<Found>, content: Content<'_>) -> Origin {
        let (engine, db) = (self.engine, self.session.db);
        if content.expire_ms != 0 {
            engine.note_expiring(db);
        }
        if found.is_none() && self.puts_unread(key) {
            return self.store_unread(key, content);
        }
        match self.database(key).put(key.hash, found, content, &engine.retired) {
            Before::Key => Origin::Existing,
            Before::Nothing => Origin::New,
        }
    }

    /// Removes a key; returns true if it was there. A key that has expired counts as not there.
    pub fn delete(&mut self, key: &Key<'_>) -> bool {
        let was_live = self.get(key).is_some();
        let engine = self.engine;
        let database = self.database(key);
        let Some(found) = database.table().find(key.hash, key.bytes) else {
            return self.delete_on_disk(key);
        };
        if !database.remove(key.hash, key.bytes, found, &engine.retired) {
            return false;
        }
        let event = if was_live { Event::Deleted } else { Event::ExpiredRemoved };
        self.log_event(key, Op::Delete { db: self.session.db, key: key.bytes }, event);
        was_live
    }

    /// Removes a key that is in the cold tier only, as its row says, which is up to date.
    /// `spread_id` is that of a collection whose elements have rows of their own, or of a string in
    /// pieces.
    pub(crate) fn delete_unread(&mut self, key: &Key<'_>, spread_id: Option<u64>, event: Event) {
        let engine = self.engine;
        let database = self.database(key);
        if let Some(id) = spread_id {
            database.bury_unread(key.bytes, id);
        }
        database.apply_remove(key.hash, key.bytes, &engine.retired);
        self.log_event(key, Op::Delete { db: self.session.db, key: key.bytes }, event);
    }

    /// Sets when a key expires, 0 for never; returns true if the key was there.
    pub fn set_expiry(&mut self, key: &Key<'_>, expire_ms: u64) -> bool {
        let Some(object) = self.get(key) else { return false };
        let (form, is_versioned) = (object.form(), object.is_versioned());
        if let Some(value) = object.string()
            && value.bytes().len() <= WHOLE_BYTES_MAX
        {
            let mut copy = [0; WHOLE_BYTES_MAX];
            let len = value.bytes().len();
            copy[..len].copy_from_slice(value.bytes());
            self.put(key, &copy[..len], PutOptions { expire_ms, form });
            return true;
        }
        let access = access_at(self.session.now_ms);
        self.database(key).set_expiry(key.hash, key.bytes, expire_ms, access);
        if expire_ms != 0 {
            self.engine.note_expiring(self.session.db);
        }
        self.log(key, Op::Expire { db: self.session.db, key: key.bytes, expire_ms });
        if is_versioned {
            self.renew_version(key);
        }
        true
    }

    /// Sets for how many seconds the key has not been used, or how often it was: which of them the
    /// policy of eviction goes by; without it the key is as a new one. Neither is logged.
    pub fn set_use(&mut self, key: &Key<'_>, idle_s: Option<u64>, frequency: Option<u8>) {
        let now_s = self.session.now_ms / 1000;
        let access = match (self.engine.eviction().is_by_frequency(), idle_s, frequency) {
            (true, _, Some(frequency)) => access_at(self.session.now_ms).with_frequency(frequency),
            (false, Some(idle_s), _) => Access::idle_for(now_s as u32, idle_s),
            _ => access_at(self.session.now_ms),
        };
        let database = self.database(key);
        if let Some(found) = database.table().find(key.hash, key.bytes) {
            database.set_access(found, access);
        }
    }

    /// Notes a use of the key.
    pub fn touch(&mut self, key: &Key<'_>) {
        let access = access_at(self.session.now_ms);
        let database = self.database(key);
        if let Some(found) = database.table().find(key.hash, key.bytes) {
            database.touch(found, access);
        }
    }

    #[inline]
    pub(crate) fn log(&mut self, key: &Key<'_>, op: Op<'_>) {
        let is_whole = matches!(op, Op::Put(_) | Op::PutValue(_));
        let event = if is_whole { Event::Made } else { Event::Changed };
        self.log_event(key, op, event);
    }

    #[inline]
    fn log_event(&mut self, key: &Key<'_>, op: Op<'_>, event: Event) {
        self.changes.begin_op(key, self.gated);
        self.encode(op);
        self.note(key, event);
    }

    /// Writes the op that was begun.
    pub(crate) fn encode(&mut self, op: Op<'_>) {
        op.encode(&mut self.changes.bytes);
        self.changes.end_op(self.engine.options.record_bytes_max);
    }

    /// Something has happened to the key, and is in the ChangeSet.
    #[inline]
    pub(crate) fn note(&mut self, key: &Key<'_>, event: Event) {
        if self.locked.partition(key.partition).interest.is_some() {
            self.tell(key, event);
        }
    }

    /// The key counts as changed, even if a command has left it as it was: clients that watch it
    /// are told.
    #[inline]
    pub fn count_as_changed(&mut self, key: &Key<'_>) {
        self.note(key, Event::Changed);
    }

    /// Tells those who are interested in the key.
    #[cold]
    fn tell(&mut self, key: &Key<'_>, event: Event) {
        let place = KeyId { hash: key.hash, db: self.session.db };
        let partition = self.locked.partition_mut(key.partition);
        let Some(interest) = &mut partition.interest else { return };
        interest.note(place, event, &mut self.changes.called);
        let cause = Cause::Change(self.session.client);
        let readers = interest.outdate((key.hash, key.bytes), cause, &mut self.changes.called);
        if let Some(readers) = readers {
            self.engine.tracked.note_gone(1, readers);
        }
        if interest.is_empty() {
            partition.interest = None;
        }
    }

    /// The command has to wait, or has waited: [`Txn::settle`] it.
    #[inline]
    pub fn has_to_settle(&self) -> bool {
        self.changes.ask.is_some() || self.session.attempt != Attempt::First
    }

    /// Whether another command on the same keys may run in it: nobody is to be served or told
    /// before that, and little has been changed.
    #[inline]
    pub fn may_be_shared(&self) -> bool {
        const BYTES_MAX: usize = 64 << 10;
        !self.changes.has_called() && self.changes.len() <= BYTES_MAX
    }

    /// The engine, for what is not about keys.
    pub fn engine(&self) -> &'e Engine {
        self.engine
    }
}
