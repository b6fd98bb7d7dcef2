//! Sizes at which Redis changes a value's encoding.

use super::{INT, LONG, SIZE};
use crate::option::{Group, Kind, OptionSpec, effective};

const fn option(
    name: &'static str,
    kind: Kind,
    default: &'static str,
    doc: &'static str,
) -> OptionSpec {
    effective(Group::Types, name, kind, default, doc)
}

const ENCODING: &str = "Basalt chooses the form of its values itself";

pub(super) const OPTIONS: &[OptionSpec] = &[
    option("hash-max-listpack-entries", LONG, "512", "Fields up to which a hash is packed.")
        .alias("hash-max-ziplist-entries")
        .accepted(ENCODING),
    option("hash-max-listpack-value", SIZE, "64", "Bytes of a field up to which a hash is packed.")
        .alias("hash-max-ziplist-value")
        .accepted(ENCODING),
    option(
        "list-max-listpack-size",
        Kind::Int { min: i32::MIN as i64, max: i32::MAX as i64 },
        "-2",
        "Size of one node of a list.",
    )
    .alias("list-max-ziplist-size")
    .accepted(ENCODING),
    option("list-compress-depth", INT, "0", "Nodes at a list's ends that are not compressed.")
        .accepted(ENCODING),
    option(
        "set-max-intset-entries",
        LONG,
        "512",
        "Members up to which a set of integers is packed.",
    )
    .accepted(ENCODING),
    option("set-max-listpack-entries", LONG, "128", "Members up to which a set is packed.")
        .accepted(ENCODING),
    option("set-max-listpack-value", LONG, "64", "Bytes of a member up to which a set is packed.")
        .accepted(ENCODING),
    option("zset-max-listpack-entries", LONG, "128", "Members up to which a sorted set is packed.")
        .alias("zset-max-ziplist-entries")
        .accepted(ENCODING),
    option(
        "zset-max-listpack-value",
        SIZE,
        "64",
        "Bytes of a member up to which a sorted set is packed.",
    )
    .alias("zset-max-ziplist-value")
    .accepted(ENCODING),
    option("hll-sparse-max-bytes", SIZE, "3000", "Bytes up to which a HyperLogLog is sparse.")
        .accepted(ENCODING),
    option("stream-node-max-bytes", SIZE, "4096", "Bytes of one node of a stream.")
        .accepted(ENCODING),
    option("stream-node-max-entries", LONG, "100", "Entries of one node of a stream.")
        .accepted(ENCODING),
];
