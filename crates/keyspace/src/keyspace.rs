//! HOT PATH
//! The partitions and their locks.
//!
//! A thread holds one partition, or several that it took in ascending order through
//! [`Keyspace::lock_many_within`]; while it holds any it takes no further one. So there is no cycle
//! and no deadlock. The lock is one byte ([`ShortLock`]), held for the time of one command, about
//! 50 ns.
//!
//! **Hints.** To fetch a bucket ahead one must know where its segment stands, and only the lock
//! makes it safe to look. Beside each lock stand a few words that say where segments stood when
//! somebody last looked under the lock: [`Keyspace::prefetch_bucket`] computes an address from them
//! and prefetches it, and [`Keyspace::prefetch_entry`], which has the lock, puts them right. A hint
//! is never followed, so one that is out of date costs a useless prefetch and nothing else.

use crate::database::Database;
use crate::entry::{Entry, StringValue};
use crate::hash::KeyHasher;
use crate::memory::pages::PagePool;
use crate::partition::{Databases, FIRST_DATABASE_AT, OwnLines, Partition};
use crate::table::EntryHint;
use crate::table::segment::SegmentRef;
use crate::unacknowledged::Unacknowledged;
use basalt_change::place::{PARTITIONS, PartitionId};
use basalt_stdx::lock_rank::{self, Rank};
use basalt_stdx::prefetch::prefetch;
use basalt_stdx::short_lock::{LockWait, ShortLock};
use basalt_value::ValueRef;
use std::cell::UnsafeCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// All partitions.
pub struct Keyspace {
    partitions: Box<[Cell; PARTITIONS]>,
    /// Where each partition's databases but the first stand; they never move.
    more_databases: Box<[*const OwnLines]>,
    /// Where each partition notes what the log has not acknowledged; that never moves either.
    unacknowledged: Box<[*const Unacknowledged]>,
    pool: Arc<PagePool>,
    hasher: Arc<KeyHasher>,
}

/// Hints of a partition: enough for one database with four segments.
const HINTS: usize = 4;

/// A partition behind its lock, on cache lines of its own.
#[repr(C, align(64))]
struct Cell {
    lock: ShortLock,
    /// See the head of this file. A packed [`SegmentRef`], 0 for none.
    hints: [AtomicU64; HINTS],
    partition: UnsafeCell<Partition>,
    /// For an odd number of lines, see below.
    _spare: [u64; SPARE],
}

/// Words of a cache line if that makes their number odd.
const SPARE: usize = {
    let lines = (64 - FIRST_DATABASE_AT + size_of::<Partition>()).div_ceil(64);
    if lines.is_multiple_of(2) { 8 } else { 0 }
};

/// An odd number of cache lines, so that the locks, and the heads of the first databases, spread
/// over all sets of a cache.
const _: () = assert!(size_of::<Cell>() / 64 % 2 == 1);

/// The lock, the hints and the partition's head are one line, the first database begins the next.
const _: () = assert!(std::mem::offset_of!(Cell, partition) + FIRST_DATABASE_AT == 64);

// SAFETY: a partition is reached only by the holder of its lock; the pointers in `more_databases`
// and `unacknowledged` are used as addresses for prefetching only. What a partition holds has no
// thread affinity.
unsafe impl Send for Keyspace {}
// SAFETY: as above.
unsafe impl Sync for Keyspace {}
// SAFETY: as above.
unsafe impl Sync for Cell {}

impl Cell {
    fn new(partition: Partition) -> Cell {
        Cell {
            lock: ShortLock::new(),
            hints: Default::default(),
            partition: UnsafeCell::new(partition),
            _spare: [0; SPARE],
        }
    }

    /// Takes the lock unless that takes too long; returns true if it did.
    ///
    /// # Panics
    /// If a panic may have left the partition half-changed.
    #[inline(always)]
    fn lock_within(&self, unwinding: Unwinding, wait: LockWait) -> bool {
        if !self.lock.lock_within(wait) {
            return false;
        }
        if unwinding.minds() {
            // SAFETY: the lock is held, and no other reference is alive.
            let is_poisoned = unsafe { &*self.partition.get() }.is_poisoned();
            if is_poisoned {
                self.lock.unlock();
                panic!("a panic has left this partition half-changed");
            }
        }
        true
    }

    /// Lets go of the lock, which the caller holds.
    #[inline(always)]
    fn unlock(&self, unwinding: Unwinding) {
        self.poison_if(unwinding);
        self.lock.unlock();
    }

