//! Big values that nobody needs any more: freed by the housekeeping thread.
//!
//! Giving a gigabyte back to the system takes tens of milliseconds, which no partition's lock shall
//! wait for. A database gives them here before it destroys their entries
//! (`basalt_keyspace::retire`).

use basalt_keyspace::retire::{Big, Retire};
use basalt_stdx::lock_rank::RankedMutex;

/// Values that wait to be freed.
pub(crate) struct Retired {
    /// When this much waits to be freed, more is freed at once, so that memory in use stays
    /// bounded.
    bytes_max: usize,
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
        if waiting.bytes >= self.bytes_max {
            drop(waiting);
            return drop(value);
        }
        waiting.bytes += bytes;
        waiting.values.push(value);
    }
}

impl Retired {
    /// None, of which this many bytes may wait.
    pub(crate) fn new(bytes_max: usize) -> Retired {
        Retired { bytes_max, waiting: RankedMutex::default() }
    }

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

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn what_waits_is_bounded() {
        let retired = Retired::new(150);
        let value = || Big::String(Arc::new(vec![0; 100]));
        for expected in [100, 200, 200] {
            retired.retire(value(), 100);
            assert_eq!(retired.bytes(), expected);
        }
        retired.free();
        assert_eq!(retired.bytes(), 0);
        retired.retire(value(), 100);
        assert_eq!(retired.bytes(), 100);
    }
}
