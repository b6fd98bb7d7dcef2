//! The command line of `basalt compare`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::cli::parse_seconds;
use crate::compare::server::Contender;
use crate::error::BenchError;
use crate::template::split_words;

/// Runs Basalt and redis-server in turn on this machine and prints the ratios.
///
/// One server is alive at a time, started in an empty directory on a free port of 127.0.0.1; a
/// round is one such life of each, and the order changes from round to round. Medians are shown.
#[derive(Debug, Parser)]
#[command(name = "compare")]
pub(crate) struct CompareArgs {
    #[command(subcommand)]
    pub(crate) suite: Suite,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Suite {
    /// Throughput, latency and server CPU time per request
    Cpu {
        #[command(flatten)]
        common: CommonArgs,
        /// When the log is synced
        #[arg(long, value_enum, default_value = "everysec")]
        appendfsync: Fsync,
        /// Requests of a pipelined test; unpipelined ones have a tenth, MGET of 1000 keys a 500th
        #[arg(long, default_value_t = 3_000_000)]
        requests: u64,
        #[arg(long, default_value_t = 1_000_000)]
        keys: u64,
        /// Each side by TLS, too, beside itself without
        #[arg(long)]
        tls: bool,
        /// Each side with appendfsync always, too, beside itself with what --appendfsync says
        #[arg(long, conflicts_with = "tls")]
        always: bool,
        /// Only tests whose name contains this, such as get-p50
        #[arg(long, value_name = "NAME")]
        only: Option<String>,
    },
    /// SET with appendfsync always from 256 connections, pipeline 1 (not pinned by default)
    Always {
        #[command(flatten)]
        common: CommonArgs,
        #[arg(long, default_value_t = 100_000)]
        requests: u64,
        #[arg(long, default_value_t = 1_000_000)]
        keys: u64,
    },
    /// Resident bytes of a key, and the longest pause while loading
    Memory {
        #[command(flatten)]
        common: CommonArgs,
        /// By default as many as make 800 MB with their values: 10 million at 64 bytes
        #[arg(long)]
        keys: Option<u64>,
        /// Bytes of the values; with several sizes each server lives once for each
        #[arg(long, value_name = "SIZES", value_delimiter = ',', default_value = "64")]
        value_bytes: Vec<usize>,
    },
    /// Server CPU time per operation on every data type, pipeline 50, appendfsync everysec
    Types {
        #[command(flatten)]
        common: CommonArgs,
        /// Requests of a test; those with replies of a hundred items or more have a tenth
        #[arg(long, default_value_t = 1_000_000)]
        requests: u64,
        /// Elements of the structures that tests are run on
        #[arg(long, default_value_t = 1_000_000)]
        elements: u64,
        /// Only tests whose name contains one of these, such as zadd,hget
        #[arg(long, value_name = "NAMES", value_delimiter = ',')]
        only: Vec<String>,
    },
    /// Server CPU time of GET and SET under rules for keys, beside MONITOR, and by scripts
    Surface {
        #[command(flatten)]
        common: CommonArgs,
        /// Requests of a plain test; scripts have a quarter, monitored ones a tenth
        #[arg(long, default_value_t = 2_000_000)]
        requests: u64,
        #[arg(long, default_value_t = 100_000)]
        keys: u64,
        /// Only tests whose name contains one of these, such as fcall
        #[arg(long, value_name = "NAMES", value_delimiter = ',')]
        only: Vec<String>,
    },
    /// Bytes per element of hashes, a set, a sorted set and a list
    MemoryTypes {
        #[command(flatten)]
        common: CommonArgs,
        /// Size of the data sets; 1 is 1M small hashes, 10M integers, 5M members, 10M elements
        #[arg(long, default_value_t = 1.0)]
        scale: f64,
        /// Only data sets whose name contains one of these, such as list
        #[arg(long, value_name = "NAMES", value_delimiter = ',')]
        only: Vec<String>,
    },
    /// Time of FLUSHALL after ten small writes, again and again
    Flush {
        #[command(flatten)]
        common: CommonArgs,
        /// Flushes of a round
        #[arg(long, default_value_t = 2_000)]
        flushes: usize,
    },
    /// P99 of plain clients while others shake hands by TLS, with the server or with another one
    /// (not pinned, Basalt alone by default)
    Handshakes {
        #[command(flatten)]
        common: CommonArgs,
        /// Handshakes a second
        #[arg(long, default_value_t = 1_000.0)]
        per_second: f64,
        /// How long plain clients are measured in each phase
        #[arg(long, default_value = "2", value_name = "SECONDS", value_parser = parse_seconds)]
        seconds: Duration,
        /// Network threads of the server; with several numbers it lives once for each
        #[arg(long, value_name = "NUMBERS", value_delimiter = ',', default_value = "1,2")]
        io_threads: Vec<usize>,
    },
    /// P99 of plain clients while another one runs scripts that do not end, on the server or on
    /// another one (not pinned, Basalt alone: Redis would answer BUSY)
    Scripts {
        #[command(flatten)]
        common: CommonArgs,
        /// How long plain clients are measured in each phase
        #[arg(long, default_value = "2", value_name = "SECONDS", value_parser = parse_seconds)]
        seconds: Duration,
        /// Network threads of the server; with several numbers it lives once for each
        #[arg(long, value_name = "NUMBERS", value_delimiter = ',', default_value = "1,2")]
        io_threads: Vec<usize>,
        /// Only scripts whose name contains one of these, such as matches
        #[arg(long, value_name = "NAMES", value_delimiter = ',')]
        only: Vec<String>,
    },
    /// Server CPU time of GET and PUT by HTTP, beside Redis' protocol and nginx (Basalt alone)
    Http {
        #[command(flatten)]
        common: CommonArgs,
        /// When the log is synced
        #[arg(long, value_enum, default_value = "everysec")]
        appendfsync: Fsync,
        /// Requests of a test of small values; those of 64 KiB have a tenth, those of 16 MiB a
        /// thousandth
        #[arg(long, default_value_t = 200_000)]
        requests: u64,
        #[arg(long, default_value_t = 100_000)]
        keys: u64,
        /// nginx's executable
        #[arg(long, value_name = "PATH", default_value = "nginx")]
        nginx: PathBuf,
        /// Only tests whose name contains one of these, such as get-1k, or scrape: how long answers
        /// take at 70% of the load, alone and with /metrics fetched each second, and wrk's load
        #[arg(long, value_name = "NAMES", value_delimiter = ',')]
        only: Vec<String>,
    },
    /// Server CPU time of a message from put to acknowledgement, and its memory, beside streams
    Queue {
        #[command(flatten)]
        common: CommonArgs,
        /// Messages that are put, taken and done with
        #[arg(long, default_value_t = 500_000)]
        messages: u64,
        /// Messages that are kept, for their memory
        #[arg(long, default_value_t = 1_000_000)]
        kept: u64,
        /// beanstalkd's executable
        #[arg(long, value_name = "PATH", default_value = "beanstalkd")]
        beanstalkd: PathBuf,
        /// Only these: life, memory
        #[arg(long, value_name = "NAMES", value_delimiter = ',')]
        only: Vec<String>,
    },
    /// Data larger than memory, with bounds: reads beside the disk's own, minutes of overwriting, a
    /// restart (Basalt alone by default)
    Tier(TierArgs),
    /// The longest answers of GETs and SETs that come at a pace, while checkpoints and merges go on
    Tail {
        #[command(flatten)]
        common: CommonArgs,
        /// Keys, all of them in memory
        #[arg(long, default_value_t = 2_000_000)]
        keys: u64,
        /// Requests a second, of which a half are SETs
        #[arg(long, default_value_t = 40_000.0, value_name = "PER_SECOND")]
        rate: f64,
        /// How long they go on
        #[arg(long, default_value = "60", value_name = "SECONDS", value_parser = parse_seconds)]
        seconds: Duration,
    },
    /// Time to serve again after kill -9 under load (not pinned, Basalt alone by default)
    Restart {
        #[command(flatten)]
        common: CommonArgs,
        /// Gigabytes (10^9) of keys and values to fill before
        #[arg(long, default_value_t = 2.0)]
        gb: f64,
    },
}

/// Options of `compare tier`.
#[derive(Debug, Args)]
pub(crate) struct TierArgs {
    #[command(flatten)]
    pub(crate) common: CommonArgs,
    /// Gigabytes (10^9) of keys and values; memory is a tenth. The bounds are meant for 10
    #[arg(long, default_value_t = 2.5)]
    pub(crate) gb: f64,
    /// Bytes of the values of cold-get, blind-set and flush
    #[arg(long, value_delimiter = ',', default_value = "1024,100", value_name = "BYTES")]
    pub(crate) value_bytes: Vec<usize>,
    /// Connections of cold-get
    #[arg(long, value_delimiter = ',', default_value = "1,8,50", value_name = "CONNECTIONS")]
    pub(crate) connections: Vec<usize>,
    /// How long a load is measured
    #[arg(long, default_value = "10", value_name = "SECONDS", value_parser = parse_seconds)]
    pub(crate) seconds: Duration,
    /// How long keys are overwritten
    #[arg(long, default_value = "1", value_name = "MINUTES", value_parser = parse_minutes)]
    pub(crate) minutes: Duration,
    /// How long space is waited for after that [default: a third of the minutes, ten at most]
    #[arg(long, value_name = "MINUTES", value_parser = parse_minutes)]
    pub(crate) rest_minutes: Option<Duration>,
    /// Keys of cache-mode (1,000,000 unless given) and expiry (10,000,000)
    #[arg(long)]
    pub(crate) keys: Option<u64>,
    /// Values of maxmemory-policy for cache-mode [default: all that delete keys]
    #[arg(long, value_delimiter = ',', value_name = "POLICIES")]
    pub(crate) policies: Vec<String>,
    /// Only these: budget, cold-get, zipf, isolation, batch, hot, blind-set, overwrite, restart,
    /// flush, scan, cache-mode (beside redis-server), expiry
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub(crate) only: Vec<String>,
}

/// Options of all suites.
#[derive(Debug, Args)]
pub(crate) struct CommonArgs {
    /// Rounds
    #[arg(long, default_value_t = 5)]
    pub(crate) runs: usize,
    /// Basalt's executable [default: this one, with the subcommand server]
    #[arg(long, value_name = "PATH")]
    basalt: Option<PathBuf>,
    /// More arguments for Basalt, in one string
    #[arg(long, value_name = "ARGS", default_value = "", allow_hyphen_values = true)]
    basalt_args: String,
    #[arg(long, value_name = "PATH", default_value = "redis-server")]
    redis: PathBuf,
    /// More arguments for redis-server, in one string
    #[arg(long, value_name = "ARGS", default_value = "", allow_hyphen_values = true)]
    redis_args: String,
    /// Which servers to run
    #[arg(long, value_delimiter = ',')]
    sides: Vec<Side>,
    /// Whether server and load are pinned to one cpu each
    #[arg(long, default_value = "auto")]
    pin: Pinning,
    /// Load over a Unix socket instead of TCP
    #[arg(long)]
    pub(crate) unixsocket: bool,
    #[arg(long, default_value_t = 0)]
    server_cpu: usize,
    #[arg(long, default_value_t = 1)]
    load_cpu: usize,
    /// Where the servers' temporary directories are made [default: the system's]
    #[arg(long)]
    dir: Option<PathBuf>,
    /// Write all rounds as JSON to this file, or to the standard output (-)
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// Show progress even if the standard error output is no terminal
    #[arg(long)]
    pub(crate) progress: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Side {
    Basalt,
    Redis,
}

/// Values of the option `appendfsync` of both servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Fsync {
    Always,
    Everysec,
    No,
}

impl Fsync {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Fsync::Always => "always",
            Fsync::Everysec => "everysec",
            Fsync::No => "no",
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Pinning {
    /// As the suite says
    Auto,
    On,
    Off,
}

/// The cpus of a pinned comparison.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pins {
    pub(crate) server_cpu: usize,
    pub(crate) load_cpu: usize,
}

/// What a suite does when neither `--pin` nor `--sides` is given.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Defaults {
    pub(crate) pinned: bool,
    pub(crate) sides: &'static [Side],
}

