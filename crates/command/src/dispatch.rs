//! The one way in which every command runs: lookup ▸ arity ▸ auth ▸ route ▸ admit ▸ run ▸ reply.
//!
//! A batch of requests goes through in stages, so that memory is fetched while other requests are
//! looked at: [`Last::command`] finds the command, [`Preparing`] hashes its first key;
//! [`Prepared::prefetch_bucket`] and [`Prepared::prefetch_entry`] bring in what it will touch, [`LookAhead`] what of a
//! collection; [`run_shortly()`] runs it and those like it, or [`execute()`] it alone.

mod claims;
mod context;
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
pub use context::Context;
pub use execute::execute;
pub use look_ahead::LookAhead;
pub(crate) use prepare::Ahead;
pub use prepare::{Incoming, Last, Prepared, Preparing};
pub use short::{is_plain, run_shortly};
pub use worker::Worker;
