//! Where HTTP is spoken, and how much a client may send and how slowly.

use super::huststore::HustSettings;
use super::network::{BindAddress, NetworkSettings};
use super::{GIB, INT, MIB, PORT};
use crate::option::{Group, Kind, OptionSpec, effective};
use crate::peers::PeerRange;
use crate::values::Values;
use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

const fn option(
    name: &'static str,
    kind: Kind,
    default: &'static str,
    doc: &'static str,
) -> OptionSpec {
    effective(Group::Http, name, kind, default, doc).own()
}

const KIB: u64 = 1024;
/// What the largest body needs beside itself: its head, and what is read at once.
const BUFFERS_BESIDE_BODY: usize = 1 << 20;

pub(super) const OPTIONS: &[OptionSpec] = &[
    option(
        "http-port",
        PORT,
        "8085",
        "TCP port for HTTP; 0 opens none. If the default is taken, and the option was not given, the \
         server starts without it.",
    )
    .immutable(),
    option("http-tls-port", PORT, "0", "TCP port for HTTP over TLS; 0 opens none.").immutable(),
    option(
        "http-bind",
        Kind::Addresses,
        "",
        "Addresses on which HTTP listens, as those of `bind`; empty means the same.",
    )
    .immutable(),
    option("http-unixsocket", Kind::Text, "", "Path of a Unix socket on which HTTP listens.")
        .immutable(),
    option(
        "http-allow",
        Kind::Peers,
        "",
        "Clients that may connect by HTTP over TCP, separated by spaces: addresses, networks such as \
         `10.0.0.0/8`, and ranges such as `10.0.0.1-10.0.0.9`. Connections of others are closed \
         without an answer. Empty means all.",
    ),
    option(
        "http-hosts",
        Kind::Text,
        "",
        "Names, separated by spaces, under which clients without a password may call the server \
         by HTTP, beside `localhost` and addresses: others may be a web page's.",
    ),
    option(
        "http-cors-origins",
        Kind::Text,
        "",
        "Origins, separated by spaces, whose pages may use the server by HTTP, such as \
         `https://example.com`.",
    ),
    option(
        "http-login-time",
        Kind::Int { min: 1, max: 30 * 86_400 },
        "43200",
        "Seconds for which a token of `/v1/login` holds.",
    ),
    option(
        "http-logins-max",
        Kind::Int { min: 1, max: 1_000_000 },
        "10000",
        "Tokens that hold at the same time; with one more, the one goes that would end first.",
    ),
    option(
        "http-head-max",
        Kind::Memory { min: KIB, max: 65_535 },
        "16kb",
        "Largest head of an HTTP request.",
    ),
    option(
        "http-path-max",
        Kind::Memory { min: 256, max: 65_535 },
        "8kb",
        "Longest target of an HTTP request: path and query.",
    ),
    option(
        "http-body-max",
        Kind::Memory { min: KIB, max: 512 * MIB },
        "32mb",
        "Largest body of an HTTP request; `proto-max-bulk-len` limits it, too.",
    ),
    option(
        "http-buffers-max",
        Kind::Memory { min: MIB, max: 64 * GIB },
        "32mb",
        "Memory for requests by HTTP that are not wholly there, of all connections together; one \
         that finds none for 5 s is answered 503. There is always room for one of the largest.",
    ),
    option(
        "http-json-max",
        Kind::Memory { min: KIB, max: GIB },
        "16mb",
        "Largest body in JSON, and largest reply that is written as JSON.",
    ),
    option(
        "http-head-timeout",
        Kind::Int { min: 1, max: 3600 },
        "10",
        "Seconds within which the head of an HTTP request must have come; also the seconds for \
         which its body may come as slowly as it likes.",
    ),
    option(
        "http-body-rate-min",
        INT,
        "1024",
        "Bytes a second that a body must have come with after that, on average and in each minute; \
         0 is any.",
    ),
    option(
        "http-wait-max",
        Kind::Int { min: 0, max: 86_400 },
        "300",
        "Seconds for which a request by HTTP may wait for a key, whatever it asks for.",
    ),
    option(
        "http-idle-timeout",
        INT,
        "75",
        "Seconds after which an HTTP connection without a request closes; 0 is never.",
    ),
    option(
        "http-linger-timeout",
        Kind::Int { min: 0, max: 3600 },
        "10",
        "Seconds for which a client that may still be sending a request can go on, and read the \
         answer that ends its connection; what it sends is dropped. 0 closes the connection at once, \
         which such a client sees as a reset.",
    ),
    option(
        "http-linger-max",
        Kind::Memory { min: 0, max: 64 * GIB },
        "64mb",
        "Bytes that such a client can go on sending. 0 closes the connection at once.",
    ),
    option(
        "http-events-ping",
        INT,
        "15",
        "Seconds of silence after which a client that gets server-sent events is sent a sign of \
         life; 0 is never.",
    ),
    option(
        "http-socket-ping",
        INT,
        "30",
        "Seconds after which the client of a WebSocket is asked again whether it is there; one that \
         has said nothing since the last time is disconnected. 0 is never.",
    ),
    option(
        "http-message-max",
        Kind::Memory { min: 125, max: 512 * MIB },
        "1mb",
        "Largest message that the client of a WebSocket may send; `proto-max-bulk-len` limits it, \
         too.",
    ),
    option(
        "http-credit-max",
        Kind::Int { min: 1, max: 100_000 },
        "1000",
        "Messages of a queue that a client of HTTP may hold at once, to which they are sent as they \
         come.",
    ),
    option(
        "console",
        Kind::Enum(&["yes", "read-only", "no"]),
        "yes",
        "Whether HTTP has the web console under `/`; `read-only` has it change nothing. That \
         guards against slips: what users may do is decided by their rights.",
    ),
];

