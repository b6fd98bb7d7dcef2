//! HOT PATH
//! What a read command sees: the keys that it named, under their locks, and nothing to change.

use crate::engine::Engine;
use crate::log::Gate;
use crate::residency::heads::{HeadContent, KeyHead, KnownHeads};
use crate::residency::queue::Missing;
use crate::store::ask::Ask;
use crate::store::context::{CommandContext, Issuer, RunMode, Touch};
use crate::store::key::Key;
use crate::waiting::request::Behind;
use basalt_change::op::StringForm;
use basalt_change::version::Version;
use basalt_keyspace::database::Database;
use basalt_keyspace::entry::{Access, Entry, EntryValue, StringValue};
use basalt_keyspace::keyspace::Locked;
use basalt_keyspace::table::{Found, Lookup, Table};
use basalt_value::ValueRef;
use std::cell::Cell;

/// Read access to the keys of one command.
pub struct View<'e> {
    pub(crate) engine: &'e Engine,
    pub(crate) locked: Locked<'e>,
    pub(crate) session: CommandContext,
    hits: Cell<u32>,
    misses: Cell<u32>,
    pub(crate) run_mode: RunMode,
    /// The command waits …
    pub(crate) asks: Cell<bool>,
    /// … for this.
    pub(crate) ask: Cell<Option<Ask>>,
    /// What an earlier run of it has found out.
    pub(crate) behind: Cell<Behind>,
    /// What is known of keys that are on disk only.
    pub(crate) heads: Option<&'e KnownHeads>,
}

/// A live object.
#[derive(Clone, Copy)]
pub struct Object<'a> {
    entry: Entry<'a>,
}

impl<'a> Object<'a> {
    #[inline]
    pub(crate) fn new(entry: Entry<'a>) -> Object<'a> {
        Object { entry }
    }

    /// What it is.
    #[inline]
    pub fn value(self) -> EntryValue<'a> {
        self.entry.value().expect("a live entry has a value")
    }

    /// The string, if it is one.
    #[inline]
    pub fn string(self) -> Option<StringValue<'a>> {
        self.entry.string()
    }

    /// The collection, if it is one.
    #[inline]
    pub fn collection(self) -> Option<ValueRef<'a>> {
        self.entry.collection()
    }

    /// Unix time in milliseconds when it expires, 0 for never.
    #[inline]
    pub fn expire_ms(self) -> u64 {
        self.entry.expire_ms()
    }

    /// The version of its key.
    #[inline]
    pub fn version(self) -> Version {
        self.entry.version()
    }

    /// What is known of it without its value.
    pub(crate) fn head(self) -> KeyHead {
        let content = match (self.collection(), self.string()) {
            (Some(value), _) => HeadContent::Collection(value.kind()),
            (None, string) => {
                HeadContent::String(string.map_or(0, |string| string.bytes().len() as u64))
            }
        };
        KeyHead { expire_ms: self.expire_ms(), content }
    }

    /// Its key has a version.
    #[inline]
    pub(crate) fn is_versioned(self) -> bool {
        self.entry.is_versioned()
    }

    /// Whether the string was set whole or edited.
    pub fn form(self) -> StringForm {
        self.entry.form()
    }

    /// Bytes of memory that it takes, key included, index not.
    pub fn memory_bytes(self) -> usize {
        self.entry.bytes() + self.entry.apart_bytes()
    }

    /// Bytes of those that do not stand in the entry.
    pub fn apart_bytes(self) -> usize {
        self.entry.apart_bytes()
    }

    /// When it was last used.
    pub fn access(self) -> Access {
        self.entry.access()
    }
}

/// The object, unless it has expired, or all of its fields have.
#[inline(always)]
pub(crate) fn live(entry: Entry<'_>, now_ms: u64) -> Option<Object<'_>> {
    let expire_ms = entry.expire_ms();
    let is_live = (expire_ms == 0 || expire_ms > now_ms)
        && entry.collection().is_none_or(|value| !value.is_gone_at(now_ms));
    is_live.then(|| Object::new(entry))
}

/// The object under a key; looking at it may count as a use of the key.
#[inline(always)]
pub(crate) fn look_up<'a>(
    table: &'a Table,
    key: &Key<'_>,
    now_ms: u64,
    touch: Touch,
) -> Option<Object<'a>> {
    used(table, table.find(key.hash, key.bytes), now_ms, touch)
}

/// The object at a place; looking at it may count as a use of its key.
#[inline(always)]
pub(crate) fn used(
    table: &Table,
    found: Option<Found>,
    now_ms: u64,
    touch: Touch,
) -> Option<Object<'_>> {
    let found = found?;
    let entry = table.entry(found);
    if entry.is_tombstone() {
        return None;
    }
    let object = live(entry, now_ms)?;
    if touch == Touch::Yes {
        table.touch(found, access_at(now_ms));
    }
    Some(object)
}

#[inline]
pub(crate) fn access_at(now_ms: u64) -> Access {
    Access::at((now_ms / 1000) as u32)
}

