//! `bench queue`: clients that wait for the messages of a queue, by three ways.
//!
//! ```text
//! all wait ▸ nobody does anything: CPU ▸ a put ▸ delivered to whoever has waited longest ▸ a put …
//! messages that come due, by the end of a delay or of a lease ▸ delivered ▸ how late
//! ```
//! The puts come one after the other, each when the one before has been delivered, so a time is
//! that of one message and not of a queue of them. The clients are served in the order in which
//! they came, which is way by way in turn. What comes due does so a few milliseconds apart, on a
//! queue with a few clients of each way; when that is, the queue itself says (Q.PEEK), and a
//! message that comes before it is early.

mod control;
mod waiters;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use clap::{ArgAction, Parser};
use hdrhistogram::Histogram;
use rustix::process::{Resource, getrlimit, setrlimit};
use serde::Serialize;

use crate::error::BenchError;
use crate::machine::Machine;
use crate::process::CpuTime;
use crate::report;
use crate::server_info::ServerInfo;
use crate::stats::latency_histogram;
use crate::target::{Address, Target};
use control::Control;
use waiters::{Waiters, Way};

/// Clients of each way that wait for what comes due.
const WAITERS_OF_DUE: usize = 4;
/// Longest time that all clients take to wait, and that a message takes.
const PATIENCE: Duration = Duration::from_secs(60);
/// Over which time messages come due, and how long from now the first one does.
const DUE_SPAN_MS: u64 = 5_000;
const DUE_LEAD_MS: u64 = 1_000;
/// Most messages that come due of each kind: what one Q.PEEK shows.
const DUE_MAX: u64 = 1_000;
/// Descriptors beside those of the clients.
const DESCRIPTORS_BESIDE: u64 = 100;

/// Has clients wait for messages by long poll, by Q.GET BLOCK and by server-sent events, and
/// reports how long a message takes to reach one, and what the clients cost meanwhile.
///
/// The server needs descriptors and --maxclients for all of them. The queues bench:queue and
/// bench:due are deleted before and afterwards.
#[derive(Debug, Parser)]
#[command(name = "bench queue", disable_help_flag = true, disable_version_flag = true)]
pub(crate) struct QueueArgs {
    /// Print this help
    #[arg(long, action = ArgAction::Help)]
    help: Option<bool>,
    /// Host name or address
    #[arg(short = 'h', long, default_value = "127.0.0.1")]
    host: String,
    /// TCP port of the Redis protocol
    #[arg(short, long, default_value_t = 6379)]
    port: u16,
    /// TCP port of HTTP
    #[arg(long, default_value_t = 8085, value_name = "PORT")]
    http: u16,
    /// Clients that wait, a third of them by each way
    #[arg(long, default_value_t = 1_000)]
    waiters: usize,
    /// Messages that are put and delivered
    #[arg(long, default_value_t = 2_000)]
    puts: u64,
    /// Messages that come due by the end of a delay, and as many by that of a lease; 1000 at most
    #[arg(long, default_value_t = 500)]
    delays: u64,
    /// Seconds in which the clients wait and nothing happens
    #[arg(long, default_value_t = 5, value_name = "SECONDS")]
    idle: u64,
    /// Also report the CPU time of this process (the server, if it runs on this machine)
    #[arg(long, value_name = "PID")]
    server_pid: Option<u32>,
    /// Write the report as JSON to this file; `-` prints it instead of the text
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// What was measured.
#[derive(Debug, Serialize)]
struct Report {
    machine: Machine,
    server: ServerInfo,
    waiters: usize,
    /// Share of one core that the server used while all clients waited.
    idle_cpu_percent: Option<f64>,
    /// From before the put was sent until the message had come.
    put_to_delivery: Vec<Row>,
    /// Beyond the time at which a message came due.
    lateness: Vec<Row>,
}

/// Times of one kind.
#[derive(Debug, Serialize)]
struct Row {
    what: &'static str,
    messages: u64,
    p50_ms: f64,
    p99_ms: f64,
    max_ms: f64,
    /// Messages that came before their time.
    early: u64,
}

impl Row {
    fn of(what: &'static str, times: &Histogram<u64>, early: u64) -> Row {
        let at = |quantile| times.value_at_quantile(quantile) as f64 / 1e6;
        Row {
            what,
            messages: times.len(),
            p50_ms: at(0.5),
            p99_ms: at(0.99),
            max_ms: if times.is_empty() { 0.0 } else { times.max() as f64 / 1e6 },
            early,
        }
    }

