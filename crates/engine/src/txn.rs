//! HOT PATH
//! What a write command sees: the keys that it named, under their locks, and the means to change
//! them. Every change goes to memory and to the ChangeSet in one call, so that they cannot differ.

use crate::engine::{EVERY_KEY, Engine};
use crate::events::{EventClass, EventClasses, KeyEvent};
use crate::key::Key;
use crate::log::{Gate, Gating, Ticket};
use crate::miss::Missing;
use crate::view::{Attempt, Object, Session, access_at, live};
use crate::waiting::Patience;
use basalt_change::op::{self, Op, Origin, Put, StringForm};
use basalt_change::place::{PartitionId, ShardId};
use basalt_keyspace::entry::{Content, NewValue, StringValue};
use basalt_keyspace::interest::{Called, Event, Place};
use basalt_keyspace::keyspace::Locked;
use basalt_keyspace::partition::{Database, Partition};
use basalt_keyspace::table::Found;
use basalt_keyspace::table::bucket::{COLD, DIRTY};

/// Values up to this size are logged whole when only their expiry changes: recovery then needs no
/// read of the cold tier to apply it.
pub(crate) const WHOLE_BYTES_MAX: usize = 128;

/// A thread's buffer for the ChangeSet of the command that it runs. Reused, so that a write
/// allocates nothing.
#[derive(Default, Debug)]
pub struct Changes {
    pub(crate) bytes: Vec<u8>,
    /// Where each record begins, and whose it is.
    records: Vec<(Owner, usize)>,
    /// The keys changed, by partition and hash; kept only when the log gates replies.
    keys: Vec<(PartitionId, u64)>,
    positions: Vec<u64>,
    /// Keys changed, for INFO's `rdb_changes_since_last_save`.
    count: u64,
    /// What the command found that it has to wait for, having changed nothing.
    pub(crate) ask: Option<Ask>,
    /// Clients to be woken when the locks are gone.
    pub(crate) called: Called,
    /// The events that somebody wants, and those that there were.
    pub(crate) classes: EventClasses,
    events: Vec<KeyEvent>,
}

/// What a command has to wait for before it runs again.
#[derive(Debug)]
pub enum Ask {
    /// Keys that have to be fetched.
    Fetch(Missing),
    /// Something under a key.
    Ready(Patience),
    /// Nothing, but to run again under the locks of these keys, too.
    Reach(Vec<Vec<u8>>),
}

/// An end of a ChangeSet under construction.
#[derive(Clone, Copy)]
pub(crate) struct ChangesMark {
    bytes: usize,
    records: usize,
    keys: usize,
    count: u64,
}

/// Whose a record is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Owner {
    /// A partition's.
    Partition(PartitionId),
    /// Of all partitions of a shard.
    Shard(ShardId),
}

impl Owner {
    fn shard(self) -> ShardId {
        match self {
            Owner::Partition(partition) => partition.shard(),
            Owner::Shard(shard) => shard,
        }
    }
}

/// Write access to the keys of one command.
pub struct Txn<'e> {
    pub(crate) engine: &'e Engine,
    pub(crate) locked: Locked<'e>,
    pub(crate) session: Session,
    pub(crate) changes: &'e mut Changes,
    pub(crate) gated: bool,
    pub(crate) company: Company,
}

