//! bytes ▸ resp ▸ command ▸ engine ▸ \[log\] ▸ cold
//!
//! The journal: many streams of records in one sequence of segment files, made durable by group
//! commit. It owns the log directory, the order within each stream, and the word "durable". It must
//! never know what a record means: no key, no command, no Raft term; it sees bytes. Its invariant:
//! what [`Journal::durable`] has announced is found again by [`Journal::open`], and what is found
//! is a prefix of each stream, with every atomic append whole. Read next: `format` for the bytes,
//! `writer` for the group commit, `recovery` for the way back.
#![forbid(unsafe_code)]

mod cache_padded;
mod clean_end;
mod error;
mod evidence;
mod format;
mod frames;
mod gate;
mod gather;
mod group_reader;
mod housekeeper;
mod journal;
mod ledger;
mod options;
mod pace;
mod recovery;
mod segment_file;
mod segments;
mod shared;
mod stats;
mod steps;
mod stream;
mod sync;
mod types;
mod writer;

pub use error::{JournalError, OpenError, ReplayError};
pub use frames::{Beginning, ReplaySink};
pub use journal::Journal;
pub use options::{
    Acknowledge, Driver, FsyncPolicy, HARD_STATE_BYTES_MAX, Options, RECORD_BYTES_MAX, STREAMS_MAX,
};
pub use stats::Stats;
pub use types::{Group, Health, JournalId, Seq, StreamId, Wake};