/// What the web console is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConsoleMode {
    /// Looking at data and changing it.
    Yes,
    /// Looking at it.
    ReadOnly,
    /// There is none.
    No,
}

/// The options of this file, ready to use.
#[derive(Debug, Clone, PartialEq)]
pub struct HttpSettings {
    /// `http-port`; 0 is none.
    pub port: u16,
    /// `http-tls-port`; 0 is none.
    pub tls_port: u16,
    /// `http-bind`; empty means `bind`.
    pub bind: Vec<BindAddress>,
    /// `http-unixsocket`.
    pub unixsocket: Option<PathBuf>,
    /// `http-allow`; empty means all.
    pub allow: Vec<PeerRange>,
    /// `http-hosts`.
    pub hosts: Vec<String>,
    /// `http-cors-origins`.
    pub cors_origins: Vec<String>,
    /// `http-login-time`.
    pub login_time: Duration,
    /// `http-logins-max`.
    pub logins_max: usize,
    /// `http-head-max`.
    pub head_bytes_max: u16,
    /// `http-path-max`.
    pub path_bytes_max: u16,
    /// `http-body-max`, or `proto-max-bulk-len` if that is less.
    pub body_bytes_max: usize,
    /// `http-buffers-max`, or as much as one of the largest bodies needs, if that is more.
    pub buffers_bytes_max: usize,
    /// `http-json-max`.
    pub json_bytes_max: usize,
    /// `http-head-timeout`.
    pub head_time_max: Duration,
    /// `http-body-rate-min`; 0 is any.
    pub body_rate_min: u64,
    /// `http-wait-max`.
    pub key_wait_max: Duration,
    /// `http-idle-timeout`; `None` is never.
    pub idle_time_max: Option<Duration>,
    /// `http-linger-timeout`; zero is not at all.
    pub linger_time_max: Duration,
    /// `http-linger-max`; 0 is not at all.
    pub linger_bytes_max: usize,
    /// `http-events-ping`; `None` is never.
    pub events_ping: Option<Duration>,
    /// `http-socket-ping`; `None` is never.
    pub socket_ping: Option<Duration>,
    /// `http-message-max`, or `proto-max-bulk-len` if that is less.
    pub message_bytes_max: usize,
    /// `http-credit-max`.
    pub credit_max: usize,
    /// `console`.
    pub console: ConsoleMode,
    /// The options of huststore's interface.
    pub hust: HustSettings,
}

