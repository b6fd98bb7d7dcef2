//! Big values that nobody needs any more: freed by the housekeeping thread.
//!
//! Giving a gigabyte back to the system takes tens of milliseconds, which no partition's lock shall
//! wait for. A database gives them here before it destroys their entries
//! (`basalt_keyspace::retire`).

use basalt_keyspace::retire::{Big, Retire};
use basalt_stdx::lock_rank::RankedMutex;

/// When so much waits to be freed, more is freed at once, so that memory in use stays bounded.
const WAITING_BYTES_MAX: usize = 1 << 30;

/// Values that wait to be freed.
#[derive(Default)]
pub(crate) struct Retired {
    waiting: RankedMutex<RetiredValues>,
}

#[derive(Default)]
struct RetiredValues {
    values: Vec<Big>,
    bytes: usize,
}

impl Retire for Retired {
    fn retire(&self, value: Big, bytes: usize) {
        let mut waiting = self.waiting.lock();
        if waiting.bytes >= WAITING_BYTES_MAX {
            drop(waiting);
            return drop(value);
        }
        waiting.bytes += bytes;
        waiting.values.push(value);
    }
}

impl Retired {
    /// Frees what waits; called by the housekeeping thread.
    pub(crate) fn free(&self) {
        let waiting = std::mem::take(&mut *self.waiting.lock());
        drop(waiting);
    }

    /// Bytes that are not yet freed.
    pub(crate) fn bytes(&self) -> usize {
        self.waiting.lock().bytes
    }
}
