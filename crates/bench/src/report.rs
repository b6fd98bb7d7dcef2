//! The result of `basalt bench`, as text and as JSON.

use std::fmt::Write as _;
use std::fs;
use std::io::{self, Write as _};
use std::path::Path;

use serde::Serialize;

use crate::error::BenchError;
use crate::machine::Machine;
use crate::plan::{Limit, Load, Plan};
use crate::process::CpuTime;
use crate::run::Outcome;
use crate::server_info::ServerInfo;
use crate::stats::Latency;

/// Everything that is known after all tests.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    pub(crate) generator_version: &'static str,
    pub(crate) machine: Machine,
    pub(crate) server_address: String,
    pub(crate) server: ServerInfo,
    pub(crate) tests: Vec<TestReport>,
}

/// How a test was run.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct Settings {
    pub(crate) commands: Vec<String>,
    pub(crate) connections: usize,
    pub(crate) threads: usize,
    pub(crate) pipeline: u32,
    pub(crate) load: String,
    pub(crate) warmup_seconds: f64,
    pub(crate) keyspace: u64,
    pub(crate) distribution: String,
    pub(crate) key_bytes: usize,
    pub(crate) value_bytes_min: usize,
    pub(crate) value_bytes_max: usize,
    pub(crate) keys_per_request: usize,
    pub(crate) resp_version: u8,
    pub(crate) seed: u64,
}

impl Settings {
    pub(crate) fn of(plan: &Plan) -> Self {
        let load = match plan.load {
            Load::Closed(Limit::Requests(requests)) => format!("closed loop, {requests} requests"),
            Load::Closed(Limit::Duration(duration)) => {
                format!("closed loop, {:.1} s", duration.as_secs_f64())
            }
            Load::Open { requests_per_second, duration } => format!(
                "open loop, {requests_per_second} requests/s for {:.1} s, latency from due time",
                duration.as_secs_f64()
            ),
        };
        Self {
            commands: plan.workload.commands.clone(),
            connections: plan.connections,
            threads: plan.threads,
            pipeline: plan.pipeline,
            load,
            warmup_seconds: plan.warmup.as_secs_f64(),
            keyspace: plan.vocabulary.keyspace,
            distribution: plan.distribution.to_string(),
            key_bytes: plan.vocabulary.key_bytes,
            value_bytes_min: plan.vocabulary.value_bytes_min,
            value_bytes_max: plan.vocabulary.value_bytes_max,
            keys_per_request: plan.vocabulary.keys_per_request,
            resp_version: plan.target.resp_version,
            seed: plan.seed,
        }
    }

    pub(crate) fn summary(&self) -> String {
        let values = if self.value_bytes_min == self.value_bytes_max {
            self.value_bytes_min.to_string()
        } else {
            format!("{}-{}", self.value_bytes_min, self.value_bytes_max)
        };
        format!(
            "{} connections, {} threads, pipeline {}, {} {} keys of {} bytes, values of {} bytes, {}",
            self.connections,
            self.threads,
            self.pipeline,
            self.keyspace,
            self.distribution,
            self.key_bytes,
            values,
            self.load
        )
    }
}

/// The result of one test.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct TestReport {
    pub(crate) name: String,
    pub(crate) settings: Settings,
    pub(crate) seconds: f64,
    pub(crate) requests: u64,
    pub(crate) requests_per_second: f64,
    pub(crate) errors: u64,
    pub(crate) first_error: Option<String>,
    /// Null replies: misses, in a read.
    pub(crate) nulls: u64,
    pub(crate) unfinished: u64,
    pub(crate) bytes_sent: u64,
    pub(crate) bytes_received: u64,
    pub(crate) latency: Latency,
    /// For a mix: the latency of each of its commands.
    pub(crate) latency_by_command: Vec<(String, Latency)>,
    pub(crate) client_cpu_us_per_request: f64,
    pub(crate) server_cpu_us_per_request: Option<f64>,
    pub(crate) server_children_cpu_us_per_request: Option<f64>,
    /// The part of the run in which server threads were ready but had no cpu, summed over threads.
    pub(crate) server_cpu_wait_share: Option<f64>,
}