    /// As [`Cell::unlock`], where the caller may have said that it takes long.
    fn unlock_after_long(&self, unwinding: Unwinding) {
        self.poison_if(unwinding);
        self.lock.unlock_after_long();
    }

    /// The caller holds the lock: nobody uses the partition any more if it unwinds.
    #[inline(always)]
    fn poison_if(&self, unwinding: Unwinding) {
        if unwinding.has_begun() {
            // SAFETY: the caller holds the lock, and its reference is gone.
            unsafe { &mut *self.partition.get() }.poison();
        }
    }

    /// The hint for a hash in a database: by the leading bits, which choose among the segments of
    /// a table that has several.
    #[inline]
    fn hint(&self, db: u8, hash: u64) -> &AtomicU64 {
        &self.hints[(usize::from(db) ^ (hash >> 62) as usize) % HINTS]
    }
}

/// A set of partitions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PartitionSet {
    words: [u64; PARTITIONS / 64],
}

/// The rank of a partition's lock, see `docs/concurrency.md`; its number is the partition's.
const RANK: Rank = Rank(2);

/// How many times a thread waits briefly for a partition that it asks for in its order while it
/// holds others.
const ADD_ROUNDS_MAX: usize = 8;

/// Holds the locks of some partitions until dropped.
pub struct Locked<'a> {
    cells: &'a [Cell; PARTITIONS],
    held: Held<'a>,
    unwinding: Unwinding,
    _rank: lock_rank::Held,
}

enum Held<'a> {
    One(PartitionId),
    Many(Box<PartitionSet>),
    /// Another [`Locked`] holds them and waits meanwhile.
    Lent(&'a Held<'a>),
}

impl Keyspace {
    /// An empty keyspace. `seed` seeds the key hash.
    pub fn new(databases: usize, seed: u64) -> Keyspace {
        let pool = Arc::new(PagePool::default());
        let hasher = Arc::new(KeyHasher::new(seed));
        let cell = |_| Cell::new(Partition::new(databases, &pool, &hasher));
        let cells: Box<[Cell]> = (0..PARTITIONS).map(cell).collect();
        let Ok(mut partitions) = Box::<[Cell; PARTITIONS]>::try_from(cells) else {
            unreachable!("as many cells were made as there are partitions");
        };
        let more_databases =
            partitions.iter_mut().map(|cell| cell.partition.get_mut().databases().more()).collect();
        let noted = |cell: &mut Cell| cell.partition.get_mut().unacknowledged_lines();
        let unacknowledged = partitions.iter_mut().map(noted).collect();
        Keyspace { partitions, more_databases, unacknowledged, pool, hasher }
    }

    /// Brings what a lookup reads first into the cache: the database's head, and the bucket, if it
    /// is where it was last seen. Of all that only the hint is read, so no lock is needed.
    #[inline]
    pub fn prefetch_bucket(&self, partition: PartitionId, db: u8, hash: u64) {
        let cell = &self.partitions[partition.index()];
        if db == 0 {
            // SAFETY: the place lies within the cell; its address is taken and nothing is read.
            let databases = unsafe { Partition::databases_of(cell.partition.get()) };
            prefetch(Databases::first_of(databases).cast());
        } else {
            let more = self.more_databases[partition.index()];
            prefetch(more.wrapping_add(usize::from(db) - 1).cast());
        }
        // Relaxed: a hint is right by chance and wrong without harm.
        let hint = cell.hint(db, hash).load(Ordering::Relaxed);
        if let Some(segment) = SegmentRef::from_bits(hint) {
            prefetch(segment.bucket(segment.home(hash)).cast());
        }
    }

    /// Brings into the cache where a partition notes changes that the log has not acknowledged.
    #[inline]
    pub fn prefetch_unacknowledged(&self, partition: PartitionId) {
        prefetch(self.unacknowledged[partition.index()].cast());
    }

    /// Brings the entry of a key into the cache, unless somebody holds the partition, and says
    /// where it was seen; corrects the hint for [`Keyspace::prefetch_bucket`]. For a key without an
    /// entry, what tells whether it may be in the cold tier comes into the cache.
    #[inline]
    pub fn prefetch_entry(&self, partition: PartitionId, db: u8, hash: u64) -> EntryHint {
        let seen = self.try_look(partition, |held| {
            let database = held.databases().numbered(usize::from(db))?;
            let table = database.table();
            let segment = table.segment(hash);
            let bits = segment.map_or(0, SegmentRef::bits);
            let hint = self.partitions[partition.index()].hint(db, hash);
            // Relaxed: nobody concludes anything from it.
            if hint.load(Ordering::Relaxed) != bits {
                hint.store(bits, Ordering::Relaxed);
            }
            let seen = segment.map(|segment| table.prefetch_entry_in(segment, hash));
            if seen.is_none_or(EntryHint::is_nowhere) {
                database.prefetch_cold(hash);
            }
            seen
        });
        seen.flatten().unwrap_or_default()
    }

