//! HOT PATH
//! One database's share of a partition, which keeps its own rules.
//!
//! Whatever changes a database goes through a method of it, and each method keeps all of these:
//!
//! 1. *The lower bound.* No resident key expires before [`Database::next_expiry_ms`] unless a round
//!    looks for it (`database/expiry.rs`), and each resident hash with a field that expires has a
//!    note of it. So has each resident queue (`queue_keys.rs`).
//! 2. *Spread collections and strings in pieces.* A key is among the spread ones only while it
//!    holds the collection whose elements have these rows, or the string, edited perhaps, whose
//!    pieces have: they are forgotten before something else is put there or it is taken away.
//! 3. *The count of cold keys.* A key is counted as resident (an entry that is not a tombstone) or
//!    as cold, never as both. A key leaves the cold count when an entry for it comes.
//! 4. *Flags.* Each entry [stands](crate::table::bucket::Standing) to the cold tier as it is known:
//!    DIRTY if that has not seen its state, in flight while it is on its way there. That a row may
//!    exist stays with the key: such a key leaves a tombstone.
//! 5. *Big values* are shown to [`Retire`] before their entry is destroyed.
//! 6. *Complete.* What a complete database does not hold does not exist. It is set by what has
//!    proved it, a new database or a load during which nothing left memory, and cleared when
//!    something leaves memory.
//! 7. *Leaving memory.* Only a clean entry does ([`Database::evict`]): its row has arrived and is
//!    its state.
//! 8. *Cold keys.* If it knows which keys are in the cold tier only (`database/cold_keys.rs`), it
//!    knows all of them.
//! 9. *Unread keys.* A key that was put without a look at the cold tier is an entry, perhaps a
//!    tombstone, until its row has been read (`database/unread.rs`), and until then its row counts
//!    as cold. No checkpoint copies it before.
//!
//! `database/tests.rs` compares all this with plain maps after each of many random operations.

mod checkpoint;
mod cold_keys;
mod edit;
mod evict;
mod expiry;
#[cfg(test)]
mod tests;
mod unread;

pub use edit::{Edited, inside};
pub use expiry::RoundLimits;

use crate::cold_keys::ColdKeys;
use crate::deferred::Change;
use crate::entry::{Access, Content, NewValue, StringValue};
use crate::field_expiries::FieldExpiries;
use crate::hash::KeyHasher;
use crate::memory::pages::PagePool;
use crate::queue_keys::QueueKeys;
use crate::retire::{Retire, retire};
use crate::spread::{SpreadKey, SpreadKeys};
use crate::table::bucket::{COLD, DIRTY};
use crate::table::{Compacted, Found, Table};
use crate::turnover::Turnover;
use crate::unread::UnreadKeys;
use basalt_change::version::Version;
use basalt_value::{DirtyElements, Kind, Queue, Value, Variant};
use expiry::Round;
use std::sync::Arc;

/// Tombstones below which nobody looks whether there are some that say nothing but that a read
/// found nothing.
const ABSENCES_KEPT: usize = 64;

/// One database's share of a partition. See the head of this file.
///
/// On cache lines of its own, what a lookup reads in the first: `FIRST_DATABASE_AT` and `OwnLines`
/// see to it.
#[repr(C)]
pub struct Database {
    /// Keys that have a row and no entry, or an entry that was put unread.
    keys_cold_only: u64,
    /// The generation under which its rows stand in the cold tier.
    generation: u64,
    /// A lower bound of the earliest expiry of a resident key, in unix milliseconds.
    next_expiry_ms: u64,
    is_complete: bool,
    /// The cold tier may have rows of this generation.
    has_rows: bool,
    spread: SpreadKeys,
    table: Table,
    field_expiries: FieldExpiries,
    queue_keys: QueueKeys,
    /// The round under way that looks for keys that have expired.
    round: Option<Round>,
    /// A lower bound of when keys, or fields of them, expire that are in the cold tier only, in
    /// unix milliseconds; all ones for never.
    cold_expiry_ms: u64,
    /// Goes up with each key that leaves memory.
    departures: u64,
    /// Which keys came of late, and which went; nothing before the first has to go.
    turnover: Option<Box<Turnover>>,
    cold: ColdKeys,
    unread: UnreadKeys,
}

