//! What is left of Redis' options: its threads, its defragmentation, its hash tables.

use super::INT;
use crate::option::{Group, Kind, OptionSpec, effective};

const fn option(
    name: &'static str,
    kind: Kind,
    default: &'static str,
    doc: &'static str,
) -> OptionSpec {
    effective(Group::RedisInternals, name, kind, default, doc)
}

const NO_DEFRAG: &str = "memory is not moved to defragment it";
const CPU_LIST: &str = "threads are not pinned; use taskset or cgroups";

pub(super) const OPTIONS: &[OptionSpec] = &[
    option("activedefrag", Kind::Bool, "no", "Move values to defragment memory.")
        .accepted(NO_DEFRAG),
    option(
        "active-defrag-ignore-bytes",
        Kind::Memory { min: 1, max: i64::MAX as u64 },
        "100mb",
        "Waste below which nothing is moved.",
    )
    .accepted(NO_DEFRAG),
    option(
        "active-defrag-threshold-lower",
        Kind::Int { min: 0, max: 1000 },
        "10",
        "Waste in percent at which moving begins.",
    )
    .accepted(NO_DEFRAG),
    option(
        "active-defrag-threshold-upper",
        Kind::Int { min: 0, max: 1000 },
        "100",
        "Waste in percent at which it is at its fastest.",
    )
    .accepted(NO_DEFRAG),
    option(
        "active-defrag-cycle-min",
        Kind::Int { min: 1, max: 99 },
        "1",
        "Least share of CPU for it, in percent.",
    )
    .accepted(NO_DEFRAG),
    option(
        "active-defrag-cycle-max",
        Kind::Int { min: 1, max: 99 },
        "25",
        "Most share of CPU for it, in percent.",
    )
    .accepted(NO_DEFRAG),
    option(
        "active-defrag-max-scan-fields",
        Kind::Int { min: 1, max: i64::MAX },
        "1000",
        "Elements above which a value is moved in steps.",
    )
    .accepted(NO_DEFRAG),
    option("activerehashing", Kind::Bool, "yes", "Grow the hash tables in idle time.")
        .accepted("tables grow step by step with the writes"),
    option("dynamic-hz", Kind::Bool, "yes", "Raise hz with the number of clients.")
        .accepted("background work has its own threads"),
    option(
        "jemalloc-bg-thread",
        Kind::Bool,
        "yes",
        "Let the allocator clean up in a thread of its own.",
    )
    .accepted("the allocator is configured at build time"),
    option("watchdog-period", INT, "0", "Milliseconds after which the software watchdog reports.")
        .hidden()
        .accepted("there is no software watchdog"),
    option("server_cpulist", Kind::Text, "", "Cores of the main thread and the I/O threads.")
        .immutable()
        .accepted(CPU_LIST),
    option("bio_cpulist", Kind::Text, "", "Cores of the background threads.")
        .immutable()
        .accepted(CPU_LIST),
    option("aof_rewrite_cpulist", Kind::Text, "", "Cores of the AOF rewrite.")
        .immutable()
        .accepted(CPU_LIST),
    option("bgsave_cpulist", Kind::Text, "", "Cores of a background save.")
        .immutable()
        .accepted(CPU_LIST),
];
