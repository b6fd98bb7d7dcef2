//! Commands of the server family.

mod acl;
mod big_keys;
mod command;
mod command_keys;
mod config;
mod debug;
mod hot_keys;
mod info;
mod key_report;
mod latency;
mod lolwut;
mod memory;
mod metrics;
mod module;
mod monitor;
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
    big_keys::BIGKEYS,
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
    hot_keys::HOTKEYS,
    info::INFO,
    latency::LATENCY,
    latency::LATENCY_DOCTOR,
    latency::LATENCY_GRAPH,
    latency::LATENCY_HELP,
    latency::LATENCY_HISTOGRAM,
    latency::LATENCY_HISTORY,
    latency::LATENCY_LATEST,
    latency::LATENCY_RESET,
    lolwut::LOLWUT,
    memory::MEMORY,
    memory::MEMORY_DOCTOR,
    memory::MEMORY_HELP,
    memory::MEMORY_MALLOC_STATS,
    memory::MEMORY_PURGE,
    memory::MEMORY_STATS,
    memory::MEMORY_USAGE,
    metrics::METRICS,
    module::MODULE,
    module::MODULE_HELP,
    module::MODULE_LIST,
    module::MODULE_LOAD,
    module::MODULE_LOADEX,
    module::MODULE_UNLOAD,
    monitor::MONITOR,
    save::BGREWRITEAOF,
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
