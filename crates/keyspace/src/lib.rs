//! bytes ▸ resp ▸ command ▸ engine ▸ \[keyspace\] ▸ log ▸ cold
//!
//! The memory tier: every resident key, in 1024 partitions, each behind its own short lock. It owns
//! the hash tables, the entries and the pages they live in, and which of them the cold tier has not
//! seen yet. It must never know commands, replies, sockets or files. Its one invariant: a
//! [`database::Database`] is read or changed only through a [`keyspace::Locked`] that holds its
//! partition's lock, and that lock is never held across a system call. Read `database.rs` and
//! `table.rs` next, then `docs/concurrency.md`.
//!
//! This crate is on the short list of crates that may use `unsafe`. JUSTIFICATION: entries of one
//! allocation with the key and value inline, behind tagged 48-bit references in cache-line buckets,
//! cannot be said in safe Rust; a general-purpose map with two allocations a key was measured four
//! to five times slower per pipelined GET and 70% larger. The unsafe code is confined to `memory`,
//! `entry`, `table` and `keyspace`, and the model tests here run under Miri.

mod calls;
mod cold_filter;
mod cold_keys;
pub mod database;
pub mod deferred;
pub mod entry;
pub mod eviction;
pub mod field_expiries;
mod ghosts;
pub mod hash;
mod holds;
pub mod interest;
pub mod keyspace;
pub mod libraries;
pub mod memory;
pub mod partition;
mod queue_keys;
pub mod retire;
pub mod spread;
pub mod table;
mod turnover;
pub mod unacknowledged;
pub mod unread;
pub mod waiters;
pub mod workers;