/// What a put has found under its key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Before {
    /// A key, perhaps one whose time had come.
    Key,
    /// Nothing.
    Nothing,
}

/// What a log says of a key that is put, for a memory that need not hold it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Known {
    /// It is new.
    New,
    /// It replaces one that is here or in the cold tier.
    Existing,
    /// It may replace one in the cold tier, of which nothing was read in a partition of this
    /// [`cold_version`](crate::partition::Partition::cold_version).
    Unread {
        /// See there.
        cold_version: u64,
    },
}

/// A row of the cold tier, to become an entry.
pub struct Row<'a> {
    /// The value.
    pub value: NewValue<'a>,
    /// Unix time in milliseconds, 0 for none.
    pub expire_ms: u64,
    /// The version of the key.
    pub version: Version,
    /// The id of a collection whose elements have rows of their own, or of a string in pieces.
    pub spread_id: Option<u64>,
    /// Whether it is still what the rows say.
    pub state: RowState,
    /// Since when it is in memory: what was before, the rows do not know.
    pub access: Access,
}

/// Whether what has been read is still what the rows say.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RowState {
    /// It is.
    AsOnDisk,
    /// Changes that waited for it have been made.
    CaughtUp,
}

/// What a mark of the cold tier says of a database.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Stored {
    /// The generation of its rows.
    pub generation: u64,
    /// Keys.
    pub keys: u64,
    /// Keys with a spread collection or a string in pieces.
    pub spread: u64,
    /// No key, and no field of one, expires before this, in unix milliseconds; `None` if none
    /// expires.
    pub expiry_ms: Option<u64>,
}

impl Database {
    /// An empty database of this generation.
    pub fn new(generation: u64, pool: &Arc<PagePool>, hasher: &Arc<KeyHasher>) -> Database {
        Database {
            table: Table::new(Arc::clone(pool), Arc::clone(hasher)),
            generation,
            keys_cold_only: 0,
            is_complete: true,
            has_rows: false,
            spread: SpreadKeys::default(),
            next_expiry_ms: u64::MAX,
            field_expiries: FieldExpiries::default(),
            queue_keys: QueueKeys::default(),
            round: None,
            cold_expiry_ms: u64::MAX,
            departures: 0,
            turnover: None,
            cold: ColdKeys::default(),
            unread: UnreadKeys::default(),
        }
    }

    /// The resident keys, and tombstones.
    #[inline(always)]
    pub fn table(&self) -> &Table {
        &self.table
    }

    /// Which keys hold spread collections, or strings in pieces.
    #[inline]
    pub fn spread(&self) -> &SpreadKeys {
        &self.spread
    }

    /// The generation under which its rows stand in the cold tier.
    #[inline]
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// Number of keys, resident or not. Each that was put unread is taken to have been there.
    #[inline]
    pub fn keys(&self) -> u64 {
        self.table.counts().live as u64 + self.keys_cold_only()
    }

    /// Keys that exist in the cold tier only, as far as is known.
    #[inline]
    pub fn keys_cold_only(&self) -> u64 {
        self.keys_cold_only.saturating_sub(self.unread.len() as u64)
    }

    /// The cold tier may have rows of its generation.
    pub fn has_rows(&self) -> bool {
        self.has_rows
    }

    /// It is as a new one, but for its generation: without a key, a row in the cold tier, or
    /// memory.
    pub fn is_untouched(&self) -> bool {
        !self.table.takes_memory()
            && self.keys_cold_only == 0
            && !self.has_rows
            && self.spread.is_empty()
    }

    /// What the table does not know does not exist.
    #[inline(always)]
    pub fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// Puts something under a key that has been looked for in [`Database::table`], whatever was
    /// there. `None` for `found`: there is no such key, in the cold tier neither.
    // Inlined always: see `Table::find`.
    #[inline(always)]
    pub fn put(
        &mut self,
        hash: u64,
        found: Option<Found>,
        content: Content<'_>,
        retired: &impl Retire,
    ) -> Before {
        self.note_expiries(hash, content.expire_ms, &content.value);
        let Some(found) = found else {
            self.table.insert(hash, content, DIRTY);
            return Before::Nothing;
        };
        let before = match self.table.entry(found).is_tombstone() {
            true => Before::Nothing,
            false => Before::Key,
        };
        self.spread.forget(hash, content.key);
        if !self.table.overwrite(found, &content) {
            retire(&mut self.table, found, retired);
            self.table.replace(found, content, found.row_flag() | DIRTY);
        }
        before
    }

