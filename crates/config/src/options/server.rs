//! The process, its log, and what it measures of itself.

use super::{INT, INT_FROM_ONE, LONG, MIB};
use crate::option::{Group, Kind, OptionSpec, effective};
use crate::values::Values;
use std::path::PathBuf;

const fn option(
    name: &'static str,
    kind: Kind,
    default: &'static str,
    doc: &'static str,
) -> OptionSpec {
    effective(Group::Server, name, kind, default, doc)
}

const SHUTDOWN_WORDS: Kind = Kind::EnumSet(&["default", "save", "nosave", "now", "force"]);
const SIGNALS: &str = "a signal ends the process in good order, with everything durable";
const FOREGROUND: &str = "Basalt stays in the foreground; let systemd or a container run it";
const TITLE: &str = "the process keeps its name";
const SYSLOG: &str = "the log goes to logfile or to standard output";
const OOM: &str = "the process leaves its OOM score alone; set it where the process is started";

pub(super) const OPTIONS: &[OptionSpec] = &[
    option("databases", INT_FROM_ONE, "16", "Number of databases that SELECT can reach.")
        .immutable(),
    option(
        "loglevel",
        Kind::Enum(&["debug", "verbose", "notice", "warning"]),
        "notice",
        "The least important messages that are logged.",
    ),
    option("logfile", Kind::Text, "", "File of the log; empty is standard output.").immutable(),
    option("log-format", Kind::Enum(&["text", "json"]), "text", "Form of the log's lines.")
        .immutable()
        .own(),
    option("pidfile", Kind::Text, "", "File that holds the process number while it runs.")
        .immutable(),
    option(
        "slowlog-log-slower-than",
        Kind::Int { min: -1, max: i64::MAX },
        "10000",
        "Microseconds from which a command enters the slow log; 0 is all, -1 none.",
    ),
    option(
        "metrics-queues-max",
        Kind::Int { min: 0, max: 10_000 },
        "100",
        "Queues that metrics tell of by name, those with the most messages; the others are one.",
    )
    .own(),
    option("slowlog-max-len", LONG, "128", "Entries kept in the slow log."),
    option(
        "latency-monitor-threshold",
        LONG,
        "0",
        "Milliseconds from which the latency monitor records an event; 0 is off.",
    ),
    option(
        "shutdown-timeout",
        INT,
        "10",
        "Seconds that a shutdown may take to finish what is under way.",
    ),
    option("shutdown-on-sigint", SHUTDOWN_WORDS, "default", "What SIGINT does.").accepted(SIGNALS),
    option("shutdown-on-sigterm", SHUTDOWN_WORDS, "default", "What SIGTERM does.")
        .accepted(SIGNALS),
    option("daemonize", Kind::Bool, "no", "Go to the background.").immutable().accepted(FOREGROUND),
    option(
        "supervised",
        Kind::Enum(&["no", "upstart", "systemd", "auto"]),
        "no",
        "The supervisor to report to.",
    )
    .immutable()
    .accepted(FOREGROUND),
    option("always-show-logo", Kind::Bool, "no", "Print a logo at start.")
        .immutable()
        .accepted("there is no logo"),
    option("set-proc-title", Kind::Bool, "yes", "Change the title of the process.")
        .immutable()
        .accepted(TITLE),
    option(
        "proc-title-template",
        Kind::TitleTemplate,
        "{title} {listen-addr} {server-mode}",
        "Form of the process title.",
    )
    .accepted(TITLE),
    option("syslog-enabled", Kind::Bool, "no", "Log to syslog.").immutable().accepted(SYSLOG),
    option("syslog-ident", Kind::Text, "redis", "Name under which syslog sees the server.")
        .immutable()
        .accepted(SYSLOG),
    option(
        "syslog-facility",
        Kind::Enum(&[
            "user", "local0", "local1", "local2", "local3", "local4", "local5", "local6", "local7",
        ]),
        "local0",
        "Facility of syslog.",
    )
    .immutable()
    .accepted(SYSLOG),
    option("crash-log-enabled", Kind::Bool, "yes", "Write a report when the process crashes.")
        .accepted("a crash always says where"),
    option("crash-memcheck-enabled", Kind::Bool, "yes", "Test the memory after a crash.")
        .accepted("memory is not tested after a crash"),
    option("use-exit-on-panic", Kind::Bool, "no", "End rather than abort on a failed assertion.")
        .hidden()
        .accepted("a failed assertion aborts"),
    option(
        "lua-enable-deprecated-api",
        Kind::Bool,
        "no",
        "Let scripts use functions of Lua that Redis has deprecated.",
    )
    .immutable()
    .hidden()
    .accepted("scripts never have these functions"),
    option(
        "oom-score-adj",
        Kind::Enum(&["no", "yes", "relative", "absolute"]),
        "no",
        "Tell the kernel how readily to kill the process.",
    )
    .accepted(OOM),
    option("oom-score-adj-values", Kind::OomScores, "0 200 800", "The scores by role.")
        .accepted(OOM),
    option("disable-thp", Kind::Bool, "yes", "Turn transparent huge pages off for the process.")
        .immutable()
        .accepted("Basalt does not fork, so huge pages do it no harm"),
    option(
        "latency-tracking",
        Kind::Bool,
        "yes",
        "Keep a histogram of latencies per command, for LATENCY HISTOGRAM and INFO latencystats.",
    ),
    option(
        "latency-tracking-info-percentiles",
        Kind::Percentiles,
        "50 99 99.9",
        "Percentiles that INFO latencystats shows.",
    ),
    option(
        "notify-keyspace-events",
        Kind::Events,
        "",
        "Classes of key events to publish: g generic, $ strings, l lists, s sets, h hashes, z sorted \
         sets, t streams, d modules, x expired, e evicted, A all of these, n new keys, m misses; and \
         where: K under the key's name, E under the event's.",
    ),
    option(
        "busy-reply-threshold",
        LONG,
        "5000",
        "Milliseconds after which a script is busy: commands that need what it has locked are answered \
         BUSY, and SCRIPT KILL ends it if it has changed nothing.",
    )
    .alias("lua-time-limit"),
    option(
        "script-time-max",
        LONG,
        "60000",
        "Milliseconds after which a script is ended with an error; 0 is never.",
    ),
    option(
        "script-memory-max",
        Kind::Memory { min: MIB, max: i64::MAX as u64 },
        "128mb",
        "Memory that the scripts of one network thread may use; one that needs more fails.",
    ),
    option(
        "debug-sleep-stops-all",
        Kind::Bool,
        "no",
        "Whether DEBUG SLEEP has the commands of all clients wait, as in Redis, where it stops the \
         server; otherwise only its own client waits.",
    )
    .own(),
    option("ignore-warnings", Kind::Text, "", "Warnings at start to leave out.")
        .accepted("the warnings that it names do not exist"),
    option("locale-collate", Kind::Text, "", "Locale by which SORT with ALPHA compares.")
        .accepted("text is compared by its bytes"),
];

