//! The command line of `basalt bench`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{ArgAction, Args, Parser};

use crate::error::BenchError;
use crate::keys::Distribution;
use crate::plan::{Limit, Load, Plan};
use crate::target::{Address, Target};
use crate::template::{Vocabulary, Wire};
use crate::tls;
use crate::workload::Workload;

/// Generates load for any server that speaks RESP, and reports throughput and latency.
///
/// Placeholders in --command: __key__ (a key), __rand_int__ (its number alone), __data__ (a value),
/// __keys__ and __pairs__ (as many keys, or keys with values, as --keys-per-request says),
/// __rand:N__ (a number below N).
#[derive(Debug, Parser)]
#[command(name = "bench", disable_help_flag = true, disable_version_flag = true)]
pub(crate) struct BenchArgs {
    /// Print this help
    #[arg(long, action = ArgAction::Help)]
    help: Option<bool>,
    #[command(flatten)]
    server: ServerArgs,
    #[command(flatten)]
    workload: WorkloadArgs,
    #[command(flatten)]
    load: LoadArgs,
    /// Write the report as JSON to this file; `-` prints it instead of the text
    #[arg(long, value_name = "FILE")]
    pub(crate) json: Option<PathBuf>,
    /// Show progress even if the standard error output is no terminal
    #[arg(long)]
    pub(crate) progress: bool,
    /// Also report the CPU time of this process (the server, if it runs on this machine)
    #[arg(long, value_name = "PID")]
    pub(crate) server_pid: Option<u32>,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Server")]
struct ServerArgs {
    /// Host name or address
    #[arg(short = 'h', long, default_value = "127.0.0.1")]
    host: String,
    /// TCP port
    #[arg(short, long, default_value_t = 6379)]
    port: u16,
    /// Unix socket, instead of host and port
    #[arg(short, long, value_name = "PATH")]
    socket: Option<PathBuf>,
    /// Name to authenticate with
    #[arg(long, requires = "password")]
    user: Option<String>,
    /// Password to authenticate with
    #[arg(short = 'a', long)]
    password: Option<String>,
    /// Number of the database
    #[arg(long, default_value_t = 0)]
    db: u32,
    /// Speak RESP3
    #[arg(long)]
    resp3: bool,
    /// Send the load, GET and SET, by HTTP to this port
    #[arg(long, value_name = "PORT", conflicts_with_all = ["resp3", "socket", "password", "db"])]
    http: Option<u16>,
    /// Speak TLS to a server whose certificate is signed by --cacert
    #[arg(long, requires = "cacert", conflicts_with_all = ["socket", "http"])]
    tls: bool,
    /// Certificates to trust, in PEM
    #[arg(long, value_name = "FILE", requires = "tls")]
    cacert: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Workload")]
struct WorkloadArgs {
    /// Named tests, run one after the other
    #[arg(short = 't', long = "tests", value_delimiter = ',', default_value = "set,get")]
    tests: Vec<String>,
    /// One mixed test of SET and GET in this proportion, such as 1:10
    #[arg(long, value_name = "SETS:GETS", conflicts_with = "commands")]
    ratio: Option<String>,
    /// One test of this command; several make a mix
    #[arg(long = "command", value_name = "TEMPLATE")]
    commands: Vec<String>,
    /// Weights of the --command options, in their order [default: equal]
    #[arg(long, value_delimiter = ',', requires = "commands")]
    weights: Vec<u64>,
    /// Number of different keys
    #[arg(short = 'r', long, default_value_t = 1_000_000, value_name = "KEYS")]
    keyspace: u64,
    /// uniform, zipf, zipf:THETA (default 0.99) or sequential
    #[arg(long, default_value = "uniform", value_parser = parse_distribution)]
    distribution: Distribution,
    /// Bytes of a key, prefix included
    #[arg(long, default_value_t = 16, value_name = "BYTES")]
    key_size: usize,
    /// What every key begins with
    #[arg(long, default_value = "key:")]
    key_prefix: String,
    /// Bytes of a value: a number, or a range such as 64-1024
    #[arg(short, long, default_value = "64", value_parser = parse_sizes, value_name = "BYTES")]
    data_size: (usize, usize),
    /// Keys of __keys__, __pairs__ and of the tests mget and mset
    #[arg(long, default_value_t = 10, value_name = "KEYS")]
    keys_per_request: usize,
    /// Write every key of the keyspace once before the tests
    #[arg(long = "load")]
    pub(crate) fill: bool,
    /// Seed of all random choices
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

#[derive(Debug, Args)]
#[command(next_help_heading = "Load")]
struct LoadArgs {
    /// Connections in all
    #[arg(short = 'c', long, default_value_t = 50)]
    connections: usize,
    /// Threads of load
    #[arg(long, default_value_t = 1)]
    threads: usize,
    /// Requests in flight on one connection
    #[arg(short = 'P', long, default_value_t = 1)]
    pipeline: u32,
    /// Requests of each test [default: 100000]
    #[arg(short = 'n', long, conflicts_with = "duration")]
    requests: Option<u64>,
    /// Seconds of each test
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds)]
    duration: Option<Duration>,
    /// Open loop: send this number of requests a second, and count latency from when each was due
    #[arg(long, value_name = "PER_SECOND")]
    rate: Option<f64>,
    /// Seconds of load before each test that are not counted
    #[arg(long, default_value = "0", value_name = "SECONDS", value_parser = parse_seconds)]
    warmup: Duration,
}

/// Requests of a test when nothing is said.
const REQUESTS_DEFAULT: u64 = 100_000;

impl BenchArgs {
    /// The runs that were asked for, in order.
    pub(crate) fn plans(&self) -> Result<Vec<Plan>, BenchError> {
        let vocabulary = self.vocabulary();
        vocabulary.check()?;
        let workloads = self.workloads(&vocabulary)?;
        workloads.into_iter().map(|workload| self.plan(workload, &vocabulary)).collect()
    }

