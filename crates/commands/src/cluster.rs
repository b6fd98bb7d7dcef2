//! Commands of Redis Cluster. This server is no node of a cluster: all of them are refused, in
//! Redis' words for that.

mod subcommands;

use crate::help::container;
use basalt_call::context::Context;
use basalt_call::entry::{Entry, Run};
use basalt_resp::Reply;
use basalt_service::args::Args;
use basalt_service::error::CommandError;
use basalt_service::session::SessionResult;
use basalt_spec::{Categories, Category, CommandSpec, Flag, Flags, Group, Subcommands};

/// The family.
pub const COMMANDS: &[Entry] = &[
    ASKING,
    READONLY,
    READWRITE,
    CLUSTER,
    subcommands::CLUSTER_ADDSLOTS,
    subcommands::CLUSTER_ADDSLOTSRANGE,
    subcommands::CLUSTER_BUMPEPOCH,
    subcommands::CLUSTER_COUNT_FAILURE_REPORTS,
    subcommands::CLUSTER_COUNTKEYSINSLOT,
    subcommands::CLUSTER_DELSLOTS,
    subcommands::CLUSTER_DELSLOTSRANGE,
    subcommands::CLUSTER_FAILOVER,
    subcommands::CLUSTER_FLUSHSLOTS,
    subcommands::CLUSTER_FORGET,
    subcommands::CLUSTER_GETKEYSINSLOT,
    subcommands::CLUSTER_HELP,
    subcommands::CLUSTER_INFO,
    subcommands::CLUSTER_KEYSLOT,
    subcommands::CLUSTER_LINKS,
    subcommands::CLUSTER_MEET,
    subcommands::CLUSTER_MYID,
    subcommands::CLUSTER_MYSHARDID,
    subcommands::CLUSTER_NODES,
    subcommands::CLUSTER_REPLICAS,
    subcommands::CLUSTER_REPLICATE,
    subcommands::CLUSTER_RESET,
    subcommands::CLUSTER_SAVECONFIG,
    subcommands::CLUSTER_SET_CONFIG_EPOCH,
    subcommands::CLUSTER_SETSLOT,
    subcommands::CLUSTER_SHARDS,
    subcommands::CLUSTER_SLAVES,
    subcommands::CLUSTER_SLOTS,
];

const ASKING: Entry = Entry {
    spec: CommandSpec {
        name: "asking",
        group: Group::Cluster,
        flags: Flags::of(&[Flag::Fast]),
        acl: Some(Categories::of(&[Category::Connection])),
        since: "3.0.0",
        complexity: "O(1)",
        summary: "Announces a command on a slot that is being moved to this node.",
        examples: &["ASKING => (error) ERR This instance has cluster support disabled"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(refused),
    ..Entry::DEFAULT
};
const READONLY: Entry = Entry {
    spec: CommandSpec {
        name: "readonly",
        group: Group::Cluster,
        flags: Flags::of(&[Flag::Loading, Flag::Stale, Flag::Fast]),
        acl: Some(Categories::of(&[Category::Connection])),
        since: "3.0.0",
        complexity: "O(1)",
        summary: "Lets a replica answer reads of this connection.",
        examples: &["READONLY => (error) ERR This instance has cluster support disabled"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(refused),
    ..Entry::DEFAULT
};
const READWRITE: Entry = Entry {
    spec: CommandSpec {
        name: "readwrite",
        group: Group::Cluster,
        flags: Flags::of(&[Flag::Loading, Flag::Stale, Flag::Fast]),
        acl: Some(Categories::of(&[Category::Connection])),
        since: "3.0.0",
        complexity: "O(1)",
        summary: "Ends what READONLY has begun.",
        examples: &["READWRITE => (error) ERR This instance has cluster support disabled"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(refused),
    ..Entry::DEFAULT
};
const CLUSTER: Entry = Entry {
    spec: CommandSpec {
        name: "cluster",
        group: Group::Cluster,
        subcommands: Subcommands::Required,
        since: "3.0.0",
        complexity: "Depends on the subcommand",
        summary: "The container of commands about the cluster.",
        examples: &["CLUSTER NOSUCH => (error) ERR unknown subcommand 'NOSUCH'. Try CLUSTER HELP."],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(container),
    ..Entry::DEFAULT
};

fn refused(_: &mut Context<'_>, _: &Args<'_>, _: &mut Reply<'_>) -> SessionResult {
    Err(CommandError::fixed("ERR This instance has cluster support disabled"))
}
