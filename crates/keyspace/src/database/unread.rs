//! Keys that are put although nobody has read whether the cold tier has them.
//!
//! ```text
//! a string is put, no entry is there, a filter lets the key pass     put_unread
//!     the key is counted as resident; if it has a row, as cold, too
//! its row has been read, or there is none                            settle
//!     not as cold any more; rows of elements die that belong to it
//! ```
//! Until then [`Database::keys`] takes it that each of them has a row: most have. What commands see
//! does not depend on it.

use super::Database;
use crate::entry::Content;
use crate::table::bucket::{COLD, DIRTY};
use crate::unread::{ReplacedRow, Sight, UnreadKey, UnreadKeys};

impl Database {
    /// Keys that were put unread and whose rows have not been read since.
    #[inline]
    pub fn unread(&self) -> &UnreadKeys {
        &self.unread
    }

    /// What is known of a key that has no entry. With `unread_max` keys put unread no further one
    /// can be.
    pub fn sight(&self, hash: u64, key: &[u8], unread_max: usize) -> Sight {
        if !self.may_be_cold(hash) {
            return Sight::Absent;
        }
        // Changes that wait for it are to be forgotten with it. With no cold key left to be counted
        // as one of the others it may be new just as well.
        let can_be_put = self.spread.deferred(key).is_none()
            && self.unread.len() < unread_max
            && self.keys_cold_only() > 0;
        if can_be_put { Sight::Unclear } else { Sight::Needed }
    }

    /// Puts something under a key that has no entry and may have a row, in a partition of this
    /// [`cold_version`](crate::partition::Partition::cold_version).
    pub fn put_unread(&mut self, hash: u64, content: Content<'_>, cold_version: u64) {
        debug_assert!(self.table.find(hash, content.key).is_none(), "it is in memory");
        debug_assert!(!self.is_complete, "it is known that there is none");
        self.note_expiries(hash, content.expire_ms, &content.value);
        self.table.insert(hash, content, COLD | DIRTY);
        self.unread.add(UnreadKey { hash, cold_version });
    }

    /// The row of a key that was put unread has been read, as it was then; `None` if there is none.
    /// Returns false, and nothing has changed, if that has been said before.
    pub fn settle(&mut self, unread: UnreadKey, key: &[u8], row: Option<ReplacedRow>) -> bool {
        if !self.unread.take(unread) {
            return false;
        }
        if let Some(row) = row {
            self.take_from_cold();
            if let Some(id) = row.spread_id {
                self.bury_unread(key, id);
            }
        }
        true
    }

    /// The name of a key that was put unread.
    pub fn unread_name(&self, unread: UnreadKey) -> Option<&[u8]> {
        let found = self.table.find_by_hash(unread.hash)?;
        Some(self.table.entry(found).key())
    }
}