    /// Looks at the collection under a key if there is one and nobody holds the partition; in order
    /// to prefetch what a command on it will touch.
    #[inline]
    pub fn try_look_at<R>(
        &self,
        partition: PartitionId,
        db: u8,
        (hash, key): (u64, &[u8]),
        look: impl FnOnce(ValueRef<'_>) -> R,
    ) -> Option<R> {
        self.try_look_at_entry(partition, db, (hash, key), |entry| entry.collection().map(look))
    }

    /// Looks at the string under a key, as [`Keyspace::try_look_at`] does at a collection, if it
    /// stands apart from its entry: else it is fetched with that.
    #[inline]
    pub fn try_look_at_string<R>(
        &self,
        partition: PartitionId,
        db: u8,
        (hash, key): (u64, &[u8]),
        look: impl FnOnce(&[u8]) -> R,
    ) -> Option<R> {
        self.try_look_at_entry(partition, db, (hash, key), |entry| {
            let Some(StringValue::Shared(string)) = entry.string() else { return None };
            Some(look(string.vec()))
        })
    }

    #[inline]
    fn try_look_at_entry<R>(
        &self,
        partition: PartitionId,
        db: u8,
        (hash, key): (u64, &[u8]),
        look: impl FnOnce(Entry<'_>) -> Option<R>,
    ) -> Option<R> {
        self.try_look(partition, |held| {
            let table = held.databases().numbered(usize::from(db))?.table();
            look(table.entry(table.find(hash, key)?))
        })?
    }

    /// Hashes keys.
    #[inline]
    pub fn hasher(&self) -> &KeyHasher {
        &self.hasher
    }

    /// An empty database of this generation, to put in the place of one that is flushed.
    pub fn empty_database(&self, generation: u64) -> Database {
        Database::new(generation, &self.pool, &self.hasher)
    }

    /// Bytes in pages that hold entries.
    pub fn page_bytes(&self) -> usize {
        self.pool.bytes_used()
    }

    /// What the process may use of memory has changed; 0 for no limit. See
    /// [`PagePool::set_memory_budget`].
    pub fn set_memory_budget(&self, bytes: usize) {
        self.pool.set_memory_budget(bytes);
    }

    /// Locks one partition, waiting for it as long as it takes: for threads that serve nobody.
    #[inline]
    pub fn lock(&self, partition: PartitionId) -> Locked<'_> {
        let rank = rank(partition, LockWait::Endless);
        let unwinding = Unwinding::now();
        self.partitions[partition.index()].lock_within(unwinding, LockWait::Endless);
        Locked { cells: &self.partitions, held: Held::One(partition), unwinding, _rank: rank }
    }

    /// Locks one partition; `None` if somebody holds it for longer than this thread waits.
    #[inline]
    pub fn lock_within(&self, partition: PartitionId, wait: LockWait) -> Option<Locked<'_>> {
        let rank = rank(partition, wait);
        let (held, unwinding) = (Held::One(partition), Unwinding::now());
        if !self.partitions[partition.index()].lock_within(unwinding, wait) {
            return None;
        }
        Some(Locked { cells: &self.partitions, held, unwinding, _rank: rank })
    }

    /// Looks at one partition under its lock; `None` if somebody holds it for longer than this
    /// thread waits.
    #[inline(always)]
    pub fn with<R>(
        &self,
        partition: PartitionId,
        wait: LockWait,
        look: impl FnOnce(&Partition) -> R,
    ) -> Option<R> {
        self.with_mut(partition, wait, |partition| look(partition))
    }

    /// Changes one partition under its lock, if it gets that. Unlike [`Keyspace::lock`] it returns
    /// nothing that knows what it holds, so nobody has to look that up.
    #[inline(always)]
    pub fn with_mut<R>(
        &self,
        partition: PartitionId,
        wait: LockWait,
        change: impl FnOnce(&mut Partition) -> R,
    ) -> Option<R> {
        let _rank = rank(partition, wait);
        let cell = &self.partitions[partition.index()];
        let unwinding = Unwinding::now();
        if !cell.lock_within(unwinding, wait) {
            return None;
        }
        let _unlock = Unlock { cell, unwinding };
        // SAFETY: its lock is held until `_unlock` goes, so this is the only reference, and it is
        // gone before.
        Some(change(unsafe { &mut *cell.partition.get() }))
    }