impl CommonArgs {
    pub(crate) fn pins(&self, defaults: Defaults) -> Option<Pins> {
        let pins = Pins { server_cpu: self.server_cpu, load_cpu: self.load_cpu };
        let pinned = match self.pin {
            Pinning::Auto => defaults.pinned,
            Pinning::On => true,
            Pinning::Off => false,
        };
        pinned.then_some(pins)
    }

    pub(crate) fn contenders(&self, defaults: Defaults) -> Result<Vec<Contender>, BenchError> {
        if self.runs == 0 {
            return Err(BenchError::Usage("at least one round is needed".into()));
        }
        let sides = if self.sides.is_empty() { defaults.sides } else { &self.sides };
        sides.iter().map(|side| self.contender(*side)).collect()
    }

    /// redis-server, whether or not it is one of the sides: for what is compared with it only.
    pub(crate) fn redis(&self) -> Result<Contender, BenchError> {
        self.contender(Side::Redis)
    }

    fn contender(&self, side: Side) -> Result<Contender, BenchError> {
        let (name, program, lead, extra) = match (side, &self.basalt) {
            (Side::Redis, _) => ("redis", self.redis.clone(), Vec::new(), &self.redis_args),
            (Side::Basalt, Some(path)) => ("basalt", path.clone(), Vec::new(), &self.basalt_args),
            (Side::Basalt, None) => {
                let program = std::env::current_exe()?;
                ("basalt", program, vec![OsString::from("server")], &self.basalt_args)
            }
        };
        let extra = split_words(extra)?;
        Ok(Contender { name, program, lead, extra, tls: false, memory_max: None })
    }

    pub(crate) fn base_dir(&self) -> PathBuf {
        self.dir.clone().unwrap_or_else(std::env::temp_dir)
    }
}

fn parse_minutes(text: &str) -> Result<Duration, String> {
    const SECONDS_A_MINUTE: u32 = 60;
    let minutes = parse_seconds(text).map_err(|_| "give a number of minutes".to_owned())?;
    minutes.checked_mul(SECONDS_A_MINUTE).ok_or_else(|| "that is too long".into())
}
