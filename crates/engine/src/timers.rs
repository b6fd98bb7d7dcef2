//! The time at which a queue has something for the clients that wait for it: a lease or a delay
//! ends.
//!
//! ```text
//! a client waits, or a change brings the time of a queue nearer for which clients wait
//!    └─▶ a note: time, key ─▶ the thread sleeps until the first
//!                               └─▶ settles the queue, calls the first client, notes its next time
//! ```
//! A note may be out of date: the thread looks at the queue and notes what it finds. So a queue has
//! one note however many clients wait and however often its leases change, and a queue for which
//! nobody waits has none: what time does to it is found by the next command, and tidied up by the
//! housekeeping, ten times a second.
//!
//! Notes say nothing that a lost one would lose: each client that joins a queue makes one.

use crate::waiting::request::WaitPlace;
use basalt_change::place::PartitionId;
use basalt_keyspace::interest::KeyId;
use basalt_stdx::lock_rank::RankedMutex;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;
use std::thread::Thread;

/// The notes. See the head of this file.
#[derive(Default)]
pub(crate) struct Timers {
    notes: RankedMutex<Notes>,
    thread: OnceLock<Thread>,
}

#[derive(Default)]
struct Notes {
    /// When which queue is to be looked at, the earliest first.
    order: BTreeSet<(u64, PartitionId, KeyId)>,
    queues: BTreeMap<(PartitionId, KeyId), Note>,
}

/// The one note of a queue.
struct Note {
    time_ms: u64,
    key: Box<[u8]>,
}

impl Timers {
    /// A queue for which clients wait may have something at this time.
    pub(crate) fn note(&self, partition: PartitionId, place: KeyId, key: &[u8], time_ms: u64) {
        let mut notes = self.notes.lock();
        let known = notes.queues.get(&(partition, place)).map(|note| note.time_ms);
        if known.is_some_and(|known_ms| known_ms <= time_ms) {
            return;
        }
        let is_first = notes.order.first().is_none_or(|&(first_ms, ..)| time_ms < first_ms);
        if let Some(known_ms) = known {
            notes.order.remove(&(known_ms, partition, place));
        }
        notes.order.insert((time_ms, partition, place));
        notes.queues.insert((partition, place), Note { time_ms, key: key.into() });
        drop(notes);
        if let (true, Some(thread)) = (is_first, self.thread.get()) {
            thread.unpark();
        }
    }

    /// The thread that is to be woken is this one. It is started once; a note that is made before
    /// wakes nobody, and is seen by its first look.
    pub(crate) fn wake_this_thread(&self) {
        let _ = self.thread.set(std::thread::current());
    }

    /// Takes the first note if its time has come.
    pub(crate) fn take_due(&self, now_ms: u64) -> Option<WaitPlace> {
        let mut notes = self.notes.lock();
        let &(time_ms, partition, place) = notes.order.first()?;
        if time_ms > now_ms {
            return None;
        }
        notes.order.pop_first();
        let note = notes.queues.remove(&(partition, place))?;
        Some(WaitPlace { partition, place, key: note.key })
    }

    /// When the first note is due, all ones for never.
    pub(crate) fn next_ms(&self) -> u64 {
        self.notes.lock().order.first().map_or(u64::MAX, |&(time_ms, ..)| time_ms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_queue_has_one_note_the_earliest() {
        let timers = Timers::default();
        let partition = PartitionId::new(7).expect("there are 1,024");
        let place = |hash: u64| KeyId { hash, db: 0 };
        for (hash, time_ms) in [(1, 50), (1, 70), (2, 40), (1, 30), (1, 60), (3, 90)] {
            timers.note(partition, place(hash), b"key", time_ms);
        }
        assert_eq!(timers.next_ms(), 30);
        let taken = |now_ms: u64| timers.take_due(now_ms).map(|due| due.place.hash);
        assert_eq!([taken(29), taken(40), taken(40), taken(89)], [None, Some(1), Some(2), None]);
        // What was taken may be noted again, later than before.
        timers.note(partition, place(1), b"key", 95);
        assert_eq!([taken(95), taken(95), taken(u64::MAX)], [Some(3), Some(1), None]);
        assert_eq!(timers.next_ms(), u64::MAX);
    }
}
