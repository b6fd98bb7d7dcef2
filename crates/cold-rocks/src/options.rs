//! Every RocksDB option that differs from its default, with the reason.
//!
//! The shape of the load: no writes but ingested files; point reads by probe (from memory alone)
//! and by a few miss threads; rare scans; a memory tier above that caches whole objects, so that
//! RocksDB's own cache stays small.

use rocksdb::{BlockBasedOptions, Cache, ChecksumType, DBCompressionType, Env, LogLevel, Options};

/// Files in the youngest level, and bytes that wait to be merged, from where on merging is behind.
/// RocksDB slows writers from there on, but nobody writes: files are ingested, and it lets as many
/// in as come. Two minutes of small changes on two busy cores left 293 files, each of which a miss
/// may have to look into.
const LEVEL0_FILES_MAX: u64 = 128;
const PENDING_BYTES_MAX: u64 = 4 << 30;

/// Files in the youngest level that are merged, whatever their size; from [`LEVEL0_FILES_MIN`] on,
/// if merging them is worth it (`space.rs`).
pub(crate) const LEVEL0_FILES_TO_MERGE: i32 = 96;
/// Fewer are left, unless they are deletions for the most part.
pub(crate) const LEVEL0_FILES_MIN: usize = 16;
pub(crate) const LEVEL0_FILES_TO_MERGE_OPTION: &str = "level0_file_num_compaction_trigger";

/// A merged file of which at least this share is deletions of single rows is merged on, until they
/// have met what they delete: otherwise they would stay, and what they delete, until their level is
/// full.
const DELETIONS_TO_MERGE: f64 = 0.5;

/// Bounds of the block cache. RocksDB's cache aborts the process when it cannot reserve address
/// space, and zero bytes count as that.
const CACHE_BYTES_MIN: usize = 1 << 20;
const CACHE_BYTES_MAX: usize = 1 << 42;

/// What the operator may choose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RocksOptions {
    /// Memory for cached data blocks, in bytes, at least 1 MiB and at most 4 TiB. Indexes and
    /// filters come on top: about two bytes a row, see `ColdStats::index_filter_bytes`.
    pub cache_bytes: usize,
    /// Size at which the next file of a checkpoint begins, and that of merged files, in bytes: a
    /// file of a first load moves down the levels without being rewritten because the two are
    /// equal. To write a file takes memory for a tenth of it, and the files that a merge has
    /// written have their indexes and filters in memory beside those of the files that they are to
    /// replace; small files are merged in smaller parts.
    pub file_bytes: u64,
    /// Threads that merge files, at the lowest CPU priority. They are shared by all tiers of the
    /// process.
    pub background_threads: u16,
    /// Limit of the bytes that merging writes a second; `None` for no limit. Checkpoints
    /// themselves are not limited.
    pub compaction_bytes_per_second: Option<u64>,
    /// How merging reads and writes its files.
    pub compaction_io: CompactionIo,
    /// How the last level, nine tenths of the data, is compressed.
    pub last_level: LastLevel,
}

/// How merging reads and writes its files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompactionIo {
    /// Through the page cache.
    Buffered,
    /// Around the page cache (`O_DIRECT`), so that merging does not push out what reads need. The
    /// file system must support it.
    Direct,
}

/// How the last level is compressed. The choice holds for files written from now on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LastLevel {
    /// LZ4, like every other level.
    Fast,
    /// Zstd: about a fifth smaller, for half as much CPU again in merging, because blocks are small
    /// and each has entropy tables of its own.
    Small,
}

impl Default for RocksOptions {
    fn default() -> Self {
        Self {
            cache_bytes: 64 << 20,
            file_bytes: 64 << 20,
            background_threads: 2,
            compaction_bytes_per_second: None,
            compaction_io: CompactionIo::Buffered,
            last_level: LastLevel::Fast,
        }
    }
}

impl RocksOptions {
    /// The cache's limit within its bounds.
    pub(crate) fn cache_bytes_bounded(&self) -> usize {
        self.cache_bytes.clamp(CACHE_BYTES_MIN, CACHE_BYTES_MAX)
    }
}

/// See [`basalt_cold::Pressure::behind_percent`].
pub(crate) fn behind_percent(level0_files: u64, pending_bytes: u64) -> u32 {
    let over = |is: u64, max: u64| is.saturating_sub(max).saturating_mul(100) / max;
    let percent = over(level0_files, LEVEL0_FILES_MAX).max(over(pending_bytes, PENDING_BYTES_MAX));
    u32::try_from(percent).unwrap_or(u32::MAX)
}

/// Options of the database.
pub(crate) fn database_options(chosen: &RocksOptions, cache: &Cache) -> Options {
    let mut options = table_options(cache);
    options.create_if_missing(true);
    set_background(&mut options, chosen);
    set_levels(&mut options, chosen);
    set_opening(&mut options);
    set_quiet(&mut options);
    options
}

