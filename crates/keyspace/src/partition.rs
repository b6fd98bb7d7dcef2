//! HOT PATH
//! What one partition's lock covers.

use crate::database::{Database, Stored};
use crate::hash::KeyHasher;
use crate::interest::Interest;
use crate::libraries::Libraries;
use crate::memory::pages::PagePool;
use crate::unacknowledged::Unacknowledged;
use crate::workers::Workers;
use basalt_change::version::Version;
use std::ops::{Index, IndexMut};
use std::sync::Arc;

/// What a command has to ask before it takes a short way through a partition: a byte beside the
/// lock.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Guard(u8);

impl Guard {
    /// The log may not have acknowledged all changes.
    const HAS_UNACKNOWLEDGED: u8 = 1;
    /// A panic may have left the partition half-changed; only where panics unwind.
    const POISONED: u8 = 2;

    /// Nothing stands in the way: what a command sees is acknowledged.
    #[inline(always)]
    pub fn is_clear(self) -> bool {
        self.0 == 0
    }
}

/// One partition: 16 hash slots of every database.
///
/// In this order: what a lookup and a change touch comes first. What stands before the databases
/// shares a cache line with the lock.
#[repr(C)]
pub struct Partition {
    guard: Guard,
    /// Position of the partition's latest change in its shard's stream.
    last_seq: u64,
    /// Used only when the log gates replies. On a cache line of its own, which stays where it is.
    unacknowledged: Box<Unacknowledged>,
    /// By database number.
    databases: Databases,
    /// Position that the mark in the cold tier has, or that a checkpoint under way gives it.
    marked_seq: u64,
    cold_version: u64,
    /// The mark in the cold tier is out of date even if no entry is dirty.
    mark_stale: bool,
    /// A checkpoint is about to copy it: no key is put unread.
    is_settling: bool,
    /// Generations whose rows in the cold tier are garbage.
    dead_generations: Vec<u64>,
    /// The id of the next collection that is spread, or string in pieces.
    next_spread_id: u64,
    /// The last version that a key was given, or a later one.
    last_version: Version,
    /// The clients that want to know of changes; nearly always none.
    pub interest: Option<Box<Interest>>,
    /// The consumers that have asked for messages of its queues lately; of most partitions none.
    pub workers: Option<Box<Workers>>,
    /// The libraries of functions; of all partitions but one none.
    pub libraries: Option<Box<Libraries>>,
}

/// What a checkpoint copies of a partition.
pub struct ToCopy<'a> {
    /// The databases: [`Database::to_copy`].
    pub databases: &'a mut Databases,
    /// The id of the next collection that is spread, or string in pieces: the checkpoint gives it
    /// out.
    pub next_spread_id: &'a mut u64,
    /// The last version that a key was given.
    pub last_version: Version,
    /// Generations whose rows are to be deleted.
    pub dead_generations: &'a [u64],
}

/// What a mark of the cold tier says of a partition.
pub struct StoredPartition<'a> {
    /// Up to which position of its shard's stream its rows go.
    pub applied: u64,
    /// The id of the next collection that is spread, or string in pieces.
    pub next_spread_id: u64,
    /// The last version that a key was given.
    pub last_version: Version,
    /// Its databases, as many as are configured.
    pub databases: &'a mut dyn Iterator<Item = Stored>,
}

/// Where the first database begins in a partition: what stands before it and the lock fill one
/// cache line.
pub(crate) const FIRST_DATABASE_AT: usize = std::mem::offset_of!(Partition, databases);

/// The databases of a partition, as good as a slice of them.
///
/// The first one, which nearly everybody uses alone, stands in the partition itself: its head is
/// next to the lock, and the heads of all partitions are close together. In slices of their own
/// they would lie as many databases apart, on a page each, and share a few sets of the cache.
#[repr(C)]
pub struct Databases {
    first: Database,
    more: Box<[OwnLines]>,
}

/// A database on cache lines of its own.
#[repr(align(64))]
pub struct OwnLines(Database);

impl Partition {
    /// An empty partition; database `n` has generation `n`.
    pub fn new(databases: usize, pool: &Arc<PagePool>, hasher: &Arc<KeyHasher>) -> Partition {
        let database = |number| Database::new(number as u64, pool, hasher);
        Partition {
            guard: Guard::default(),
            last_seq: 0,
            unacknowledged: Box::default(),
            databases: Databases {
                first: database(0),
                more: (1..databases).map(|number| OwnLines(database(number))).collect(),
            },
            marked_seq: 0,
            cold_version: 0,
            mark_stale: false,
            is_settling: false,
            dead_generations: Vec::new(),
            next_spread_id: 0,
            last_version: Version::NONE,
            interest: None,
            workers: None,
            libraries: None,
        }
    }