    /// The run that fills the keyspace first, if one was asked for.
    pub(crate) fn fill(&self) -> Result<Option<Plan>, BenchError> {
        if !self.workload.fill {
            return Ok(None);
        }
        let vocabulary = self.vocabulary();
        vocabulary.check()?;
        let plan = self.plan(Workload::named("set", &vocabulary)?, &vocabulary)?;
        Ok(Some(plan.into_fill()?))
    }

    fn plan(&self, workload: Workload, vocabulary: &Vocabulary) -> Result<Plan, BenchError> {
        Ok(Plan {
            target: self.server.target()?,
            workload,
            vocabulary: vocabulary.clone(),
            distribution: self.workload.distribution,
            connections: self.load.connections,
            threads: self.load.threads,
            pipeline: self.load.pipeline,
            load: self.load.load(),
            warmup: self.load.warmup,
            seed: self.workload.seed,
        })
    }

    fn vocabulary(&self) -> Vocabulary {
        let args = &self.workload;
        Vocabulary {
            key_prefix: args.key_prefix.clone(),
            key_bytes: args.key_size,
            keyspace: args.keyspace,
            value_bytes_min: args.data_size.0,
            value_bytes_max: args.data_size.1,
            keys_per_request: args.keys_per_request,
            wire: if self.server.http.is_some() { Wire::Http } else { Wire::Resp },
        }
    }

    fn workloads(&self, vocabulary: &Vocabulary) -> Result<Vec<Workload>, BenchError> {
        let args = &self.workload;
        if let Some(ratio) = &args.ratio {
            let parts = ratio.split_once(':').map(|(sets, gets)| (sets.parse(), gets.parse()));
            let Some((Ok(sets), Ok(gets))) = parts else {
                let text = format!("{ratio:?} is no ratio; write it as 1:10");
                return Err(BenchError::Usage(text));
            };
            return Ok(vec![Workload::ratio(sets, gets, vocabulary)?]);
        }
        if args.commands.is_empty() {
            return args.tests.iter().map(|name| Workload::named(name, vocabulary)).collect();
        }
        if !args.weights.is_empty() && args.weights.len() != args.commands.len() {
            return Err(BenchError::Usage("give one weight for each --command".into()));
        }
        let weights = args.weights.iter().copied().chain(std::iter::repeat(1));
        let commands: Vec<(&str, u64)> =
            args.commands.iter().map(String::as_str).zip(weights).collect();
        let name = args.commands.join(" + ");
        Ok(vec![Workload::mixed(name, &commands, vocabulary)?])
    }
}

impl ServerArgs {
    fn target(&self) -> Result<Target, BenchError> {
        let trusting = |file: &PathBuf| {
            tls::trusting(file).map_err(|error| BenchError::Usage(error.to_string()))
        };
        Ok(Target {
            address: match &self.socket {
                Some(path) => Address::Unix(path.clone()),
                None => Address::Tcp { host: self.host.clone(), port: self.port },
            },
            user: self.user.clone(),
            password: self.password.clone(),
            database: self.db,
            resp_version: if self.resp3 { 3 } else { 2 },
            http: self.http.map(|port| Address::Tcp { host: self.host.clone(), port }),
            tls: self.cacert.as_ref().map(trusting).transpose()?,
        })
    }
}

impl LoadArgs {
    fn load(&self) -> Load {
        let requests = self.requests.unwrap_or(REQUESTS_DEFAULT);
        match (self.rate, self.duration) {
            (None, None) => Load::Closed(Limit::Requests(requests)),
            (None, Some(duration)) => Load::Closed(Limit::Duration(duration)),
            (Some(requests_per_second), duration) => {
                // A rate that is not positive is refused later, with a better text.
                let seconds = requests as f64 / requests_per_second.max(f64::MIN_POSITIVE);
                let by_count = Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX);
                Load::Open { requests_per_second, duration: duration.unwrap_or(by_count) }
            }
        }
    }
}

fn parse_distribution(text: &str) -> Result<Distribution, String> {
    match text.split_once(':').unwrap_or((text, "")) {
        ("uniform", "") => Ok(Distribution::Uniform),
        ("sequential", "") => Ok(Distribution::Sequential),
        ("zipf", "") => Ok(Distribution::Zipf { theta: 0.99 }),
        ("zipf", theta) => match theta.parse() {
            Ok(theta) if theta > 0.0 && theta < 100.0 => Ok(Distribution::Zipf { theta }),
            _ => Err("theta must be a number above 0 and below 100".into()),
        },
        _ => Err("choose uniform, zipf, zipf:THETA or sequential".into()),
    }
}

fn parse_sizes(text: &str) -> Result<(usize, usize), String> {
    const VALUE_BYTES_MAX: usize = 512 * 1024 * 1024;
    let (min, max) = text.split_once('-').unwrap_or((text, text));
    match (min.parse(), max.parse()) {
        (Ok(min), Ok(max)) if min <= max && max <= VALUE_BYTES_MAX => Ok((min, max)),
        _ => Err("give a size such as 64 or a range such as 64-1024, at most 512 MiB".into()),
    }
}

pub(crate) fn parse_seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "give a number of seconds".to_owned())?;
    Duration::try_from_secs_f64(seconds).map_err(|_| "seconds cannot be negative".into())
}
