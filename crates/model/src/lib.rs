//! bytes ▸ resp ▸ command ▸ \[engine\] ▸ log ▸ cold
//!
//! The engine's judge: drives a whole engine, over the real journal on a disk that loses power and
//! over any cold tier, and compares it with plain maps.
//! It owns the model ([`state`]), the world that the engine lives in ([`world`]), the obstacles in
//! its way ([`stage`]) and the random walk over all of them ([`run`]).
//! It must never know commands or replies, nor look into the engine: everything is seen through
//! what the engine offers to commands.
//! Its one invariant: a run that ends well has shown, after each crash, that what is there is for
//! every shard a prefix of its history which holds all that was acknowledged; and a broken engine
//! does not end well (the canaries).
//! Read `driver.rs` next.

#![forbid(unsafe_code)]

pub mod access;
mod action;
mod choice;
pub mod content;
mod driver;
mod edit;
mod log;
pub mod stage;
pub mod state;
mod steps;
mod verify;
mod versions;
mod violation;
pub mod world;

pub use driver::{Canary, Plan, Report, run};
pub use violation::Violation;
