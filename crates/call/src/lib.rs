//! bytes ▸ resp ▸ command (service ▸ \[call\] ▸ commands, dispatch) ▸ engine ▸ log ▸ cold
//!
//! What a command is, and what it may touch. It owns the [`entry`] that a family writes down of a
//! command, the types of functions with their permissions, the [`context`] of commands that
//! concern the connection or the server, and what the dispatch works out of all entries once
//! ([`calls`]). It must never know a command by name, how commands are run, sockets or files. Its
//! one invariant: a command's signature is its permission ([`entry::Run`]); what gets a `&View`
//! cannot change data, and what changes data is logged. Read `entry.rs` next.

#![forbid(unsafe_code)]

pub mod calls;
pub mod context;
pub mod entry;
pub mod unknown;
