//! How many clients there may be, what they may hold, and what they may do.

use super::{INT, LONG, MIB, PERMISSION};
use crate::option::{Group, Kind, OptionSpec, effective};
use crate::value::{OutputLimits, Secret};
use crate::values::Values;
use std::path::PathBuf;

const fn option(
    name: &'static str,
    kind: Kind,
    default: &'static str,
    doc: &'static str,
) -> OptionSpec {
    effective(Group::Clients, name, kind, default, doc)
}

pub(super) const OPTIONS: &[OptionSpec] = &[
    option(
        "maxclients",
        Kind::Int { min: 1, max: u32::MAX as i64 },
        "10000",
        "Most clients connected at a time; a further one is told so and disconnected.",
    ),
    option(
        "timeout",
        INT,
        "0",
        "Seconds after which an idle client is disconnected; 0 keeps it for ever.",
    ),
    option("requirepass", Kind::Text, "", "Password of the default user; empty asks for none.")
        .secret(),
    option(
        "client-query-buffer-limit",
        // One element is in one record of the journal, of at most 2 GiB, and may be nearly all of a
        // request.
        Kind::Memory { min: MIB, max: 2048 * MIB - MIB },
        "1gb",
        "Most bytes of requests that one client may have waiting; what MULTI has queued counts with all that it takes.",
    ),
    option(
        "client-output-buffer-limit",
        Kind::OutputLimits,
        "normal 0 0 0 slave 256mb 64mb 60 pubsub 32mb 8mb 60",
        "Per class of clients: bytes of replies waiting at which the client is disconnected at \
         once, bytes at which it is after some seconds, and those seconds; 0 is no limit.",
    ),
    option(
        "enable-debug-command",
        PERMISSION,
        "local",
        "Who may use DEBUG: nobody, everybody, or clients on this machine.",
    )
    .immutable(),
    option(
        "enable-protected-configs",
        PERMISSION,
        "no",
        "Who may change protected options with CONFIG SET.",
    )
    .immutable(),
    option(
        "enable-module-command",
        PERMISSION,
        "no",
        "Who may use MODULE LOAD and UNLOAD, which tell then that Basalt loads no modules.",
    )
    .immutable(),
    option(
        "maxmemory-clients",
        Kind::MemoryOrPercent,
        "0",
        "Memory of all clients together at which Redis disconnects the largest.",
    )
    .accepted("each client has its own limits instead"),
    option(
        "tracking-table-max-keys",
        LONG,
        "1000000",
        "Keys that are remembered for clients that keep copies; 0 for no limit. Beyond it random \
         ones are forgotten, and their readers told as if these had changed.",
    ),
    option("acllog-max-len", LONG, "128", "Entries that ACL LOG keeps of what was denied."),
    option(
        "aclfile",
        Kind::Text,
        "",
        "File with the users and their rights, read at start and by ACL LOAD, written by ACL SAVE.",
    )
    .immutable(),
    option(
        "acl-pubsub-default",
        Kind::Enum(&["allchannels", "resetchannels"]),
        "resetchannels",
        "Channels that a new user or selector may use: all, or none until a rule says so.",
    ),
    option("hide-user-data-from-log", Kind::Bool, "no", "Keep clients' data out of crash reports.")
        .accepted("clients' data is never logged"),
];

/// The clients that may use something dangerous.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Permission {
    /// Nobody.
    Nobody,
    /// Everybody.
    Everybody,
    /// Clients on the loopback interface or the Unix socket.
    Local,
}

/// The options of this file, ready to use.
#[derive(Debug, Clone, PartialEq)]
pub struct ClientSettings {
    /// `maxclients`.
    pub clients_max: usize,
    /// `timeout`; 0 is none.
    pub idle_timeout_s: u64,
    /// `requirepass`; `None` asks for none.
    pub password: Option<Secret>,
    /// How often `requirepass` has changed since the start: what was granted for a password ends
    /// with it, even if it comes back.
    pub password_changes: u64,
    /// `acllog-max-len`.
    pub acl_log_entries_max: usize,
    /// `aclfile`.
    pub acl_file: Option<PathBuf>,
    /// `acl-pubsub-default` is `allchannels`.
    pub new_users_have_all_channels: bool,
    /// `client-query-buffer-limit`.
    pub query_buffer_bytes_max: usize,
    /// `client-output-buffer-limit`.
    pub output_limits: OutputLimits,
    /// `tracking-table-max-keys`; 0 is no limit.
    pub tracked_keys_max: u64,
    /// `enable-debug-command`.
    pub debug_command: Permission,
    /// `enable-module-command`.
    pub module_command: Permission,
    /// `enable-protected-configs`.
    pub protected_configs: Permission,
}

impl ClientSettings {
    pub(crate) fn from_values(values: &Values) -> Self {
        ClientSettings {
            clients_max: values.number("maxclients"),
            idle_timeout_s: values.number("timeout"),
            password: values.secret("requirepass"),
            password_changes: 0,
            acl_log_entries_max: values.number("acllog-max-len"),
            acl_file: values.path("aclfile"),
            new_users_have_all_channels: values.word("acl-pubsub-default") == "allchannels",
            query_buffer_bytes_max: values.number("client-query-buffer-limit"),
            output_limits: values.output_limits("client-output-buffer-limit"),
            tracked_keys_max: values.number("tracking-table-max-keys"),
            debug_command: permission(values.word("enable-debug-command")),
            module_command: permission(values.word("enable-module-command")),
            protected_configs: permission(values.word("enable-protected-configs")),
        }
    }
}

fn permission(word: &str) -> Permission {
    match word {
        "yes" => Permission::Everybody,
        "local" => Permission::Local,
        _ => Permission::Nobody,
    }
}
