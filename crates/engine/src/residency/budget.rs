//! How much memory the keyspace may take, and what that means for those who take more.

use crate::engine::Engine;
use crate::residency::holds::Holds;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::time::Duration;

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
    /// The longest time that one partition was locked.
    pub longest_lock: Duration,
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
    target: AtomicU64,
    /// Somebody keeps the target.
    is_kept: AtomicBool,
    room: AtomicU8,
    pub(super) keys: AtomicU64,
    pub(super) newcomers: AtomicU64,
    pub(super) bytes: AtomicU64,
    pub(super) longest_lock_ns: AtomicU64,
    deleted: AtomicU64,
    /// Since when the target is exceeded, 0 for not, on the clock that only goes forward.
    exceeded_since_ns: AtomicU64,
    /// For how long it was before that.
    exceeded_ns: AtomicU64,
    pub(super) holds: Holds,
}

impl Default for MemoryBudget {
    fn default() -> MemoryBudget {
        MemoryBudget {
            target: AtomicU64::new(u64::MAX),
            is_kept: AtomicBool::default(),
            room: AtomicU8::new(Room::Free as u8),
            keys: AtomicU64::default(),
            newcomers: AtomicU64::default(),
            bytes: AtomicU64::default(),
            longest_lock_ns: AtomicU64::default(),
            deleted: AtomicU64::default(),
            exceeded_since_ns: AtomicU64::default(),
            exceeded_ns: AtomicU64::default(),
            holds: Holds::default(),
        }
    }
}

impl MemoryBudget {
    pub(super) fn set_room(&self, room: Room) {
        // Loaded first, so that the line stays shared.
        if self.room.load(Ordering::Relaxed) != room as u8 {
            self.room.store(room as u8, Ordering::Relaxed);
        }
    }

    /// Keys have been deleted under one lock, which was held for so long.
    pub(super) fn note_deleted(&self, keys: u64, held: Duration) {
        self.deleted.fetch_add(keys, Ordering::Relaxed);
        self.longest_lock_ns.fetch_max(held.as_nanos() as u64, Ordering::Relaxed);
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

    pub(crate) fn set_kept(&self) {
        self.is_kept.store(true, Ordering::Relaxed);
    }
}

impl Engine {
    /// The keyspace is to take this many bytes at most; `None` sets no limit. When it takes more,
    /// [`Engine::eviction`] says what becomes of keys.
    pub fn set_memory_target(&self, bytes: Option<u64>) {
        self.budget.target.store(bytes.unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// The whole process is to take this many bytes at most, 0 for no limit: so much less may lie
    /// idle.
    pub fn set_memory_budget(&self, bytes: u64) {
        self.keyspace.set_memory_budget(usize::try_from(bytes).unwrap_or(usize::MAX));
    }

    /// What [`Engine::set_memory_target`] has set.
    pub fn memory_target(&self) -> Option<u64> {
        let target = self.budget.target.load(Ordering::Relaxed);
        (target != u64::MAX).then_some(target)
    }

    /// Whether there is room for what takes memory; `None` if nobody makes any: there is no target,
    /// or no thread that keeps it.
    #[inline]
    pub fn memory_room(&self) -> Option<Room> {
        let budget = &self.budget;
        if !budget.is_kept.load(Ordering::Relaxed) || self.memory_target().is_none() {
            return None;
        }
        Some(match budget.room.load(Ordering::Relaxed) {
            room if room == Room::Free as u8 => Room::Free,
            room if room == Room::Later as u8 => Room::Later,
            _ => Room::Full,
        })
    }

    /// What has left memory so far.
    pub fn eviction_stats(&self) -> EvictionStats {
        let budget = &self.budget;
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let exceeded_now_ns = match count(&budget.exceeded_since_ns) {
            0 => 0,
            since_ns => self.env.clock.monotonic_ns().saturating_sub(since_ns),
        };
        EvictionStats {
            keys: count(&budget.keys),
            newcomers: count(&budget.newcomers),
            bytes: count(&budget.bytes),
            longest_lock: Duration::from_nanos(count(&budget.longest_lock_ns)),
            deleted: count(&budget.deleted),
            exceeded: Duration::from_nanos(count(&budget.exceeded_ns) + exceeded_now_ns),
            exceeded_now: Duration::from_nanos(exceeded_now_ns),
        }
    }

    /// Counts keys that are deleted for lack of memory, and the time for which it is short, from
    /// zero again (`CONFIG RESETSTAT`).
    pub fn reset_deleted(&self) {
        self.budget.deleted.store(0, Ordering::Relaxed);
        self.budget.exceeded_ns.store(0, Ordering::Relaxed);
        // The evictor notes that it still is.
        self.budget.exceeded_since_ns.store(0, Ordering::Relaxed);
    }
}
