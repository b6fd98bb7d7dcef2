//! Hashes as one row of bytes.
//!
//! A packed hash is already encoded but for its head. Reading it back checks it in one walk and
//! copies it; that no field comes twice is seen by sorting the hashes of the names.

use super::packed::{self, Fields};
use super::table::Table;
use super::{Field, Hash};
use crate::collection::Collection;
use crate::error::DecodeError;
use crate::form::{Form, FormRef};
use crate::item::Item;
use crate::limits::FormLimits;
use crate::packed::PACKED_BYTES_MAX;
use crate::set::member::hash_item;
use basalt_stdx::varint;

const PLAIN: u8 = 0;
const EXPIRING: u8 = 1;
const VERSIONED: u8 = 2;

/// Appends all of a hash.
pub(super) fn encode(hash: &Hash, out: &mut Vec<u8>) {
    match hash.0.read() {
        FormRef::Packed(packed) => {
            let row = packed::row(packed);
            out.push(if row.is_expiring { EXPIRING } else { PLAIN });
            out.extend_from_slice(row.fields.bytes);
        }
        FormRef::Native(table) if table.versions().is_some() => {
            out.push(VERSIONED);
            for field in table.iter() {
                field.name.put(out);
                field.value.put(out);
                Item::Number(field.expire_ms as i64).put(out);
                varint::put(out, hash.stored_version(field.name).unwrap_or(0));
            }
        }
        FormRef::Native(table) => {
            let is_expiring = hash.next_expiry_ms() != u64::MAX;
            out.push(if is_expiring { EXPIRING } else { PLAIN });
            for field in table.iter() {
                field.name.put(out);
                field.value.put(out);
                if is_expiring {
                    Item::Number(field.expire_ms as i64).put(out);
                }
            }
        }
    }
}

/// Reads what [`encode`] wrote.
pub(super) fn decode(bytes: &[u8], limits: &FormLimits) -> Result<Hash, DecodeError> {
    let (&head, bytes) = bytes.split_first().ok_or(DecodeError::Truncated)?;
    let is_expiring = match head {
        PLAIN => false,
        EXPIRING => true,
        VERSIONED => return decode_versioned(bytes, limits),
        _ => return Err(DecodeError::Corrupt("a hash in an unknown layout")),
    };
    let fields = Fields { bytes, is_expiring };
    let value_bytes_max = limits.hash.value_bytes_max as usize;
    let mut is_packed = bytes.len() <= PACKED_BYTES_MAX;
    let mut hashes = Vec::new();
    let mut rest = fields;
    while !rest.bytes.is_empty() {
        let before = rest.bytes.len();
        let field = rest.next().ok_or(DecodeError::Truncated)?;
        let expiry = Item::Number(field.expire_ms as i64);
        let expiry_bytes = if is_expiring { expiry.shortest_bytes() } else { 0 };
        let shortest = field.name.shortest_bytes() + field.value.shortest_bytes() + expiry_bytes;
        // A packed hash finds its way by these lengths, and a name by its only spelling.
        if before - rest.bytes.len() != shortest {
            return Err(DecodeError::Corrupt("a hash with an item that is longer than it need be"));
        }
        is_packed &= field.name.fits(value_bytes_max) && field.value.fits(value_bytes_max);
        hashes.push(hash_item(field.name));
    }
    let count = hashes.len();
    is_packed &= count <= (limits.hash.entries_max as usize).min(packed::COUNT_MAX);
    hashes.sort_unstable();
    let may_repeat = hashes.windows(2).any(|pair| pair[0] == pair[1]);
    if is_packed && !may_repeat {
        return Ok(Hash(Form::packed(packed::of_fields(fields, count))));
    }
    let mut table = Table::default();
    fields.for_each(|field| table.put(field));
    if table.len() != count {
        return Err(DecodeError::Corrupt("a hash with a field twice"));
    }
    Ok(Hash(Form::native(Box::new(table))))
}

/// Reads fields of which some have versions.
fn decode_versioned(bytes: &[u8], limits: &FormLimits) -> Result<Hash, DecodeError> {
    let mut hash = Hash::default();
    let mut rest = bytes;
    while !rest.is_empty() {
        let [name, value, expiry] = [(); 3].map(|()| Item::take_shortest(&mut rest));
        let (name, value) = (name?, value?);
        let expire_ms = match expiry? {
            Item::Number(expire_ms @ 0..) => expire_ms as u64,
            _ => return Err(DecodeError::Corrupt("the expiry of a field")),
        };
        if hash.stored(name).is_some() {
            return Err(DecodeError::Corrupt("a hash with a field twice"));
        }
        hash.put(Field { name, value, expire_ms }, limits);
        match varint::take(&mut rest).ok_or(DecodeError::Truncated)? {
            0 => {}
            version => hash.put_version(name, version),
        }
    }
    Ok(hash)
}
