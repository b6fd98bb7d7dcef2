//! How much memory the keyspace may take, and what that means for those who take more.

use crate::residency::holds::Holds;
use crate::store::hold::{Hold, LongestHold, LongestHolds};
use basalt_env::Clock;
use basalt_stdx::sleeper::Sleeper;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

/// Percent of the target above which commands that take memory wait.
pub(super) const WAIT_PERCENT: u64 = 102;

/// Whether there is room for what takes memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Room {
    /// There is.
    Free,
    /// Not now; keys are leaving memory.
    Later,
    /// No, and nothing can leave.
    Full,
}

/// What has left memory so far, and what was deleted for lack of it.
#[derive(Clone, Copy, Debug, Default)]
pub struct EvictionStats {
    /// Keys that left memory and are on disk.
    pub keys: u64,
    /// Of these, newcomers that nobody had used.
    pub newcomers: u64,
    /// Bytes of memory.
    pub bytes: u64,
    /// The longest time that one partition was held.
    pub longest_hold: LongestHold,
    /// Keys that were deleted for lack of memory.
    pub deleted: u64,
    /// For how long the keyspace has taken more than its target, now and before.
    pub exceeded: Duration,
    /// And since it does so now.
    pub exceeded_now: Duration,
}

/// Whether the keyspace takes more than its target.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Exceeded {
    Yes,
    No,
}

/// The target is set by the part that knows what else the process needs. Relaxed throughout:
/// figures by themselves.
pub(crate) struct MemoryBudget {
    /// Bytes; all ones for no limit.
    pub(super) target: AtomicU64,
    /// What the keyspace took when it was added up last; all ones before.
    seen: AtomicU64,
    /// Zeros that strings have been given since. One command makes half a gigabyte of them in
    /// microseconds, and logs none: a look at the keyspace would see them too late.
    zeros: AtomicU64,
    /// Somebody keeps the target.
    pub(super) is_kept: AtomicBool,
    pub(super) room: AtomicU8,
    pub(super) keys: AtomicU64,
    pub(super) newcomers: AtomicU64,
    pub(super) bytes: AtomicU64,
    /// Of partitions.
    pub(super) holds_of_partitions: LongestHolds,
    pub(super) deleted: AtomicU64,
    /// Since when the target is exceeded, 0 for not, on the clock that only goes forward.
    pub(super) exceeded_since_ns: AtomicU64,
    /// For how long it was before that.
    pub(super) exceeded_ns: AtomicU64,
    /// See [`crate::engine::Engine::checkpoint_behind_percent`].
    pub(super) checkpoint_behind_percent: AtomicU32,
    /// What is known of keys on disk takes as much as it may.
    pub(super) are_filters_full: AtomicBool,
    pub(super) holds: Holds,
    /// Between its rounds.
    pub(super) evictor: Sleeper,
}

impl Default for MemoryBudget {
    fn default() -> MemoryBudget {
        MemoryBudget {
            target: AtomicU64::new(u64::MAX),
            seen: AtomicU64::new(u64::MAX),
            zeros: AtomicU64::default(),
            is_kept: AtomicBool::default(),
            room: AtomicU8::new(Room::Free as u8),
            keys: AtomicU64::default(),
            newcomers: AtomicU64::default(),
            bytes: AtomicU64::default(),
            holds_of_partitions: LongestHolds::default(),
            deleted: AtomicU64::default(),
            exceeded_since_ns: AtomicU64::default(),
            exceeded_ns: AtomicU64::default(),
            checkpoint_behind_percent: AtomicU32::default(),
            are_filters_full: AtomicBool::default(),
            holds: Holds::default(),
            evictor: Sleeper::default(),
        }
    }
}

impl MemoryBudget {
    /// The keyspace has been added up, and these zeros are in the sum.
    pub(crate) fn note_seen(&self, bytes: u64, zeros: u64) {
        self.seen.store(bytes, Ordering::Relaxed);
        // Two threads may have added up at once, with the same zeros in both sums.
        let left = |all: u64| Some(all.saturating_sub(zeros));
        let _ = self.zeros.fetch_update(Ordering::Relaxed, Ordering::Relaxed, left);
    }

    /// What it took when it was added up last, and the zeros since.
    pub(super) fn seen(&self) -> u64 {
        self.seen.load(Ordering::Relaxed).saturating_add(self.zeros())
    }

    /// Zeros that no sum contains yet.
    pub(crate) fn zeros(&self) -> u64 {
        self.zeros.load(Ordering::Relaxed)
    }

    /// Strings have been given these zeros. If that may be too much, what takes memory waits from
    /// the next command on, until the evictor, which is woken, has looked.
    pub(crate) fn note_zeros(&self, bytes: u64) {
        self.zeros.fetch_add(bytes, Ordering::Relaxed);
        let (seen, target) = (self.seen(), self.target.load(Ordering::Relaxed));
        let is_over = seen != u64::MAX && seen > target / 100 * WAIT_PERCENT;
        let is_free = self.room.load(Ordering::Relaxed) == Room::Free as u8;
        if is_over && is_free && self.is_kept.load(Ordering::Relaxed) {
            self.set_room(Room::Later);
            self.evictor.wake();
        }
    }

    /// Whether strings have been given more zeros since the keyspace was added up than all of it
    /// may take.
    pub(crate) fn has_too_many_zeros(&self) -> bool {
        self.zeros() > self.target.load(Ordering::Relaxed)
    }

    pub(super) fn set_room(&self, room: Room) {
        // Loaded first, so that the line stays shared.
        if self.room.load(Ordering::Relaxed) != room as u8 {
            self.room.store(room as u8, Ordering::Relaxed);
        }
    }

    /// Keys have been deleted while a partition was held.
    pub(super) fn note_deleted(&self, keys: u64, clock: &dyn Clock, hold: &Hold) {
        self.deleted.fetch_add(keys, Ordering::Relaxed);
        self.holds_of_partitions.note(clock, hold);
    }

    /// The target is exceeded, or is not.
    pub(super) fn note_exceeded(&self, how: Exceeded, now_ns: u64) {
        let since_ns = self.exceeded_since_ns.load(Ordering::Relaxed);
        match (how, since_ns) {
            (Exceeded::Yes, 0) => self.exceeded_since_ns.store(now_ns.max(1), Ordering::Relaxed),
            (Exceeded::Yes, _) | (Exceeded::No, 0) => {}
            (Exceeded::No, _) => {
                self.exceeded_since_ns.store(0, Ordering::Relaxed);
                self.exceeded_ns.fetch_add(now_ns.saturating_sub(since_ns), Ordering::Relaxed);
            }
        }
    }

    /// Whether somebody keeps the target.
    pub(crate) fn set_kept(&self, is_kept: bool) {
        self.is_kept.store(is_kept, Ordering::Relaxed);
    }
}
