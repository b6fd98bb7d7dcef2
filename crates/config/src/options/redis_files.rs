//! Redis' AOF and RDB files.

use super::{INT, SIZE};
use crate::option::{Group, Kind, OptionSpec, effective};

const fn option(
    name: &'static str,
    kind: Kind,
    default: &'static str,
    doc: &'static str,
) -> OptionSpec {
    effective(Group::RedisFiles, name, kind, default, doc)
}

const NO_AOF: &str = "changes go to Basalt's own journal, not to an AOF";
const NO_RDB: &str = "data is kept by checkpoints into the cold tier, not in RDB files";
const LOADING: &str = "recovery does not load keys one by one";

pub(super) const OPTIONS: &[OptionSpec] = &[
    option("appendfilename", Kind::FileName, "appendonly.aof", "Base name of the AOF.")
        .immutable()
        .accepted(NO_AOF),
    option("appenddirname", Kind::FileName, "appendonlydir", "Directory of the AOF.")
        .immutable()
        .accepted(NO_AOF),
    option("no-appendfsync-on-rewrite", Kind::Bool, "no", "Do not sync while a file is rewritten.")
        .accepted(NO_AOF),
    option("auto-aof-rewrite-percentage", INT, "100", "Growth at which the AOF is rewritten.")
        .accepted(NO_AOF),
    option("auto-aof-rewrite-min-size", SIZE, "64mb", "Size from which the AOF is rewritten.")
        .accepted(NO_AOF),
    option("aof-load-truncated", Kind::Bool, "yes", "Start with an AOF that is cut short.")
        .accepted(NO_AOF),
    option("aof-use-rdb-preamble", Kind::Bool, "yes", "Begin a rewritten AOF with an RDB image.")
        .accepted(NO_AOF),
    option("aof-timestamp-enabled", Kind::Bool, "no", "Write times into the AOF.").accepted(NO_AOF),
    option("aof-rewrite-incremental-fsync", Kind::Bool, "yes", "Sync a rewrite piece by piece.")
        .accepted(NO_AOF),
    option("aof-disable-auto-gc", Kind::Bool, "no", "Keep old AOF files.").accepted(NO_AOF),
    option("dbfilename", Kind::FileName, "dump.rdb", "Name of the RDB file.")
        .protected()
        .accepted(NO_RDB),
    option("rdbcompression", Kind::Bool, "yes", "Compress strings in RDB files.").accepted(NO_RDB),
    option("rdbchecksum", Kind::Bool, "yes", "End RDB files with a checksum.")
        .immutable()
        .accepted(NO_RDB),
    option(
        "rdb-del-sync-files",
        Kind::Bool,
        "no",
        "Delete RDB files that only replication needed.",
    )
    .accepted(NO_RDB),
    option("rdb-save-incremental-fsync", Kind::Bool, "yes", "Sync an RDB file piece by piece.")
        .accepted(NO_RDB),
    option("stop-writes-on-bgsave-error", Kind::Bool, "yes", "Refuse writes after a failed save.")
        .accepted("writes are refused for as long as the journal cannot be written"),
    option(
        "sanitize-dump-payload",
        Kind::Enum(&["no", "yes", "clients"]),
        "no",
        "Check RESTORE's payloads deeply.",
    )
    .accepted("every payload is checked"),
    option(
        "rdb-key-save-delay",
        Kind::Int { min: i32::MIN as i64, max: i32::MAX as i64 },
        "0",
        "Microseconds to wait after each key saved.",
    )
    .hidden()
    .accepted(NO_RDB),
    option(
        "key-load-delay",
        Kind::Int { min: i32::MIN as i64, max: i32::MAX as i64 },
        "0",
        "Microseconds to wait after each key loaded.",
    )
    .hidden()
    .accepted(LOADING),
    option(
        "loading-process-events-interval-bytes",
        Kind::Int { min: 1024, max: i32::MAX as i64 },
        "2097152",
        "Bytes loaded between turns for clients.",
    )
    .hidden()
    .accepted(LOADING),
];
