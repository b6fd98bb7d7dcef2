//! [bytes ▸ resp ▸ command ▸ engine ▸ log ▸ cold]
//!
//! The program: reads the command line and hands over. It owns the order of starting and stopping
//! ([`serve`]), what commands ask of the process ([`host`]), the log output ([`logging`]) and the
//! banner. It must never contain what a library could. Its one invariant: a part is started after
//! everything that it uses and stopped before it, so that nothing acknowledged is lost on the way
//! out. Read `serve.rs` next.

mod allocator;
mod allowance;
mod banner;
mod cgroup;
mod disk_space;
mod governor;
mod host;
mod http;
mod logging;
mod peer;
mod process;
mod processor;
mod reserve;
mod serve;
mod sizes;

use basalt_config::Invocation;
use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;

#[global_allocator]
static ALLOCATOR: allocator::Allocator = allocator::Allocator;

/// Options of the allocator, which reads this symbol when it starts.
///
/// Entries and hash tables are not here: they have huge pages of their own (`basalt_keyspace`).
/// What is here comes and goes in bursts, as the buffers of a checkpoint and of compaction do. So
/// memory that has been free for a second goes back to the system, by a thread of the allocator's,
/// since a server at rest calls it too seldom; and there are no huge pages for it, which a few
/// bytes would fill.
// SAFETY: the name is jemalloc's documented hook (`jemalloc(3)`, "Tuning"), a pointer to a
// NUL-terminated string that lives for ever; nothing else in the program has that name.
// JUSTIFICATION: of 10,000,000 keys, resident after a load, over RocksDB: 1,262 MB with the
// defaults and huge pages for all, 1,056 MB so.
#[unsafe(export_name = "malloc_conf")]
pub static MALLOC_CONF: &u8 = &b"dirty_decay_ms:1000,background_thread:true\0"[0];

/// Version of this program.
const VERSION: &str = env!("CARGO_PKG_VERSION");

fn main() -> ExitCode {
    if !processor::is_new_enough() {
        return complain(processor::TOO_OLD);
    }
    let args: Vec<OsString> = std::env::args_os().collect();
    match args.get(1).and_then(|arg| arg.to_str()) {
        Some(tool @ ("bench" | "compare")) => run_tool(tool, &args),
        _ => run_server(&args[1.min(args.len())..]),
    }
}

fn run_tool(tool: &str, args: &[OsString]) -> ExitCode {
    let mut tool_args = vec![OsString::from(format!("basalt {tool}"))];
    tool_args.extend_from_slice(&args[2..]);
    match tool {
        "bench" => basalt_bench::bench(tool_args),
        _ => basalt_bench::compare(tool_args),
    }
}

fn run_server(args: &[OsString]) -> ExitCode {
    let invocation = match basalt_config::from_args(args, &mut std::io::stdin()) {
        Ok(invocation) => invocation,
        Err(error) => return fail(&error),
    };
    match invocation {
        Invocation::Help => print(&format!("{}{}", TOOLS_HELP, basalt_config::help_text())),
        Invocation::Version => print(&version_text()),
        Invocation::Run(loaded) => match serve::serve(*loaded) {
            Ok(code) => code,
            Err(error) => fail(&error),
        },
    }
}

/// One line: version, commit, what it is compatible with, and what was built in.
fn version_text() -> String {
    let features = match cfg!(feature = "rocksdb") {
        true => concat!("rocksdb ", env!("BASALT_ROCKSDB")),
        false => "none",
    };
    let careless = if cfg!(feature = "careless") { ", careless" } else { "" };
    format!(
        "basalt {VERSION} (commit {}, redis_version {}, features: {features}{careless})\n",
        env!("BASALT_COMMIT"),
        basalt_service::server::REDIS_VERSION,
    )
}

const TOOLS_HELP: &str = "\
basalt [server] [FILE] [--OPTION VALUE]...   serve (FILE in TOML or redis.conf syntax)
basalt bench --help                          load a server and report
basalt compare --help                        compare with an installed redis-server

";

fn print(text: &str) -> ExitCode {
    match std::io::stdout().write_all(text.as_bytes()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

fn fail(error: &dyn std::error::Error) -> ExitCode {
    complain(&format!("basalt: {error}\n"))
}

fn complain(text: &str) -> ExitCode {
    // Nowhere is left to report it if standard error is closed.
    let _ = std::io::stderr().write_all(text.as_bytes());
    ExitCode::FAILURE
}
