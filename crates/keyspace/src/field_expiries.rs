//! Which hashes of a database's share of a partition have fields that expire.
//!
//! A heap of (time, hash of the key): 16 bytes a note, whatever the key. A note says that the hash
//! under some key *may* have a field that expires then. Notes are not taken back: a thread that
//! finds one due looks at the key and notes the time of the next field, if there is one. So a key
//! whose fields get ever earlier times, or lose them and get them back, gathers notes; when there
//! are twice as many as after the last look, all but the earliest of each key are dropped.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Notes below which none are dropped.
const NOTES_MIN: usize = 64;

/// See the head of this file. Takes a word until the first note.
#[derive(Default)]
pub struct FieldExpiries(Option<Box<Notes>>);

struct Notes {
    /// Unix milliseconds and hash of the key, the earliest on top.
    heap: BinaryHeap<Reverse<(u64, u64)>>,
    /// The number of notes from which a look is worth it.
    look_at: usize,
}

impl FieldExpiries {
    /// There is no note.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// The hash under the key with this hash has a field that expires then; all ones: it has none.
    pub fn note(&mut self, expire_ms: u64, key_hash: u64) {
        if expire_ms == u64::MAX {
            return;
        }
        let empty = || Box::new(Notes { heap: BinaryHeap::new(), look_at: NOTES_MIN });
        let notes = self.0.get_or_insert_with(empty);
        notes.heap.push(Reverse((expire_ms, key_hash)));
        if notes.heap.len() >= notes.look_at {
            notes.drop_repeated();
        }
    }

    /// When the earliest field expires, all ones for never.
    pub fn next_ms(&self) -> u64 {
        let first = self.0.as_ref().and_then(|notes| notes.heap.peek());
        first.map_or(u64::MAX, |&Reverse((expire_ms, _))| expire_ms)
    }

    /// Takes the earliest note if it is due, and returns the hash of its key.
    pub fn take_due(&mut self, now_ms: u64) -> Option<u64> {
        if self.next_ms() > now_ms {
            return None;
        }
        let notes = self.0.as_mut()?;
        let Reverse((_, key_hash)) = notes.heap.pop()?;
        if notes.heap.is_empty() {
            self.0 = None;
        }
        Some(key_hash)
    }
}

impl Notes {
    #[cold]
    fn drop_repeated(&mut self) {
        let mut notes = std::mem::take(&mut self.heap).into_vec();
        notes.sort_unstable_by_key(|&Reverse((expire_ms, key_hash))| (key_hash, expire_ms));
        notes.dedup_by_key(|&mut Reverse((_, key_hash))| key_hash);
        self.look_at = (2 * notes.len()).max(NOTES_MIN);
        self.heap = notes.into();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_come_in_the_order_of_time() {
        let mut expiries = FieldExpiries::default();
        assert_eq!((expiries.next_ms(), expiries.take_due(u64::MAX)), (u64::MAX, None));
        for (expire_ms, key_hash) in [(30, 3), (10, 1), (20, 2), (u64::MAX, 4)] {
            expiries.note(expire_ms, key_hash);
        }
        assert_eq!(expiries.next_ms(), 10);
        assert_eq!(expiries.take_due(9), None);
        assert_eq!(expiries.take_due(20), Some(1));
        assert_eq!(expiries.take_due(20), Some(2));
        assert_eq!(expiries.take_due(20), None);
        assert_eq!(expiries.take_due(30), Some(3));
        assert!(expiries.is_empty());
    }

    #[test]
    fn a_key_that_is_noted_for_ever_takes_no_more_room_for_ever() {
        let mut expiries = FieldExpiries::default();
        expiries.note(5, 77);
        for expire_ms in (0..if cfg!(miri) { 500 } else { 10_000 }).rev() {
            expiries.note(expire_ms, expire_ms % 3);
        }
        let notes = expiries.0.as_ref().unwrap();
        assert!(notes.heap.len() < 2 * NOTES_MIN, "{}", notes.heap.len());
        assert_eq!(expiries.take_due(u64::MAX - 1), Some(0));
        let mut keys = Vec::new();
        while let Some(key_hash) = expiries.take_due(u64::MAX - 1) {
            keys.push(key_hash);
        }
        assert!([0, 1, 2, 77].iter().all(|key| *key == 0 || keys.contains(key)));
    }
}
