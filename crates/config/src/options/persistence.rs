//! Where data lives on disk, and what of it is kept where.

use super::{GIB, MIB};
use crate::automatic::{Automatic, Share};
use crate::option::{Group, Kind, OptionSpec, effective};
use crate::values::Values;
use std::path::PathBuf;

/// What changes between two checkpoints is in memory and dirty, so it must be a small part of the
/// budget. A longer log than this makes a start slow and checkpoints hardly cheaper.
const CHECKPOINT_LOG_SHARE: Share =
    Share { per_mille: 125, bytes_min: MIB, bytes_max: 256 * MIB, bytes_unlimited: 256 * MIB };

const COLD_CACHE_SHARE: Share = Share {
    per_mille: 60,
    bytes_min: 4 * MIB,
    bytes_max: i64::MAX as u64,
    bytes_unlimited: 256 * MIB,
};

const fn option(
    name: &'static str,
    kind: Kind,
    default: &'static str,
    doc: &'static str,
) -> OptionSpec {
    effective(Group::Persistence, name, kind, default, doc)
}

pub(super) const OPTIONS: &[OptionSpec] = &[
    option("dir", Kind::Directory, "./data", "Directory of the database's files.").immutable(),
    option(
        "appendonly",
        Kind::Bool,
        "yes",
        "Sync the journal as appendfsync says. With `no` the journal is still written, as with \
         `appendfsync no`: nothing is lost when the process ends, but when the power fails.",
    ),
    option(
        "appendfsync",
        Kind::Enum(&["everysec", "always", "no"]),
        "everysec",
        "When the journal is synced: before the reply (always), once a second (everysec), or when \
         the kernel likes (no).",
    ),
    option(
        "accept-data-loss",
        Kind::Bool,
        "no",
        "Start although the journal and the cold tier show that data is lost, with what is left. To be \
         given on the command line, for one start.",
    )
    .immutable()
    .own(),
    option(
        "checkpoint-log-size",
        Kind::MemoryOrAuto {
            min: MIB,
            max: 1024 * GIB,
            automatic: Automatic::Share(CHECKPOINT_LOG_SHARE),
        },
        "auto",
        "Bytes of journal after which changes are written to the cold tier and the journal is \
         trimmed. From twice as much on, writers are slowed, so that a restart has little to read. \
         `auto` is an eighth of the memory budget at the start, at most 256mb.",
    )
    .immutable()
    .own(),
    option(
        "journal-segment-size",
        Kind::Memory { min: MIB, max: 4 * GIB },
        "64mb",
        "Size of one file of the journal.",
    )
    .immutable()
    .own(),
    option(
        "cold-tier",
        Kind::Enum(&["rocksdb", "memory"]),
        "rocksdb",
        "Where data that is not in memory is kept; `memory` keeps no files and is meant for tests.",
    )
    .immutable()
    .own(),
    option(
        "cold-cache-size",
        Kind::MemoryOrAuto {
            min: 0,
            max: i64::MAX as u64,
            automatic: Automatic::Share(COLD_CACHE_SHARE),
        },
        "auto",
        "Memory for blocks of the cold tier's files. `auto` is 6% of the memory budget at the \
         start, at least 4mb; without a budget 256mb.",
    )
    .immutable()
    .own(),
    option(
        "value-log-min",
        Kind::Memory { min: 0, max: GIB },
        "512",
        "Bytes from which on a value stands on disk in a log beside its row, where one read finds it, \
         and is not rewritten whenever rows are merged. 0 leaves all values with their rows; so does \
         the server when a quarter of the memory budget is used for where values are.",
    )
    .immutable()
    .own(),
    option(
        "disk-reserve",
        Kind::Memory { min: 0, max: i64::MAX as u64 },
        "256mb",
        "Space to keep free in the file system of `dir`, but no more than a 32nd of it: with less, only \
         changes that make data smaller are accepted, until twice as much is free. What gives space back \
         needs some first. 0 keeps none.",
    )
    .own(),
    option(
        "collection-row-max",
        Kind::Memory { min: 1024, max: GIB },
        "64kb",
        "Memory of a collection up to which it is one row in the cold tier. Above it, each of its \
         elements has a row of its own, and a checkpoint writes those that have changed.",
    )
    .immutable()
    .own(),
    option(
        "miss-threads",
        Kind::Int { min: 1, max: 256 },
        "16",
        "Threads that read keys that are not in memory: as many reads are under way at a time.",
    )
    .immutable()
    .own(),
    option(
        "miss-ring-depth",
        Kind::Int { min: 0, max: 1_024 },
        "256",
        "Reads of values that are not in memory that one thread has under way at a time, by \
         `io_uring`, 8 at least. Where the system refuses that, or with 0, `miss-threads` read them.",
    )
    .immutable()
    .own(),
    option(
        "cold-direct-reads",
        Kind::Enum(&["auto", "yes", "no"]),
        "auto",
        "Whether values that are not in memory are read past the system's page cache, which takes \
         half of its CPU time for a read: `auto` does where that cache could hold less than an eighth \
         of them, by the memory that `maxmemory` leaves of the machine's or the control group's. \
         It concerns reads by `io_uring`.",
    )
    .immutable()
    .own(),
    option(
        "warm-up",
        Kind::Enum(&["hot", "all", "yes", "no"]),
        "hot",
        "Which keys are loaded into memory after a start, in the background: those that were in use \
         before (`hot`), these first and then as many as there is room for (`all`, or `yes`), or none. \
         Keys in use are listed every ten minutes and at the end, in `hot/keys` under `dir`.",
    )
    .immutable()
    .own(),
    option(
        "save",
        Kind::SavePoints,
        "3600 1 300 100 60 10000",
        "Seconds and changes after which Redis writes an RDB file.",
    )
    .accepted("checkpoints follow checkpoint-log-size"),
];

