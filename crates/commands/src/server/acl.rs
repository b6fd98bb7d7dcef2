//! ACL: users and what they may do.

mod facts;
mod files;
mod log;
mod look;
mod users;

use crate::help::{container, help};
use basalt_call::entry::{Entry, Run};
use basalt_spec::{CommandSpec, Flag, Flags, Group, Subcommands};

/// The container and its subcommands.
pub(super) const ACL: Entry = Entry {
    spec: CommandSpec {
        name: "acl",
        group: Group::Server,
        subcommands: Subcommands::Required,
        since: "6.0.0",
        complexity: "Depends on the subcommand",
        summary: "The container of commands about users and their rights.",
        examples: &["ACL nosuch => (error) ERR unknown subcommand 'nosuch'. Try ACL HELP."],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(container),
    ..Entry::DEFAULT
};
pub(super) const ACL_HELP: Entry = Entry {
    spec: CommandSpec {
        name: "acl|help",
        group: Group::Server,
        flags: Flags::of(&[Flag::Loading, Flag::Stale]),
        since: "6.0.0",
        complexity: "O(1)",
        summary: "Lists the subcommands of ACL.",
        examples: &["ACL HELP => (any)"],
        ..CommandSpec::DEFAULT
    },
    run: Run::Session(help),
    ..Entry::DEFAULT
};
pub(super) use files::{ACL_LOAD, ACL_SAVE};
pub(super) use log::ACL_LOG;
pub(super) use look::{ACL_CAT, ACL_DRYRUN, ACL_GENPASS, ACL_WHOAMI};
pub(super) use users::{ACL_DELUSER, ACL_GETUSER, ACL_LIST, ACL_SETUSER, ACL_USERS};
