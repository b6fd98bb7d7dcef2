//! How often the disk, or the kernel's cache of it, is asked for a read.

use rocksdb::perf::{PerfContext, PerfMetric, PerfStatsLevel, set_perf_stats};
use std::cell::RefCell;
use std::sync::atomic::{AtomicU64, Ordering};

thread_local! {
    /// RocksDB's counters of this thread.
    static PERF: RefCell<PerfContext> = RefCell::new({
        set_perf_stats(PerfStatsLevel::EnableCount);
        PerfContext::default()
    });
}

/// Counts of all threads. Relaxed: statistics.
#[derive(Debug, Default)]
pub(crate) struct Reads {
    blocks: AtomicU64,
}

impl Reads {
    /// Counts the blocks that `read` has read of sorted files.
    pub(crate) fn counting<R>(&self, read: impl FnOnce() -> R) -> R {
        PERF.with_borrow_mut(|perf| {
            perf.reset();
            let result = read();
            self.blocks.fetch_add(perf.metric(PerfMetric::BlockReadCount), Ordering::Relaxed);
            result
        })
    }

    pub(crate) fn count(&self) -> u64 {
        self.blocks.load(Ordering::Relaxed)
    }
}
