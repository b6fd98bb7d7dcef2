//! The memory budget, and how much is done in the background.

use super::{INT, INT_FROM_ONE};
use crate::automatic::Automatic;
use crate::option::{Group, Kind, OptionSpec, effective};
use crate::values::Values;

const fn option(
    name: &'static str,
    kind: Kind,
    default: &'static str,
    doc: &'static str,
) -> OptionSpec {
    effective(Group::Memory, name, kind, default, doc)
}

const FREQUENCY: &str = "frequencies grow and fall as with the defaults, at most once a second";

pub(super) const OPTIONS: &[OptionSpec] = &[
    option(
        "maxmemory",
        Kind::MemoryOrAuto { min: 0, max: u64::MAX, automatic: Automatic::Machine },
        "auto",
        "Memory budget of the process: its resident memory, with everything that it holds, is to \
         stay within it. `auto` is 80% of the limit of the process' control group, or 60% of the \
         machine's memory if that has none, and follows the limit when it is changed; 0 sets no \
         budget.",
    ),
    option(
        "maxmemory-policy",
        Kind::Enum(&[
            "volatile-lru",
            "volatile-lfu",
            "volatile-random",
            "volatile-ttl",
            "allkeys-lru",
            "allkeys-lfu",
            "allkeys-random",
            "noeviction",
        ]),
        "noeviction",
        "What becomes of keys when the budget is spent. noeviction deletes none: keys leave memory and \
         stay on disk. allkeys-lru, allkeys-lfu and allkeys-random delete the least recently used, the \
         least frequently used, or any key, and in the end also what is on disk and does not fit into \
         memory. The volatile ones do so with keys that expire, volatile-ttl beginning with those that \
         expire soonest; if there are none in memory, keys leave memory as under noeviction.",
    ),
    option("lazyfree-lazy-eviction", Kind::Bool, "no", "Free evicted values in the background."),
    option("lazyfree-lazy-expire", Kind::Bool, "no", "Free expired values in the background."),
    option(
        "lazyfree-lazy-server-del",
        Kind::Bool,
        "no",
        "Free values that a command overwrites in the background.",
    ),
    option("lazyfree-lazy-user-del", Kind::Bool, "no", "Let DEL behave as UNLINK."),
    option(
        "lazyfree-lazy-user-flush",
        Kind::Bool,
        "no",
        "Let FLUSHDB and FLUSHALL without an argument behave as with ASYNC.",
    ),
    option(
        "active-expire-effort",
        Kind::Int { min: 1, max: 10 },
        "1",
        "How much time goes into looking for expired keys, from 1 to 10.",
    ),
    option(
        "hz",
        Kind::Clamped { low: 1, high: 500 },
        "10",
        "Times a second that background work gets a turn.",
    ),
    option(
        "maxmemory-samples",
        INT_FROM_ONE,
        "5",
        "Keys that are compared for each that maxmemory-policy deletes. More come nearer to the exact \
         order; above 64 nothing changes.",
    ),
    option(
        "maxmemory-eviction-tenacity",
        Kind::Int { min: 0, max: 100 },
        "10",
        "How long Redis goes on evicting at a time.",
    )
    .accepted("keys are deleted by a thread of its own, for which clients wait if they must"),
    option("lfu-log-factor", INT, "10", "How fast Redis' frequency counters saturate.")
        .accepted(FREQUENCY),
    option("lfu-decay-time", INT, "1", "Minutes after which Redis' frequency counters decay.")
        .accepted(FREQUENCY),
];

/// Which keys are deleted when the budget is spent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EvictionPolicy {
    /// None: keys leave memory and stay on disk.
    NoEviction,
    /// Among all keys, the least recently used.
    AllKeysLru,
    /// Among all keys, the least frequently used.
    AllKeysLfu,
    /// Any key.
    AllKeysRandom,
    /// Among keys that expire, the least recently used.
    VolatileLru,
    /// Among keys that expire, the least frequently used.
    VolatileLfu,
    /// Any key that expires.
    VolatileRandom,
    /// The key that expires soonest.
    VolatileTtl,
}

/// The options of this file, ready to use.
#[derive(Debug, Clone, PartialEq)]
pub struct MemorySettings {
    /// `maxmemory`; 0 is no budget.
    pub memory_bytes_max: u64,
    /// `maxmemory` says `auto`.
    pub is_automatic: bool,
    /// `maxmemory-policy`.
    pub eviction: EvictionPolicy,
    /// `maxmemory-samples`, at least 1.
    pub eviction_samples: u32,
    /// `lazyfree-lazy-eviction`.
    pub lazy_eviction: bool,
    /// `lazyfree-lazy-expire`.
    pub lazy_expire: bool,
    /// `lazyfree-lazy-server-del`.
    pub lazy_server_del: bool,
    /// `lazyfree-lazy-user-del`.
    pub lazy_user_del: bool,
    /// `lazyfree-lazy-user-flush`.
    pub lazy_user_flush: bool,
    /// `active-expire-effort`, 1 to 10.
    pub expire_effort: u8,
    /// `hz`, 1 to 500.
    pub hz: u32,
}

impl MemorySettings {
    pub(crate) fn from_values(values: &Values) -> Self {
        MemorySettings {
            memory_bytes_max: values.number("maxmemory"),
            is_automatic: values.is_automatic("maxmemory"),
            eviction: eviction(values.word("maxmemory-policy")),
            eviction_samples: values.number("maxmemory-samples"),
            lazy_eviction: values.bool("lazyfree-lazy-eviction"),
            lazy_expire: values.bool("lazyfree-lazy-expire"),
            lazy_server_del: values.bool("lazyfree-lazy-server-del"),
            lazy_user_del: values.bool("lazyfree-lazy-user-del"),
            lazy_user_flush: values.bool("lazyfree-lazy-user-flush"),
            expire_effort: values.number("active-expire-effort"),
            hz: values.number("hz"),
        }
    }
}

fn eviction(word: &str) -> EvictionPolicy {
    match word {
        "allkeys-lru" => EvictionPolicy::AllKeysLru,
        "allkeys-lfu" => EvictionPolicy::AllKeysLfu,
        "allkeys-random" => EvictionPolicy::AllKeysRandom,
        "volatile-lru" => EvictionPolicy::VolatileLru,
        "volatile-lfu" => EvictionPolicy::VolatileLfu,
        "volatile-random" => EvictionPolicy::VolatileRandom,
        "volatile-ttl" => EvictionPolicy::VolatileTtl,
        _ => EvictionPolicy::NoEviction,
    }
}