    /// Where the databases of a partition stand.
    ///
    /// # Safety
    /// The partition is there; nothing of it is read.
    #[inline(always)]
    pub(crate) unsafe fn databases_of(partition: *const Partition) -> *const Databases {
        // SAFETY: the place lies within the partition, says the caller.
        unsafe { &raw const (*partition).databases }
    }

    /// Where the changes are noted that the log may not have acknowledged; always the same place.
    pub(crate) fn unacknowledged_lines(&self) -> *const Unacknowledged {
        &raw const *self.unacknowledged
    }

    pub(crate) fn poison(&mut self) {
        self.guard.0 |= Guard::POISONED;
    }

    pub(crate) fn is_poisoned(&self) -> bool {
        self.guard.0 & Guard::POISONED != 0
    }

    /// By database number.
    #[inline(always)]
    pub fn databases(&self) -> &Databases {
        &self.databases
    }

    /// A database.
    ///
    /// # Panics
    /// If there is none of this number.
    #[inline(always)]
    pub fn database(&self, number: u8) -> &Database {
        &self.databases[usize::from(number)]
    }

    /// A database, to be changed.
    ///
    /// # Panics
    /// If there is none of this number.
    #[inline(always)]
    pub fn database_mut(&mut self, number: u8) -> &mut Database {
        &mut self.databases[usize::from(number)]
    }

    /// Position of the partition's latest change in its shard's stream.
    #[inline]
    pub fn last_seq(&self) -> u64 {
        self.last_seq
    }

    /// The log has the partition's latest change at this position, which is higher than all before.
    #[inline(always)]
    pub fn advance(&mut self, seq: u64) {
        debug_assert!(seq > self.last_seq, "position {seq} after {}", self.last_seq);
        self.last_seq = seq;
    }

    /// Goes up with each checkpoint that has written rows of the partition, when they have arrived:
    /// a reader that finds another number now than before it read must read again. Nothing that was
    /// written leaves memory before that.
    #[inline]
    pub fn cold_version(&self) -> u64 {
        self.cold_version
    }

    /// The last version that a key or an element was given, or a later one.
    pub fn last_version(&self) -> Version {
        self.last_version
    }

    /// A version that no key of the partition has had.
    pub fn next_version(&mut self, now_ms: u64) -> Version {
        self.last_version = self.last_version.next(now_ms);
        self.last_version
    }

    /// A key has this version, which it was not given here.
    pub fn note_version(&mut self, version: Version) {
        self.last_version = self.last_version.max(version);
    }

    /// The log has been replayed: versions that are not in it may have been given all the same.
    pub fn skip_lost_versions(&mut self, now_ms: u64, random: u64) {
        self.last_version = self.last_version.at_start(now_ms, random);
    }

    /// An empty partition becomes what its mark in the cold tier says.
    pub fn restore(&mut self, stored: StoredPartition<'_>) {
        self.last_seq = stored.applied;
        self.marked_seq = stored.applied;
        self.next_spread_id = stored.next_spread_id;
        self.last_version = stored.last_version;
        self.databases.iter_mut().zip(stored.databases).for_each(|(d, stored)| d.restore(stored));
    }

    /// Empties a database: puts `empty`, which has a generation of its own, in its place. Returns
    /// the old one, if there is one of this number.
    pub fn flush(&mut self, number: u8, empty: Database) -> Option<Database> {
        self.mark_stale = true;
        let database = self.databases.numbered_mut(usize::from(number))?;
        // What no checkpoint has written need not be deleted.
        if database.has_rows() {
            self.dead_generations.push(database.generation());
        }
        Some(std::mem::replace(database, empty))
    }

    /// Exchanges two databases, if there are both.
    pub fn swap(&mut self, one: u8, other: u8) {
        let (one, other) = (usize::from(one), usize::from(other));
        if one.max(other) < self.databases.len() {
            self.mark_stale = true;
            self.databases.swap(one, other);
        }
    }

    /// A checkpoint has something to write. Also when nothing is dirty: a key that came and went is
    /// in the log, of which the next trim may leave the second half, and the mark must be past
    /// that.
    pub fn is_to_be_copied(&self) -> bool {
        let is_to_be = self.last_seq != self.marked_seq || self.mark_stale;
        debug_assert!(is_to_be || self.dirty() == 0, "what is dirty was logged after the mark");
        is_to_be
    }

