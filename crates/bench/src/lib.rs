//! bytes ▸ resp ▸ command ▸ engine ▸ log ▸ cold ▸ [bench, beside them all]
//!
//! The load generator behind `basalt bench` and the comparison behind `basalt compare`.
//! It owns the client's side of a measurement: what is sent and when, how long the answer took, and
//! what the server spent on it.
//! It must never know anything of the server but its wire protocol and its `/proc` entries, so that
//! it measures every RESP server alike.
//! Its one invariant: no request that was due is left out of the numbers, however late its answer.
//! Read `plan.rs` next (what a run is), then `worker.rs` (how it is carried out).
#![forbid(unsafe_code)]

mod cli;
mod compare;
mod connection;
mod cpu_waits;
mod disk;
mod error;
mod http_scan;
mod keys;
mod machine;
mod pace;
mod plan;
mod policy;
mod process;
mod progress;
mod queue_waits;
mod random;
mod replies;
mod report;
mod run;
mod scan;
mod server_info;
mod shared;
mod stats;
mod steal;
mod target;
mod template;
mod tls;
mod worker;
mod workload;

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use clap::Parser;

use crate::cli::BenchArgs;
use crate::disk::DiskArgs;
use crate::error::BenchError;
use crate::machine::Machine;
use crate::plan::Plan;
use crate::policy::PolicyArgs;
use crate::progress::{Display, Watch};
use crate::queue_waits::QueueArgs;
use crate::report::{Report, TestReport};
use crate::server_info::ServerInfo;

/// `basalt bench`: loads a server and reports; `bench queue` has clients wait for messages, and
/// `bench disk` reads from a disk, without any server.
/// `args[0]` is the name for usage texts, such as `basalt bench`.
///
/// Returns failure if a run could not be finished; error replies are counted in the report and are
/// no failure.
pub fn bench(mut args: Vec<OsString>) -> ExitCode {
    match args.get(1).and_then(|word| word.to_str()) {
        Some("queue") => {
            args.remove(1);
            run_with::<QueueArgs>(args, queue_waits::run)
        }
        Some("disk") => {
            args.remove(1);
            run_with::<DiskArgs>(args, disk::run)
        }
        _ => run_with(args, run_bench),
    }
}

/// `basalt compare`: runs Basalt and redis-server in turn and reports ratios. `args[0]` is the name
/// for usage texts, such as `basalt compare`.
///
/// Unless told otherwise it starts this very executable with the subcommand `server` as Basalt.
pub fn compare(args: Vec<OsString>) -> ExitCode {
    run_with::<compare::CompareArgs>(args, compare::run)
}

/// `basalt-bench policy`: compares policies of eviction on traces, by models. `args[0]` is the name
/// for usage texts.
pub fn policy(args: Vec<OsString>) -> ExitCode {
    run_with::<PolicyArgs>(args, policy::run)
}

/// Parses a command line and runs what it asks for.
fn run_with<A: Parser>(
    args: Vec<OsString>,
    run: impl FnOnce(&A) -> Result<(), BenchError>,
) -> ExitCode {
    match A::try_parse_from(args) {
        Ok(args) => exit_code(run(&args)),
        Err(error) => usage(&error),
    }
}

fn usage(error: &clap::Error) -> ExitCode {
    // There is nowhere left to report a failure to print.
    let _ = error.print();
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
}

fn exit_code(result: Result<(), BenchError>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr().lock(), "error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run_bench(args: &BenchArgs) -> Result<(), BenchError> {
    let (fill, plans) = (args.fill()?, args.plans()?);
    let display = Display::choose(args.progress);
    let Some(first) = plans.first() else {
        return Err(BenchError::Usage("name at least one test".into()));
    };
    let mut report = Report {
        generator_version: env!("CARGO_PKG_VERSION"),
        machine: Machine::look(),
        server_address: first.target.address.to_string(),
        server: ServerInfo::ask(&first.target)?,
        tests: Vec::new(),
    };
    let text = args.json.as_deref() != Some(Path::new("-"));
    if text {
        let (machine, server) = (report.machine.summary(), report.server.summary());
        report::print(&format!("machine: {machine}\nserver: {server}\n\n"))?;
    }
    if let Some(plan) = fill {
        run::run(&plan, &mut Watch::new("filling", display, None))?;
    }
    for plan in &plans {
        let test = run_test(plan, display, args.server_pid)?;
        if text {
            report::print(&format!("{}\n", test.text()))?;
        }
        report.tests.push(test);
    }
    match &args.json {
        Some(path) => report::write_json(&report, path),
        None => Ok(()),
    }
}

fn run_test(
    plan: &Plan,
    display: Display,
    server_pid: Option<u32>,
) -> Result<TestReport, BenchError> {
    let mut watch = Watch::new(&plan.workload.name, display, server_pid);
    let outcome = run::run(plan, &mut watch)?;
    Ok(TestReport::new(plan, &outcome, watch.server_cpu))
}
