//! bytes ▸ resp ▸ command ▸ engine ▸ log ▸ cold · \[tests\]
//!
//! What the integration tests are made of: servers to start, clients to talk to them, and runners
//! for tests that are data. It owns the notation of the transcripts, the runner of the
//! compatibility cases and the crash rounds. It must never know anything of Basalt but its command
//! line, its log and its protocol: every test here can be pointed at another server, by
//! `BASALT_BIN`, to see whether the test itself is right. Its one invariant is that a server
//! started here is killed and its log checked when its owner is dropped. Read `server.rs` next,
//! then `transcript/mod.rs` for the notation.

#![forbid(unsafe_code)]

pub mod authority;
pub mod client;
pub mod compat;
pub mod crash;
pub mod descriptors;
pub mod faulty_disk;
pub mod hostile;
pub mod http;
pub mod missing;
pub mod random;
pub mod server;
mod stall;
pub mod transcript;