/// When the journal is synced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fsync {
    /// Before the reply.
    Always,
    /// Once a second.
    EverySecond,
    /// When the kernel likes.
    Never,
}

/// Where data that is not in memory is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColdTierKind {
    /// In RocksDB under `dir`.
    RocksDb,
    /// In memory: no files, for tests.
    Memory,
}

/// Whether values are read past the page cache (`cold-direct-reads`).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum DirectReads {
    /// Where it could hold little of them.
    #[default]
    ByMemory,
    /// All.
    Always,
    /// None.
    Never,
}

/// Which keys are loaded into memory after a start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WarmUpKeys {
    /// Those that were in use before.
    Hot,
    /// These first, then all others.
    All,
    /// None.
    None,
}

/// The options of this file, ready to use.
#[derive(Debug, Clone, PartialEq)]
pub struct PersistenceSettings {
    /// `dir`, absolute.
    pub dir: PathBuf,
    /// `appendonly`.
    pub journal: bool,
    /// `appendfsync`.
    pub fsync: Fsync,
    /// `accept-data-loss`.
    pub accept_data_loss: bool,
    /// `checkpoint-log-size`.
    pub checkpoint_log_bytes: u64,
    /// `journal-segment-size`.
    pub journal_segment_bytes: u64,
    /// `cold-tier`.
    pub cold_tier: ColdTierKind,
    /// `cold-cache-size`.
    pub cold_cache_bytes: u64,
    /// `value-log-min`.
    pub value_log_bytes_min: u64,
    /// `disk-reserve`.
    pub disk_reserve_bytes: u64,
    /// `collection-row-max`.
    pub collection_row_bytes_max: u64,
    /// `miss-threads`.
    pub miss_threads: usize,
    /// `miss-ring-depth`.
    pub miss_ring_depth: usize,
    /// `cold-direct-reads`.
    pub direct_reads: DirectReads,
    /// `warm-up`.
    pub warm_up: WarmUpKeys,
}

impl PersistenceSettings {
    pub(crate) fn from_values(values: &Values) -> Self {
        PersistenceSettings {
            dir: values.directory("dir"),
            journal: values.bool("appendonly"),
            fsync: match values.word("appendfsync") {
                "always" => Fsync::Always,
                "no" => Fsync::Never,
                _ => Fsync::EverySecond,
            },
            accept_data_loss: values.bool("accept-data-loss"),
            checkpoint_log_bytes: values.number("checkpoint-log-size"),
            journal_segment_bytes: values.number("journal-segment-size"),
            cold_tier: match values.word("cold-tier") {
                "memory" => ColdTierKind::Memory,
                _ => ColdTierKind::RocksDb,
            },
            cold_cache_bytes: values.number("cold-cache-size"),
            value_log_bytes_min: values.number("value-log-min"),
            disk_reserve_bytes: values.number("disk-reserve"),
            collection_row_bytes_max: values.number("collection-row-max"),
            miss_threads: values.number("miss-threads"),
            miss_ring_depth: values.number("miss-ring-depth"),
            direct_reads: match values.word("cold-direct-reads") {
                "yes" => DirectReads::Always,
                "no" => DirectReads::Never,
                _ => DirectReads::ByMemory,
            },
            warm_up: match values.word("warm-up") {
                "no" => WarmUpKeys::None,
                "all" | "yes" => WarmUpKeys::All,
                _ => WarmUpKeys::Hot,
            },
        }
    }
}