    /// Puts a string in the place of the one found, if it fits and neither expires nor has a
    /// version; returns false, having changed nothing, if not. This is [`Database::put`] where
    /// nothing is to be noted or forgotten: a string that stands in its entry is not in pieces.
    #[inline(always)]
    pub fn overwrite(&mut self, found: Found, content: &Content<'_>) -> bool {
        content.expire_ms == 0 && self.table.overwrite(found, content)
    }

    /// Puts something under a key that need not be resident, as a log says.
    pub fn apply_put(
        &mut self,
        hash: u64,
        content: Content<'_>,
        known: Known,
        retired: &impl Retire,
    ) {
        let found = self.table.find(hash, content.key);
        match known {
            _ if found.is_some() => drop(self.put(hash, found, content, retired)),
            Known::Unread { cold_version } if !self.is_complete => {
                self.put_unread(hash, content, cold_version);
            }
            Known::New | Known::Unread { .. } => drop(self.put(hash, None, content, retired)),
            Known::Existing => {
                self.note_expiries(hash, content.expire_ms, &content.value);
                self.table.insert(hash, content, COLD | DIRTY);
                self.take_from_cold();
            }
        }
    }

    /// Removes the key found; returns false if there is a tombstone.
    pub fn remove(&mut self, hash: u64, key: &[u8], found: Found, retired: &impl Retire) -> bool {
        if self.table.entry(found).is_tombstone() {
            return false;
        }
        self.spread.forget(hash, key);
        retire(&mut self.table, found, retired);
        if found.row_flag() != 0 {
            self.table.replace(found, tombstone(key), COLD | DIRTY);
        } else {
            self.table.remove(hash, found);
        }
        true
    }

    /// Removes a key that exists but need not be resident, as a log says.
    pub fn apply_remove(&mut self, hash: u64, key: &[u8], retired: &impl Retire) {
        match self.table.find(hash, key) {
            Some(found) => drop(self.remove(hash, key, found, retired)),
            None => {
                self.table.insert(hash, tombstone(key), COLD | DIRTY);
                self.take_from_cold();
            }
        }
    }

    /// Takes the collection out of a key, which is removed next.
    pub fn take_collection(&mut self, found: Found) -> Option<Value> {
        self.table.take_collection(found)
    }

    /// Changes when a resident key expires, 0 for never; returns false if there is none.
    pub fn set_expiry(&mut self, hash: u64, key: &[u8], expire_ms: u64, access: Access) -> bool {
        let Some(found) = self.table.find(hash, key) else { return false };
        if self.table.entry(found).is_tombstone() {
            return false;
        }
        if expire_ms != 0 {
            self.next_expiry_ms = self.next_expiry_ms.min(expire_ms);
        }
        if self.table.overwrite_expiry(found, expire_ms) {
            return true;
        }
        let version = self.table.entry(found).version();
        self.remake(key, found, Remade { expire_ms, version, access })
    }

    /// Changes the version of a resident key; returns false if there is no such key.
    pub fn set_version(&mut self, hash: u64, key: &[u8], version: Version) -> bool {
        let Some(found) = self.table.find(hash, key) else { return false };
        if self.table.entry(found).is_tombstone() {
            return false;
        }
        if self.table.overwrite_version(found, version) {
            return true;
        }
        let entry = self.table.entry(found);
        let (expire_ms, access) = (entry.expire_ms(), entry.access());
        self.remake(key, found, Remade { expire_ms, version, access })
    }

