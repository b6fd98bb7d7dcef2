//! Entries leaving memory: those that the cold tier has as they are, the least worth first.
//!
//! This is no change of the database: a command that asks for such a key reads it again.

use super::Database;
use crate::entry::Access;
use crate::eviction::{EvictLimits, Evicted};
use crate::retire::{Retire, retire};
use crate::table::Found;
use crate::table::bucket::Standing;
use crate::table::scan::Picked;
use basalt_value::{Queue, ValueRef, Variant};

/// Buckets that the hand goes over before the limits are looked at.
const BUCKETS_A_LOOK: usize = 4;

impl Database {
    /// Makes keys leave memory until the limits are reached. Big values are shown to `retired`.
    ///
    /// Only clean entries go. Queues stay: time changes them, and wakes those who wait.
    pub fn evict(&mut self, now: Access, limits: EvictLimits, retired: &impl Retire) -> Evicted {
        let mut evicted = Evicted::default();
        let mut turnover = self.turnover.take().unwrap_or_default();
        for _ in 0..limits.looks {
            if evicted.bytes >= limits.bytes || evicted.keys >= limits.entries {
                break;
            }
            let keys = self.table.counts().live;
            if let Some(newcomer) = turnover.take_oldest(keys) {
                let Some(found) = self.table.find_by_hash(newcomer.hash) else { continue };
                let is_used = self.table.entry(found).access().is_later_than(newcomer.came);
                if is_used
                    || !self.may_leave(newcomer.hash, found, limits.now_ms)
                    || turnover.is_spared()
                {
                    continue;
                }
                turnover.remember(newcomer.hash, keys);
                evicted.newcomers += 1;
                self.leave(newcomer.hash, found, (retired, limits.may_filter), &mut evicted);
                continue;
            }
            let (hand, passed) = turnover.hand();
            let picked = self.table.pick(hand, BUCKETS_A_LOOK, |slot, entry| {
                let is_used = || passed.is_none_or(|passed| entry.access().is_later_than(passed));
                slot.standing() == Standing::Clean && (entry.is_tombstone() || !is_used())
            });
            match picked {
                Picked::Entry(hash, found) if self.may_leave(hash, found, limits.now_ms) => {
                    turnover.move_hand(Some(hash), now);
                    self.leave(hash, found, (retired, limits.may_filter), &mut evicted);
                }
                // The next in the bucket has a lower hash, or is met in the next round.
                Picked::Entry(hash, _) => turnover.move_hand(hash.checked_add(1), now),
                Picked::Nothing(next) => turnover.move_hand(next, now),
            }
        }
        self.turnover = Some(turnover);
        evicted
    }

    /// The cold tier has the entry found as it is, and all of it.
    ///
    /// What is due is about to be removed; it would only be read again for that.
    fn may_leave(&self, hash: u64, found: Found, now_ms: u64) -> bool {
        let entry = self.table.entry(found);
        let of_fields = entry.collection().map_or(u64::MAX, ValueRef::next_expiry_ms);
        let is_due = entry.expire_ms() != 0 && entry.expire_ms() <= now_ms || of_fields <= now_ms;
        found.standing() == Standing::Clean
            && !is_due
            && self.spread.is_on_disk(hash, entry.key())
            && entry.collection().is_none_or(|value| self.may_go(hash, entry.key(), value))
    }

    /// Queues stay. So do collections with fields that expire if these have rows of their own:
    /// their head does not say when.
    fn may_go(&self, hash: u64, key: &[u8], value: ValueRef<'_>) -> bool {
        let has_expiring = value.next_expiry_ms() != u64::MAX;
        Queue::of(value).is_none() && !(has_expiring && self.spread.is_resident(hash, key))
    }

    pub(super) fn leave(
        &mut self,
        hash: u64,
        found: Found,
        (retired, may_filter): (&impl Retire, bool),
        evicted: &mut Evicted,
    ) {
        if !self.table.entry(found).is_tombstone() {
            self.note_cold(hash, may_filter);
        }
        let entry = self.table.entry(found);
        evicted.bytes += entry.bytes() + entry.apart_bytes();
        if !entry.is_tombstone() {
            evicted.keys += 1;
            self.keys_cold_only += 1;
            self.spread.leave(hash, entry.key());
            let of_fields = entry.collection().map_or(u64::MAX, ValueRef::next_expiry_ms);
            let of_key = if entry.expire_ms() == 0 { u64::MAX } else { entry.expire_ms() };
            self.cold_expiry_ms = self.cold_expiry_ms.min(of_key).min(of_fields);
            self.is_complete = false;
            self.departures += 1;
        }
        retire(&mut self.table, found, retired);
        self.table.remove(hash, found);
    }

    /// Bytes of memory of what is known of keys that came and went, and of those on disk.
    pub fn residency_bytes(&self) -> usize {
        let of_turnover = self.turnover.as_ref().map_or(0, |turnover| turnover.bytes());
        of_turnover + self.cold_filter_bytes() + self.unread.heap_bytes()
    }
}