/// Options of checkpoint files. They are soon rewritten, so they get the cheap compression even
/// where the last level has another.
pub(crate) fn file_options(cache: &Cache) -> Options {
    let mut options = table_options(cache);
    options.set_compression_type(DBCompressionType::Lz4);
    options
}

/// What a sorted file looks like inside.
fn table_options(cache: &Cache) -> Options {
    let mut table = BlockBasedOptions::default();
    table.set_block_cache(cache);
    // One read of a device page answers a cold GET.
    table.set_block_size(4 << 10);
    // Indexes and filters belong to the open file, not to the cache: they cannot be evicted, and a
    // probe never finds them missing.
    table.set_cache_index_and_filter_blocks(false);
    // 0.4 % false positives a file: a key that is not there passes the filters of several. With 10
    // bits it took 0.012 reads. A ribbon filter would be 30 % smaller and cost three times the CPU.
    table.set_bloom_filter(12.0, false);
    table.set_whole_key_filtering(true);
    table.set_format_version(6);
    table.set_checksum_type(ChecksumType::XXH3);
    let mut options = Options::default();
    options.set_block_based_table_factory(&table);
    options
}

fn set_background(options: &mut Options, chosen: &RocksOptions) {
    let threads = i32::from(chosen.background_threads.max(1));
    if let Ok(mut env) = Env::new() {
        env.set_low_priority_background_threads(threads);
        env.set_high_priority_background_threads(1);
        env.lower_thread_pool_cpu_priority();
        options.set_env(&env);
    }
    options.set_max_background_jobs(threads + 1);
    // The youngest level merges as one job; let it use all threads.
    options.set_max_subcompactions(u32::from(chosen.background_threads.max(1)));
    if let Some(rate) = chosen.compaction_bytes_per_second {
        let rate = i64::try_from(rate).unwrap_or(i64::MAX);
        options.set_ratelimiter(rate, 100_000, 10);
    }
    options
        .set_use_direct_io_for_flush_and_compaction(chosen.compaction_io == CompactionIo::Direct);
    // Written pages go to the disk steadily, not all at the final sync.
    options.set_bytes_per_sync(1 << 20);
    // Of each file that is merged, and a merge of the youngest level has dozens.
    options.set_compaction_readahead_size(256 << 10);
}

fn set_levels(options: &mut Options, chosen: &RocksOptions) {
    options.set_num_levels(7);
    options.set_level_compaction_dynamic_level_bytes(true);
    options.set_level_zero_file_num_compaction_trigger(LEVEL0_FILES_TO_MERGE);
    // No sliding window.
    options.add_compact_on_deletion_collector_factory(0, 0, DELETIONS_TO_MERGE);
    options.set_level_zero_slowdown_writes_trigger(LEVEL0_FILES_MAX as i32);
    options.set_level_zero_stop_writes_trigger(2 * LEVEL0_FILES_MAX as i32);
    options.set_target_file_size_base(chosen.file_bytes);
    options.set_max_bytes_for_level_base(512 << 20);
    options.set_compression_type(DBCompressionType::Lz4);
    if chosen.last_level == LastLevel::Small {
        options.set_bottommost_compression_type(DBCompressionType::Zstd);
        // Level 1; the other numbers are RocksDB's own: window, strategy, no dictionary.
        options.set_bottommost_compression_options(-14, 1, 0, 0, true);
    }
    // No rewriting because of age alone: there is nothing that time makes obsolete.
    options.set_ttl(0);
    options.set_periodic_compaction_seconds(0);
    // The memtable stays empty.
    options.set_write_buffer_size(1 << 20);
}

/// Opening loads every file's index and filter, with many threads, and reads nothing else.
fn set_opening(options: &mut Options) {
    options.set_max_open_files(-1);
    options.set_max_file_opening_threads(16);
    options.set_skip_stats_update_on_db_open(true);
    // Opening replays the MANIFEST, so it is kept short.
    options.set_max_manifest_file_size(16 << 20);
    options.set_avoid_unnecessary_blocking_io(true);
}

/// No periodic work, and a small log of warnings.
fn set_quiet(options: &mut Options) {
    options.set_stats_dump_period_sec(0);
    options.set_stats_persist_period_sec(0);
    options.set_log_level(LogLevel::Warn);
    // It warns of each file that is opened; the options alone are 40 KiB.
    options.set_max_log_file_size(256 << 10);
    options.set_keep_log_file_num(2);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn merging_is_behind_by_files_or_by_bytes_whichever_is_more() {
        let gib = |gib: u64| gib << 30;
        for (files, bytes, expected) in [
            (0, 0, 0),
            (128, gib(4), 0),
            (160, 0, 25),
            (256, gib(5), 100),
            (160, gib(8), 100),
            (u64::MAX, 0, u32::MAX),
        ] {
            assert_eq!(behind_percent(files, bytes), expected, "{files} files, {bytes} bytes");
        }
    }
}
