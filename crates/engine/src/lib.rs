//! bytes ▸ resp ▸ command ▸ [engine] ▸ log ▸ cold
//!
//! Joins the memory tier, the log and the cold tier into one database. It owns the commit order:
//! nothing else appends to the log, decides when a reply may leave, or tells the cold tier what to
//! keep. It must never know commands, replies or sockets. Its one invariant: the order in which
//! changes became visible in a partition is the order in which they stand in its shard's stream, and
//! the cold tier holds each partition exactly as of one position in that stream. Read `engine.rs`
//! next, then `txn.rs`, `checkpoint.rs` and `recovery.rs`; `docs/architecture.md` has the picture.

#![forbid(unsafe_code)]

mod absence;
mod checkpoint;
mod engine;
mod expiry;
mod flush;
mod key;
mod log;
mod miss;
mod recovery;
mod threads;
mod txn;
mod view;
mod warm_up;

pub use absence::Absence;
pub use checkpoint::{CheckpointError, CheckpointStats};
pub use engine::{Engine, Options, Totals};
pub use key::Key;
pub use log::{CommitLog, LogError, Refusal, Ticket};
pub use recovery::{Recovery, RecoveryError};
pub use threads::Background;
pub use txn::{Changes, Txn};
pub use view::{Object, Session as ReadContext, View};
