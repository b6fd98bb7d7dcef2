//! bytes ▸ resp ▸ command ▸ \[engine\] ▸ log ▸ cold
//!
//! Joins the memory tier, the log and the cold tier into one database. It owns the commit order:
//! nothing else appends to the log, decides when a reply may leave, or tells the cold tier what to
//! keep. It must never know commands, replies or sockets. Its one invariant: the order in which
//! changes became visible in a partition is the order in which they stand in its shard's stream,
//! and the cold tier holds each partition exactly as of one position in that stream. Read
//! `engine.rs` next, then `txn.rs`, `checkpoint.rs` and `recovery.rs`; `docs/architecture.md` has
//! the picture.

#![forbid(unsafe_code)]

mod apply;
mod belonging;
mod census;
mod changes;
mod checkpoint;
mod collections;
mod database_set;
mod engine;
mod events;
mod expiry;
mod field_expiry;
mod flush;
mod held;
mod key;
mod leftovers;
mod limits;
mod load;
mod log;
mod miss;
mod overwrite;
mod point;
mod reach;
mod recovery;
mod replay;
mod replay_batch;
mod retire;
mod rows;
mod splice;
#[cfg(test)]
mod testing;
mod threads;
mod transaction;
mod transfer;
mod txn;
mod unload;
mod view;
mod waiting;
mod walk;
mod watch;

pub use apply::ApplyError;
pub use basalt_keyspace::entry::{EntryValue, StringValue};
pub use basalt_keyspace::interest::WatchMark;
pub use basalt_keyspace::keyspace::PartitionSet;
pub use basalt_keyspace::table::EntryHint;
pub use basalt_keyspace::waiters::{Service, Waiter};
pub use basalt_stdx::short_lock::LockWait;
pub use belonging::{LogBeginning, Misfit};
pub use census::{Census, DatabaseTotals, MemoryTotals};
pub use changes::{Ask, ChangeSet, TooLarge};
pub use checkpoint::{CheckpointError, CheckpointStats};
pub use collections::{Absent, WrongType};
pub use engine::{Engine, EngineError, Options};
pub use events::{EventClass, EventClasses, EventSink, KeyEvent};
pub use held::Held;
pub use key::Key;
pub use log::{CommitLog, Fate, Gate, Gating, LogError, Refusal, Ticket};
pub use miss::Missing;
pub use point::Point;
pub use recovery::{RecoveryError, RecoveryStats};
pub use replay::LogReplay;
pub use rows::BadRow;
pub use threads::{Background, WarmUp};
pub use transaction::{Claims, Transaction, Unready};
pub use transfer::Destination;
pub use txn::{PutOptions, Spot, Txn};
pub use unload::Unloaded;
pub use view::{Attempt, CommandContext, Issuer, Object, Touch, View};
pub use waiting::{Behind, Places, Settled, WaitAnswer, WaitRequest};
pub use walk::{Cursor, Walk, WalkEnd, WalkLimits};
pub use watch::Watching;
