//! How much memory the keyspace may take.

use crate::engine::Engine;
use std::sync::atomic::{AtomicU64, Ordering};

/// Told by whoever knows what else the process needs.
pub(crate) struct MemoryBudget {
    /// Bytes; all ones for no limit.
    target: AtomicU64,
}

impl Default for MemoryBudget {
    fn default() -> MemoryBudget {
        MemoryBudget { target: AtomicU64::new(u64::MAX) }
    }
}

impl Engine {
    /// The keyspace is to take this many bytes at most; `None` sets no limit. Clean entries leave
    /// memory when it takes more.
    pub fn set_memory_target(&self, bytes: Option<u64>) {
        // Relaxed: the evictor may see it a round later.
        self.budget.target.store(bytes.unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// What [`Engine::set_memory_target`] has set.
    pub fn memory_target(&self) -> Option<u64> {
        let target = self.budget.target.load(Ordering::Relaxed);
        (target != u64::MAX).then_some(target)
    }
}
