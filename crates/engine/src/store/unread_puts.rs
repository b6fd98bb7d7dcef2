//! Strings that are put without a look at what they replace: a command that says nothing of that
//! waits for no read. What has to be known of it is read later (`residency/unread.rs`).

use crate::residency::unread::UNREAD_MAX;
use crate::store::events::EventClass;
use crate::store::key::Key;
use crate::store::txn::Txn;
use basalt_change::op::Origin;
use basalt_change::row;
use basalt_cold::Probe;
use basalt_keyspace::entry::Content;
use basalt_keyspace::unread::Sight;

/// Keys of one command that are put unread: more wait for their rows.
const KEYS_MAX: usize = 1_024;

impl Txn<'_> {
    /// Whether some of these keys may be on disk only.
    // A loop, which folds away for one key; `any` would be a call.
    #[inline(always)]
    pub fn lacks_some(&self, keys: &[Key<'_>]) -> bool {
        for key in keys {
            if !self.locked.partition(key.partition).database(self.session.db).is_complete() {
                return true;
            }
        }
        false
    }

    /// Sees to it that strings can be put under these keys, whatever is there on disk, by a command
    /// that does nothing else with them. If this returns false, it is to find out which of them are
    /// [missing](Txn::missing), and wait.
    ///
    /// So it is if somebody wants to hear of keys that are new, or that have expired.
    #[cold]
    #[inline(never)]
    pub fn may_put_unread(&mut self, keys: &[Key<'_>]) -> bool {
        let classes = self.changes.classes;
        let is_told = classes.has(EventClass::New) || classes.has(EventClass::Expired);
        if keys.len() > KEYS_MAX || is_told {
            return false;
        }
        let mut unread = std::mem::take(&mut self.changes.unread);
        let all_can_be_put = keys.iter().all(|key| match self.sight(key) {
            None | Some(Sight::Absent) => true,
            Some(Sight::Unclear) => {
                unread.push(key.hash);
                true
            }
            Some(Sight::Needed) => false,
        });
        if !all_can_be_put {
            unread.clear();
        }
        unread.sort_unstable();
        self.changes.unread = unread;
        all_can_be_put
    }

    /// It is not known yet what was under a key before it was put: it may have had a version,
    /// though it shows none.
    pub fn is_unread(&mut self, key: &Key<'_>) -> bool {
        self.database(key).unread().has(key.hash)
    }

    /// What is known of a key, unless it is in memory.
    fn sight(&self, key: &Key<'_>) -> Option<Sight> {
        let partition = self.locked.partition(key.partition);
        let database = partition.database(self.session.db);
        if database.table().find(key.hash, key.bytes).is_some() {
            return None;
        }
        Some(match database.sight(key.hash, key.bytes, UNREAD_MAX) {
            Sight::Unclear if partition.is_settling() => Sight::Needed,
            // Its own filter would have told most keys that are new.
            Sight::Unclear if database.lacks_cold_filter() => self.probed(key),
            sight => sight,
        })
    }

    fn probed(&self, key: &Key<'_>) -> Sight {
        let generation =
            self.locked.partition(key.partition).database(self.session.db).generation();
        let mut row_key = Vec::new();
        row::object_key(key.partition, generation, (key.hash, key.bytes), &mut row_key);
        match self.engine.cold.probe(&row_key) {
            Probe::Absent => Sight::Absent,
            Probe::Present(_) | Probe::Unknown => Sight::Unclear,
        }
    }

    /// Whether a key that has no entry is one of those that are put unread.
    #[inline(always)]
    pub(super) fn puts_unread(&self, key: &Key<'_>) -> bool {
        !self.changes.unread.is_empty() && self.is_put_unread(key)
    }

    #[cold]
    fn is_put_unread(&self, key: &Key<'_>) -> bool {
        self.changes.unread.binary_search(&key.hash).is_ok()
    }

    /// Puts an entry into memory under a key that has none, and may have a row.
    #[cold]
    pub(super) fn store_unread(&mut self, key: &Key<'_>, content: Content<'_>) -> Origin {
        let (engine, db) = (self.engine, self.session.db);
        let partition = self.partition(key);
        let cold_version = partition.cold_version();
        partition.database_mut(db).put_unread(key.hash, content, cold_version);
        engine.note_unread(key.partition, partition);
        Origin::Unread
    }
}
