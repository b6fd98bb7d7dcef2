//! What a checkpoint takes from a database, and what it does to it before and after.

use super::Database;
use crate::hash::KeyHasher;
use crate::spread::SpreadKeys;
use crate::table::Table;
use crate::table::bucket::DIRTY;

impl Database {
    /// What is copied: the entries that are dirty, and which collections are spread. A checkpoint
    /// decides which are, and begins to gather their elements.
    pub fn to_copy(&mut self) -> (&Table, &mut SpreadKeys) {
        (&self.table, &mut self.spread)
    }

    /// All that is dirty has been copied, and is on its way to the cold tier.
    pub fn note_copied(&mut self) {
        self.has_rows |= self.table.counts().dirty > 0;
        self.table.mark_all_clean();
    }

    /// The cold tier has what was copied, and has deleted the rows of the first `dead` ids that
    /// were to be deleted. Tombstones that were part of it have done their duty and go; returns
    /// true if there were any.
    pub fn note_arrived(&mut self, dead: usize, hasher: &KeyHasher) -> bool {
        self.spread.arrive();
        self.spread.forget_dead(dead);
        if self.table.counts().tombstones == 0 {
            return false;
        }
        let mut keys = Vec::new();
        self.table.walk(0, |entry, flags| {
            if entry.is_tombstone() && flags & DIRTY == 0 {
                keys.push(entry.key().to_vec());
            }
        });
        for key in &keys {
            let hash = hasher.hash(key);
            if let Some(found) = self.table.find(hash, key) {
                self.table.remove(hash, found);
            }
        }
        !keys.is_empty()
    }

    /// What was copied does not arrive: what the cold tier may have is dirty again.
    pub fn note_lost(&mut self) {
        self.table.mark_cold_dirty();
        self.spread.give_up_in_flight();
    }
}
