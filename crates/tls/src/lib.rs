//! bytes ▸ resp ▸ command ▸ engine ▸ log ▸ cold — [tls lies between bytes and socket]
//!
//! TLS, by rustls, for the server's side. It owns what the options say of it, made ready for
//! handshakes ([`ServerTls`]), and one connection's records ([`Channel`]), which it moves between a
//! socket that somebody lends it and the caller's buffers. It must never know a socket's kind, a
//! front or a command. Its one invariant: whatever a peer sends, a channel holds a bounded amount
//! of it, and does a bounded amount of work a call. Read next: `channel.rs`.
//!
//! There is no renegotiation, no early data and no version below 1.2: rustls has none of them.
#![forbid(unsafe_code)]

mod channel;
mod error;
mod name;
mod pem;
mod server;
mod sessions;
mod suites;

pub use channel::{Channel, Handshake, ReadBytes};
pub use error::TlsError;
pub use name::common_name;
pub use server::ServerTls;