/// The least important messages that are logged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogLevel {
    /// Everything.
    Debug,
    /// What is rarely of use.
    Verbose,
    /// What an operator may want to know.
    Notice,
    /// Only what needs attention.
    Warning,
}

/// Form of the log's lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogFormat {
    /// One readable line.
    Text,
    /// One JSON object a line.
    Json,
}

/// The options of this file, ready to use.
#[derive(Debug, Clone, PartialEq)]
pub struct ServerSettings {
    /// `databases`.
    pub databases: u32,
    /// `loglevel`.
    pub log_level: LogLevel,
    /// `logfile`; `None` is standard output.
    pub log_file: Option<PathBuf>,
    /// `log-format`.
    pub log_format: LogFormat,
    /// `pidfile`.
    pub pid_file: Option<PathBuf>,
    /// `slowlog-log-slower-than`; 0 is all, -1 none.
    pub slowlog_slower_than_us: i64,
    /// `metrics-queues-max`.
    pub metrics_queues_max: usize,
    /// `slowlog-max-len`.
    pub slowlog_entries_max: usize,
    /// `latency-monitor-threshold`; 0 is off.
    pub latency_threshold_ms: u64,
    /// `debug-sleep-stops-all`.
    pub debug_sleep_stops_all: bool,
    /// `latency-tracking`.
    pub latency_tracking: bool,
    /// `latency-tracking-info-percentiles`.
    pub latency_percentiles: Vec<f64>,
    /// `notify-keyspace-events`, its letters; empty is off.
    pub key_event_letters: Vec<u8>,
    /// `shutdown-timeout`.
    pub shutdown_timeout_s: u64,
    /// `busy-reply-threshold`.
    pub script_busy_after_ms: u64,
    /// `script-time-max`; 0 is none.
    pub script_time_ms_max: u64,
    /// `script-memory-max`.
    pub script_memory_bytes_max: usize,
}

impl ServerSettings {
    pub(crate) fn from_values(values: &Values) -> Self {
        ServerSettings {
            databases: values.number("databases"),
            log_level: match values.word("loglevel") {
                "debug" => LogLevel::Debug,
                "verbose" => LogLevel::Verbose,
                "warning" => LogLevel::Warning,
                _ => LogLevel::Notice,
            },
            log_file: values.path("logfile"),
            log_format: match values.word("log-format") {
                "json" => LogFormat::Json,
                _ => LogFormat::Text,
            },
            pid_file: values.path("pidfile"),
            slowlog_slower_than_us: values.number("slowlog-log-slower-than"),
            metrics_queues_max: values.number("metrics-queues-max"),
            slowlog_entries_max: values.number("slowlog-max-len"),
            latency_threshold_ms: values.number("latency-monitor-threshold"),
            debug_sleep_stops_all: values.bool("debug-sleep-stops-all"),
            latency_tracking: values.bool("latency-tracking"),
            latency_percentiles: values.percentiles("latency-tracking-info-percentiles"),
            key_event_letters: values.text("notify-keyspace-events").to_vec(),
            shutdown_timeout_s: values.number("shutdown-timeout"),
            script_busy_after_ms: values.number("busy-reply-threshold"),
            script_time_ms_max: values.number("script-time-max"),
            script_memory_bytes_max: values.number("script-memory-max"),
        }
    }
}
