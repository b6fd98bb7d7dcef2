//! The one way in which every command runs: lookup ▸ arity ▸ auth ▸ route ▸ admit ▸ run ▸ reply.
//!
//! Requests come in through a [`Batch`], and go through in stages, so that memory is fetched while other
//! requests are looked at: `prepare.rs` finds the command of each and hashes its first key, `look_ahead.rs`
//! brings in what of a collection it will touch; `short.rs` runs those that are alike and ask little, and
//! `execute.rs` the others, one by one.

mod admission;
mod batch;
mod claims;
pub(crate) mod events;
mod exec;
mod execute;
mod keys;
mod look_ahead;
mod prepare;
mod queue;
mod reach;
pub(crate) mod script;
mod short;
mod worker;

pub use crate::silence::finish_wait;
pub use batch::{Batch, BatchClients, Halt, Origin, Running, ShortWays};
pub(crate) use prepare::Prepared;
pub use worker::Worker;
