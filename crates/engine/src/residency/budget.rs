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

/// What has left memory so far.
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
}

/// Told by whoever knows what else the process needs. Relaxed throughout: figures by themselves.
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

    pub(crate) fn set_kept(&self) {
        self.is_kept.store(true, Ordering::Relaxed);
    }
}

impl Engine {
    /// The keyspace is to take this many bytes at most; `None` sets no limit. Clean entries leave
    /// memory when it takes more.
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
        EvictionStats {
            keys: budget.keys.load(Ordering::Relaxed),
            newcomers: budget.newcomers.load(Ordering::Relaxed),
            bytes: budget.bytes.load(Ordering::Relaxed),
            longest_lock: Duration::from_nanos(budget.longest_lock_ns.load(Ordering::Relaxed)),
        }
    }
}
