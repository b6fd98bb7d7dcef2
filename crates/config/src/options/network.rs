//! Where the server listens, with how many threads, and what the protocol may carry.

use super::{GIB, INT, MIB, PORT};
use crate::option::{Group, Kind, OptionSpec, effective};
use crate::values::Values;
use std::path::PathBuf;

const fn option(
    name: &'static str,
    kind: Kind,
    default: &'static str,
    doc: &'static str,
) -> OptionSpec {
    effective(Group::Network, name, kind, default, doc)
}

pub(super) const OPTIONS: &[OptionSpec] = &[
    option(
        "bind",
        Kind::Addresses,
        "127.0.0.1 -::1",
        "Addresses to listen on; one that begins with `-` may be missing on this machine, `*` is \
         every IPv4 address and `::*` every IPv6 address.",
    ),
    option("port", PORT, "6379", "TCP port to listen on; 0 opens none."),
    option("unixsocket", Kind::Text, "", "Path of a Unix socket to listen on.").immutable(),
    option(
        "unixsocketperm",
        Kind::Octal { max: 0o777 },
        "0",
        "Permissions of the Unix socket, in octal; 0 leaves them to the umask.",
    )
    .immutable(),
    option(
        "protected-mode",
        Kind::Bool,
        "yes",
        "Without a password, serve only clients on the loopback interface and the Unix socket.",
    ),
    option("tcp-backlog", INT, "511", "Length of the queue of connections not yet accepted.")
        .immutable(),
    option(
        "tcp-keepalive",
        INT,
        "300",
        "Seconds of silence after which the kernel probes a client; 0 sends no probes.",
    ),
    option(
        "io-threads",
        Kind::Threads { max: 1024 },
        "0",
        "Number of network threads, which also run the commands; 0 is one per core.",
    )
    .immutable(),
    option(
        "batch-commands-max",
        Kind::Int { min: 1, max: 1024 },
        "64",
        "Commands of one connection that are parsed and prefetched together.",
    )
    .own(),
    option(
        "turn-commands-max",
        Kind::Int { min: 1, max: 1 << 20 },
        "1024",
        "Commands that one connection may run before the others of its thread have a turn.",
    )
    .own(),
    option(
        "proto-max-bulk-len",
        // A key and its value, both as large as this, fit one row of the cold tier.
        Kind::Memory { min: MIB, max: 512 * MIB },
        "512mb",
        "Largest single argument of a request.",
    ),
    option(
        "proto-max-multibulk-len",
        Kind::Int { min: 1024, max: i32::MAX as i64 },
        "1048576",
        "Most arguments of one request.",
    )
    .own(),
    option(
        "proto-inline-max-size",
        Kind::Memory { min: 1024, max: GIB },
        "64kb",
        "Longest inline request, and longest line of the protocol's framing.",
    )
    .own(),
    option(
        "max-new-connections-per-cycle",
        Kind::Int { min: 1, max: 1000 },
        "10",
        "Connections that Redis accepts in one turn of its loop.",
    )
    .accepted("each network thread accepts what is waiting"),
    option("bind-source-addr", Kind::Text, "", "Local address of outgoing connections.")
        .accepted("Basalt opens no connections of its own"),
    option("io-threads-do-reads", Kind::Bool, "no", "Whether Redis' threads also read.")
        .immutable()
        .accepted("every network thread reads, runs and writes"),
    option(
        "socket-mark-id",
        Kind::Int { min: 0, max: u32::MAX as i64 },
        "0",
        "SO_MARK of sockets.",
    )
    .immutable()
    .accepted("sockets are not marked"),
];

/// An address to listen on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BindAddress {
    /// An address or a host name; `*` has become `0.0.0.0`, `::*` has become `::`.
    pub host: String,
    /// Whether the server starts without it (written with a leading `-`).
    pub optional: bool,
}

impl BindAddress {
    /// Reads one word of `bind`.
    pub fn parse(word: &str) -> BindAddress {
        let (host, optional) = match word.strip_prefix('-') {
            Some(host) => (host, true),
            None => (word, false),
        };
        let host = match host {
            "*" => "0.0.0.0",
            "::*" => "::",
            other => other,
        };
        BindAddress { host: host.to_owned(), optional }
    }
}

/// The options of this file, ready to use.
#[derive(Debug, Clone, PartialEq)]
pub struct NetworkSettings {
    /// `bind`.
    pub bind: Vec<BindAddress>,
    /// `port`; 0 is none.
    pub port: u16,
    /// `tls-port`; 0 is none.
    pub tls_port: u16,
    /// `unixsocket`.
    pub unixsocket: Option<PathBuf>,
    /// `unixsocketperm`; 0 leaves them to the umask.
    pub unixsocket_mode: u32,
    /// `protected-mode`.
    pub protected_mode: bool,
    /// `tcp-backlog`.
    pub tcp_backlog: i32,
    /// `tcp-keepalive`; 0 is off.
    pub tcp_keepalive_s: u32,
    /// `io-threads`, with 0 already resolved to the number of cores.
    pub io_threads: usize,
    /// `batch-commands-max`.
    pub batch_commands_max: usize,
    /// `turn-commands-max`.
    pub turn_commands_max: usize,
    /// `proto-max-bulk-len`.
    pub bulk_bytes_max: usize,
    /// `proto-max-multibulk-len`.
    pub multibulk_args_max: usize,
    /// `proto-inline-max-size`.
    pub inline_bytes_max: usize,
}

impl NetworkSettings {
    pub(crate) fn from_values(values: &Values) -> Self {
        NetworkSettings {
            bind: values.addresses("bind"),
            port: values.number("port"),
            tls_port: values.number("tls-port"),
            unixsocket: values.path("unixsocket"),
            unixsocket_mode: values.number("unixsocketperm"),
            protected_mode: values.bool("protected-mode"),
            tcp_backlog: values.number("tcp-backlog"),
            tcp_keepalive_s: values.number("tcp-keepalive"),
            io_threads: values.threads("io-threads"),
            batch_commands_max: values.number("batch-commands-max"),
            turn_commands_max: values.number("turn-commands-max"),
            bulk_bytes_max: values.number("proto-max-bulk-len"),
            multibulk_args_max: values.number("proto-max-multibulk-len"),
            inline_bytes_max: values.number("proto-inline-max-size"),
        }
    }
}
