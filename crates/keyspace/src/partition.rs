//! HOT PATH
//! What one partition's lock covers.

use crate::field_expiries::FieldExpiries;
use crate::hash::KeyHasher;
use crate::interest::Interest;
use crate::memory::pages::PagePool;
use crate::spread::SpreadKeys;
use crate::table::Table;
use crate::unacknowledged::Unacknowledged;
use std::ops::{Index, IndexMut};
use std::sync::Arc;

/// What a command has to ask before it takes a short way through a partition: a byte beside the lock.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Guard(u8);

impl Guard {
    /// The log may not have acknowledged all changes.
    const HAS_UNACKNOWLEDGED: u8 = 1;

    /// Nothing stands in the way: what a command sees is acknowledged.
    #[inline(always)]
    pub fn is_clear(self) -> bool {
        self.0 == 0
    }
}

/// One partition: 16 hash slots of every database.
///
/// In this order: what a lookup and a change touch comes first. What stands before the databases shares a
/// cache line with the lock.
#[repr(C)]
pub struct Partition {
    guard: Guard,
    /// Position of the partition's latest change in its shard's stream.
    pub last_seq: u64,
    /// Used only when the log gates replies.
    unacknowledged: Unacknowledged,
    /// By database number.
    pub databases: Databases,
    /// Position that the mark in the cold tier has, or that a checkpoint under way gives it.
    pub marked_seq: u64,
    /// Goes up whenever a row of the cold tier may have stopped being what a slow reader of it
    /// saw: who read a row before and finds another number now must read again.
    pub cold_version: u64,
    /// The mark in the cold tier is out of date even if no entry is dirty.
    pub mark_stale: bool,
    /// Generations whose rows in the cold tier are garbage.
    pub dead_generations: Vec<u64>,
    /// The id of the next collection that is spread.
    pub next_spread_id: u64,
    /// Who wants to know of changes; nearly always nobody.
    pub interest: Option<Box<Interest>>,
}

/// Where the first database begins in a partition: what stands before it and the lock fill one cache line.
pub(crate) const FIRST_DATABASE_AT: usize = std::mem::offset_of!(Partition, databases);

/// The databases of a partition, as good as a slice of them.
///
/// The first one, which nearly everybody uses alone, stands in the partition itself: its head is
/// next to the lock, and the heads of all partitions are close together. In slices of their own they
/// would lie as many databases apart, on a page each, and share a few sets of the cache.
#[repr(C)]
pub struct Databases {
    first: Database,
    more: Box<[OwnLines]>,
}

/// A database on cache lines of its own.
#[repr(align(64))]
pub struct OwnLines(Database);

/// One database's share of a partition.
///
/// On cache lines of its own, what a lookup reads in the first: `FIRST_DATABASE_AT` and `OwnLines` see to it.
#[repr(C)]
pub struct Database {
    /// Keys that exist in the cold tier only.
    pub keys_cold_only: u64,
    /// The generation under which its rows stand in the cold tier.
    pub generation: u64,
    /// A lower bound of the earliest expiry of a resident key, in unix milliseconds.
    pub next_expiry_ms: u64,
    /// The cold tier may have rows of this generation.
    pub has_rows: bool,
    /// Keys whose elements have rows of their own.
    pub spread: SpreadKeys,
    /// The resident keys, and tombstones.
    pub table: Table,
    /// Which of the resident hashes have fields that expire.
    pub field_expiries: FieldExpiries,
}

impl Partition {
    /// An empty partition; database `n` has generation `n`.
    pub fn new(databases: usize, pool: &Arc<PagePool>, hasher: &Arc<KeyHasher>) -> Partition {
        let database = |number| Database::new(number as u64, pool, hasher);
        Partition {
            guard: Guard::default(),
            last_seq: 0,
            unacknowledged: Unacknowledged::default(),
            databases: Databases {
                first: database(0),
                more: (1..databases).map(|number| OwnLines(database(number))).collect(),
            },
            marked_seq: 0,
            cold_version: 0,
            mark_stale: false,
            dead_generations: Vec::new(),
            next_spread_id: 0,
            interest: None,
        }
    }

    /// What stands in the way of a command.
    #[inline(always)]
    pub fn guard(&self) -> Guard {
        self.guard
    }

    /// Notes that the key with this hash, or [every key](crate::unacknowledged::EVERY_KEY), has a change that
    /// the log acknowledges at this position of its tickets. `is_acknowledged` is what the log says of a
    /// position.
    #[inline]
    pub fn note_unacknowledged(
        &mut self,
        hash: u64,
        position: u64,
        is_acknowledged: impl Fn(u64) -> bool,
    ) {
        self.unacknowledged.note(hash, position, is_acknowledged);
        self.guard.0 |= Guard::HAS_UNACKNOWLEDGED;
    }

    /// The position of the log's tickets that a reader of the key with this hash has to wait for, if it has
    /// to. It may have been acknowledged meanwhile.
    #[inline]
    pub fn unacknowledged(&self, hash: u64) -> Option<u64> {
        if self.guard.is_clear() { None } else { self.unacknowledged.position_of(hash) }
    }

