//! bytes ▸ \[resp\] ▸ command ▸ engine ▸ log ▸ cold
//!
//! This crate turns bytes into requests and replies into bytes: the Redis serialization protocol,
//! versions 2 and 3. It owns the [`Parser`] with its [`RequestLimits`], the [`Output`] that a
//! connection owes its client, the [`Reply`] writer that commands see, and for clients
//! [`encode_request`] and [`decode()`]. It must never know sockets, commands, keys or time; it
//! does no I/O. Its one invariant: however a byte stream is cut into pieces, the requests and
//! errors that come out are the same, and every byte is looked at a bounded number of times. Read
//! `parser.rs` next, then `reply.rs`.
//!
//! [resp]: crate

#![forbid(unsafe_code)]

mod arg;
mod block;
mod decode;
mod double;
mod encode;
mod error;
mod front;
mod inline;
mod limits;
mod line;
mod output;
mod parser;
mod reply;
mod take;

pub use arg::Arg;
pub use decode::{DecodeError, NESTING_MAX, Value, decode};
pub use double::double_text;
pub use encode::encode_request;
pub use error::ProtocolError;
pub use front::{Front, Repeats, Taken};
pub use limits::{RequestLimits, UNAUTHENTICATED_ARGS_MAX, UNAUTHENTICATED_BULK_BYTES_MAX};
pub use output::{COPIED_BYTES_MAX, Output, SHARED_BYTES_MIN};
pub use parser::{Parsed, Parser};
pub use reply::{Deferred, Protocol, Reply, ReplyMark};
