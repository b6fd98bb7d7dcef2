//! What can go wrong while load is generated.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

use crate::scan::ScanError;

/// Why a run or a comparison did not finish.
#[derive(Debug, Error)]
pub(crate) enum BenchError {
    /// The command line contradicts itself; the text says how.
    #[error("{0}")]
    Usage(String),
    #[error(
        "cannot connect to {target}: {source}; check that the server runs and the address is right"
    )]
    Connect { target: String, source: io::Error },
    #[error("the server refused {command}: {reply}")]
    Handshake { command: String, reply: String },
    #[error("{nulls} keys that {test} asked for were not there: its figures would be of misses")]
    Absent { test: &'static str, nulls: u64 },
    #[error("lost a connection to the server: {0}")]
    Connection(#[from] io::Error),
    #[error("the server closed a connection with {outstanding} requests unanswered")]
    Closed { outstanding: u64 },
    #[error(transparent)]
    Reply(#[from] ScanError),
    #[error("the server answered more requests than were sent")]
    Unrequested,
    #[error("cannot start {program}: {reason}")]
    Server { program: PathBuf, reason: String },
    #[error("cannot make a directory in {}: {source}; choose another --dir", dir.display())]
    Directory { dir: PathBuf, source: io::Error },
    #[error("cannot {what}: {source}; check that --dir is a directory with room to write")]
    Disk { what: &'static str, source: io::Error },
    #[error("cannot read the trace {}: {source}", path.display())]
    Trace { path: PathBuf, source: io::Error },
    #[error("cannot pin to cpu {cpu}: {source}; choose another cpu or pass --no-pin")]
    Pin { cpu: usize, source: rustix::io::Errno },
    #[error("bounds that do not hold: {count}; the figures above say which")]
    NotHeld { count: usize },
    #[error("cannot write the report: {0}")]
    Report(io::Error),
}
