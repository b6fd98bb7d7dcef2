//! What the engine is told of memory, and tells: the target, whether there is room, what has left.

use crate::engine::Engine;
use crate::residency::budget::{EvictionStats, Room};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// A target that is lower by more than this part of what it was is news to the evictor, which may
/// sleep for as long as it takes to write tens of megabytes. What else moves it ten times a second
/// is little, and seen in time.
const LOWERED_PART: u64 = 16;

impl Engine {
    /// The keyspace is to take this many bytes at most; `None` sets no limit. When it takes more,
    /// [`Engine::eviction`] says what becomes of keys.
    pub fn set_memory_target(&self, bytes: Option<u64>) {
        let target = bytes.unwrap_or(u64::MAX);
        let before = self.budget.target.swap(target, Ordering::Relaxed);
        if target < before - before / LOWERED_PART {
            self.budget.evictor.wake();
        }
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

    /// There is no room for what takes memory, but keys are leaving it.
    #[inline]
    pub fn is_short_of_memory(&self) -> bool {
        self.budget.room.load(Ordering::Relaxed) == Room::Later as u8
    }

    /// How far checkpoints are behind with what fills memory, in hundredths of how far they may be:
    /// 0 up to there, 100 and more when writers will soon have to wait for one to end. What is
    /// changed meanwhile is to come the slower.
    pub fn checkpoint_behind_percent(&self) -> u32 {
        self.budget.checkpoint_behind_percent.load(Ordering::Relaxed)
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
            longest_hold: budget.holds_of_partitions.longest(),
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