impl HttpSettings {
    pub(crate) fn from_values(values: &Values) -> Self {
        let bulk_bytes_max: usize = values.number("proto-max-bulk-len");
        let seconds = |name| {
            let seconds: u64 = values.number(name);
            (seconds > 0).then(|| Duration::from_secs(seconds))
        };
        let cors_origins = String::from_utf8_lossy(values.text("http-cors-origins"));
        let hosts = String::from_utf8_lossy(values.text("http-hosts"));
        let body_bytes_max = bulk_bytes_max.min(values.number("http-body-max"));
        let buffers_bytes_max: usize = values.number("http-buffers-max");
        HttpSettings {
            port: values.number("http-port"),
            tls_port: values.number("http-tls-port"),
            bind: values.addresses("http-bind"),
            unixsocket: values.path("http-unixsocket"),
            allow: values.peers("http-allow"),
            hosts: hosts.split_whitespace().map(str::to_owned).collect(),
            cors_origins: cors_origins.split_whitespace().map(str::to_owned).collect(),
            login_time: Duration::from_secs(values.number("http-login-time")),
            logins_max: values.number("http-logins-max"),
            head_bytes_max: values.number("http-head-max"),
            path_bytes_max: values.number("http-path-max"),
            body_bytes_max,
            buffers_bytes_max: buffers_bytes_max.max(body_bytes_max + BUFFERS_BESIDE_BODY),
            json_bytes_max: values.number("http-json-max"),
            head_time_max: Duration::from_secs(values.number("http-head-timeout")),
            body_rate_min: values.number("http-body-rate-min"),
            key_wait_max: Duration::from_secs(values.number("http-wait-max")),
            idle_time_max: seconds("http-idle-timeout"),
            linger_time_max: Duration::from_secs(values.number("http-linger-timeout")),
            linger_bytes_max: values.number("http-linger-max"),
            events_ping: seconds("http-events-ping"),
            socket_ping: seconds("http-socket-ping"),
            message_bytes_max: bulk_bytes_max.min(values.number("http-message-max")),
            credit_max: values.number("http-credit-max"),
            console: match values.word("console") {
                "no" => ConsoleMode::No,
                "read-only" => ConsoleMode::ReadOnly,
                _ => ConsoleMode::Yes,
            },
            hust: HustSettings::from_values(values),
        }
    }

    /// Whether a client may connect by HTTP; `None` is one that comes through a Unix socket.
    pub fn admits(&self, peer: Option<IpAddr>) -> bool {
        let is_allowed = |peer| self.allow.iter().any(|range| range.has(peer));
        self.allow.is_empty() || peer.is_none_or(is_allowed)
    }

    /// Where the queues of huststore's interface have a port of their own; `None` if nowhere.
    pub fn listening_of_queues(&self, network: &NetworkSettings) -> Option<NetworkSettings> {
        let bind = if self.bind.is_empty() { &network.bind } else { &self.bind };
        let (port, tls_port) = (self.hust.queue_port, self.hust.queue_tls_port);
        let bind = bind.clone();
        let settings =
            NetworkSettings { bind, port, tls_port, unixsocket: None, ..network.clone() };
        ((port != 0 || tls_port != 0) && self.hust.is_on).then_some(settings)
    }

    /// Where HTTP listens, in the words of the sockets of Redis' protocol; `None` if nowhere.
    pub fn listening(&self, network: &NetworkSettings) -> Option<NetworkSettings> {
        let bind = if self.bind.is_empty() { &network.bind } else { &self.bind };
        let settings = NetworkSettings {
            bind: bind.clone(),
            port: self.port,
            tls_port: self.tls_port,
            unixsocket: self.unixsocket.clone(),
            ..network.clone()
        };
        let is_anywhere = self.port != 0 || self.tls_port != 0 || self.unixsocket.is_some();
        is_anywhere.then_some(settings)
    }
}
