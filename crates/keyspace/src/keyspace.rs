//! HOT PATH
//! The partitions and their locks.
//!
//! A thread holds one partition, or several that it took in ascending order through
//! [`Keyspace::lock_many`]; while it holds any it takes no further one. So there is no cycle and no
//! deadlock. The lock is one byte, spins briefly and then parks; it is held for the time of one
//! command, about 50 ns.

use crate::hash::KeyHasher;
use crate::memory::pages::PagePool;
use crate::partition::{Database, Partition};
use crate::table::prefetch;
use basalt_change::place::{PARTITIONS, PartitionId};
use parking_lot::{Mutex, MutexGuard};
use std::mem::forget;
use std::sync::Arc;

/// All partitions.
pub struct Keyspace {
    partitions: Box<[Cell]>,
    /// Where each partition's databases stand; they never move.
    databases: Box<[*const Database]>,
    pool: Arc<PagePool>,
    hasher: Arc<KeyHasher>,
}

/// A partition behind its lock, on cache lines of its own.
#[repr(align(128))]
struct Cell(Mutex<Partition>);

// SAFETY: the pointers in `databases` are used as addresses for prefetching only; partitions are
// shared through their mutexes.
unsafe impl Send for Keyspace {}
// SAFETY: as above.
unsafe impl Sync for Keyspace {}

/// A set of partitions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PartitionSet {
    words: [u64; PARTITIONS / 64],
}

/// Holds the locks of some partitions until dropped.
pub struct Locked<'a> {
    cells: &'a [Cell],
    held: Held,
}

enum Held {
    One(PartitionId),
    Many(Box<PartitionSet>),
}

impl Keyspace {
    /// An empty keyspace. `seed` seeds the key hash.
    pub fn new(databases: usize, seed: u64) -> Keyspace {
        let pool = Arc::new(PagePool::default());
        let hasher = Arc::new(KeyHasher::new(seed));
        let cell = |_| Cell(Mutex::new(Partition::new(databases, &pool, &hasher)));
        let mut partitions: Box<[Cell]> = (0..PARTITIONS).map(cell).collect();
        let databases =
            partitions.iter_mut().map(|cell| cell.0.get_mut().databases.as_ptr()).collect();
        Keyspace { partitions, databases, pool, hasher }
    }

    /// Brings what a lookup in a partition reads first into the cache: its lock and the database's
    /// head. Nothing is read, so no lock is needed.
    #[inline]
    pub fn prefetch(&self, partition: PartitionId, db: u8) {
        let cell: *const Cell = &self.partitions[partition.index()];
        prefetch(cell.cast());
        // Only an address is computed.
        prefetch(self.databases[partition.index()].wrapping_add(usize::from(db)).cast());
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

    /// Locks one partition.
    #[inline]
    pub fn lock(&self, partition: PartitionId) -> Locked<'_> {
        forget(self.partitions[partition.index()].0.lock());
        Locked { cells: &self.partitions, held: Held::One(partition) }
    }

    /// Looks at a partition if nobody holds it.
    #[inline]
    pub fn glance<R>(
        &self,
        partition: PartitionId,
        look: impl FnOnce(&Partition) -> R,
    ) -> Option<R> {
        let guard: MutexGuard<'_, Partition> = self.partitions[partition.index()].0.try_lock()?;
        Some(look(&guard))
    }

    /// Locks several partitions.
    pub fn lock_many(&self, partitions: &PartitionSet) -> Locked<'_> {
        for partition in partitions.iter() {
            forget(self.partitions[partition.index()].0.lock());
        }
        Locked { cells: &self.partitions, held: Held::Many(Box::new(*partitions)) }
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
        unsafe { &*self.cells[partition.index()].0.data_ptr() }
    }

    /// Changes a held partition.
    ///
    /// # Panics
    /// If the partition is not held.
    #[inline]
    pub fn partition_mut(&mut self, partition: PartitionId) -> &mut Partition {
        self.assert_held(partition);
        // SAFETY: its lock is held by `self`, and `&mut self` makes this the only reference.
        unsafe { &mut *self.cells[partition.index()].0.data_ptr() }
    }

    #[inline]
    fn assert_held(&self, partition: PartitionId) {
        let held = match &self.held {
            Held::One(one) => *one == partition,
            Held::Many(many) => many.contains(partition),
        };
        assert!(held, "partition {} is used without its lock", partition.number());
    }
}

impl Drop for Locked<'_> {
    #[inline]
    fn drop(&mut self) {
        match &self.held {
            // SAFETY: locked by this `Locked` and not yet unlocked.
            Held::One(one) => unsafe { self.cells[one.index()].0.force_unlock() },
            Held::Many(many) => {
                for partition in many.iter() {
                    // SAFETY: as above.
                    unsafe { self.cells[partition.index()].0.force_unlock() };
                }
            }
        }
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
    #[should_panic(expected = "used without its lock")]
    fn a_partition_that_is_not_held_cannot_be_used() {
        let keyspace = Keyspace::new(1, 1);
        let held = keyspace.lock(PartitionId::new(1).unwrap());
        held.partition(PartitionId::new(2).unwrap());
    }
}
