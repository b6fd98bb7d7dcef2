//! bytes ▸ resp ▸ command ▸ engine ▸ log ▸ cold ▸ [bench, beside them all]
//!
//! The load generator as a program by itself, which builds without the server: `basalt-bench bench
//! …`, `basalt-bench compare …`, and `basalt-bench policy …`, which is for those who work on Basalt
//! and is not in its program. It owns the choice between them. It must never know what a
//! measurement is; that is the library's. Its one invariant: it does exactly what `basalt bench`
//! and `basalt compare` do. Read `lib.rs` next.
#![forbid(unsafe_code)]

use std::env;
use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut args: Vec<OsString> = env::args_os().collect();
    let command = if args.len() > 1 { args.remove(1) } else { OsString::new() };
    match command.to_str() {
        Some("bench") => basalt_bench::bench(args),
        Some("compare") => basalt_bench::compare(args),
        Some("policy") => basalt_bench::policy(args),
        _ => {
            let _ = writeln!(io::stderr(), "usage: basalt-bench bench|compare|policy [--help]");
            ExitCode::from(2)
        }
    }
}
