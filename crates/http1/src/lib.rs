//! bytes ▸ \[http1\] ▸ command ▸ engine ▸ log ▸ cold
//!
//! This crate is the wire of HTTP/1.1 (RFC 9110, RFC 9112), for a server: it turns bytes into
//! requests and writes what responses begin with. It owns the [`HeadReader`] with its
//! [`HeadLimits`], what a [`Head`] says and where, the parts of a [`target`], the [`ChunkedBody`],
//! the [`ResponseHead`], and what some fields say: [`ETags`], a [`ByteRange`], [`Credentials`]. It
//! must never know sockets, commands or keys; it does no I/O and reads no clock. Its one invariant:
//! however a byte stream is cut into pieces, what comes out is the same, every byte is looked at a
//! bounded number of times, and what two readers could understand in two ways is refused
//! ([`Refusal`]). Read `head.rs` next, then `framing.rs`.

#![forbid(unsafe_code)]

mod auth;
mod authority;
pub mod base64;
mod chunked;
mod date;
mod etag;
mod field;
mod framing;
mod head;
mod method;
pub mod percent;
mod range;
mod refusal;
mod respond;
mod status;
pub mod target;

pub use auth::Credentials;
pub use authority::Authority;
pub use chunked::{ChunkedBody, Decoded};
pub use date::{DATE_BYTES, Date};
pub use etag::{Comparison, ETAG_BYTES_MAX, ETag, ETagList, ETags, if_range_holds};
pub use field::Field;
pub use framing::Body;
pub use head::{HEADERS_MAX, Head, HeadLimits, HeadReader};
pub use method::Method;
pub use range::{ByteRange, ContentRange};
pub use refusal::Refusal;
pub use respond::{CONTINUE, Connection, ResponseHead, Value};
pub use status::Status;