/// Whether a command runs by itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Company {
    /// It does, and may ask to be run again.
    Alone,
    /// It is one of several that run as one, and everything is there that it may touch.
    Transaction,
    /// The same, and so is every other key.
    Everything,
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
        let database = &locked.partition(self.key.partition).databases[usize::from(session.db)];
        let entry = database.table.entry(self.found?);
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
        session: Session,
        changes: &'e mut Changes,
    ) -> Txn<'e> {
        Txn::with_gating(engine, locked, session, changes, engine.gating())
    }

    /// The same for a caller that knows whether replies wait for the log.
    #[inline(always)]
    pub fn with_gating(
        engine: &'e Engine,
        locked: Locked<'e>,
        session: Session,
        changes: &'e mut Changes,
        gating: Gating,
    ) -> Txn<'e> {
        debug_assert!(changes.records.is_empty());
        let gated = gating == Gating::On;
        Txn { engine, locked, session, changes, gated, company: Company::Alone }
    }

    /// The same for one of several commands that share their locks and their ChangeSet.
    pub(crate) fn within(
        engine: &'e Engine,
        locked: Locked<'e>,
        session: Session,
        changes: &'e mut Changes,
        company: Company,
    ) -> Txn<'e> {
        let gated = engine.gating() == Gating::On;
        Txn { engine, locked, session, changes, gated, company }
    }

    /// Those of these keys that must be fetched before the command can run.
    #[inline(always)]
    pub fn missing(&mut self, keys: &[Key<'_>]) -> Option<Missing> {
        self.engine.missing(&mut self.locked, self.session.db, keys)
    }

    /// Has `gate` wait for what a crash could still take back of these keys.
    pub fn gate_reads(&self, keys: &[Key<'_>], gate: &mut Gate) {
        self.engine.gate_reads(&self.locked, keys, gate);
    }

    /// Now, in unix milliseconds.
    #[inline]
    pub fn now_ms(&self) -> u64 {
        self.session.now_ms
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
        self.session.db = db;
    }

    #[inline(always)]
    fn partition(&mut self, key: &Key<'_>) -> &mut Partition {
        self.locked.partition_mut(key.partition)
    }

    #[inline(always)]
    pub(crate) fn database(&mut self, key: &Key<'_>) -> &mut Database {
        let db = usize::from(self.session.db);
        &mut self.partition(key).databases[db]
    }

    /// The live object under a key.
    #[inline]
    pub fn get(&self, key: &Key<'_>) -> Option<Object<'_>> {
        self.object_in(self.session.db, key)
    }

    /// The live object under a key of a database, and where it is.
    // Inlined always: see `Table::find`.
    #[inline(always)]
    pub(crate) fn find_live(&self, db: u8, key: &Key<'_>) -> Option<(Found, Object<'_>)> {
        let database = &self.locked.partition(key.partition).databases[usize::from(db)];
        let found = database.table.find(key.hash, key.bytes)?;
        let entry = database.table.entry(found);
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
        let db = usize::from(self.session.db);
        let table = |key: &Key<'_>| &self.locked.partition(key.partition).databases[db].table;
        keys.iter().for_each(|key| table(key).prefetch_bucket(key.hash));
        for key in keys {
            table(key).prefetch_entry(key.hash);
        }
    }

    /// Puts a string under a key, whatever was there.
    // Never inlined: all that is inlined into it makes it large, and one copy serves many commands.
    #[inline(never)]
    pub fn put(&mut self, key: &Key<'_>, value: &[u8], options: PutOptions) {
        let found = self.database(key).table.find(key.hash, key.bytes);
        self.put_at(key, found, value, options);
    }

    /// Looks for a key that is to be replaced.
    #[inline]
    pub fn spot<'t>(&'t mut self, key: &'t Key<'t>) -> Spot<'t, 'e> {
        let found = self.database(key).table.find(key.hash, key.bytes);
        Spot { txn: self, key, found }
    }

    // Inlined always, as `store_at`: see `Table::find`.
    #[inline(always)]
    fn put_at(&mut self, key: &Key<'_>, found: Option<Found>, value: &[u8], options: PutOptions) {
        let PutOptions { expire_ms, form } = options;
        let access = access_at(self.session.now_ms);
        let content =
            Content { key: key.bytes, value: NewValue::string(value, form), expire_ms, access };
        let origin = self.store_at(key, found, content);
        let db = self.session.db;
        // Not as an `Op`, which would be copied on the way.
        let put = Put { db, key: key.bytes, value, expire_ms, origin, form };
        self.changes.begin_op(key, self.gated);
        put.encode(&mut self.changes.bytes);
        self.note(key, Event::Made);
        if origin == Origin::New {
            self.notify(EventClass::New, "new", key);
        }
    }

    /// Puts an entry into memory, whatever was there; says whether it replaced a key.
    pub(crate) fn store(&mut self, key: &Key<'_>, content: Content<'_>) -> Origin {
        let found = self.database(key).table.find(key.hash, key.bytes);
        self.store_at(key, found, content)
    }

    /// The same for a key that has been looked for. For a string that is overwritten in place
    /// [`Engine::overwrite`] does what this does, and nothing else: what comes in here may have to come in there.
    #[inline(always)]
    fn store_at(&mut self, key: &Key<'_>, found: Option<Found>, content: Content<'_>) -> Origin {
        let (engine, db) = (self.engine, self.session.db);
        let database = self.database(key);
        if content.expire_ms != 0 {
            database.next_expiry_ms = database.next_expiry_ms.min(content.expire_ms);
            engine.note_expiring(db);
        }
        let mut origin = Origin::New;
        match found {
            Some(found) => {
                if !database.table.entry(found).is_tombstone() {
                    origin = Origin::Existing;
                }
                database.spread.forget(key.hash, key.bytes);
                if !database.table.overwrite(found, &content) {
                    engine.retire(&mut database.table, found);
                    database.table.replace(found, content, found.flags() & COLD | DIRTY);
                }
            }
            None => database.table.insert(key.hash, content, DIRTY),
        }
        origin
    }

    /// Removes a key; says whether it was there. A key that has expired counts as not there.
    pub fn delete(&mut self, key: &Key<'_>) -> bool {
        let was_live = self.get(key).is_some();
        let engine = self.engine;
        let database = self.database(key);
        let Some(found) = database.table.find(key.hash, key.bytes) else { return false };
        let entry = database.table.entry(found);
        if entry.is_tombstone() {
            return false;
        }
        engine.retire(&mut database.table, found);
        remove(database, key, found);
        let event = if was_live { Event::Deleted } else { Event::ExpiredRemoved };
        self.log_event(key, Op::Delete { db: self.session.db, key: key.bytes }, event);
        was_live
    }

    /// Sets when a key expires, 0 for never; says whether the key was there.
    pub fn set_expiry(&mut self, key: &Key<'_>, expire_ms: u64) -> bool {
        let Some(object) = self.get(key) else { return false };
        let form = object.form();
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
        set_entry_expiry(self.database(key), key, expire_ms, access);
        if expire_ms != 0 {
            self.engine.note_expiring(self.session.db);
        }
        self.log(key, Op::Expire { db: self.session.db, key: key.bytes, expire_ms });
        true
    }

    /// Notes a use of the key.
    pub fn touch(&mut self, key: &Key<'_>) {
        let access = access_at(self.session.now_ms);
        let database = self.database(key);
        if let Some(found) = database.table.find(key.hash, key.bytes) {
            database.table.touch(found, access);
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
        op.encode(&mut self.changes.bytes);
        self.note(key, event);
    }

    /// Something has happened to the key, and is in the ChangeSet.
    #[inline]
    pub(crate) fn note(&mut self, key: &Key<'_>, event: Event) {
        if self.locked.partition(key.partition).interest.is_some() {
            self.tell(key, event);
        }
    }

    /// Tells those who are interested in the key.
    #[cold]
    fn tell(&mut self, key: &Key<'_>, event: Event) {
        let place = Place { hash: key.hash, db: self.session.db };
        let partition = self.locked.partition_mut(key.partition);
        let Some(interest) = &mut partition.interest else { return };
        interest.note(place, event, &mut self.changes.called);
        if interest.is_empty() {
            partition.interest = None;
        }
    }

    /// Adds records that concern every partition, a shard's worth each. All are held.
    pub(crate) fn log_everywhere(&mut self, ops: &[Op<'_>]) {
        let changes = &mut *self.changes;
        for shard in ShardId::all() {
            changes.records.push((Owner::Shard(shard), changes.bytes.len()));
            op::begin_shard(&mut changes.bytes);
            ops.iter().for_each(|op| op.encode(&mut changes.bytes));
        }
        if self.gated {
            changes.keys.extend(PartitionId::all().map(|id| (id, EVERY_KEY)));
        }
    }

    /// Appends the command's ChangeSet to the log, still under the locks, and lets go of them. Gives
    /// the ticket that the reply waits for, or `None` if nothing changed or nothing waits.
    #[inline]
    pub fn commit(mut self) -> Option<Ticket> {
        let ticket = self.append();
        if !self.changes.called.is_empty() {
            self.unlock_and_wake();
        }
        ticket
    }

    /// The same, but the locks are held until `self` goes: it needs not be moved here. Then
    /// [`Changes::wake_called`] is due.
    #[inline]
    pub fn append(&mut self) -> Option<Ticket> {
        match self.changes.records[..] {
            [] => None,
            [(Owner::Partition(partition), _)] => self.append_one(partition),
            _ => self.append_many(),
        }
    }

    /// Waking takes a system call, so nothing is locked any more.
    #[cold]
    fn unlock_and_wake(self) {
        let called = std::mem::take(&mut self.changes.called);
        drop(self);
        called.iter().for_each(|client| client.wake());
    }

    #[inline]
    fn append_one(&mut self, partition: PartitionId) -> Option<Ticket> {
        let (seq, ticket) = self.engine.log().append(partition.shard(), &self.changes.bytes);
        self.locked.partition_mut(partition).last_seq = seq;
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
                Owner::Partition(id) => self.locked.partition_mut(id).last_seq = seq,
                Owner::Shard(shard) => {
                    shard.partitions().for_each(|id| self.locked.partition_mut(id).last_seq = seq);
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
                self.engine.forget_acknowledged(id, partition);
                partition.unacknowledged.push((hash, ticket.position));
            }
        }
        self.changes.clear();
        self.gated.then_some(ticket)
    }

    /// The command has to wait, or has waited: [`Txn::settle`] it.
    #[inline]
    pub fn has_to_settle(&self) -> bool {
        self.changes.ask.is_some() || self.session.attempt != Attempt::First
    }

    /// The engine, for what is not about keys.
    pub fn engine(&self) -> &'e Engine {
        self.engine
    }
}

impl Changes {
    /// The next op is about this key.
    #[inline]
    pub(crate) fn begin_op(&mut self, key: &Key<'_>, gated: bool) {
        self.count += 1;
        let owner = Owner::Partition(key.partition);
        if self.records.last().map(|&(owner, _)| owner) != Some(owner) {
            self.records.push((owner, self.bytes.len()));
            op::begin(&mut self.bytes, key.partition);
        }
        if gated {
            self.keys.push((key.partition, key.hash));
        }
    }

    /// The ChangeSet of a command that puts one string and does nothing else; to be cleared then.
    #[inline(always)]
    pub(crate) fn only_put(&mut self, partition: PartitionId, put: &Put<'_>) -> &[u8] {
        self.count += 1;
        op::begin(&mut self.bytes, partition);
        put.encode(&mut self.bytes);
        &self.bytes
    }

    /// Where the ChangeSet ends now.
    #[inline]
    pub(crate) fn mark(&self) -> ChangesMark {
        let (bytes, records, keys) = (self.bytes.len(), self.records.len(), self.keys.len());
        ChangesMark { bytes, records, keys, count: self.count }
    }

    /// Forgets what was appended since: nothing came of it.
    #[inline]
    pub(crate) fn reset(&mut self, to: ChangesMark) {
        self.bytes.truncate(to.bytes);
        self.records.truncate(to.records);
        self.keys.truncate(to.keys);
        self.count = to.count;
    }

    #[inline]
    pub(crate) fn clear(&mut self) {
        const KEPT_BYTES_MAX: usize = 1 << 20;
        self.bytes.clear();
        if self.bytes.capacity() > KEPT_BYTES_MAX {
            self.bytes = Vec::new();
        }
        self.records.clear();
        self.keys.clear();
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.records.is_empty() && self.bytes.is_empty()
    }

    /// Wakes the clients that wait for what the latest commands have put under keys; no partition is
    /// held.
    #[inline]
    pub fn wake_called(&mut self) {
        if !self.called.is_empty() {
            self.wake_some();
        }
    }

    #[cold]
    fn wake_some(&mut self) {
        self.called.drain(..).for_each(|client| client.wake());
    }

    /// The keys that the command has to wait for before it runs again, if it said so.
    pub fn take_missing(&mut self) -> Option<Missing> {
        match self.ask.take()? {
            Ask::Fetch(missing) => Some(missing),
            Ask::Ready(_) | Ask::Reach(_) => None,
        }
    }

    /// From now on events of these classes are noted.
    pub fn listen_for(&mut self, classes: EventClasses) {
        self.classes = classes;
    }

    /// The classes of events that are noted.
    #[inline]
    pub fn event_classes(&self) -> EventClasses {
        self.classes
    }

    #[cold]
    pub(crate) fn note_event(&mut self, db: u8, name: &'static str, key: &[u8]) {
        self.events.push(KeyEvent { db, name, key: key.to_vec() });
    }

    /// The events of the command that has run, in order: to be taken out when it is committed.
    #[inline]
    pub fn events(&mut self) -> &mut Vec<KeyEvent> {
        &mut self.events
    }

    /// Changes of keys since the last call.
    pub fn take_count(&mut self) -> u64 {
        std::mem::take(&mut self.count)
    }
}

/// Takes a live entry out, leaving a tombstone if the cold tier may have a row for the key.
pub(crate) fn remove(database: &mut Database, key: &Key<'_>, found: Found) {
    database.spread.forget(key.hash, key.bytes);
    if found.has(COLD) {
        let content = Content {
            key: key.bytes,
            value: NewValue::Tombstone,
            expire_ms: 0,
            access: Default::default(),
        };
        database.table.replace(found, content, COLD | DIRTY);
    } else {
        database.table.remove(key.hash, found);
    }
}

/// Changes the expiry of a resident key.
pub(crate) fn set_entry_expiry(
    database: &mut Database,
    key: &Key<'_>,
    expire_ms: u64,
    access: basalt_keyspace::entry::Access,
) {
    let Some(found) = database.table.find(key.hash, key.bytes) else { return };
    if expire_ms != 0 {
        database.next_expiry_ms = database.next_expiry_ms.min(expire_ms);
    }
    if database.table.overwrite_expiry(found, expire_ms) {
        return;
    }
    let entry = database.table.entry(found);
    let form = entry.form();
    let flags = found.flags() & COLD | DIRTY;
    match entry.string() {
        Some(StringValue::Shared(shared)) => {
            let value = NewValue::Shared(shared.to_arc(), form);
            let content = Content { key: key.bytes, value, expire_ms, access };
            database.table.replace(found, content, flags);
        }
        Some(StringValue::Inline(bytes)) => {
            let copy = bytes.to_vec();
            let value = NewValue::Bytes(&copy, form);
            let content = Content { key: key.bytes, value, expire_ms, access };
            database.table.replace(found, content, flags);
        }
        None => {
            if let Some(value) = database.table.take_collection(found) {
                let value = NewValue::Collection(value);
                let content = Content { key: key.bytes, value, expire_ms, access };
                database.table.replace(found, content, flags);
            }
        }
    }
}
