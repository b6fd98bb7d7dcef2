//! bytes ▸ \[http1\] ▸ command ▸ engine ▸ log ▸ cold
//!
//! This crate is the wire of HTTP/1.1 (RFC 9110, RFC 9112), for a server: it turns bytes into
//! requests. It owns the [`HeadReader`] with its [`HeadLimits`], what a [`Head`] says and where, the
//! parts of a [`target`], [`percent`] encoding, and the [`ChunkedBody`]. It
//! must never know sockets, commands or keys; it does no I/O and reads no clock. Its one invariant:
//! however a byte stream is cut into pieces, what comes out is the same, every byte is looked at a
//! bounded number of times, and what two readers could understand in two ways is refused
//! ([`Refusal`]). Read `head.rs` next, then `framing.rs`.

#![forbid(unsafe_code)]

mod authority;
mod chunked;
mod field;
mod framing;
mod head;
mod method;
pub mod percent;
mod refusal;
mod status;
pub mod target;

pub use authority::Authority;
pub use chunked::{ChunkedBody, Decoded};
pub use field::Field;
pub use framing::Body;
pub use head::{HEADERS_MAX, Head, HeadLimits, HeadReader};
pub use method::Method;
pub use refusal::Refusal;
pub use status::Status;
