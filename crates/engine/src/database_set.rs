//! HOT PATH
//! Databases of which something holds in some partition, a bit each.

use std::sync::atomic::{AtomicU64, Ordering};

/// See the head of this file. Relaxed throughout: readers that must not miss a bit hold the lock
/// under which it was set, the others may see it late.
#[derive(Default, Debug)]
pub(crate) struct DatabaseSet([AtomicU64; 4]);

impl DatabaseSet {
    /// Adds a database.
    #[inline]
    pub(crate) fn insert(&self, db: u8) {
        let (word, bit) = self.place(db);
        // Loaded first, so that the line stays shared.
        if word.load(Ordering::Relaxed) & bit == 0 {
            word.fetch_or(bit, Ordering::Relaxed);
        }
    }

    /// Takes a database out.
    pub(crate) fn remove(&self, db: u8) {
        let (word, bit) = self.place(db);
        word.fetch_and(!bit, Ordering::Relaxed);
    }

    /// Whether a database is in it.
    #[inline]
    pub(crate) fn contains(&self, db: u8) -> bool {
        let (word, bit) = self.place(db);
        word.load(Ordering::Relaxed) & bit != 0
    }

    /// Whether there is none in it.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.iter().all(|word| word.load(Ordering::Relaxed) == 0)
    }

    #[inline]
    fn place(&self, db: u8) -> (&AtomicU64, u64) {
        (&self.0[usize::from(db) / 64], 1 << (db % 64))
    }
}
