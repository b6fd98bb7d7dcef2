//! Bytes to values.
//!
//! A DUMP payload is one type byte, the body, the RDB version and a checksum. The type says how the
//! body is made; the bodies are in the files beside this one, one for each kind of value.

mod collections;
mod hashes;
mod streams;

use std::borrow::Cow;

use crate::checksum::crc64;
use crate::error::DecodeError;
use crate::limits::{Budget, DecodeLimits};
use crate::model::{Bytes, Payload};
use crate::packed::listpack;
use crate::packed::{intset, ziplist, zipmap};
use crate::reader::Reader;
use crate::types;

/// The newest RDB version that is read: that of Redis 7.4.
pub const RDB_VERSION_MAX: u16 = 12;

/// Two bytes of version, eight of checksum.
const FOOTER_BYTES: usize = 10;

/// Reads a DUMP payload.
///
/// # Errors
///
/// See [`DecodeError`]. Nothing is allocated for a payload whose footer is wrong.
pub fn decode<'a>(payload: &'a [u8], limits: &DecodeLimits) -> Result<Payload<'a>, DecodeError> {
    let at = payload.len().checked_sub(FOOTER_BYTES).ok_or(DecodeError::Footer)?;
    let (value, footer) = payload.split_at(at);
    let (&kind, body) = value.split_first().ok_or(DecodeError::Footer)?;
    let (version, checksum) = footer.split_first_chunk().ok_or(DecodeError::Footer)?;
    let version = u16::from_le_bytes(*version);
    if version > RDB_VERSION_MAX {
        return Err(DecodeError::Version(version));
    }
    let summed = payload.len() - checksum.len();
    if crc64(0, &payload[..summed]).to_le_bytes() != checksum {
        return Err(DecodeError::Checksum);
    }
    let (value, length) = decode_body(kind, body, limits)?;
    if length < body.len() {
        return Err(DecodeError::Trailing(body.len() - length));
    }
    Ok(value)
}

/// Reads a body without its type byte and without a footer, as it stands in an RDB file. Returns
/// the value and how many bytes it took.
///
/// # Errors
///
/// See [`DecodeError`].
pub fn decode_body<'a>(
    kind: u8,
    bytes: &'a [u8],
    limits: &DecodeLimits,
) -> Result<(Payload<'a>, usize), DecodeError> {
    let mut reader = Reader::new(bytes, Budget::new(limits));
    let value = body(kind, &mut reader)?;
    Ok((value, bytes.len() - reader.remaining()))
}

fn body<'a>(kind: u8, reader: &mut Reader<'a>) -> Result<Payload<'a>, DecodeError> {
    match kind {
        types::STRING => reader.string().map(Payload::String),
        types::LIST => collections::plain_list(reader),
        types::LIST_QUICKLIST | types::LIST_QUICKLIST_2 => collections::quicklist(kind, reader),
        types::SET => collections::plain_set(reader),
        types::ZSET | types::ZSET_2 => collections::plain_sorted_set(kind, reader),
        types::HASH => hashes::plain(reader),
        types::HASH_METADATA | types::HASH_METADATA_PRE_GA => hashes::with_expiry(kind, reader),
        types::STREAM_LISTPACKS | types::STREAM_LISTPACKS_2 | types::STREAM_LISTPACKS_3 => {
            streams::stream(kind, reader).map(Payload::Stream)
        }
        types::MODULE_PRE_GA | types::MODULE_2 => Err(DecodeError::Module),
        types::HASH_ZIPMAP..=types::HASH_ZIPLIST
        | types::HASH_LISTPACK
        | types::ZSET_LISTPACK
        | types::SET_LISTPACK
        | types::HASH_LISTPACK_EX_PRE_GA
        | types::HASH_LISTPACK_EX => packed(kind, reader),
        _ => Err(DecodeError::UnknownType(kind)),
    }
}

/// A value that is one string.
fn packed<'a>(kind: u8, reader: &mut Reader<'a>) -> Result<Payload<'a>, DecodeError> {
    if kind == types::HASH_LISTPACK_EX {
        // The earliest expiry, which the listpack has, too.
        reader.u64_le()?;
    }
    match reader.string()? {
        Cow::Borrowed(bytes) => packed_value(kind, bytes, &mut reader.budget),
        Cow::Owned(bytes) => Ok(packed_value(kind, &bytes, &mut reader.budget)?.into_owned()),
    }
}

fn packed_value<'b>(
    kind: u8,
    bytes: &'b [u8],
    budget: &mut Budget,
) -> Result<Payload<'b>, DecodeError> {
    match kind {
        types::LIST_ZIPLIST => collections::list(&ziplist::elements(bytes, budget)?),
        types::SET_INTSET => collections::number_set(&intset::numbers(bytes, budget)?),
        types::SET_LISTPACK => collections::set(&listpack::elements(bytes, budget)?),
        types::ZSET_ZIPLIST => collections::sorted_set(&ziplist::elements(bytes, budget)?),
        types::ZSET_LISTPACK => collections::sorted_set(&listpack::elements(bytes, budget)?),
        types::HASH_ZIPMAP => hashes::pairs(&zipmap::elements(bytes, budget)?),
        types::HASH_ZIPLIST => hashes::pairs(&ziplist::elements(bytes, budget)?),
        types::HASH_LISTPACK => hashes::pairs(&listpack::elements(bytes, budget)?),
        _ => hashes::triples(&listpack::elements(bytes, budget)?),
    }
}

/// Refuses what stands twice where nothing may. A million names take 0.1 s when sorted by their
/// checksums first, and 1.3 s by themselves; that is also the worst that names with chosen
/// checksums can do, where a hash table would need a secret.
fn refuse_duplicates<'n, 'b: 'n>(
    names: impl Iterator<Item = &'n Bytes<'b>>,
    what: &'static str,
) -> Result<(), DecodeError> {
    let mut names: Vec<(u64, &[u8])> = names.map(|name| (crc64(0, name), &**name)).collect();
    names.sort_unstable();
    if names.is_sorted_by(|a, b| a < b) { Ok(()) } else { Err(DecodeError::Corrupt(what)) }
}
