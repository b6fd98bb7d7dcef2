//! HOT PATH
//! What one partition's lock covers.

use crate::hash::KeyHasher;
use crate::memory::pages::PagePool;
use crate::table::Table;
use std::sync::Arc;

/// One partition: 16 hash slots of every database.
pub struct Partition {
    /// By database number.
    pub databases: Box<[Database]>,
    /// Position of the partition's latest change in its shard's stream.
    pub last_seq: u64,
    /// Position that the mark in the cold tier has, or that a checkpoint under way gives it.
    pub marked_seq: u64,
    /// Goes up whenever a row of the cold tier may have stopped being what a slow reader of it
    /// saw: who read a row before and finds another number now must read again.
    pub cold_version: u64,
    /// The mark in the cold tier is out of date even if no entry is dirty.
    pub mark_stale: bool,
    /// Generations whose rows in the cold tier are garbage.
    pub dead_generations: Vec<u64>,
    /// Changes that the log has not acknowledged: key hash and ticket, oldest first. Used only when
    /// the log gates replies.
    pub unacknowledged: Vec<(u64, u64)>,
}

/// One database's share of a partition.
///
/// On cache lines of its own, what a lookup reads in the first.
#[repr(C, align(64))]
pub struct Database {
    /// Keys that exist in the cold tier only.
    pub keys_cold_only: u64,
    /// The generation under which its rows stand in the cold tier.
    pub generation: u64,
    /// A lower bound of the earliest expiry of a resident key, in unix milliseconds.
    pub next_expiry_ms: u64,
    /// The cold tier may have rows of this generation.
    pub has_rows: bool,
    /// The resident keys, and tombstones.
    pub table: Table,
}

impl Partition {
    /// An empty partition; database `n` has generation `n`.
    pub fn new(databases: usize, pool: &Arc<PagePool>, hasher: &Arc<KeyHasher>) -> Partition {
        let database = |number| Database::new(number as u64, pool, hasher);
        Partition {
            databases: (0..databases).map(database).collect(),
            last_seq: 0,
            marked_seq: 0,
            cold_version: 0,
            mark_stale: false,
            dead_generations: Vec::new(),
            unacknowledged: Vec::new(),
        }
    }

    /// Entries that the next checkpoint has to write.
    pub fn dirty(&self) -> usize {
        self.databases.iter().map(|database| database.table.counts().dirty).sum()
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
            next_expiry_ms: u64::MAX,
        }
    }

    /// Number of keys, resident or not.
    #[inline]
    pub fn keys(&self) -> u64 {
        self.table.counts().live as u64 + self.keys_cold_only
    }

    /// Every key is resident: what the table does not know does not exist.
    #[inline]
    pub fn is_complete(&self) -> bool {
        self.keys_cold_only == 0
    }
}
