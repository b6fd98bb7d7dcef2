//! bytes ▸ resp ▸ command (service ▸ call ▸ \[commands\], dispatch) ▸ engine ▸ log ▸ cold
//!
//! The commands: each family's file lists its entries, and a file of the family holds, per
//! command, its spec and its function. It owns what every command does, the [`table`] of all,
//! which alone names the families, and the [`reference`](mod@reference) page made of it. It must
//! never know how commands are found, admitted and run, nor sockets, files or how the engine
//! stores a key. Its one invariant: nothing outside of a command's family decides by its name, so
//! a new command is a file here and a word in its family's list. Read a small family's file next,
//! such as `strings/counter.rs`.

#![forbid(unsafe_code)]

mod bits;
mod cluster;
mod collection_scan;
mod connection;
mod expire_time;
mod generic;
mod geo;
mod hash;
mod help;
mod how_many;
mod hyperloglog;
mod item;
mod list;
mod number;
mod pubsub;
mod queue;
pub mod reference;
mod replication;
mod scripting;
mod server;
mod set;
mod sorted_set;
mod stream;
mod strings;
pub mod table;
pub mod timeout;
mod transactions;
mod versions;
