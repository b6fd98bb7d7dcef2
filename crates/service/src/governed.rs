//! For which budget the engine's target holds: threads learn of a change of `maxmemory` at other
//! moments than the governor of memory does.

use basalt_stdx::sleeper::Sleeper;
use std::sync::atomic::{AtomicU64, Ordering};

/// See the head of this file.
#[derive(Debug)]
pub(crate) struct Governed {
    /// The budget of the last look, 0 for none; all ones before there was a look.
    budget_bytes: AtomicU64,
    /// That budget while memory in use is far below its target; else 0.
    far_below_bytes: AtomicU64,
    /// The governor, between its looks.
    pub(crate) sleeper: Sleeper,
}

const NEVER_LOOKED: u64 = u64::MAX;

impl Default for Governed {
    fn default() -> Governed {
        Governed {
            budget_bytes: AtomicU64::new(NEVER_LOOKED),
            far_below_bytes: AtomicU64::new(0),
            sleeper: Sleeper::default(),
        }
    }
}

impl Governed {
    // Relaxed, all of them: figures by themselves, of which a thread may be a look behind.

    /// The governor has looked.
    pub(crate) fn note(&self, budget_bytes: u64, is_far: bool) {
        let far_below = if is_far { budget_bytes } else { 0 };
        self.far_below_bytes.store(far_below, Ordering::Relaxed);
        self.budget_bytes.store(budget_bytes, Ordering::Relaxed);
    }

    /// A governor looks at all.
    pub(crate) fn is_active(&self) -> bool {
        self.budget_bytes.load(Ordering::Relaxed) != NEVER_LOOKED
    }

    /// The target has been set for this budget.
    pub(crate) fn knows(&self, budget_bytes: u64) -> bool {
        self.budget_bytes.load(Ordering::Relaxed) == budget_bytes
    }

    /// Memory in use is far below the target for this budget.
    #[inline]
    pub(crate) fn is_far_below(&self, budget_bytes: u64) -> bool {
        self.far_below_bytes.load(Ordering::Relaxed) == budget_bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_for_its_budget() {
        let governed = Governed::default();
        assert!(!governed.is_active() && !governed.knows(5) && !governed.is_far_below(5));
        governed.note(5, true);
        assert!(governed.is_active() && governed.knows(5) && governed.is_far_below(5));
        assert!(!governed.knows(6) && !governed.is_far_below(6));
        governed.note(5, false);
        assert!(governed.knows(5) && !governed.is_far_below(5));
    }
}
