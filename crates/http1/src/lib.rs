//! bytes ▸ \[http1\] ▸ command ▸ engine ▸ log ▸ cold
//!
//! This crate is the wire of HTTP/1.1 (RFC 9110, RFC 9112) and of WebSockets (RFC 6455), for a
//! server: it turns bytes into requests and messages, and writes what responses and frames begin
//! with. It owns the [`HeadReader`] with its [`HeadLimits`], what a [`Head`] says and where, the
//! parts of a [`target`], the [`ChunkedBody`], the [`ResponseHead`], the [`MessageReader`], and
//! what some fields say: [`ETags`], a [`ByteRange`], [`Credentials`]. It must never know sockets,
//! commands or keys; it does no I/O and reads no clock. Its one invariant: however a byte stream is
//! cut into pieces, what comes out is the same, every byte is looked at a bounded number of times,
//! and what two readers could understand in two ways is refused ([`Refusal`]). Read `head.rs` next,
//! then `framing.rs`.

#![forbid(unsafe_code)]

mod auth;
mod authority;
pub mod base64;
mod chunked;
mod close;
mod date;
mod etag;
mod field;
mod frame;
mod framing;
mod handshake;
mod head;
mod message;
mod method;
pub mod percent;
mod range;
mod refusal;
mod respond;
pub mod sse;
mod status;
pub mod target;

pub use auth::Credentials;
pub use authority::Authority;
pub use chunked::{ChunkedBody, Decoded};
pub use close::CloseCode;
pub use date::{DATE_BYTES, Date};
pub use etag::{Comparison, ETAG_BYTES_MAX, ETag, ETagList, ETags, Several, if_range_holds};
pub use field::Field;
pub use frame::{FrameKind, write_close, write_frame_head};
pub use framing::Body;
pub use handshake::{WEBSOCKET_LINES, accept_websocket};
pub use head::{HEADERS_MAX, Head, HeadLimits, HeadReader};
pub use message::{Incoming, MessageKind, MessageReader, Taken};
pub use method::Method;
pub use range::{ByteRange, ContentRange};
pub use refusal::Refusal;
pub use respond::{CONTINUE, Connection, ResponseHead, Value};
pub use status::Status;
