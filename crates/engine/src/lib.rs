//! bytes ▸ resp ▸ command ▸ \[engine\] ▸ log ▸ cold
//!
//! Joins the memory tier, the log and the cold tier into one database. It owns the commit order:
//! nothing else appends to the log, decides when a reply may leave, or tells the cold tier what to
//! keep. It must never know commands, replies or sockets. Its one invariant: the order in which
//! changes became visible in a partition is the order in which they stand in its shard's stream,
//! and the cold tier holds each partition exactly as of one position in that stream. Read
//! `engine.rs` next, then `store/txn.rs`, `checkpoint.rs` and `recovery.rs`; `docs/architecture.md`
//! has the picture.

#![forbid(unsafe_code)]

mod checkpoint;
mod chores;
mod collect;
mod database_set;
mod engine;
mod error;
mod expiry;
mod housekeeping;
mod libraries;
mod limits;
mod log;
mod outdated;
mod recovery;
mod residency;
mod retire;
mod store;
#[cfg(test)]
mod testing;
mod threads;
mod timer_thread;
mod timers;
mod tracking;
mod waiting;
mod warm_up;

pub use basalt_change::place::ShardSet;
pub use basalt_change::version::Version;
pub use basalt_keyspace::entry::{EntryValue, StringValue};
pub use basalt_keyspace::interest::WatchMark;
pub use basalt_keyspace::keyspace::PartitionSet;
pub use basalt_keyspace::table::EntryHint;
pub use basalt_keyspace::waiters::{Call, Cause, Outdated, Service, Waiter};
pub use basalt_stdx::short_lock::LockWait;
pub use checkpoint::state::{CheckpointError, CheckpointStats};
pub use chores::Chores;
pub use engine::{Engine, Options};
pub use error::EngineError;
pub use libraries::NamedLibrary;
pub use log::{CommitLog, Durability, Fate, Gate, Gating, LogError, Refusal, Ticket};
pub use outdated::OutdatedCopies;
pub use recovery::apply::ApplyError;
pub use recovery::belonging::{LogBeginning, Misfit};
pub use recovery::replay::LogReplay;
pub use recovery::{RecoveryError, RecoveryStats};
pub use residency::budget::{EvictionStats, Room};
pub use residency::heads::{HeadContent, KeyHead, KnownHeads, ReadHeads, Unknown};
pub use residency::policy::{Among, Eviction, First};
pub use residency::queue::{MissStats, Missing};
pub use residency::rows::BadRow;
pub use residency::rows_read::{RowsWanted, WalkedRows};
pub use residency::unload::Unloaded;
pub use store::ask::Ask;
pub use store::census::{Census, DatabaseTotals, MemoryTotals};
pub use store::changes::{ChangeSet, TooLarge};
pub use store::collections::{Absent, WrongType};
pub use store::context::{Attempt, CommandContext, Issuer, Touch};
pub use store::copying::{Copying, StringCopy};
pub use store::events::{EventClass, EventClasses, EventSink, KeyEvent};
pub use store::held::Held;
pub use store::hold::LongestHold;
pub use store::key::Key;
pub use store::overwrite::Overwriting;
pub use store::point::Point;
pub use store::queue_census::{NamedQueue, QueueCensus, QueueFigures};
pub use store::sample::Sampled;
pub use store::transaction::{Claims, Transaction, Unready};
pub use store::transfer::Destination;
pub use store::txn::{PutOptions, Spot, Txn};
pub use store::view::{Object, View};
pub use store::walk::{Cursor, Walk, WalkEnd, WalkLimits};
pub use threads::Background;
pub use tracking::BroadcastFlags;
pub use waiting::request::{Behind, Places, Settled, WaitAnswer, WaitRequest};
pub use waiting::watching::Watching;
pub use warm_up::file::HotKeysDir;
pub use warm_up::progress::{WarmUp, WarmUpStats};
