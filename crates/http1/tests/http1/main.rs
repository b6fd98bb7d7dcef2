//! The crate's tests through its public face: tables of bytes, and properties.

mod auth;
mod authority;
mod base64;
mod chunked;
mod etag;
mod frame;
mod handshake;
mod head;
mod percent;
mod range;
mod refusal;
mod respond;
mod sse;
mod target;