impl TestReport {
    pub(crate) fn new(plan: &Plan, outcome: &Outcome, server_cpu: Option<CpuTime>) -> Self {
        let stats = &outcome.stats;
        let per_request = |ns: u64| ns as f64 / 1e3 / stats.completed.max(1) as f64;
        let mut latency_by_command = Vec::new();
        if plan.workload.kinds.len() > 1 {
            for (kind, histogram) in plan.workload.kinds.iter().zip(&stats.latencies) {
                latency_by_command.push((kind.template.name.clone(), Latency::of(histogram)));
            }
        }
        Self {
            name: plan.workload.name.clone(),
            settings: Settings::of(plan),
            seconds: outcome.elapsed.as_secs_f64(),
            requests: stats.completed,
            requests_per_second: outcome.requests_per_second(),
            errors: stats.tally.errors,
            first_error: stats.tally.first_error.clone(),
            nulls: stats.tally.nulls,
            unfinished: stats.unfinished,
            bytes_sent: stats.bytes_sent,
            bytes_received: stats.bytes_received,
            latency: Latency::of(&outcome.latencies()),
            latency_by_command,
            client_cpu_us_per_request: outcome.client_cpu_us_per_request(),
            server_cpu_us_per_request: server_cpu.map(|cpu| per_request(cpu.own_ns)),
            server_children_cpu_us_per_request: server_cpu.map(|cpu| per_request(cpu.children_ns)),
            server_cpu_wait_share: server_cpu
                .map(|cpu| cpu.waited_ns as f64 / outcome.elapsed.as_nanos().max(1) as f64),
        }
    }

    /// Several lines of text.
    pub(crate) fn text(&self) -> String {
        let mut text = format!("{}\n  {}\n", self.name, self.settings.summary());
        let mut line = |args: std::fmt::Arguments<'_>| {
            let _ = writeln!(text, "  {args}");
        };
        line(format_args!(
            "{:.0} requests/s: {} in {:.3} s, {} errors, {} null replies",
            self.requests_per_second, self.requests, self.seconds, self.errors, self.nulls
        ));
        if let Some(error) = &self.first_error {
            line(format_args!("first error: {error}"));
        }
        if self.unfinished > 0 {
            line(format_args!("{} requests were due but never answered", self.unfinished));
        }
        line(format_args!("latency {}", latency_text(&self.latency)));
        for (name, latency) in &self.latency_by_command {
            line(format_args!("  {name} {}", latency_text(latency)));
        }
        line(format_args!("cpu per request: client {:.3} µs", self.client_cpu_us_per_request));
        if let (Some(own), Some(children)) =
            (self.server_cpu_us_per_request, self.server_children_cpu_us_per_request)
        {
            line(format_args!(
                "cpu per request: server {own:.3} µs, its children {children:.3} µs"
            ));
        }
        text
    }
}

/// One line, in milliseconds.
pub(crate) fn latency_text(latency: &Latency) -> String {
    format!(
        "ms: mean {:.3}, p50 {:.3}, p90 {:.3}, p99 {:.3}, p99.9 {:.3}, p99.99 {:.3}, max {:.3}",
        latency.mean_us / 1e3,
        latency.p50_us / 1e3,
        latency.p90_us / 1e3,
        latency.p99_us / 1e3,
        latency.p999_us / 1e3,
        latency.p9999_us / 1e3,
        latency.max_us / 1e3
    )
}

/// Prints a line or more to the standard output.
pub(crate) fn print(text: &str) -> Result<(), BenchError> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()).map_err(BenchError::Report)
}

/// Writes `report` as JSON to `path`, or to the standard output if that is `-`.
pub(crate) fn write_json(report: &impl Serialize, path: &Path) -> Result<(), BenchError> {
    let mut json = serde_json::to_string_pretty(report)
        .map_err(|error| BenchError::Report(io::Error::other(error)))?;
    json.push('\n');
    if path == Path::new("-") {
        return print(&json);
    }
    fs::write(path, json).map_err(BenchError::Report)
}
