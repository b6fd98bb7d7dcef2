//! bytes ▸ resp ▸ command ▸ engine ▸ log ▸ cold · \[xtask\]
//!
//! The project's own chores, run as `cargo xtask CHORE`. It owns `tidy` (the house rules that a
//! machine can check), `ci` (the one list of steps that decide whether a commit is good), `nightly`
//! (what searches for hours) and `instructions` (what GET and SET cost). It must never know how the
//! product works inside: it reads sources as text and runs programs. Its one invariant is that a
//! rule or a step that did not run is reported, never counted as passed. Read `tidy/mod.rs` next
//! for the rules, `ci/steps.rs` for the steps.

#![forbid(unsafe_code)]
// A chore talks to the person who started it; there is no server log here to go to.
#![allow(clippy::print_stdout, clippy::print_stderr)]

mod ci;
mod instructions;
mod nightly;
mod tidy;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask CHORE

  tidy [--prose]    check the house rules over all sources; print every place of prose that could be plainer
  ci [STEP...]      run all CI steps, or only the named ones
  ci --list         print the steps
  nightly [--hours H] [--seed N] [--allow-missing] [STEP...]
                    search with random seeds for H hours (2), in all steps or the named ones
  nightly --list    print the steps
  instructions [--update]
                    compare the instructions of GET and SET with the kept figures, or keep today's
";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let root = workspace_root();
    let good = match args.first().map(String::as_str) {
        Some("tidy") => tidy::run(&root, &args[1..]),
        Some("ci") => ci::run(&root, &args[1..]),
        Some("nightly") => nightly::run(&root, &args[1..]),
        Some("instructions") => instructions::run(&root, &args[1..]),
        _ => {
            eprint!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    if good { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The folder that holds the workspace's `Cargo.toml`: the parent of this package.
fn workspace_root() -> PathBuf {
    let package = std::env::var_os("CARGO_MANIFEST_DIR")
        .map(PathBuf::from)
        .unwrap_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")));
    package.parent().map(Path::to_path_buf).unwrap_or_else(|| PathBuf::from("."))
}
