//! The one list of steps that decide whether a commit is good, and the run over it.
//!
//! Every step is announced with its duration. A failure does not stop the run: the other steps
//! still report. The last line counts all test results, plus one for each step that is not a test
//! run.

pub mod steps;
pub mod tally;

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use steps::{Kind, Step};
use tally::Tally;

/// What came of a step.
pub struct Outcome {
    /// The step's.
    pub name: String,
    /// Its results.
    pub tally: Tally,
    /// How long it took.
    pub duration: Duration,
    /// Why it did not run, or what else is to be said.
    pub note: String,
}

/// Runs all steps, or those whose names are given; true if nothing failed.
pub fn run(root: &Path, args: &[String]) -> bool {
    let steps = steps::all(root);
    if args.iter().any(|arg| arg == "--list") {
        for step in &steps {
            println!("{:<16} {}", step.name, step.command_line());
        }
        return true;
    }
    if let Some(unknown) = args.iter().find(|arg| !steps.iter().any(|step| step.name == **arg)) {
        eprintln!("no step called {unknown}: see cargo xtask ci --list");
        return false;
    }
    let chosen = steps.iter().filter(|step| args.is_empty() || args.contains(&step.name));
    let mut outcomes: Vec<Outcome> = Vec::new();
    for step in chosen {
        outcomes.push(run_step(root, step));
    }
    summarize(&outcomes)
}

/// Runs a step, announced and with its output passed on.
pub fn run_step(root: &Path, step: &Step) -> Outcome {
    println!("\n=== {} : {}", step.name, step.command_line());
    let started = Instant::now();
    let (tally, note) = match &step.unavailable {
        Some(reason) => (Tally::default(), format!("not run: {reason}")),
        None => execute(root, step),
    };
    let duration = started.elapsed();
    println!("=== {} : {} in {:.1} s {note}", step.name, tally.verdict(), duration.as_secs_f64());
    Outcome { name: step.name.clone(), tally, duration, note }
}

/// Runs the step's program with its output passed on, and counts.
fn execute(root: &Path, step: &Step) -> (Tally, String) {
    let mut command = Command::new(&step.program);
    command.args(&step.args).envs(step.env.iter().cloned()).current_dir(root);
    if matches!(step.kind, Kind::Tests) {
        command.stdout(Stdio::piped());
    }
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => return (Tally::failed(), format!("cannot start {}: {error}", step.program)),
    };
    let mut tally = Tally::default();
    if let Some(stdout) = child.stdout.take() {
        tally = tally::pass_on(stdout);
    }
    match child.wait() {
        Ok(status) if status.success() => match step.kind {
            Kind::Tests => (tally, String::new()),
            Kind::Check => (Tally::passed(), String::new()),
        },
        // A test run that fails without a failed test did not compile or was killed.
        Ok(status) if tally.failed == 0 => (tally.plus_failure(), format!("({status})")),
        Ok(_) => (tally, String::new()),
        Err(error) => (tally.plus_failure(), format!("(cannot wait: {error})")),
    }
}

/// Prints all outcomes and their sum; returns true if nothing failed.
pub fn summarize(outcomes: &[Outcome]) -> bool {
    println!("\n=== summary");
    let mut total = Tally::default();
    for outcome in outcomes {
        let Outcome { name, tally, duration, note } = outcome;
        println!("{name:<16} {:<26} {:>7.1} s {note}", tally.verdict(), duration.as_secs_f64());
        total = total.plus(*tally);
    }
    println!("{} passed, {} failed", total.passed, total.failed);
    total.failed == 0
}
