//! Keys that are removed by what their rows begin with: a command that does nothing else with them
//! waits for no value.

use crate::residency::heads::{FurtherRows, KnownHeads};
use crate::store::events::EventClass;
use crate::store::key::Key;
use crate::store::txn::Txn;
use basalt_keyspace::interest::Event;

impl Txn<'_> {
    /// Runs what removes keys with [`Txn::delete`], and does nothing else with those that it
    /// misses: so much is known of them.
    pub fn knowing<R>(&mut self, heads: KnownHeads, run: impl FnOnce(&mut Self) -> R) -> R {
        self.changes.heads = Some(Box::new(heads));
        let result = run(self);
        self.changes.heads = None;
        result
    }

    /// Removes a key that has no entry; returns true if it was there, as [`Txn::delete`] does.
    #[cold]
    #[inline(never)]
    pub(super) fn delete_on_disk(&mut self, key: &Key<'_>) -> bool {
        let row_key = key.row_key(self.database(key).generation());
        let heads = self.changes.heads.as_ref();
        let Some(&head) = heads.and_then(|heads| heads.of(&row_key)) else { return false };
        let spread_id = match head.further {
            FurtherRows::None => None,
            FurtherRows::Of(id) => Some(id),
            FurtherRows::Unsaid => unreachable!("then it would have been read"),
        };
        let is_live = head.is_live(self.session.now_ms);
        let event = if is_live { Event::Deleted } else { Event::ExpiredRemoved };
        self.delete_unread(key, spread_id, event);
        // Of a hash of which all fields have expired nothing is said, as in memory.
        if head.is_due(self.session.now_ms) {
            self.engine.count_expired(1);
            self.notify(EventClass::Expired, "expired", key);
        }
        is_live
    }
}
