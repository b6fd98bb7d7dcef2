//! Sizes that follow the memory budget and are fixed when the server starts, beside those that are
//! options: buffers and background work, each of which may take a small part of the budget.

use basalt_config::{Settings, Share};

const MIB: u64 = 1 << 20;

/// What a checkpoint gathers before it gives it to the cold tier. More would have the log wait for
/// longer, see `engine/src/checkpoint/floors.rs`.
const INGEST: Share =
    Share { per_mille: 1000 / 32, bytes_min: MIB, bytes_max: 64 * MIB, bytes_unlimited: 64 * MIB };
/// Where the values of the cold tier's log are. Beyond it they stay with their rows.
const LOCATOR: Share =
    Share { per_mille: 250, bytes_min: MIB, bytes_max: u64::MAX, bytes_unlimited: u64::MAX };
/// Sorted files of the cold tier: what it takes to write and to merge them follows their size.
const COLD_FILE: Share = Share {
    per_mille: 1000 / 16,
    bytes_min: 8 * MIB,
    bytes_max: 64 * MIB,
    bytes_unlimited: 64 * MIB,
};
/// Changes that the journal's writer has not written yet.
const JOURNAL_BUFFERS: Share =
    Share { per_mille: 40, bytes_min: MIB, bytes_max: 64 * MIB, bytes_unlimited: 64 * MIB };
/// Deleted values whose memory is not freed yet.
const RETIRED: Share =
    Share { per_mille: 20, bytes_min: MIB, bytes_max: 1024 * MIB, bytes_unlimited: 1024 * MIB };
/// Budget for each thread that merges the cold tier's files: one takes some 16 MiB.
const BYTES_A_MERGE_THREAD: u64 = 128 * MIB;
/// Merging is bound by the disk rather than by more threads.
const MERGE_THREADS_MAX: u64 = 2;

/// See the head of this file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sizes {
    /// Cached blocks of the cold tier.
    pub(crate) cold_cache_bytes: u64,
    /// Threads that merge the cold tier's files.
    pub(crate) merge_threads: u16,
    /// Of each of these.
    pub(crate) cold_file_bytes: u64,
    /// Where values are that stand beside their rows.
    pub(crate) locator_bytes: u64,
    /// Rows of a checkpoint that are ingested together.
    pub(crate) ingest_bytes: u64,
    /// Changes that wait for the journal's writer.
    pub(crate) journal_buffer_bytes: u64,
    /// Deleted values that wait to be freed.
    pub(crate) retired_bytes: u64,
    /// What the system may cache of files: memory that the budget leaves.
    pub(crate) page_cache_bytes: u64,
}

impl Sizes {
    /// Of a process that may have `allowed_bytes` of memory.
    pub(crate) fn of(settings: &Settings, allowed_bytes: u64) -> Sizes {
        let budget = settings.memory.memory_bytes_max;
        let merge_threads = match budget {
            0 => MERGE_THREADS_MAX,
            _ => (budget / BYTES_A_MERGE_THREAD).clamp(1, MERGE_THREADS_MAX),
        };
        let log_share = settings.persistence.checkpoint_log_bytes.div_ceil(4);
        Sizes {
            cold_cache_bytes: settings.persistence.cold_cache_bytes,
            merge_threads: merge_threads as u16,
            cold_file_bytes: COLD_FILE.of(budget),
            locator_bytes: LOCATOR.of(budget),
            ingest_bytes: INGEST.of(budget).min(log_share),
            journal_buffer_bytes: JOURNAL_BUFFERS.of(budget),
            retired_bytes: RETIRED.of(budget),
            page_cache_bytes: allowed_bytes.saturating_sub(budget),
        }
    }

    /// Writes them to the log.
    pub(crate) fn log(&self) {
        tracing::info!(
            cold_cache_bytes = self.cold_cache_bytes,
            merge_threads = self.merge_threads,
            cold_file_bytes = self.cold_file_bytes,
            locator_bytes = self.locator_bytes,
            ingest_bytes = self.ingest_bytes,
            journal_buffer_bytes = self.journal_buffer_bytes,
            retired_bytes = self.retired_bytes,
            page_cache_bytes = self.page_cache_bytes,
            "sizes that follow the memory budget"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(budget_bytes: u64) -> Sizes {
        let mut settings = Settings::default();
        settings.memory.memory_bytes_max = budget_bytes;
        Sizes::of(&settings, 300 * MIB)
    }

    #[test]
    fn a_small_budget_has_small_buffers() {
        let sizes = sizes(256 * MIB);
        assert_eq!(sizes.merge_threads, 2);
        assert!(sizes.ingest_bytes <= 8 * MIB && sizes.ingest_bytes > 7 * MIB, "{sizes:?}");
        assert_eq!(sizes.journal_buffer_bytes, 256 * MIB * 40 / 1000);
        assert_eq!(sizes.retired_bytes, 256 * MIB * 20 / 1000);
        assert_eq!(sizes.page_cache_bytes, 44 * MIB);
        assert_eq!(self::sizes(100 * MIB).merge_threads, 1);
        assert_eq!(self::sizes(100 * MIB).cold_file_bytes, 8 * MIB);
    }

    #[test]
    fn without_a_budget_and_with_a_large_one_sizes_are_what_they_are_at_most() {
        for budget in [0, 1 << 40] {
            let sizes = sizes(budget);
            assert_eq!((sizes.merge_threads, sizes.cold_file_bytes), (2, 64 * MIB));
            assert_eq!((sizes.ingest_bytes, sizes.journal_buffer_bytes), (64 * MIB, 64 * MIB));
            assert_eq!(sizes.retired_bytes, 1024 * MIB);
        }
    }

    #[test]
    fn a_tiny_budget_leaves_room_to_work() {
        let sizes = sizes(MIB);
        let buffers = [sizes.ingest_bytes, sizes.journal_buffer_bytes, sizes.retired_bytes];
        assert_eq!((sizes.merge_threads, buffers), (1, [MIB; 3]));
    }
}
