//! Commands of the server family.

mod acl;
mod command;
mod command_keys;
mod config;
mod debug;
mod info;
mod metrics;
mod node;
mod save;
mod shutdown;
mod slowlog;
mod time;

use basalt_call::entry::Entry;

/// The family.
pub const COMMANDS: &[Entry] = &[
    acl::ACL,
    acl::ACL_CAT,
    acl::ACL_DELUSER,
    acl::ACL_DRYRUN,
    acl::ACL_GENPASS,
    acl::ACL_GETUSER,
    acl::ACL_HELP,
    acl::ACL_LIST,
    acl::ACL_LOAD,
    acl::ACL_LOG,
    acl::ACL_SAVE,
    acl::ACL_SETUSER,
    acl::ACL_USERS,
    acl::ACL_WHOAMI,
    command::COMMAND,
    command::COMMAND_COUNT,
    command::COMMAND_DOCS,
    command::COMMAND_HELP,
    command::COMMAND_INFO,
    command::COMMAND_LIST,
    command_keys::COMMAND_GETKEYS,
    command_keys::COMMAND_GETKEYSANDFLAGS,
    config::CONFIG,
    config::CONFIG_GET,
    config::CONFIG_HELP,
    config::CONFIG_RESETSTAT,
    config::CONFIG_REWRITE,
    config::CONFIG_SET,
    debug::DEBUG,
    info::INFO,
    metrics::METRICS,
    save::BGSAVE,
    save::LASTSAVE,
    save::SAVE,
    shutdown::SHUTDOWN,
    slowlog::SLOWLOG,
    slowlog::SLOWLOG_GET,
    slowlog::SLOWLOG_HELP,
    slowlog::SLOWLOG_LEN,
    slowlog::SLOWLOG_RESET,
    time::TIME,
];