    /// Puts an entry with more or less in front of its value, or behind it, in the place of the one
    /// found.
    fn remake(&mut self, key: &[u8], found: Found, remade: Remade) -> bool {
        let Remade { expire_ms, version, access } = remade;
        let entry = self.table.entry(found);
        let form = entry.form();
        let flags = found.row_flag() | DIRTY;
        let copy: Vec<u8>;
        let value = match entry.string() {
            Some(StringValue::Shared(shared)) => NewValue::Shared(shared.to_arc(), form),
            Some(StringValue::Inline(bytes)) => {
                copy = bytes.to_vec();
                NewValue::Bytes(&copy, form)
            }
            None => {
                let Some(value) = self.table.take_collection(found) else { return false };
                NewValue::Collection(value)
            }
        };
        self.table.replace(found, Content { key, value, expire_ms, access, version }, flags);
        true
    }

    /// See [`Table::compact`].
    pub fn compact(&mut self, entries_max: usize) -> Compacted {
        self.table.compact(entries_max)
    }

    /// See [`Table::slack_bytes`].
    pub fn slack_bytes(&self) -> usize {
        self.table.slack_bytes()
    }

    /// Notes a use of the key found.
    #[inline]
    pub fn touch(&self, found: Found, access: Access) {
        self.table.touch(found, access);
    }

    /// Sets when and how often the key found was used.
    pub fn set_access(&mut self, found: Found, access: Access) {
        self.table.set_access(found, access);
    }

    /// Makes a row of the cold tier resident under a key that has no entry.
    pub fn adopt_row(&mut self, hash: u64, key: &[u8], row: Row<'_>) {
        let Row { expire_ms, value, version, spread_id, state, access } = row;
        debug_assert!(
            state == RowState::CaughtUp || self.spread.deferred(key).is_none(),
            "changes wait for it"
        );
        debug_assert!(self.keys_cold_only > 0, "a row was read of a key that is not counted");
        self.note_expiries(hash, expire_ms, &value);
        if let Some(id) = spread_id {
            let dirty = match &value {
                NewValue::Collection(value) => DirtyElements::new(value.as_ref().keeping()),
                _ => DirtyElements::default(),
            };
            self.spread.take_from_cold();
            self.spread.insert(SpreadKey { hash, key: key.into(), id, dirty, in_flight: false });
        }
        let flags = match state {
            RowState::AsOnDisk => COLD,
            RowState::CaughtUp => {
                // Nobody has noted which elements they change: the next checkpoint writes all,
                // once.
                self.spread.forget(hash, key);
                self.spread.forget_deferred(key);
                COLD | DIRTY
            }
        };
        self.table.insert(hash, Content { key, value, expire_ms, access, version }, flags);
        self.take_from_cold();
        if let Some(turnover) = &mut self.turnover {
            turnover.note(hash, access, self.table.counts().live);
        }
    }

    /// Shows some resident queues with their keys, by the hashes of these, from one on; returns the
    /// hash where to go on, or `None` at the end.
    pub fn visit_queues(
        &mut self,
        from: u64,
        count: usize,
        hasher: &KeyHasher,
        visit: &mut dyn FnMut(&[u8], &Queue),
    ) -> Option<u64> {
        let hashes = self.queue_keys.some(from, count);
        for &hash in &hashes {
            let mut is_there = false;
            // The bucket may show neighbours, too.
            self.table.scan(hash, 1, |entry| {
                if let Some(queue) = entry.collection().and_then(Queue::of)
                    && hasher.hash(entry.key()) == hash
                {
                    is_there = true;
                    visit(entry.key(), queue);
                }
            });
            if !is_there {
                self.queue_keys.forget(hash);
            }
        }
        hashes.last().and_then(|last| last.checked_add(1)).filter(|_| hashes.len() == count)
    }

    /// Notes that the cold tier has been searched for a key without an entry and has no row of it:
    /// until the next checkpoint of the partition, or [`Database::forget_absences`].
    pub fn adopt_absence(&mut self, hash: u64, key: &[u8]) {
        self.table.insert(hash, tombstone(key), COLD);
    }

    /// Forgets that keys were searched for and not found, if that is known of many: else reads of
    /// ever new keys would fill memory where nothing is written. Tombstones of keys that were
    /// removed stay until the cold tier knows. Returns how many went.
    pub fn forget_absences(&mut self, hasher: &KeyHasher) -> usize {
        if self.table.counts().tombstones < ABSENCES_KEPT {
            return 0;
        }
        self.remove_clean_tombstones(hasher)
    }

