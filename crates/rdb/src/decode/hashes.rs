//! Hashes, with and without expiry of their fields.

use crate::decode::refuse_duplicates;
use crate::error::DecodeError;
use crate::model::{EXPIRE_MS_MAX, Field, Payload};
use crate::packed::Element;
use crate::reader::Reader;
use crate::types;

/// `count:length { name:string value:string }*`
pub(super) fn plain<'a>(reader: &mut Reader<'a>) -> Result<Payload<'a>, DecodeError> {
    let count = reader.count::<Field<'_>>(2)?;
    let mut fields = Vec::with_capacity(count);
    for _ in 0..count {
        let name = reader.string()?;
        fields.push(Field { name, value: reader.string()?, expire_ms: None });
    }
    hash(fields)
}

/// `[earliest:u64le] count:length { expiry:length name:string value:string }*`. An expiry of 0 is
/// none; others count from one below the earliest. The release candidates of Redis 7.4 had no
/// earliest and absolute ones.
pub(super) fn with_expiry<'a>(
    kind: u8,
    reader: &mut Reader<'a>,
) -> Result<Payload<'a>, DecodeError> {
    let earliest = match kind {
        types::HASH_METADATA => Some(reader.u64_le()?),
        _ => None,
    };
    let count = reader.count::<Field<'_>>(3)?;
    let mut fields = Vec::with_capacity(count);
    for _ in 0..count {
        let expiry = match (reader.length()?, earliest) {
            (0, _) => 0,
            (relative, Some(earliest)) => earliest
                .checked_add(relative - 1)
                .ok_or(DecodeError::Corrupt("hash: expiry of a field"))?,
            (absolute, None) => absolute,
        };
        let expire_ms = expire_ms(expiry)?;
        let name = reader.string()?;
        fields.push(Field { name, value: reader.string()?, expire_ms });
    }
    hash(fields)
}

/// Names and values by turns.
pub(super) fn pairs<'b>(elements: &[Element<'b>]) -> Result<Payload<'b>, DecodeError> {
    let (pairs, rest) = elements.as_chunks::<2>();
    if !rest.is_empty() {
        return Err(DecodeError::Corrupt("hash: field without value"));
    }
    let fields = pairs.iter().map(|[name, value]| Field {
        name: name.bytes(),
        value: value.bytes(),
        expire_ms: None,
    });
    hash(fields.collect())
}

/// Names, values and absolute expiries by turns, the earliest expiry first, 0 (none) last.
pub(super) fn triples<'b>(elements: &[Element<'b>]) -> Result<Payload<'b>, DecodeError> {
    let corrupt = DecodeError::Corrupt("hash: expiry of a field");
    let (triples, rest) = elements.as_chunks::<3>();
    if !rest.is_empty() {
        return Err(DecodeError::Corrupt("hash: field without value or expiry"));
    }
    let mut fields = Vec::with_capacity(triples.len());
    for [name, value, expiry] in triples {
        let expiry = expiry.integer().and_then(|expiry| u64::try_from(expiry).ok());
        let expire_ms = expire_ms(expiry.ok_or(corrupt)?)?;
        fields.push(Field { name: name.bytes(), value: value.bytes(), expire_ms });
    }
    let order = |field: &Field<'_>| field.expire_ms.unwrap_or(u64::MAX);
    if !fields.is_sorted_by_key(order) {
        return Err(DecodeError::Corrupt("hash: order of expiries"));
    }
    hash(fields)
}

fn expire_ms(expiry: u64) -> Result<Option<u64>, DecodeError> {
    match expiry {
        0 => Ok(None),
        1..=EXPIRE_MS_MAX => Ok(Some(expiry)),
        _ => Err(DecodeError::Corrupt("hash: expiry of a field")),
    }
}

fn hash(fields: Vec<Field<'_>>) -> Result<Payload<'_>, DecodeError> {
    if fields.is_empty() {
        return Err(DecodeError::Empty);
    }
    refuse_duplicates(fields.iter().map(|field| &field.name), "hash: field stands twice")?;
    Ok(Payload::Hash(fields))
}
