//! bytes ▸ resp ▸ command (\[service\] ▸ call ▸ commands, dispatch) ▸ engine ▸ log ▸ cold
//!
//! What lives longer than one command: the [`server`] with its [`clients`], the [`session`] of
//! each connection, scripts that run, pauses, messages on their way, and what a command that
//! cannot finish waits for. It owns this state, the words and errors that all of it speaks in
//! ([`args`], [`error`]), and the rules that connect its parts: how a client parks, is handed its
//! element, is unblocked or goes. It must never know what a command does, sockets, files or how
//! the engine stores a key. Its one invariant: a parked command is in one place at a time
//! ([`hand_over`]). Read `session.rs` next, then `server.rs`.

#![forbid(unsafe_code)]

pub mod access;
pub mod announce;
pub mod args;
mod background_latency;
mod client_line;
pub mod clients;
pub mod collection_target;
pub mod draws;
pub mod error;
pub mod eviction;
pub mod functions;
mod governed;
pub mod governor;
pub mod hand_over;
pub mod host;
pub mod interpreter;
pub mod limits;
mod lua_memory;
pub mod memory_parts;
pub mod pauses;
pub mod peer;
pub mod prepared;
pub mod push;
pub mod read_rows;
pub mod read_tracking;
pub mod reports;
pub mod sampler;
pub mod scripts;
pub mod server;
pub mod session;
pub mod tracking;
pub mod transaction;
pub mod unusual;
pub mod wait;
pub mod walking;
pub mod web_guard;