    fn text(&self) -> String {
        let Row { what, messages, p50_ms, p99_ms, max_ms, early } = self;
        let early = if *early > 0 { format!("  EARLY: {early}") } else { String::new() };
        format!("{what:20} {messages:9} {p50_ms:9.3} {p99_ms:9.3} {max_ms:9.3}{early}\n")
    }
}

pub(crate) fn run(args: &QueueArgs) -> Result<(), BenchError> {
    if args.waiters < Way::ALL.len() || args.delays > DUE_MAX {
        return Err(BenchError::Usage("3 waiters at least, and 1000 --delays at most".into()));
    }
    allow_descriptors(args.waiters as u64 + DESCRIPTORS_BESIDE)?;
    let target = Target::local(args.port);
    let host = || args.host.clone();
    let target = Target { address: Address::Tcp { host: host(), port: args.port }, ..target };
    let http = Target { address: Address::Tcp { host: host(), port: args.http }, ..target.clone() };
    let mut control = Control::connect(&target)?;
    let (idle_cpu_percent, put_to_delivery) = puts(args, (&target, &http), &mut control)?;
    let lateness = if args.delays > 0 {
        dues(args.delays, (&target, &http), &mut control)?
    } else {
        Vec::new()
    };
    let (machine, server) = (Machine::look(), ServerInfo::ask(&target)?);
    let waiters = args.waiters;
    let report = Report { machine, server, waiters, idle_cpu_percent, put_to_delivery, lateness };
    if args.json.as_deref() != Some(Path::new("-")) {
        report::print(&text(&report))?;
    }
    args.json.as_deref().map_or(Ok(()), |path| report::write_json(&report, path))
}

fn text(report: &Report) -> String {
    let mut text = format!(
        "machine: {}\nserver: {}\n\n{} clients wait\n",
        report.machine.summary(),
        report.server.summary(),
        report.waiters
    );
    if let Some(percent) = report.idle_cpu_percent {
        text.push_str(&format!("server CPU while nothing happens: {percent:.2}% of a core\n"));
    }
    for (title, rows) in
        [("put to delivery", &report.put_to_delivery), ("late by", &report.lateness)]
    {
        let head = ["messages", "P50 ms", "P99 ms", "longest"];
        text.push_str(&format!("\n{title:20}"));
        text.extend(head.map(|word| format!(" {word:>9}")));
        text.push('\n');
        text.extend(rows.iter().map(Row::text));
    }
    text
}

/// Raises the limit of descriptors.
fn allow_descriptors(count: u64) -> Result<(), BenchError> {
    let mut limit = getrlimit(Resource::Nofile);
    if limit.current.is_none_or(|current| current >= count) {
        return Ok(());
    }
    limit.current = limit.maximum;
    let is_enough = limit.maximum.is_none_or(|maximum| maximum >= count);
    if !is_enough || setrlimit(Resource::Nofile, limit).is_err() {
        let text = format!("{count} open files are needed; raise the limit with ulimit -n");
        return Err(BenchError::Usage(text));
    }
    Ok(())
}

/// Has all clients wait, and then puts message after message.
fn puts(
    args: &QueueArgs,
    (target, http): (&Target, &Target),
    control: &mut Control,
) -> Result<(Option<f64>, Vec<Row>), BenchError> {
    let queue = "bench:queue";
    control.call(&["DEL", queue])?;
    let mut waiters = Waiters::begin(args.waiters, queue, (target, http))?;
    wait_for_all(args.waiters, &mut waiters, control)?;
    let idle = args.server_pid.map(|pid| {
        let (before, begun) = (CpuTime::of(pid), Instant::now());
        std::thread::sleep(Duration::from_secs(args.idle));
        let used_ns = CpuTime::of(pid).since(before).own_ns;
        used_ns as f64 / 1e7 / begun.elapsed().as_secs_f64()
    });
    let mut times = Way::ALL.map(|_| latency_histogram());
    let mut all = latency_histogram();
    for number in 0..args.puts {
        let begun = Instant::now();
        control.send(&["Q.PUT", queue, &waiters::body(number)])?;
        let mut come = None;
        while come.is_none() {
            if begun.elapsed() > PATIENCE {
                return Err(BenchError::Usage(format!("message {number} has not come")));
            }
            waiters.receive(PATIENCE, &mut |it, way, at| {
                if it == number {
                    come = Some((way, at));
                }
            })?;
        }
        if let Some((way, at)) = come {
            let time_ns = at.duration_since(begun).as_nanos() as u64;
            times[way as usize].saturating_record(time_ns);
            all.saturating_record(time_ns);
        }
        control.reply()?;
    }
    drop(waiters);
    control.call(&["DEL", queue])?;
    let mut rows = vec![Row::of("all", &all, 0)];
    let ways = Way::ALL.into_iter().zip(&times);
    rows.extend(ways.map(|(way, times)| Row::of(way.name(), times, 0)));
    Ok((idle, rows))
}

/// Waits until this many clients wait for a key.
fn wait_for_all(
    count: usize,
    waiters: &mut Waiters,
    control: &mut Control,
) -> Result<(), BenchError> {
    let begun = Instant::now();
    while control.blocked_clients()? < count {
        if begun.elapsed() > PATIENCE {
            let text = format!("{count} clients do not come to wait; has the server --maxclients?");
            return Err(BenchError::Usage(text));
        }
        // Heads of responses, and errors.
        waiters.receive(Duration::from_millis(10), &mut |_, _, _| ())?;
    }
    Ok(())
}

/// A message that comes due, and when it has come, unix microseconds.
struct Due {
    until_ms: u64,
    come_us: Option<u64>,
}

/// Has messages come due, by the end of a lease the first half and by that of a delay the other.
fn dues(
    count: u64,
    (target, http): (&Target, &Target),
    control: &mut Control,
) -> Result<Vec<Row>, BenchError> {
    let queue = "bench:due";
    control.call(&["DEL", queue])?;
    let after_ms = |number: u64| (DUE_LEAD_MS + number * DUE_SPAN_MS / count).to_string();
    for number in 0..count {
        control.call(&["Q.PUT", queue, &waiters::body(number)])?;
        control.call(&["Q.GET", "LEASE", &after_ms(number), "QUEUES", queue])?;
    }
    for number in 0..count {
        let body = waiters::body(count + number);
        control.call(&["Q.PUT", queue, &body, "DELAY", &after_ms(number)])?;
    }
    let mut dues: Vec<Due> = (0..2 * count).map(|_| Due { until_ms: 0, come_us: None }).collect();
    for state in ["leased", "delayed"] {
        for (number, until_ms) in control.due_times(queue, state)? {
            if let Some(due) = dues.get_mut(number as usize) {
                due.until_ms = until_ms;
            }
        }
    }
    let clients = WAITERS_OF_DUE * Way::ALL.len();
    let mut waiters = Waiters::begin(clients, queue, (target, http))?;
    wait_for_all(clients, &mut waiters, control)?;
    let ready_us = unix_us();
    let last_ms = dues.iter().map(|due| due.until_ms).max().unwrap_or(0);
    let deadline_us = last_ms * 1_000 + PATIENCE.as_micros() as u64;
    let is_left = |due: &Due| due.until_ms * 1_000 > ready_us && due.come_us.is_none();
    while dues.iter().any(is_left) && unix_us() < deadline_us {
        waiters.receive(Duration::from_secs(1), &mut |number, _, _| {
            if let Some(due) = dues.get_mut(number as usize) {
                due.come_us = Some(unix_us());
            }
        })?;
    }
    drop(waiters);
    control.call(&["DEL", queue])?;
    let (leased, delayed) = dues.split_at(count as usize);
    [("ended leases", leased), ("ended delays", delayed)]
        .into_iter()
        .map(|(what, dues)| lateness(what, dues, ready_us))
        .collect()
}

/// How late those came that were due when all clients waited.
fn lateness(what: &'static str, dues: &[Due], ready_us: u64) -> Result<Row, BenchError> {
    let (mut times, mut early) = (latency_histogram(), 0);
    for due in dues.iter().filter(|due| due.until_ms * 1_000 > ready_us) {
        let come_us = due.come_us.ok_or_else(|| {
            BenchError::Usage(format!("{what}: a message has not come within a minute"))
        })?;
        match come_us.checked_sub(due.until_ms * 1_000) {
            Some(late_us) => times.saturating_record(late_us * 1_000),
            None => early += 1,
        }
    }
    Ok(Row::of(what, &times, early))
}

fn unix_us() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    since.as_micros() as u64
}
