//! bytes ▸ resp ▸ \[command\] ▸ engine ▸ log ▸ cold
//!
//! What each command does, and the one way in which every command runs. It owns the commands, a
//! function beside each spec ([`commands`], listed in [`table`]), the state of a connection that
//! they see ([`session`]), what all connections share ([`server`]) and the dispatch ([`dispatch`]:
//! lookup ▸ arity ▸ auth ▸ route ▸ admit ▸ run ▸ reply). It must never know sockets, files or how
//! the engine stores a key. Its one invariant: a command's signature is its permission
//! ([`entry::Run`]); what gets a `&View` cannot change data, and what changes data is logged. Read
//! `dispatch.rs` next, then a small family such as `commands/strings/counter.rs`.

#![forbid(unsafe_code)]

mod announce;
pub mod args;
pub mod call;
pub mod clients;
mod collection_target;
pub mod commands;
pub mod context;
pub mod dispatch;
mod draws;
pub mod entry;
pub mod error;
mod hand_over;
mod interpreter;
mod limits;
pub mod pauses;
mod prepared;
pub mod push;
mod redact;
pub mod reference;
pub mod sampler;
pub mod scripts;
pub mod server;
pub mod session;
pub mod table;
mod transaction;
mod unknown;
mod unusual;
pub mod wait;
mod web_guard;

pub use hand_over::Served;
pub use limits::limits;
