//! What a checkpoint takes from a database, and what it does to it before and after.

use super::Database;
use crate::hash::KeyHasher;
use crate::spread::SpreadKeys;
use crate::table::Table;
use crate::table::bucket::{COLD, DIRTY};

impl Database {
    /// What is copied: the entries that are dirty, and which collections are spread. A checkpoint
    /// decides which are, and begins to gather their elements.
    pub fn to_copy(&mut self) -> (&Table, &mut SpreadKeys) {
        (&self.table, &mut self.spread)
    }

    /// All that is dirty has been copied, and is on its way to the cold tier.
    pub fn note_copied(&mut self) {
        debug_assert!(self.unread.is_empty(), "what was put unread is settled first");
        self.has_rows |= self.table.counts().dirty > 0;
        let Database { table, turnover, .. } = self;
        let live = table.counts().live;
        table.mark_in_flight(|entry, hasher| {
            if let Some(turnover) = turnover {
                turnover.note(hasher.hash(entry.key()), entry.access(), live);
            }
        });
    }

    /// The cold tier has what was copied, and has deleted the rows of the first `dead` ids that
    /// were to be deleted. Tombstones that were part of it have done their duty and go.
    pub fn note_arrived(&mut self, dead: usize, hasher: &KeyHasher) {
        self.spread.arrive();
        self.spread.forget_dead(dead);
        self.table.mark_arrived();
        self.remove_clean_tombstones(hasher);
    }

    /// Removes tombstones that say nothing but what the cold tier says, too. Returns how many.
    pub(super) fn remove_clean_tombstones(&mut self, hasher: &KeyHasher) -> usize {
        if self.table.counts().tombstones == 0 {
            return 0;
        }
        let mut keys = Vec::new();
        self.table.walk(COLD, |entry, flags| {
            if flags & DIRTY == 0 && entry.is_tombstone() {
                keys.push(entry.key().to_vec());
            }
        });
        for key in &keys {
            let hash = hasher.hash(key);
            if let Some(found) = self.table.find(hash, key) {
                self.table.remove(hash, found);
            }
        }
        keys.len()
    }

    /// What was copied does not arrive: it is dirty again.
    pub fn note_lost(&mut self) {
        self.table.mark_lost();
        self.spread.give_up_in_flight();
    }
}
