//! bytes ▸ resp ▸ command ▸ engine ▸ log ▸ cold — beneath all of them: \[stdx\]
//!
//! What the standard library lacks and more than one crate needs, and nothing else. It owns glob
//! patterns ([`glob`]), numbers of variable length ([`varint`]), digests ([`digest`]), a lock for
//! what is held for nanoseconds ([`short_lock`]), the order of locks ([`lock_rank`]), how a thread
//! is woken once for many events ([`sleeper`], [`watch_flag`], [`mail`]), a value that a busy
//! thread lends to another one ([`loan`]), bytes that are lent instead of copied ([`lent`]), slices
//! that are written together ([`gather_write`]), prefetching ([`mod@prefetch`]), multiplication
//! without carries ([`carryless`]), memory that goes back to the system at once ([`pages`]), and
//! how much memory a test takes ([`counting_allocator`]). It must never know anything of databases:
//! what is here would be as much at home in any other program. Its one invariant: no input makes it
//! panic or take more than time in proportion to the input's length. Read `glob.rs` next.

#![deny(unsafe_code)]

pub mod carryless;
pub mod counting_allocator;
pub mod digest;
pub mod gather_write;
pub mod glob;
pub mod lent;
pub mod loan;
pub mod lock_rank;
pub mod mail;
pub mod pages;
pub mod prefetch;
pub mod short_lock;
pub mod sleeper;
mod sync;
pub mod varint;
pub mod watch_flag;