    /// Looks at a partition if nobody holds it.
    #[inline]
    pub fn try_look<R>(
        &self,
        partition: PartitionId,
        look: impl FnOnce(&Partition) -> R,
    ) -> Option<R> {
        if !self.partitions[partition.index()].lock.try_lock() {
            return None;
        }
        let number = u32::from(partition.number());
        let rank = lock_rank::Held::without_waiting(RANK, number, number);
        let (held, unwinding) = (Held::One(partition), Unwinding::now());
        let locked = Locked { cells: &self.partitions, held, unwinding, _rank: rank };
        Some(look(locked.partition(partition)))
    }

    /// Locks several partitions; `None`, and none is locked, if somebody holds one of them for
    /// longer than this thread waits for each.
    pub fn lock_many_within(
        &self,
        partitions: &PartitionSet,
        wait: LockWait,
    ) -> Option<Locked<'_>> {
        let rank = partitions.rank(wait);
        let unwinding = Unwinding::now();
        let cell = |partition: PartitionId| &self.partitions[partition.index()];
        for partition in partitions.iter() {
            if !cell(partition).lock_within(unwinding, wait) {
                let taken = partitions.iter().take_while(|&taken| taken != partition);
                taken.for_each(|taken| cell(taken).unlock(unwinding));
                return None;
            }
        }
        let held = Held::Many(Box::new(*partitions));
        Some(Locked { cells: &self.partitions, held, unwinding, _rank: rank })
    }
}

/// Enters the lock of a partition among those that this thread holds. A thread that hardly waits
/// may ask in any order: no circle of waiting threads lasts.
#[inline(always)]
fn rank(partition: PartitionId, wait: LockWait) -> lock_rank::Held {
    let number = u32::from(partition.number());
    match wait {
        LockWait::Endless | LockWait::Brief | LockWait::Patient => {
            lock_rank::Held::before_waiting(RANK, number, number)
        }
        LockWait::Spinning => lock_rank::Held::without_waiting(RANK, number, number),
    }
}

/// Lets go of a lock at the end of a block.
struct Unlock<'a> {
    cell: &'a Cell,
    unwinding: Unwinding,
}

impl Drop for Unlock<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        self.cell.unlock(self.unwinding);
    }
}

