//! Redis' cluster.

use super::{INT, LONG, PORT};
use crate::option::{Group, Kind, OptionSpec, effective};

const fn option(
    name: &'static str,
    kind: Kind,
    default: &'static str,
    doc: &'static str,
) -> OptionSpec {
    effective(Group::Cluster, name, kind, default, doc)
}

const NO_CLUSTER: &str = "this server is not part of a cluster";

pub(super) const OPTIONS: &[OptionSpec] = &[
    option("cluster-enabled", Kind::Bool, "no", "Be a node of a cluster.")
        .immutable()
        .accepted(NO_CLUSTER),
    option("cluster-config-file", Kind::Text, "nodes.conf", "File that holds the cluster's state.")
        .immutable()
        .accepted(NO_CLUSTER),
    option("cluster-port", PORT, "0", "Port of the bus; 0 is the port plus 10000.")
        .immutable()
        .accepted(NO_CLUSTER),
    option(
        "cluster-node-timeout",
        LONG,
        "15000",
        "Milliseconds of silence after which a node counts as failing.",
    )
    .accepted(NO_CLUSTER),
    option("cluster-announce-ip", Kind::Text, "", "Address that other nodes are told.")
        .accepted(NO_CLUSTER),
    option("cluster-announce-hostname", Kind::HostName, "", "Host name that clients are told.")
        .accepted(NO_CLUSTER),
    option("cluster-announce-human-nodename", Kind::Text, "", "Name of the node in logs.")
        .accepted(NO_CLUSTER),
    option("cluster-announce-port", PORT, "0", "Port that other nodes are told.")
        .accepted(NO_CLUSTER),
    option("cluster-announce-tls-port", PORT, "0", "TLS port that other nodes are told.")
        .accepted(NO_CLUSTER),
    option("cluster-announce-bus-port", PORT, "0", "Port of the bus that other nodes are told.")
        .accepted(NO_CLUSTER),
    option(
        "cluster-preferred-endpoint-type",
        Kind::Enum(&["ip", "hostname", "unknown-endpoint"]),
        "ip",
        "What redirections name.",
    )
    .accepted(NO_CLUSTER),
    option(
        "cluster-require-full-coverage",
        Kind::Bool,
        "yes",
        "Refuse everything while a slot has no owner.",
    )
    .accepted(NO_CLUSTER),
    option(
        "cluster-allow-reads-when-down",
        Kind::Bool,
        "no",
        "Answer reads while the cluster is down.",
    )
    .accepted(NO_CLUSTER),
    option(
        "cluster-allow-pubsubshard-when-down",
        Kind::Bool,
        "yes",
        "Deliver shard messages while the cluster is down.",
    )
    .accepted(NO_CLUSTER),
    option(
        "cluster-allow-replica-migration",
        Kind::Bool,
        "yes",
        "Let replicas move to primaries without one.",
    )
    .accepted(NO_CLUSTER),
    option("cluster-migration-barrier", INT, "1", "Replicas that a primary keeps when one moves.")
        .accepted(NO_CLUSTER),
    option("cluster-replica-no-failover", Kind::Bool, "no", "Never promote this replica.")
        .alias("cluster-slave-no-failover")
        .accepted(NO_CLUSTER),
    option(
        "cluster-replica-validity-factor",
        INT,
        "10",
        "How stale a replica may be and still be promoted.",
    )
    .alias("cluster-slave-validity-factor")
    .accepted(NO_CLUSTER),
    option(
        "cluster-link-sendbuf-limit",
        Kind::Memory { min: 0, max: u64::MAX },
        "0",
        "Most bytes waiting for another node.",
    )
    .accepted(NO_CLUSTER),
];
