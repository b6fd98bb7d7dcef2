//! bytes ▸ resp ▸ command ▸ engine ▸ \[change\] ▸ log ▸ cold
//!
//! The one vocabulary of change: what a write command did, physically, per key, with absolute times
//! and nothing left to chance. It owns the ChangeSet codec ([`op`]) and the form of a row in the
//! cold tier ([`row`]), the arithmetic that says where a key lives ([`place`]) and that of versions
//! ([`version`]). It must never know commands, locks, files or memory layout. Its one invariant:
//! decoding what was encoded gives the same change, and foreign bytes that make no sense are an
//! error, never a panic. Read `op.rs` next, then `docs/formats/changeset.md`.

#![forbid(unsafe_code)]

mod crc16;
mod cut;
pub mod element;
pub mod library;
pub mod log_mark;
pub mod op;
pub mod place;
pub mod row;
pub mod seed;
pub mod version;
