//! Values to bytes, in the encodings that Redis 7.0 chooses and reads.
//!
//! Small collections become one listpack or intset, others strings one by one; the limits between
//! the two are the caller's. The only thing that Redis 7.0 cannot read is a hash with expiry of its
//! fields: that is what Redis 7.4 writes, under its version.

mod collections;
mod hashes;
mod options;
mod streams;
mod writer;

use crate::checksum::crc64;
use crate::model::Payload;
use crate::types;
use writer::Writer;

pub use options::{Compression, EncodeOptions};

/// The RDB version of Redis 7.0.
pub(crate) const RDB_VERSION: u16 = 10;
/// The RDB version of Redis 7.4, the first with expiry of fields.
const RDB_VERSION_FIELD_EXPIRY: u16 = 12;

/// Appends `payload` as a DUMP payload.
///
/// What the model says about a value must hold; what does not is written all the same, and refused
/// by its reader.
///
/// # Panics
///
/// If an entry of a stream is four times larger than
/// [`STREAM_ENTRY_BYTES_MAX`](crate::STREAM_ENTRY_BYTES_MAX).
pub fn encode(payload: &Payload<'_>, options: &EncodeOptions, out: &mut Vec<u8>) {
    let start = out.len();
    out.push(0);
    let kind = encode_body(payload, options, out);
    out[start] = kind;
    let version = match kind {
        types::HASH_METADATA | types::HASH_LISTPACK_EX => RDB_VERSION_FIELD_EXPIRY,
        _ => RDB_VERSION,
    };
    out.extend_from_slice(&version.to_le_bytes());
    let checksum = crc64(0, &out[start..]);
    out.extend_from_slice(&checksum.to_le_bytes());
}

/// Appends the body alone, and returns the type byte that belongs to it.
pub fn encode_body(payload: &Payload<'_>, options: &EncodeOptions, out: &mut Vec<u8>) -> u8 {
    let mut writer = Writer::new(options, out);
    match payload {
        Payload::String(value) => {
            writer.string(value);
            types::STRING
        }
        Payload::List(elements) => collections::list(elements, &mut writer),
        Payload::Set(members) => collections::set(members, &mut writer),
        Payload::SortedSet(members) => collections::sorted_set(members, &mut writer),
        Payload::Hash(fields) => hashes::hash(fields, &mut writer),
        Payload::Stream(stream) => streams::stream(stream, &mut writer),
    }
}
