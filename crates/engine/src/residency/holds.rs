//! Keeping in memory what a command has had read until it has run: else the first of a thousand
//! keys could leave while the last are read, and the command would have them read again and again.
//!
//! Above the target's hard limit nothing is kept: memory comes first, and the command is slow.

use basalt_change::place::{PARTITIONS, PartitionId};
use basalt_env::Instant;
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU32, Ordering};

/// Partitions that nothing leaves.
pub(crate) struct Holds {
    /// How many commands need each. Relaxed: one that is seen a round later costs a read.
    counts: Box<[AtomicU32]>,
    /// What ends, and when, in that order.
    ending: Mutex<VecDeque<(Instant, Vec<PartitionId>)>>,
}

impl Default for Holds {
    fn default() -> Holds {
        let counts = (0..PARTITIONS).map(|_| AtomicU32::default()).collect();
        Holds { counts, ending: Mutex::default() }
    }
}

impl Holds {
    pub(super) fn has(&self, id: PartitionId) -> bool {
        self.counts[id.index()].load(Ordering::Relaxed) > 0
    }

    pub(super) fn begin(&self, ids: &[PartitionId]) {
        for id in ids {
            self.counts[id.index()].fetch_add(1, Ordering::Relaxed);
        }
    }

    pub(super) fn end_later(&self, ids: Vec<PartitionId>, at: Instant) {
        self.ending.lock().push_back((at, ids));
    }

    /// Ends those whose time has come.
    pub(super) fn end_due(&self, now: Instant) {
        let mut ending = self.ending.lock();
        while let Some((_, ids)) = ending.pop_front_if(|(at, _)| *at <= now) {
            for id in ids {
                self.counts[id.index()].fetch_sub(1, Ordering::Relaxed);
            }
        }
    }
}