    /// Forgets changes that the log has acknowledged, and clears the guard if no others are left.
    #[inline]
    pub fn forget_acknowledged(&mut self, is_acknowledged: impl Fn(u64) -> bool) {
        if !self.guard.is_clear() && self.unacknowledged.forget_acknowledged(is_acknowledged) {
            self.guard.0 &= !Guard::HAS_UNACKNOWLEDGED;
        }
    }

    /// How many changes are noted that the log may not have acknowledged.
    pub fn unacknowledged_count(&self) -> usize {
        self.unacknowledged.len()
    }

    /// Entries that the next checkpoint has to write.
    pub fn dirty(&self) -> usize {
        self.databases.iter().map(|database| database.table.counts().dirty).sum()
    }

    /// Elements of spread collections that the next checkpoint has to write, and perhaps some that have not changed
    /// in the end.
    pub fn touched(&self) -> usize {
        self.databases.iter().map(|database| database.spread.touched()).sum()
    }
}

impl Databases {
    /// How many there are.
    #[inline]
    #[expect(clippy::len_without_is_empty, reason = "there is always the first one")]
    pub fn len(&self) -> usize {
        1 + self.more.len()
    }

    /// In ascending order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = &Database> {
        self.into_iter()
    }

    /// In ascending order of their numbers.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Database> {
        self.into_iter()
    }

    /// The one with this number, if there is one.
    #[inline]
    pub fn numbered(&self, number: usize) -> Option<&Database> {
        if number == 0 { Some(&self.first) } else { self.more.get(number - 1).map(|more| &more.0) }
    }

    /// The one with this number, if there is one.
    pub fn numbered_mut(&mut self, number: usize) -> Option<&mut Database> {
        if number == 0 {
            Some(&mut self.first)
        } else {
            self.more.get_mut(number - 1).map(|more| &mut more.0)
        }
    }

    /// Exchanges two.
    ///
    /// # Panics
    /// If there is no such database.
    pub fn swap(&mut self, one: usize, other: usize) {
        match (one.min(other), one.max(other)) {
            (low, high) if low == high => {}
            (0, high) => std::mem::swap(&mut self.first, &mut self.more[high - 1].0),
            (low, high) => self.more.swap(low - 1, high - 1),
        }
    }

    /// Where the first one stands, given where all of them do; nothing is read.
    #[inline]
    pub(crate) fn first_of(databases: *const Databases) -> *const Database {
        databases.cast() // The first field, says `repr(C)`.
    }

    /// Where the others stand, as long as the partition lives.
    pub(crate) fn more(&self) -> *const OwnLines {
        self.more.as_ptr()
    }
}

impl<'a> IntoIterator for &'a Databases {
    type Item = &'a Database;
    type IntoIter = std::iter::Chain<
        std::iter::Once<&'a Database>,
        std::iter::Map<std::slice::Iter<'a, OwnLines>, fn(&'a OwnLines) -> &'a Database>,
    >;

    fn into_iter(self) -> Self::IntoIter {
        let database: fn(&'a OwnLines) -> &'a Database = |more| &more.0;
        std::iter::once(&self.first).chain(self.more.iter().map(database))
    }
}

impl<'a> IntoIterator for &'a mut Databases {
    type Item = &'a mut Database;
    type IntoIter = std::iter::Chain<
        std::iter::Once<&'a mut Database>,
        std::iter::Map<std::slice::IterMut<'a, OwnLines>, fn(&'a mut OwnLines) -> &'a mut Database>,
    >;

    fn into_iter(self) -> Self::IntoIter {
        let database: fn(&'a mut OwnLines) -> &'a mut Database = |more| &mut more.0;
        std::iter::once(&mut self.first).chain(self.more.iter_mut().map(database))
    }
}

impl Index<usize> for Databases {
    type Output = Database;

    #[inline]
    fn index(&self, number: usize) -> &Database {
        if number == 0 { &self.first } else { &self.more[number - 1].0 }
    }
}

impl IndexMut<usize> for Databases {
    #[inline]
    fn index_mut(&mut self, number: usize) -> &mut Database {
        if number == 0 { &mut self.first } else { &mut self.more[number - 1].0 }
    }
}

impl Database {
    /// An empty database of this generation.
    pub fn new(generation: u64, pool: &Arc<PagePool>, hasher: &Arc<KeyHasher>) -> Database {
        Database {
            table: Table::new(Arc::clone(pool), Arc::clone(hasher)),
            generation,
            keys_cold_only: 0,
            has_rows: false,
            spread: SpreadKeys::default(),
            next_expiry_ms: u64::MAX,
            field_expiries: FieldExpiries::default(),
        }
    }

    /// Number of keys, resident or not.
    #[inline]
    pub fn keys(&self) -> u64 {
        self.table.counts().live as u64 + self.keys_cold_only
    }

    /// A resident key may expire, or a field of one.
    pub fn may_expire(&self) -> bool {
        self.next_expiry_ms != u64::MAX || !self.field_expiries.is_empty()
    }

    /// Every key is resident: what the table does not know does not exist.
    #[inline]
    pub fn is_complete(&self) -> bool {
        self.keys_cold_only == 0
    }
}
