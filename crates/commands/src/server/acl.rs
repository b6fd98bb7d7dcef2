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
const HELP: &[&str] = &[
    "CAT [<category>]",
    "    List the categories, or the commands of one.",
    "DELUSER <username> [<username> ...]",
    "    Delete users; their connections are closed.",
    "DRYRUN <username> <command> [<arg> ...]",
    "    Tell whether a user may run a command, without running it.",
    "GETUSER <username>",
    "    Describe a user.",
    "GENPASS [<bits>]",
    "    Return a random password of 256 bits, or of as many as are asked for.",
    "LIST",
    "    Describe all users by the rules that make them.",
    "LOAD",
    "    Read the users from the file that aclfile names.",
    "LOG [<count> | RESET]",
    "    Show what was denied lately, or forget it.",
    "SAVE",
    "    Write the users into the file that aclfile names.",
    "SETUSER <username> <attribute> [<attribute> ...]",
    "    Make a user, or change one, by rules.",
    "USERS",
    "    List the names of all users.",
    "WHOAMI",
    "    Return the name of the connection's user.",
];

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
    run: Run::Session(|_, args, reply| help(args, HELP, reply)),
    ..Entry::DEFAULT
};
pub(super) use files::{ACL_LOAD, ACL_SAVE};
pub(super) use log::ACL_LOG;
pub(super) use look::{ACL_CAT, ACL_DRYRUN, ACL_GENPASS, ACL_WHOAMI};
pub(super) use users::{ACL_DELUSER, ACL_GETUSER, ACL_LIST, ACL_SETUSER, ACL_USERS};
