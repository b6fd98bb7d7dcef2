//! HOT PATH
//! The edits of a hash: what the log carries, and doing it again.
//!
//! ```text
//! SET    1 name item  value item          the field holds the value and expires no more
//! REMOVE 2 name item                      the field, which was there, is gone
//! EXPIRE 3 name item  expire_ms:u64le     the field, which is there, expires then; 0: never
//! CHANGE 4 name item  value item          a field that is there; its expiry stays
//! ATTRIBUTE 5 name item  version:varint   a field that is there has this version, not 0; until
//!                                         a REMOVE of it
//! ```
//! A field that has expired is removed by a REMOVE: a reader that applies edits needs no clock.

use super::{Field, Hash};
use crate::attributes::Attribute;
use crate::edits::Edits;
use crate::error::DecodeError;
use crate::item::Item;
use crate::limits::FormLimits;
use basalt_stdx::varint;

pub(super) const SET: u8 = 1;
pub(super) const REMOVE: u8 = 2;
pub(super) const EXPIRE: u8 = 3;
pub(super) const CHANGE: u8 = 4;
const ATTRIBUTE: u8 = 5;

const NOT_THERE: DecodeError = DecodeError::Corrupt("an edit of a field that is not there");

/// Writes an edit with a value.
#[inline]
pub(super) fn write_value(edits: &mut Edits<'_>, code: u8, name: Item<'_>, value: Item<'_>) {
    edits.write(|out| {
        out.push(code);
        name.put(out);
        value.put(out);
    });
}

/// Writes that a field is gone.
#[inline]
pub(super) fn write_removal(edits: &mut Edits<'_>, name: Item<'_>) {
    edits.write(|out| {
        out.push(REMOVE);
        name.put(out);
    });
}

/// Writes when a field expires.
pub(super) fn write_expiry(edits: &mut Edits<'_>, name: Item<'_>, expire_ms: u64) {
    edits.write(|out| {
        out.push(EXPIRE);
        name.put(out);
        out.extend_from_slice(&expire_ms.to_le_bytes());
    });
}

/// Writes the version of a field.
#[cold]
pub(super) fn write_attribute(edits: &mut Edits<'_>, name: Item<'_>, version: u64) {
    edits.write(|out| {
        out.push(ATTRIBUTE);
        name.put(out);
        varint::put(out, version);
    });
}

/// Whether a hash with a field that does not expire has one after these edits, as far as they show
/// it by themselves: none of them removes a field or has one expire.
///
/// # Errors
/// They make no sense.
pub(super) fn keep_lasting(edits: &[u8]) -> Result<bool, DecodeError> {
    let mut rest = edits;
    while let Some((&code, after)) = rest.split_first() {
        rest = after;
        Item::take_shortest(&mut rest)?;
        match code {
            SET | CHANGE => drop(Item::take_shortest(&mut rest)?),
            ATTRIBUTE => drop(varint::take(&mut rest).ok_or(DecodeError::Truncated)?),
            REMOVE | EXPIRE => return Ok(false),
            unknown => return Err(DecodeError::UnknownEdit(unknown)),
        }
    }
    Ok(true)
}

/// Does what edits say.
pub(super) fn apply(hash: &mut Hash, edits: &[u8], limits: &FormLimits) -> Result<(), DecodeError> {
    let mut rest = edits;
    while let Some((&code, after)) = rest.split_first() {
        rest = after;
        let name = Item::take_shortest(&mut rest)?;
        match code {
            SET | CHANGE => {
                let value = Item::take_shortest(&mut rest)?;
                let before = hash.stored(name).map(|field| field.expire_ms);
                let expire_ms = match code {
                    SET => 0,
                    _ => before.ok_or(NOT_THERE)?,
                };
                hash.put(Field { name, value, expire_ms }, limits);
            }
            REMOVE => {
                if !hash.take_out(name) {
                    return Err(NOT_THERE);
                }
            }
            EXPIRE => {
                let (expire_ms, after) = rest.split_first_chunk().ok_or(DecodeError::Truncated)?;
                rest = after;
                let expire_ms = u64::from_le_bytes(*expire_ms);
                if i64::try_from(expire_ms).is_err() {
                    return Err(DecodeError::Corrupt("an expiry beyond all times"));
                }
                if !hash.expire_stored(name, expire_ms) {
                    return Err(NOT_THERE);
                }
            }
            ATTRIBUTE => {
                let version = varint::take(&mut rest).ok_or(DecodeError::Truncated)?;
                let Attribute { version, .. } = Attribute::checked(version, 0)?;
                if hash.stored(name).is_none() {
                    return Err(NOT_THERE);
                }
                hash.put_version(name, version);
            }
            unknown => return Err(DecodeError::UnknownEdit(unknown)),
        }
    }
    Ok(())
}
