//! Hashes, with and without expiry of their fields.

use crate::encode::collections::fit_listpack;
use crate::encode::writer::Writer;
use crate::model::Field;
use crate::packed::listpack::ListpackWriter;
use crate::types;

pub(super) fn hash(fields: &[Field<'_>], writer: &mut Writer<'_>) -> u8 {
    let options = writer.options;
    let lengths = fields.iter().flat_map(|field| [field.name.len(), field.value.len()]);
    let is_compact = fields.len() <= options.hash_listpack_entries_max
        && fit_listpack(lengths, options.hash_listpack_value_bytes_max);
    let earliest = fields.iter().filter_map(|field| field.expire_ms).min();
    match (is_compact, earliest) {
        (true, None) => listpack(fields, writer),
        (false, None) => plain(fields, writer),
        (true, Some(earliest)) => listpack_with_expiry(fields, earliest, writer),
        (false, Some(earliest)) => plain_with_expiry(fields, earliest, writer),
    }
}

fn listpack(fields: &[Field<'_>], writer: &mut Writer<'_>) -> u8 {
    let mut listpack = ListpackWriter::new();
    for field in fields {
        listpack.push(&field.name);
        listpack.push(&field.value);
    }
    writer.string(&listpack.finish());
    types::HASH_LISTPACK
}

fn plain(fields: &[Field<'_>], writer: &mut Writer<'_>) -> u8 {
    writer.count(fields.len());
    for field in fields {
        writer.string(&field.name);
        writer.string(&field.value);
    }
    types::HASH
}

/// The earliest expiry first, fields without one last: Redis expires from the front.
fn listpack_with_expiry(fields: &[Field<'_>], earliest: u64, writer: &mut Writer<'_>) -> u8 {
    let mut in_order: Vec<&Field<'_>> = fields.iter().collect();
    in_order.sort_by_key(|field| field.expire_ms.unwrap_or(u64::MAX));
    let mut listpack = ListpackWriter::new();
    for field in in_order {
        listpack.push(&field.name);
        listpack.push(&field.value);
        // 48 bits, so it fits a signed number.
        listpack.push_integer(field.expire_ms.unwrap_or(0) as i64);
    }
    writer.u64_le(earliest);
    writer.string(&listpack.finish());
    types::HASH_LISTPACK_EX
}

fn plain_with_expiry(fields: &[Field<'_>], earliest: u64, writer: &mut Writer<'_>) -> u8 {
    writer.u64_le(earliest);
    writer.count(fields.len());
    for field in fields {
        writer.length(field.expire_ms.map_or(0, |expire_ms| expire_ms - earliest + 1));
        writer.string(&field.name);
        writer.string(&field.value);
    }
    types::HASH_METADATA
}