    /// A key that exists in the cold tier only changes when it is read.
    pub fn defer(&mut self, key: &[u8], change: Change) {
        self.spread.defer(key, change);
    }

    /// A collection, or a string in pieces, with rows of this id that nobody has read is about to
    /// go, or to be replaced.
    pub fn bury_unread(&mut self, key: &[u8], id: u64) {
        self.spread.take_from_cold();
        self.spread.bury(id);
        self.spread.forget_deferred(key);
    }

    /// Goes up whenever keys leave memory: a load that has seen another number is not finished.
    pub fn departures(&self) -> u64 {
        self.departures
    }

    /// Every row of the cold tier has been seen, and no key has left memory since there were this
    /// many [departures](Database::departures): what has no entry does not exist. Returns how many
    /// keys were counted as cold all the same: the cold tier has fewer rows than its mark says.
    /// `None`, and nothing is known, if some have left, or if it is not known which of those had
    /// rows that were put unread.
    pub fn finish_load(&mut self, departures: u64) -> Option<u64> {
        if self.departures != departures || !self.unread.is_empty() {
            return None;
        }
        self.is_complete = true;
        self.forget_cold();
        self.cold_expiry_ms = u64::MAX;
        self.spread.set_cold_only(0);
        Some(std::mem::take(&mut self.keys_cold_only))
    }

    /// An empty database becomes what a mark of the cold tier says.
    pub fn restore(&mut self, stored: Stored) {
        debug_assert_eq!(self.keys(), 0, "only an empty database is restored");
        self.generation = stored.generation;
        self.keys_cold_only = stored.keys;
        self.has_rows = stored.keys > 0;
        self.is_complete = stored.keys == 0;
        self.forget_cold();
        self.cold_expiry_ms = stored.expiry_ms.unwrap_or(u64::MAX);
        self.spread.set_cold_only(stored.spread);
    }

    /// Has changes that are not in the cold tier, or rows there that are to be deleted.
    pub fn has_unwritten(&self) -> bool {
        self.table.counts().dirty > 0
            || !self.spread.dead().is_empty()
            || self.spread.deferred_keys().next().is_some()
            || !self.unread.is_empty()
    }

    /// Leaves memory: moves everything to `empty`, which takes its place, as if it had been read
    /// from its mark.
    ///
    /// # Panics
    /// If it has changes that the cold tier lacks.
    pub fn unload_to(&mut self, mut empty: Database) -> Database {
        assert!(!self.has_unwritten(), "what is forgotten is in the cold tier");
        empty.restore(Stored {
            generation: self.generation,
            keys: self.keys(),
            spread: self.spread.len(),
            expiry_ms: Some(self.earliest_expiry_ms()).filter(|&expiry_ms| expiry_ms != u64::MAX),
        });
        empty.has_rows = self.has_rows;
        empty.departures = self.departures + 1;
        empty.is_complete = self.is_complete && empty.keys_cold_only == 0;
        std::mem::replace(self, empty)
    }

    /// A key that was in the cold tier only has an entry now, says a log. A log that has lost its
    /// beginning may say so of a key that is not counted.
    fn take_from_cold(&mut self) {
        self.keys_cold_only = self.keys_cold_only.saturating_sub(1);
    }

    #[inline(always)]
    fn note_expiries(&mut self, hash: u64, expire_ms: u64, value: &NewValue<'_>) {
        if expire_ms != 0 {
            self.next_expiry_ms = self.next_expiry_ms.min(expire_ms);
        }
        if let NewValue::Collection(value) = value {
            self.field_expiries.note(value.as_ref().next_expiry_ms(), hash);
            if value.kind() == Kind::Queue {
                self.queue_keys.note(hash);
            }
        }
    }
}

/// What an entry has beside its key and its value.
struct Remade {
    expire_ms: u64,
    version: Version,
    access: Access,
}

fn tombstone(key: &[u8]) -> Content<'_> {
    let (access, version) = (Access::default(), Version::NONE);
    Content { key, value: NewValue::Tombstone, expire_ms: 0, access, version }
}
