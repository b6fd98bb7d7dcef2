//! bytes ▸ resp ▸ \[rdb\] ▸ command ▸ engine ▸ log ▸ cold
//!
//! Redis' way to write one value as bytes, which `DUMP`, `RESTORE` and `MIGRATE` exchange and which
//! RDB files are made of: every type and encoding up to Redis 7.4 is read, and what Redis 7.0 reads
//! is written. It owns a neutral model of a value ([`Payload`]), its decoder, its encoder, the
//! checksum and the compression, and the form of libraries of functions. It must never know
//! commands, keys, how a value is stored here, or the clock. Its one invariant: bytes from anybody
//! give a payload that keeps every rule of its type, or an error; never a panic, and never more
//! memory than [`DecodeLimits`] allows. The bytes are drawn in `docs/formats/dump.md`; read
//! `model.rs` next, then `decode/mod.rs`.
//!
//! Deliberately not here: values of modules (refused), and the frame of RDB files (header, opcodes,
//! keys).

#![forbid(unsafe_code)]

mod checksum;
mod decode;
mod encode;
mod error;
mod functions;
mod limits;
mod lzf;
mod model;
mod number;
mod packed;
mod reader;
mod types;

pub use checksum::crc64;
pub use decode::{RDB_VERSION_MAX, decode, decode_body};

pub use encode::{Compression, EncodeOptions, encode, encode_body};
pub use error::DecodeError;
pub use functions::{FunctionsError, decode_functions, encode_functions};
pub use limits::DecodeLimits;
pub use model::{
    Bytes, Consumer, EXPIRE_MS_MAX, Field, Group, Payload, Pending, STREAM_ENTRY_BYTES_MAX, Stream,
    StreamEntry, StreamId,
};
