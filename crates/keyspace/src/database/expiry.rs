//! Looking for keys that have expired.
//!
//! A database that has a key that may be due is looked through in a *round*, some buckets at a
//! time, of which only the references marked EXPIRING are followed. The round stands in the
//! database: it goes along when databases are exchanged, and goes on whichever thread asks next.
//! While it lasts, the lower bound holds of what is set meanwhile.

use super::Database;
use crate::table::bucket::EXPIRING;

/// Buckets that are looked at between two looks at the limits.
const BUCKETS_A_STEP: usize = 8;

/// How far one call goes.
#[derive(Clone, Copy, Debug)]
pub struct RoundLimits {
    /// From this many due keys on no further bucket is looked at.
    pub keys: usize,
    /// Buckets.
    pub buckets: usize,
    /// The database is not looked through again before this many milliseconds, whatever is due.
    pub pause_ms: u64,
}

/// A round under way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Round {
    /// The hash where it goes on.
    from: u64,
    /// The earliest expiry seen that is not due.
    earliest_ms: u64,
}

impl Database {
    /// A resident key may expire, or a field of one.
    pub fn may_expire(&self) -> bool {
        self.next_expiry_ms() != u64::MAX || !self.field_expiries.is_empty()
    }

    /// A lower bound of the earliest expiry of a resident key, in unix milliseconds.
    pub fn next_expiry_ms(&self) -> u64 {
        if self.round.is_some() { 0 } else { self.next_expiry_ms }
    }

    /// When the earliest field of a resident hash expires, all ones for never.
    pub fn next_field_expiry_ms(&self) -> u64 {
        self.field_expiries.next_ms()
    }

    /// A lower bound of when keys, or fields of them, expire that are in the cold tier only, in
    /// unix milliseconds; all ones for never.
    pub fn cold_expiry_ms(&self) -> u64 {
        self.cold_expiry_ms
    }

    /// All rows have been looked at, and none expires before this that is not in memory by now.
    pub fn set_cold_expiry(&mut self, expiry_ms: u64) {
        self.cold_expiry_ms = expiry_ms;
    }

    /// A lower bound of when a key expires, or a field of one, in memory or not; all ones for
    /// never.
    pub fn earliest_expiry_ms(&self) -> u64 {
        self.next_expiry_ms().min(self.next_field_expiry_ms()).min(self.cold_expiry_ms)
    }

    /// Takes the note of the earliest field that is due, and returns the hash of its key. The
    /// caller looks at the keys with this hash, and notes their next fields.
    pub fn take_due_field(&mut self, now_ms: u64) -> Option<u64> {
        self.field_expiries.take_due(now_ms)
    }

    /// The earliest field under the key with this hash expires then; all ones for never.
    pub fn note_field_expiry(&mut self, expire_ms: u64, hash: u64) {
        self.field_expiries.note(expire_ms, hash);
    }

    /// Begins a round if a key may be due and none is under way, goes on with it as far as the
    /// limits allow, and adds the keys that are due to `due`. Returns true if there are more
    /// buckets to look through.
    pub fn go_on_with_round(
        &mut self,
        now_ms: u64,
        limits: RoundLimits,
        due: &mut Vec<Vec<u8>>,
    ) -> bool {
        let begun = self.round.take();
        let Some(mut round) = begun.or_else(|| self.begin_round(now_ms)) else { return false };
        let mut next = Some(round.from);
        let (mut buckets, found) = (0, due.len());
        while let Some(from) = next
            && due.len() - found < limits.keys
            && buckets < limits.buckets
        {
            next = self.table.scan_flagged(from, BUCKETS_A_STEP, EXPIRING, |entry| {
                if entry.expire_ms() > now_ms {
                    round.earliest_ms = round.earliest_ms.min(entry.expire_ms());
                } else {
                    due.push(entry.key().to_vec());
                }
            });
            buckets += BUCKETS_A_STEP;
        }
        match next {
            Some(from) => self.round = Some(Round { from, ..round }),
            None => {
                let seen = round.bound(now_ms + limits.pause_ms);
                self.next_expiry_ms = self.next_expiry_ms.min(seen);
            }
        }
        next.is_some()
    }

    fn begin_round(&mut self, now_ms: u64) -> Option<Round> {
        if self.next_expiry_ms > now_ms {
            return None;
        }
        // From here on it is what others set while this round lasts.
        self.next_expiry_ms = u64::MAX;
        Some(Round { from: 0, earliest_ms: u64::MAX })
    }
}

impl Round {
    /// When the database is looked through again, as far as this round knows: not before
    /// `pause_end_ms`.
    fn bound(&self, pause_end_ms: u64) -> u64 {
        match self.earliest_ms {
            u64::MAX => u64::MAX,
            earliest_ms => earliest_ms.max(pause_end_ms),
        }
    }
}
