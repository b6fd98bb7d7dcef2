//! How often the disk, or the kernel's cache of it, is asked for a read.

use rocksdb::perf::{PerfContext, PerfMetric, PerfStatsLevel, set_perf_stats};
use std::cell::RefCell;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::options::BLOB_BYTES_MIN;

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
    /// Counts what `read` has read: blocks of sorted files, and a read for each value that stands
    /// in a blob file.
    pub(crate) fn counting<R>(&self, read: impl FnOnce() -> R, values: impl Fn(&R) -> u64) -> R {
        PERF.with_borrow_mut(|perf| {
            perf.reset();
            let result = read();
            let blocks = perf.metric(PerfMetric::BlockReadCount) + values(&result);
            self.blocks.fetch_add(blocks, Ordering::Relaxed);
            result
        })
    }

    pub(crate) fn count(&self) -> u64 {
        self.blocks.load(Ordering::Relaxed)
    }
}

/// How many of these values stand in blob files, once they have been merged.
pub(crate) fn in_blobs<'a>(values: impl Iterator<Item = &'a Vec<u8>>) -> u64 {
    values.filter(|value| value.len() as u64 >= BLOB_BYTES_MIN).count() as u64
}
