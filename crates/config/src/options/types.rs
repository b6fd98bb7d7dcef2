//! Sizes at which a value changes its form.

use super::{INT, LONG, SIZE};
use crate::option::{Group, Kind, OptionSpec, effective};
use crate::values::Values;

const fn option(
    name: &'static str,
    kind: Kind,
    default: &'static str,
    doc: &'static str,
) -> OptionSpec {
    effective(Group::Types, name, kind, default, doc)
}

const ENCODING: &str = "Basalt chooses the form of these values itself";

pub(super) const OPTIONS: &[OptionSpec] = &[
    option("hash-max-listpack-entries", LONG, "512", "Fields up to which a hash is packed.")
        .alias("hash-max-ziplist-entries"),
    option("hash-max-listpack-value", SIZE, "64", "Bytes of a field up to which a hash is packed.")
        .alias("hash-max-ziplist-value"),
    option(
        "list-max-listpack-size",
        Kind::Int { min: i32::MIN as i64, max: i32::MAX as i64 },
        "-2",
        "Size of one node of a list.",
    )
    .alias("list-max-ziplist-size"),
    option("list-compress-depth", INT, "0", "Nodes at a list's ends that are not compressed.")
        .accepted(ENCODING),
    option(
        "set-max-intset-entries",
        LONG,
        "512",
        "Members up to which a set of integers is packed.",
    ),
    option("set-max-listpack-entries", LONG, "128", "Members up to which a set is packed."),
    option("set-max-listpack-value", LONG, "64", "Bytes of a member up to which a set is packed."),
    option("zset-max-listpack-entries", LONG, "128", "Members up to which a sorted set is packed.")
        .alias("zset-max-ziplist-entries"),
    option(
        "zset-max-listpack-value",
        SIZE,
        "64",
        "Bytes of a member up to which a sorted set is packed.",
    )
    .alias("zset-max-ziplist-value"),
    option("hll-sparse-max-bytes", SIZE, "3000", "Bytes up to which a HyperLogLog is sparse."),
    option("stream-node-max-bytes", SIZE, "4096", "Bytes of one node of a stream."),
    option("stream-node-max-entries", LONG, "100", "Entries of one node of a stream."),
];

/// The options of this file, ready to use. Numbers beyond 32 bits count as the largest of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TypeSettings {
    /// `hash-max-listpack-entries`.
    pub hash_entries_max: u32,
    /// `hash-max-listpack-value`.
    pub hash_value_bytes_max: u32,
    /// `list-max-listpack-size`.
    pub list_node: i32,
    /// `set-max-intset-entries`.
    pub intset_entries_max: u32,
    /// `set-max-listpack-entries`.
    pub set_entries_max: u32,
    /// `set-max-listpack-value`.
    pub set_value_bytes_max: u32,
    /// `zset-max-listpack-entries`.
    pub sorted_set_entries_max: u32,
    /// `zset-max-listpack-value`.
    pub sorted_set_value_bytes_max: u32,
    /// `hll-sparse-max-bytes`.
    pub hll_sparse_bytes_max: u32,
    /// `stream-node-max-bytes`, 0 for no limit.
    pub stream_node_bytes_max: u32,
    /// `stream-node-max-entries`, 0 for no limit.
    pub stream_node_entries_max: u32,
}

impl TypeSettings {
    pub(crate) fn from_values(values: &Values) -> Self {
        let number = |name| u32::try_from(values.number::<u64>(name)).unwrap_or(u32::MAX);
        TypeSettings {
            hash_entries_max: number("hash-max-listpack-entries"),
            hash_value_bytes_max: number("hash-max-listpack-value"),
            list_node: values.number("list-max-listpack-size"),
            intset_entries_max: number("set-max-intset-entries"),
            set_entries_max: number("set-max-listpack-entries"),
            set_value_bytes_max: number("set-max-listpack-value"),
            sorted_set_entries_max: number("zset-max-listpack-entries"),
            sorted_set_value_bytes_max: number("zset-max-listpack-value"),
            hll_sparse_bytes_max: number("hll-sparse-max-bytes"),
            stream_node_bytes_max: number("stream-node-max-bytes"),
            stream_node_entries_max: number("stream-node-max-entries"),
        }
    }
}
