//! The commands: each family's file holds, per command, its spec and its function.

pub mod bits;
mod collection_scan;
pub mod connection;
pub mod expire_time;
pub mod generic;
pub mod geo;
pub mod hash;
pub mod help;
pub mod hyperloglog;
mod item;
pub mod list;
pub mod number;
pub mod pubsub;
pub mod scripting;
pub mod server;
pub mod set;
pub mod sorted_set;
pub mod stream;
pub mod strings;
pub mod timeout;
pub mod transactions;