/// Whether a thread was unwinding when it took a lock. The release profile aborts at a panic, and
/// this is nothing; where panics unwind, a partition that a panic may have left half-changed is
/// never used again.
#[derive(Clone, Copy)]
struct Unwinding(#[cfg(panic = "unwind")] bool);

impl Unwinding {
    #[inline(always)]
    fn now() -> Unwinding {
        Unwinding(
            #[cfg(panic = "unwind")]
            std::thread::panicking(),
        )
    }

    /// It has begun since.
    #[inline(always)]
    fn has_begun(self) -> bool {
        #[cfg(panic = "unwind")]
        return !self.0 && std::thread::panicking();
        #[cfg(not(panic = "unwind"))]
        false
    }

    /// A thread that is unwinding looks at what it finds: a second panic would hide the first.
    #[inline(always)]
    fn minds(self) -> bool {
        #[cfg(panic = "unwind")]
        return !self.0;
        #[cfg(not(panic = "unwind"))]
        false
    }
}

impl Locked<'_> {
    /// Reads a held partition.
    ///
    /// # Panics
    /// If the partition is not held.
    #[inline]
    pub fn partition(&self, partition: PartitionId) -> &Partition {
        self.assert_held(partition);
        // SAFETY: its lock is held by `self`, and `&self` lets nobody change it.
        unsafe { &*self.cells[partition.index()].partition.get() }
    }

    /// Changes a held partition.
    ///
    /// # Panics
    /// If the partition is not held.
    #[inline]
    pub fn partition_mut(&mut self, partition: PartitionId) -> &mut Partition {
        self.assert_held(partition);
        // SAFETY: its lock is held by `self`, and `&mut self` makes this the only reference.
        unsafe { &mut *self.cells[partition.index()].partition.get() }
    }

    /// Lends these partitions for a while, without letting go of them after it: each command of a
    /// transaction gets what the transaction holds.
    pub fn lend(&mut self) -> Locked<'_> {
        let (held, unwinding) = (Held::Lent(&self.held), self.unwinding);
        Locked { cells: self.cells, held, unwinding, _rank: lock_rank::Held::nothing() }
    }

    /// Locks one more partition, which may come before those that are held: so it waits for some
    /// milliseconds at most. Two threads that each hold what the other wants do not wait for ever,
    /// and one of them waits longer than the other. Returns false if it has not got the lock.
    ///
    /// # Panics
    /// If the partitions are lent.
    pub fn add(&mut self, partition: PartitionId) -> bool {
        let mut set = self.set();
        if set.contains(partition) {
            return true;
        }
        // Of two threads that want what the other holds, the one that asks upwards is patient.
        let patient = set.iter().next().is_some_and(|first| first < partition);
        let rounds = if patient { ADD_ROUNDS_MAX } else { 1 };
        let cell = &self.cells[partition.index()];
        if !(0..rounds).any(|_| cell.lock_within(self.unwinding, LockWait::Patient)) {
            return false;
        }
        set.insert(partition);
        self.held = Held::Many(Box::new(set));
        true
    }

    /// Says that these partitions are held for long: threads that wait briefly do not wait for
    /// them. Of lent ones that is for the lender to say.
    pub fn hold_for_long(&mut self) {
        if matches!(self.held, Held::Lent(_)) {
            return;
        }
        let set = self.set();
        for partition in set.iter() {
            self.cells[partition.index()].lock.hold_for_long();
        }
        // What is held as a set is let go of with what has been said of it.
        self.held = Held::Many(Box::new(set));
    }

    /// What is held.
    fn set(&self) -> PartitionSet {
        match &self.held {
            Held::One(one) => {
                let mut set = PartitionSet::EMPTY;
                set.insert(*one);
                set
            }
            Held::Many(many) => **many,
            Held::Lent(_) => unreachable!("whoever has lent partitions asks for their set"),
        }
    }

    /// Lets go of everything, before `self` goes.
    ///
    /// # Panics
    /// If the partitions are lent.
    pub fn let_go(&mut self) {
        assert!(!matches!(self.held, Held::Lent(_)), "whoever has lent partitions lets go of them");
        let nothing = Held::Many(Box::new(PartitionSet::EMPTY));
        let held = std::mem::replace(&mut self.held, nothing);
        match held {
            Held::One(one) => self.cells[one.index()].unlock(self.unwinding),
            held => release(self.cells, &held, self.unwinding),
        }
        self._rank = lock_rank::Held::nothing();
    }

    /// Whether a partition is held.
    pub fn holds(&self, partition: PartitionId) -> bool {
        self.held.contains(partition)
    }

    #[inline]
    fn assert_held(&self, partition: PartitionId) {
        let held = self.held.contains(partition);
        assert!(held, "partition {} is used without its lock", partition.number());
    }
}

impl Held<'_> {
    #[inline]
    fn contains(&self, partition: PartitionId) -> bool {
        match self {
            Held::One(one) => *one == partition,
            Held::Many(many) => many.contains(partition),
            Held::Lent(held) => held.contains_lent(partition),
        }
    }

    #[cold]
    fn contains_lent(&self, partition: PartitionId) -> bool {
        self.contains(partition)
    }
}

impl Drop for Locked<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        match &self.held {
            Held::One(one) => self.cells[one.index()].unlock(self.unwinding),
            held => release(self.cells, held, self.unwinding),
        }
    }
}

/// Lets go of what is more or less than one partition.
#[cold]
fn release(cells: &[Cell], held: &Held<'_>, unwinding: Unwinding) {
    if let Held::Many(many) = held {
        many.iter().for_each(|partition| cells[partition.index()].unlock_after_long(unwinding));
    }
}

impl PartitionSet {
    /// No partition.
    pub const EMPTY: PartitionSet = PartitionSet { words: [0; PARTITIONS / 64] };
    /// Every partition.
    pub const ALL: PartitionSet = PartitionSet { words: [u64::MAX; PARTITIONS / 64] };

    /// Adds one.
    #[inline]
    pub fn insert(&mut self, partition: PartitionId) {
        self.words[partition.index() / 64] |= 1 << (partition.index() % 64);
    }

    /// Has it?
    #[inline]
    pub fn contains(&self, partition: PartitionId) -> bool {
        self.words[partition.index() / 64] >> (partition.index() % 64) & 1 != 0
    }

