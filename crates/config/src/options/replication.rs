//! Redis' replication: a primary and its replicas.

use super::{INT, INT_FROM_ONE, LONG, PORT};
use crate::option::{Group, Kind, OptionSpec, effective};

const fn option(
    name: &'static str,
    kind: Kind,
    default: &'static str,
    doc: &'static str,
) -> OptionSpec {
    effective(Group::Replication, name, kind, default, doc)
}

const ALONE: &str = "this server has no replicas and follows nobody";

pub(super) const OPTIONS: &[OptionSpec] = &[
    option("replicaof", Kind::HostPort, "", "The primary to follow.")
        .alias("slaveof")
        .immutable()
        .accepted(ALONE),
    option("masterauth", Kind::Text, "", "Password that the primary asks for.")
        .secret()
        .accepted(ALONE),
    option("masteruser", Kind::Text, "", "User at the primary.").secret().accepted(ALONE),
    option("replica-serve-stale-data", Kind::Bool, "yes", "Answer while the primary is away.")
        .alias("slave-serve-stale-data")
        .accepted(ALONE),
    option("replica-read-only", Kind::Bool, "yes", "Refuse writes on a replica.")
        .alias("slave-read-only")
        .accepted(ALONE),
    option(
        "replica-lazy-flush",
        Kind::Bool,
        "no",
        "Empty a replica in the background before a full sync.",
    )
    .alias("slave-lazy-flush")
    .accepted(ALONE),
    option("replica-ignore-maxmemory", Kind::Bool, "yes", "Leave eviction to the primary.")
        .alias("slave-ignore-maxmemory")
        .accepted(ALONE),
    option(
        "replica-ignore-disk-write-errors",
        Kind::Bool,
        "no",
        "Go on when a replica cannot write.",
    )
    .accepted(ALONE),
    option("replica-announce-ip", Kind::Text, "", "Address that a replica tells its primary.")
        .alias("slave-announce-ip")
        .accepted(ALONE),
    option("replica-announce-port", PORT, "0", "Port that a replica tells its primary.")
        .alias("slave-announce-port")
        .accepted(ALONE),
    option("replica-announced", Kind::Bool, "yes", "Let the sentinels see the replica.")
        .accepted(ALONE),
    option("replica-priority", INT, "100", "Order in which the sentinels promote replicas.")
        .alias("slave-priority")
        .accepted(ALONE),
    option("repl-diskless-sync", Kind::Bool, "yes", "Send a full sync without a file.")
        .accepted(ALONE),
    option(
        "repl-diskless-sync-delay",
        INT,
        "5",
        "Seconds to wait for more replicas before a full sync.",
    )
    .accepted(ALONE),
    option("repl-diskless-sync-max-replicas", INT, "0", "Replicas that end that wait.")
        .accepted(ALONE),
    option(
        "repl-diskless-load",
        Kind::Enum(&["disabled", "on-empty-db", "swapdb"]),
        "disabled",
        "Load a full sync without a file.",
    )
    .accepted(ALONE),
    option("repl-disable-tcp-nodelay", Kind::Bool, "no", "Send fewer, larger packets to replicas.")
        .accepted(ALONE),
    option("repl-ping-replica-period", INT_FROM_ONE, "10", "Seconds between pings to replicas.")
        .alias("repl-ping-slave-period")
        .accepted(ALONE),
    option(
        "repl-timeout",
        INT_FROM_ONE,
        "60",
        "Seconds of silence after which a link counts as broken.",
    )
    .accepted(ALONE),
    option(
        "repl-backlog-size",
        Kind::Memory { min: 1, max: i64::MAX as u64 },
        "1mb",
        "Bytes of history kept for replicas that return.",
    )
    .accepted(ALONE),
    option(
        "repl-backlog-ttl",
        LONG,
        "3600",
        "Seconds that this history outlives the last replica.",
    )
    .accepted(ALONE),
    option("min-replicas-to-write", INT, "0", "Replicas without which writes are refused.")
        .alias("min-slaves-to-write")
        .accepted(ALONE),
    option("min-replicas-max-lag", INT, "10", "Seconds by which such a replica may lag.")
        .alias("min-slaves-max-lag")
        .accepted(ALONE),
    option(
        "propagation-error-behavior",
        Kind::Enum(&["ignore", "panic", "panic-on-replicas"]),
        "ignore",
        "What to do about a command that fails on a replica.",
    )
    .accepted(ALONE),
    option(
        "close-on-replica-write",
        Kind::Bool,
        "yes",
        "Drop the link to a replica that writes by itself.",
    )
    .hidden()
    .accepted(ALONE),
];
