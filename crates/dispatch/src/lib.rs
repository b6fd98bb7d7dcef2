//! bytes ▸ resp ▸ command (service ▸ call ▸ commands, \[dispatch\]) ▸ engine ▸ log ▸ cold
//!
//! The one way in which every command runs: lookup ▸ arity ▸ auth ▸ route ▸ admit ▸ run ▸ reply.
//! It owns the [`Batch`], the one door for requests, the [`Worker`] of a network thread, EXEC,
//! scripts, and waiting and being served. It must never know a command by name, its family,
//! sockets, files or how the engine stores a key. Its one invariant: whatever way a request takes,
//! short or long, in a batch or alone, reply and log are the same bytes. Read `batch.rs` next.
//!
//! Requests come in through a [`Batch`], and go through in stages, so that memory is fetched while
//! other requests are looked at: `prepare.rs` finds the command of each and hashes its first key,
//! `collection_prefetch.rs` brings in what of a collection it will touch; `row.rs` runs those that
//! are alike and ask little, and `execute.rs` the others, one by one. `exec.rs` and
//! `script.rs` run several commands as one, what these need beyond their keys is in `wants.rs`.
//! Each file imports only what stands below it: `request.rs` and `worker.rs` at the bottom,
//! [`Batch`] at the top.

#![forbid(unsafe_code)]

mod access;
mod admission;
mod alike;
mod batch;
mod behind;
mod budget;
mod claims;
mod collection_prefetch;
mod contested;
mod copies;
mod dispatcher;
mod events;
mod exec;
mod execute;
mod expect;
mod form;
mod halt;
mod heads;
mod keys;
mod left_heads;
mod long;
mod memory;
mod monitor_line;
mod monitors;
mod outcome;
mod plain;
mod prepare;
mod publication;
mod queue;
mod reach;
mod recent_programs;
mod redact;
mod request;
mod row;
mod script;
mod short;
mod silence;
mod spare_keys;
mod together;
mod tracking;
mod wants;
mod within;
mod worker;

pub use basalt_engine::Durability;
pub use batch::{Batch, BatchClients, Origin, Running, ShortWays};
pub use budget::Budget;
pub use dispatcher::Dispatcher;
pub use form::{Ended, ReplyForm, Terms, Then};
pub use halt::Halt;
pub use silence::finish_wait;
pub use worker::{ReplyBounds, Worker};
