//! CLUSTER: this server is no node of a cluster, and each of its subcommands says so.

use super::refused;
use basalt_call::entry::{Entry, Run};
use basalt_spec::{CommandSpec, Deprecated, Flag, Flags, Group, Kind, around, at};
pub(super) const CLUSTER_ADDSLOTS: Entry = Entry {
    spec: CommandSpec {
        name: "cluster|addslots",
        synopsis: "slot [slot ...]",
        group: Group::Cluster,
        flags: Flags::of(&[Flag::Admin, Flag::Stale, Flag::NoAsyncLoading]),
        since: "3.0.0",
        complexity: "O(N) with N slots",
        summary: "Assigns hash slots to this node.",
        examples: &["CLUSTER ADDSLOTS 1 => (error) ERR This instance has cluster support disabled"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(refused),
    ..Entry::DEFAULT
};
pub(super) const CLUSTER_ADDSLOTSRANGE: Entry = Entry {
    spec: CommandSpec {
        name: "cluster|addslotsrange",
        synopsis: "start-slot end-slot [start-slot end-slot ...]",
        group: Group::Cluster,
        flags: Flags::of(&[Flag::Admin, Flag::Stale, Flag::NoAsyncLoading]),
        since: "7.0.0",
        complexity: "O(N) with N slots",
        summary: "Assigns ranges of hash slots to this node.",
        examples: &[
            "CLUSTER ADDSLOTSRANGE 1 2 => (error) ERR This instance has cluster support disabled",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(refused),
    ..Entry::DEFAULT
};
pub(super) const CLUSTER_BUMPEPOCH: Entry = Entry {
    spec: CommandSpec {
        name: "cluster|bumpepoch",
        group: Group::Cluster,
        flags: Flags::of(&[Flag::Admin, Flag::Stale, Flag::NoAsyncLoading]),
        since: "3.0.0",
        complexity: "O(1)",
        summary: "Moves on this node's configuration epoch.",
        examples: &["CLUSTER BUMPEPOCH => (error) ERR This instance has cluster support disabled"],
        tips: &["nondeterministic_output"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(refused),
    ..Entry::DEFAULT
};
pub(super) const CLUSTER_COUNT_FAILURE_REPORTS: Entry = Entry {
    spec: CommandSpec {
        name: "cluster|count-failure-reports",
        synopsis: "node-id",
        group: Group::Cluster,
        flags: Flags::of(&[Flag::Admin, Flag::Stale]),
        since: "3.0.0",
        complexity: "O(N) with N reports",
        summary: "Counts the reports that a node fails.",
        examples: &[
            "CLUSTER COUNT-FAILURE-REPORTS n => (error) ERR This instance has cluster support disabled",
        ],
        tips: &["nondeterministic_output"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(refused),
    ..Entry::DEFAULT
};
pub(super) const CLUSTER_COUNTKEYSINSLOT: Entry = Entry {
    spec: CommandSpec {
        name: "cluster|countkeysinslot",
        synopsis: "slot",
        group: Group::Cluster,
        flags: Flags::of(&[Flag::Stale]),
        since: "3.0.0",
        complexity: "O(1)",
        summary: "Counts the keys of a hash slot.",
        examples: &[
            "CLUSTER COUNTKEYSINSLOT 1 => (error) ERR This instance has cluster support disabled",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(refused),
    ..Entry::DEFAULT
};
pub(super) const CLUSTER_DELSLOTS: Entry = Entry {
    spec: CommandSpec {
        name: "cluster|delslots",
        synopsis: "slot [slot ...]",
        group: Group::Cluster,
        flags: Flags::of(&[Flag::Admin, Flag::Stale, Flag::NoAsyncLoading]),
        since: "3.0.0",
        complexity: "O(N) with N slots",
        summary: "Takes hash slots from this node.",
        examples: &["CLUSTER DELSLOTS 1 => (error) ERR This instance has cluster support disabled"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(refused),
    ..Entry::DEFAULT
};
pub(super) const CLUSTER_DELSLOTSRANGE: Entry = Entry {
    spec: CommandSpec {
        name: "cluster|delslotsrange",
        synopsis: "start-slot end-slot [start-slot end-slot ...]",
        group: Group::Cluster,
        flags: Flags::of(&[Flag::Admin, Flag::Stale, Flag::NoAsyncLoading]),
        since: "7.0.0",
        complexity: "O(N) with N slots",
        summary: "Takes ranges of hash slots from this node.",
        examples: &[
            "CLUSTER DELSLOTSRANGE 1 2 => (error) ERR This instance has cluster support disabled",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(refused),
    ..Entry::DEFAULT
};
pub(super) const CLUSTER_FAILOVER: Entry = Entry {
    spec: CommandSpec {
        name: "cluster|failover",
        synopsis: "[FORCE | TAKEOVER]",
        group: Group::Cluster,
        flags: Flags::of(&[Flag::Admin, Flag::Stale, Flag::NoAsyncLoading]),
        overrides: &[around("FORCE").named("options")],
        since: "3.0.0",
        complexity: "O(1)",
        summary: "Has a replica take the place of its primary.",
        examples: &["CLUSTER FAILOVER => (error) ERR This instance has cluster support disabled"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(refused),
    ..Entry::DEFAULT
};
pub(super) const CLUSTER_FLUSHSLOTS: Entry = Entry {
    spec: CommandSpec {
        name: "cluster|flushslots",
        group: Group::Cluster,
        flags: Flags::of(&[Flag::Admin, Flag::Stale, Flag::NoAsyncLoading]),
        since: "3.0.0",
        complexity: "O(1)",
        summary: "Takes all hash slots from this node.",
        examples: &["CLUSTER FLUSHSLOTS => (error) ERR This instance has cluster support disabled"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(refused),
    ..Entry::DEFAULT
};
pub(super) const CLUSTER_FORGET: Entry = Entry {
    spec: CommandSpec {
        name: "cluster|forget",
        synopsis: "node-id",
        group: Group::Cluster,
        flags: Flags::of(&[Flag::Admin, Flag::Stale, Flag::NoAsyncLoading]),
        since: "3.0.0",
        complexity: "O(1)",
        summary: "Removes a node from the table of nodes.",
        examples: &["CLUSTER FORGET n => (error) ERR This instance has cluster support disabled"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(refused),
    ..Entry::DEFAULT
};
pub(super) const CLUSTER_GETKEYSINSLOT: Entry = Entry {
    spec: CommandSpec {
        name: "cluster|getkeysinslot",
        synopsis: "slot count",
        group: Group::Cluster,
        flags: Flags::of(&[Flag::Stale]),
        since: "3.0.0",
        complexity: "O(log N) with N keys",
        summary: "Returns some keys of a hash slot.",
        examples: &[
            "CLUSTER GETKEYSINSLOT 1 2 => (error) ERR This instance has cluster support disabled",
        ],
        tips: &["nondeterministic_output"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(refused),
    ..Entry::DEFAULT
};
pub(super) const CLUSTER_HELP: Entry = Entry {
    spec: CommandSpec {
        name: "cluster|help",
        group: Group::Cluster,
        flags: Flags::of(&[Flag::Loading, Flag::Stale]),
        since: "5.0.0",
        complexity: "O(1)",
        summary: "Lists the subcommands of CLUSTER.",
        examples: &["CLUSTER HELP => (error) ERR This instance has cluster support disabled"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(refused),
    ..Entry::DEFAULT
};
pub(super) const CLUSTER_INFO: Entry = Entry {
    spec: CommandSpec {
        name: "cluster|info",
        group: Group::Cluster,
        flags: Flags::of(&[Flag::Stale]),
        since: "3.0.0",
        complexity: "O(1)",
        summary: "Describes the state of the cluster.",
        examples: &["CLUSTER INFO => (error) ERR This instance has cluster support disabled"],
        tips: &["nondeterministic_output"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(refused),
    ..Entry::DEFAULT
};
pub(super) const CLUSTER_KEYSLOT: Entry = Entry {
    spec: CommandSpec {
        name: "cluster|keyslot",
        synopsis: "key",
        overrides: &[at("key").kind(Kind::String)],
        group: Group::Cluster,
        flags: Flags::of(&[Flag::Stale]),
        since: "3.0.0",
        complexity: "O(N) with N bytes of the key",
        summary: "Tells the hash slot of a key.",
        examples: &["CLUSTER KEYSLOT k => (error) ERR This instance has cluster support disabled"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(refused),
    ..Entry::DEFAULT
};
pub(super) const CLUSTER_LINKS: Entry = Entry {
    spec: CommandSpec {
        name: "cluster|links",
        group: Group::Cluster,
        flags: Flags::of(&[Flag::Stale]),
        since: "7.0.0",
        complexity: "O(N) with N nodes",
        summary: "Lists the connections between nodes.",
        examples: &["CLUSTER LINKS => (error) ERR This instance has cluster support disabled"],
        tips: &["nondeterministic_output"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(refused),
    ..Entry::DEFAULT
};
pub(super) const CLUSTER_MEET: Entry = Entry {
    spec: CommandSpec {
        name: "cluster|meet",
        synopsis: "ip port [cluster_bus_port]",
        group: Group::Cluster,
        flags: Flags::of(&[Flag::Admin, Flag::Stale, Flag::NoAsyncLoading]),
        overrides: &[at("cluster_bus_port").since("4.0.0")],
        since: "3.0.0",
        complexity: "O(1)",
        summary: "Introduces another node.",
        examples: &[
            "CLUSTER MEET 127.0.0.1 7000 => (error) ERR This instance has cluster support disabled",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(refused),
    ..Entry::DEFAULT
};
pub(super) const CLUSTER_MYID: Entry = Entry {
    spec: CommandSpec {
        name: "cluster|myid",
        group: Group::Cluster,
        flags: Flags::of(&[Flag::Stale]),
        since: "3.0.0",
        complexity: "O(1)",
        summary: "Tells the name of this node.",
        examples: &["CLUSTER MYID => (error) ERR This instance has cluster support disabled"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(refused),
    ..Entry::DEFAULT
};
pub(super) const CLUSTER_MYSHARDID: Entry = Entry {
    spec: CommandSpec {
        name: "cluster|myshardid",
        group: Group::Cluster,
        flags: Flags::of(&[Flag::Stale]),
        since: "7.2.0",
        complexity: "O(1)",
        summary: "Tells the name of the shard of this node.",
        examples: &["CLUSTER MYSHARDID => (error) ERR This instance has cluster support disabled"],
        tips: &["nondeterministic_output"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(refused),
    ..Entry::DEFAULT
};
pub(super) const CLUSTER_NODES: Entry = Entry {
    spec: CommandSpec {
        name: "cluster|nodes",
        group: Group::Cluster,
        flags: Flags::of(&[Flag::Stale]),
        since: "3.0.0",
        complexity: "O(N) with N nodes",
        summary: "Lists the nodes.",
        examples: &["CLUSTER NODES => (error) ERR This instance has cluster support disabled"],
        tips: &["nondeterministic_output"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(refused),
    ..Entry::DEFAULT
};
pub(super) const CLUSTER_REPLICAS: Entry = Entry {
    spec: CommandSpec {
        name: "cluster|replicas",
        synopsis: "node-id",
        group: Group::Cluster,
        flags: Flags::of(&[Flag::Admin, Flag::Stale]),
        since: "5.0.0",
        complexity: "O(1)",
        summary: "Lists the replicas of a node.",
        examples: &["CLUSTER REPLICAS n => (error) ERR This instance has cluster support disabled"],
        tips: &["nondeterministic_output"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(refused),
    ..Entry::DEFAULT
};
pub(super) const CLUSTER_REPLICATE: Entry = Entry {
    spec: CommandSpec {
        name: "cluster|replicate",
        synopsis: "node-id",
        group: Group::Cluster,
        flags: Flags::of(&[Flag::Admin, Flag::Stale, Flag::NoAsyncLoading]),
        since: "3.0.0",
        complexity: "O(1)",
        summary: "Has this node follow another.",
        examples: &[
            "CLUSTER REPLICATE n => (error) ERR This instance has cluster support disabled",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(refused),
    ..Entry::DEFAULT
};
pub(super) const CLUSTER_RESET: Entry = Entry {
    spec: CommandSpec {
        name: "cluster|reset",
        synopsis: "[HARD | SOFT]",
        group: Group::Cluster,
        flags: Flags::of(&[Flag::Admin, Flag::Noscript, Flag::Stale]),
        since: "3.0.0",
        complexity: "O(N) with N nodes",
        summary: "Has this node forget the cluster.",
        examples: &["CLUSTER RESET => (error) ERR This instance has cluster support disabled"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(refused),
    ..Entry::DEFAULT
};
pub(super) const CLUSTER_SAVECONFIG: Entry = Entry {
    spec: CommandSpec {
        name: "cluster|saveconfig",
        group: Group::Cluster,
        flags: Flags::of(&[Flag::Admin, Flag::Stale, Flag::NoAsyncLoading]),
        since: "3.0.0",
        complexity: "O(1)",
        summary: "Writes the configuration of the cluster to disk.",
        examples: &["CLUSTER SAVECONFIG => (error) ERR This instance has cluster support disabled"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(refused),
    ..Entry::DEFAULT
};
pub(super) const CLUSTER_SET_CONFIG_EPOCH: Entry = Entry {
    spec: CommandSpec {
        name: "cluster|set-config-epoch",
        synopsis: "config-epoch",
        group: Group::Cluster,
        flags: Flags::of(&[Flag::Admin, Flag::Stale, Flag::NoAsyncLoading]),
        since: "3.0.0",
        complexity: "O(1)",
        summary: "Sets this node's configuration epoch.",
        examples: &[
            "CLUSTER SET-CONFIG-EPOCH 1 => (error) ERR This instance has cluster support disabled",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(refused),
    ..Entry::DEFAULT
};
pub(super) const CLUSTER_SETSLOT: Entry = Entry {
    spec: CommandSpec {
        name: "cluster|setslot",
        synopsis: "slot <IMPORTING node-id | MIGRATING node-id | NODE node-id | STABLE>",
        group: Group::Cluster,
        flags: Flags::of(&[Flag::Admin, Flag::Stale, Flag::NoAsyncLoading]),
        overrides: &[around("STABLE").named("subcommand")],
        since: "3.0.0",
        complexity: "O(1)",
        summary: "Binds a hash slot to a node, or begins to move it.",
        examples: &[
            "CLUSTER SETSLOT 1 STABLE => (error) ERR This instance has cluster support disabled",
        ],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(refused),
    ..Entry::DEFAULT
};
pub(super) const CLUSTER_SHARDS: Entry = Entry {
    spec: CommandSpec {
        name: "cluster|shards",
        group: Group::Cluster,
        flags: Flags::of(&[Flag::Stale]),
        since: "7.0.0",
        complexity: "O(N) with N nodes",
        summary: "Lists hash slots with their nodes.",
        examples: &["CLUSTER SHARDS => (error) ERR This instance has cluster support disabled"],
        tips: &["nondeterministic_output"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(refused),
    ..Entry::DEFAULT
};
pub(super) const CLUSTER_SLAVES: Entry = Entry {
    spec: CommandSpec {
        name: "cluster|slaves",
        synopsis: "node-id",
        group: Group::Cluster,
        flags: Flags::of(&[Flag::Admin, Flag::Stale]),
        since: "3.0.0",
        complexity: "O(1)",
        summary: "Lists the replicas of a node.",
        examples: &["CLUSTER SLAVES n => (error) ERR This instance has cluster support disabled"],
        tips: &["nondeterministic_output"],
        deprecated: Some(Deprecated { since: "5.0.0", replaced_by: "CLUSTER REPLICAS" }),
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(refused),
    ..Entry::DEFAULT
};
pub(super) const CLUSTER_SLOTS: Entry = Entry {
    spec: CommandSpec {
        name: "cluster|slots",
        group: Group::Cluster,
        flags: Flags::of(&[Flag::Stale]),
        since: "3.0.0",
        complexity: "O(N) with N nodes",
        summary: "Lists ranges of hash slots with their nodes.",
        examples: &["CLUSTER SLOTS => (error) ERR This instance has cluster support disabled"],
        tips: &["nondeterministic_output"],
        deprecated: Some(Deprecated { since: "7.0.0", replaced_by: "CLUSTER SHARDS" }),
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(refused),
    ..Entry::DEFAULT
};