    /// From now on no key is put unread, until [`Partition::end_settling`]: what was is settled,
    /// for a checkpoint copies the partition next.
    pub fn begin_settling(&mut self) {
        self.is_settling = true;
    }

    /// The checkpoint has copied it, or does not.
    pub fn end_settling(&mut self) {
        self.is_settling = false;
    }

    /// Whether a checkpoint is about to copy it.
    pub fn is_settling(&self) -> bool {
        self.is_settling
    }

    /// Keys that were put unread and whose rows have not been read since.
    pub fn unread(&self) -> usize {
        self.databases.iter().map(|database| database.unread().len()).sum()
    }

    /// What a checkpoint copies, before [`Partition::note_copied`].
    pub fn to_copy(&mut self) -> ToCopy<'_> {
        ToCopy {
            databases: &mut self.databases,
            next_spread_id: &mut self.next_spread_id,
            last_version: self.last_version,
            dead_generations: &self.dead_generations,
        }
    }

    /// All that was to be copied has been, and is on its way to the cold tier.
    pub fn note_copied(&mut self) {
        self.databases.iter_mut().for_each(Database::note_copied);
        self.libraries.iter_mut().for_each(|libraries| libraries.note_copied());
        self.mark_stale = false;
        self.marked_seq = self.last_seq;
    }

    /// The cold tier has what was copied, and has got rid of the rows of these generations, and of
    /// as many of the ids that `dead_ids` returns for a generation.
    pub fn note_arrived(
        &mut self,
        dead_generations: &[u64],
        dead_ids: impl Fn(u64) -> usize,
        hasher: &KeyHasher,
    ) {
        // Others have come in behind them since; nobody else takes any out.
        debug_assert!(self.dead_generations.starts_with(dead_generations));
        self.dead_generations.drain(..dead_generations.len());
        for database in self.databases.iter_mut() {
            database.note_arrived(dead_ids(database.generation()), hasher);
        }
        self.libraries.iter_mut().for_each(|libraries| libraries.note_arrived());
        // What a slow reader has read before is out of date, and nothing may be in its way any
        // more: a tombstone has gone, an entry may go from now on.
        self.cold_version += 1;
    }

    /// What was copied does not arrive: it is to be copied again.
    pub fn note_lost(&mut self) {
        self.mark_stale = true;
        self.databases.iter_mut().for_each(Database::note_lost);
        self.libraries.iter_mut().for_each(|libraries| libraries.note_lost());
    }

    /// Has everything that the cold tier has, and nothing else: it can leave memory.
    pub fn can_be_unloaded(&self) -> bool {
        !self.mark_stale && !self.databases.iter().any(Database::has_unwritten)
    }

    /// Leaves memory; `empty` makes a database of a generation. Returns the old databases.
    ///
    /// # Panics
    /// If something is not in the cold tier.
    pub fn unload(&mut self, empty: impl Fn(u64) -> Database) -> Vec<Database> {
        assert!(self.can_be_unloaded(), "what is forgotten is in the cold tier");
        // A slow reader of a row that has changed since in memory would now find no entry in its
        // way.
        self.cold_version += 1;
        let databases = self.databases.iter_mut();
        databases.map(|database| database.unload_to(empty(database.generation()))).collect()
    }

    /// Bytes of memory of the consumers that it remembers.
    pub fn worker_bytes(&self) -> usize {
        self.workers.as_ref().map_or(0, |workers| workers.heap_bytes())
    }

    /// What stands in the way of a command.
    #[inline(always)]
    pub fn guard(&self) -> Guard {
        self.guard
    }

    /// Notes that the key with this hash, or [every key](crate::unacknowledged::EVERY_KEY), has a
    /// change that the log acknowledges at this position of its tickets. `is_acknowledged` is what
    /// the log says of a position.
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

    /// The position of the log's tickets that a reader of the key with this hash has to wait for,
    /// if it has to. It may have been acknowledged meanwhile.
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

    /// Bytes of memory that the notes of unacknowledged changes take beside their cache line.
    pub fn unacknowledged_bytes(&self) -> usize {
        self.unacknowledged.heap_bytes()
    }

    /// Entries that the next checkpoint has to write.
    pub fn dirty(&self) -> usize {
        self.databases.iter().map(|database| database.table().counts().dirty).sum()
    }

    /// Elements of spread collections that the next checkpoint has to write, and perhaps some that
    /// have not changed in the end.
    pub fn dirty_elements(&self) -> usize {
        self.databases.iter().map(|database| database.spread().dirty_elements()).sum()
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
