//! bytes ▸ resp ▸ dispatch ▸ engine ▸ \[log\] ▸ cold
//!
//! The journal as the engine's log, for a process that runs alone. It owns the meeting of the two:
//! the engine knows a [`CommitLog`](basalt_engine::CommitLog), the journal knows streams of bytes.
//! It must never know what a record means, nor commands. Its one invariant: a ticket is
//! acknowledged only once its record is as durable as `appendfsync` says. Read `log.rs` next, then
//! `open.rs`.

#![forbid(unsafe_code)]

mod log;
mod open;

pub use log::{JournalLog, Trimming};