    /// Enters its locks, to be taken in ascending order.
    fn rank(&self, wait: LockWait) -> lock_rank::Held {
        if cfg!(not(debug_assertions)) {
            return lock_rank::Held::nothing();
        }
        let mut numbers = self.iter().map(|partition| u32::from(partition.number()));
        let Some(first) = numbers.next() else { return lock_rank::Held::nothing() };
        let last = numbers.last().unwrap_or(first);
        match wait {
            LockWait::Endless | LockWait::Brief | LockWait::Patient => {
                lock_rank::Held::before_waiting(RANK, first, last)
            }
            LockWait::Spinning => lock_rank::Held::without_waiting(RANK, first, last),
        }
    }

    /// Its members in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = PartitionId> + '_ {
        self.words.iter().enumerate().flat_map(|(index, &word)| {
            std::iter::successors((word != 0).then_some(word), |&rest| {
                let rest = rest & (rest - 1);
                (rest != 0).then_some(rest)
            })
            .map(move |rest| {
                let number = index * 64 + rest.trailing_zeros() as usize;
                PartitionId::new(number as u16).expect("a set has no other members")
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_iterate_in_order() {
        let mut set = PartitionSet::EMPTY;
        for number in [1023, 0, 63, 64, 500] {
            set.insert(PartitionId::new(number).unwrap());
        }
        let numbers: Vec<u16> = set.iter().map(PartitionId::number).collect();
        assert_eq!(numbers, [0, 63, 64, 500, 1023]);
        assert_eq!(PartitionSet::ALL.iter().count(), PARTITIONS);
    }

    #[test]
    fn what_is_lent_stays_locked() {
        let keyspace = Keyspace::new(1, 1);
        let [one, other] = [1, 2].map(|number| PartitionId::new(number).unwrap());
        let mut held = keyspace.lock(one);
        let mut lent = held.lend();
        lent.lend().partition_mut(one).advance(7);
        drop(lent);
        assert!(keyspace.try_look(one, |_| ()).is_none());
        assert_eq!(held.partition(one).last_seq(), 7);
        drop(held);
        assert!(
            keyspace.try_look(one, |_| ()).is_some() && keyspace.try_look(other, |_| ()).is_some()
        );
    }

    #[test]
    fn what_is_held_for_long_is_let_go_of_as_a_whole() {
        let keyspace = Keyspace::new(1, 1);
        let [one, other] = [1, 2].map(|number| PartitionId::new(number).unwrap());
        let is_free = |id| keyspace.try_look(id, |_| ()).is_some();
        let mut held = keyspace.lock(one);
        held.hold_for_long();
        assert!(held.holds(one) && !held.holds(other) && !is_free(one));
        assert!(held.add(other) && !is_free(other));
        held.hold_for_long();
        held.let_go();
        assert!(is_free(one) && is_free(other));
        // What is lent is not the borrower's to speak of.
        let mut held = keyspace.lock(one);
        held.lend().hold_for_long();
        drop(held);
        assert!(is_free(one));
    }

    /// Only a panic under the lock poisons, and only what the thread held.
    #[test]
    fn what_a_panic_leaves_half_changed_is_not_used_again() {
        let keyspace = Keyspace::new(1, 1);
        let id = |number| PartitionId::new(number).unwrap();
        let panics =
            |work: &dyn Fn()| std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)).is_err();
        assert!(panics(&|| panic!("without a lock")));
        assert!(panics(&|| {
            let mut held = keyspace.lock(id(1));
            held.partition_mut(id(1)).advance(7);
            panic!("under a lock");
        }));
        assert!(panics(&|| {
            keyspace.with_mut(id(2), LockWait::Endless, |_| -> () { panic!("under another lock") });
        }));
        let mut both = PartitionSet::EMPTY;
        [3, 4].into_iter().for_each(|number| both.insert(id(number)));
        assert!(panics(&|| {
            let _held = keyspace.lock_many_within(&both, LockWait::Endless);
            panic!("under several locks");
        }));
        for number in 1..=4 {
            assert!(panics(&|| drop(keyspace.lock(id(number)))), "partition {number}");
            assert!(
                panics(&|| {
                    keyspace.with(id(number), LockWait::Endless, |_| ());
                }),
                "partition {number}"
            );
        }
        assert!(!panics(&|| drop(keyspace.lock(id(5)))));
    }

    #[test]
    #[should_panic(expected = "used without its lock")]
    fn a_partition_that_is_not_held_cannot_be_used() {
        let keyspace = Keyspace::new(1, 1);
        let held = keyspace.lock(PartitionId::new(1).unwrap());
        held.partition(PartitionId::new(2).unwrap());
    }
}