impl<'e> View<'e> {
    /// Looks at keys whose partitions `locked` holds.
    #[inline(always)]
    pub fn new(engine: &'e Engine, locked: Locked<'e>, session: CommandContext) -> View<'e> {
        View::within(engine, locked, session, RunMode::Alone)
    }

    #[inline]
    pub(crate) fn within(
        engine: &'e Engine,
        locked: Locked<'e>,
        session: CommandContext,
        run_mode: RunMode,
    ) -> View<'e> {
        let (hits, misses) = (Cell::new(0), Cell::new(0));
        let (asks, ask, behind) = (Cell::new(false), Cell::new(None), Cell::new(None));
        let heads = None;
        View { engine, locked, session, hits, misses, run_mode, asks, ask, behind, heads }
    }

    /// Those of these keys that must be fetched before the command can run.
    #[inline(always)]
    pub fn missing(&mut self, keys: &[Key<'_>]) -> Option<Missing> {
        self.engine.missing(&mut self.locked, self.session.db, keys)
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

    pub(crate) fn session(&self) -> &CommandContext {
        &self.session
    }

    /// Number of the selected database.
    pub fn db(&self) -> u8 {
        self.session.db
    }

    /// Largest value that a command may make, in bytes.
    pub fn value_bytes_max(&self) -> usize {
        self.session.value_bytes_max
    }

    #[inline(always)]
    fn database(&self, key: &Key<'_>) -> &Database {
        self.locked.partition(key.partition).database(self.session.db)
    }

    /// The object under a key, counted as a hit or a miss and as a use of the key.
    #[inline]
    pub fn get(&self, key: &Key<'_>) -> Option<Object<'_>> {
        let (now_ms, touch) = (self.session.now_ms, self.session.touch);
        let object = look_up(self.database(key).table(), key, now_ms, touch);
        let counter = if object.is_some() { &self.hits } else { &self.misses };
        counter.set(counter.get() + 1);
        object
    }

    /// The object under a key, without leaving a trace.
    #[inline]
    pub fn peek(&self, key: &Key<'_>) -> Option<Object<'_>> {
        match self.database(key).table().lookup(key.hash, key.bytes) {
            Lookup::Live(entry) => live(entry, self.session.now_ms),
            Lookup::Tombstone | Lookup::Unknown => None,
        }
    }

    /// The object under a key, counted as a hit or a miss, but not as a use of the key.
    #[inline]
    pub fn inspect(&self, key: &Key<'_>) -> Option<Object<'_>> {
        let object = self.peek(key);
        let counter = if object.is_some() { &self.hits } else { &self.misses };
        counter.set(counter.get() + 1);
        object
    }

    /// What is known of a key without its value, counted as a hit or a miss, but not as a use of
    /// the key. Keys that are on disk only need not have been fetched, if what their rows say has
    /// been given by [`View::with_heads`].
    #[inline]
    pub fn head(&self, key: &Key<'_>) -> Option<KeyHead> {
        let head = match self.peek(key) {
            Some(object) => Some(object.head()),
            None => self.head_on_disk(key).copied(),
        };
        let counter = if head.is_some() { &self.hits } else { &self.misses };
        counter.set(counter.get() + 1);
        head
    }

    #[inline]
    pub(crate) fn head_on_disk(&self, key: &Key<'_>) -> Option<&KeyHead> {
        self.heads.and_then(|heads| self.find_head(heads, key))
    }

    #[cold]
    fn find_head<'h>(&self, heads: &'h KnownHeads, key: &Key<'_>) -> Option<&'h KeyHead> {
        let row_key = key.row_key(self.database(key).generation());
        let row = heads.of(&row_key).filter(|row| row.is_live(self.session.now_ms));
        row.map(|row| &row.key)
    }

    /// The view of a command that knows so much of the keys that it misses.
    pub fn with_heads<'s>(self, heads: &'s KnownHeads) -> View<'s>
    where
        'e: 's,
    {
        View { heads: Some(heads), ..self }
    }

    /// Notes a use of a key, whatever the session says of that; returns true if there is a key. One
    /// that is on disk only, as for [`View::head`], has no use to be noted.
    pub fn touch(&self, key: &Key<'_>) -> bool {
        let is_there = self.head(key).is_some();
        let table = self.database(key).table();
        if is_there && let Some(found) = table.find(key.hash, key.bytes) {
            table.touch(found, access_at(self.session.now_ms));
        }
        is_there
    }

    /// Brings the buckets, then the entries of some keys into the cache: call it before walking
    /// them.
    pub fn prefetch(&self, keys: &[Key<'_>]) {
        for key in keys {
            self.database(key).table().prefetch_bucket(key.hash);
        }
        for key in keys {
            self.database(key).table().prefetch_entry(key.hash);
        }
    }

    /// Hits and misses counted so far.
    pub fn hits_and_misses(&self) -> (u32, u32) {
        (self.hits.get(), self.misses.get())
    }

    /// The engine, for what is not about keys.
    pub fn engine(&self) -> &'e Engine {
        self.engine
    }
}
