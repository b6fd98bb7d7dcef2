//! A hash field by field.
//!
//! ```text
//! content = value:item [expire_ms:u64le [version:u64le]]        expire_ms: 0 for none
//! ```

use super::{Field, Hash};
use crate::attributes::Attribute;
use crate::error::DecodeError;
use crate::form::FormRef;
use crate::item::{Digits, Item};
use crate::limits::FormLimits;
use crate::spread::elements::{Spread, Visit, WalkPlace};

/// Appends the content of a field.
fn put_content(hash: &Hash, field: &Field<'_>, out: &mut Vec<u8>) {
    field.value.put(out);
    let version = hash.stored_version(field.name);
    if field.expire_ms != 0 || version.is_some() {
        out.extend_from_slice(&field.expire_ms.to_le_bytes());
    }
    if let Some(version) = version {
        out.extend_from_slice(&version.to_le_bytes());
    }
}

/// Appends the content of a field that may not have been there; returns true if it was.
pub(super) fn was(hash: &Hash, field: Option<Field<'_>>, out: &mut Vec<u8>) -> bool {
    field.inspect(|field| put_content(hash, field, out)).is_some()
}

/// Reads the expiry and the version behind the value.
fn take_times(bytes: &[u8]) -> Result<(u64, Option<u64>), DecodeError> {
    let Some((expiry, rest)) = bytes.split_first_chunk() else {
        let is_whole = bytes.is_empty();
        return if is_whole { Ok((0, None)) } else { Err(DecodeError::Truncated) };
    };
    let attribute = Attribute::from_row(rest)?;
    let expire_ms = u64::from_le_bytes(*expiry);
    if i64::try_from(expire_ms).is_err() || attribute.is_some_and(|it| it.expire_ms != 0) {
        return Err(DecodeError::Corrupt("the expiry of a field"));
    }
    Ok((expire_ms, attribute.map(|it| it.version)))
}

impl Spread for Hash {
    fn put_head(&self, _: &mut Vec<u8>) {}

    fn visit_elements(&self, from: WalkPlace, count: usize, visit: &mut Visit<'_>) -> WalkPlace {
        let mut content = Vec::new();
        let visit = |field: Field<'_>| {
            content.clear();
            put_content(self, &field, &mut content);
            visit(field.name.spell(&mut Digits::default()), &content);
        };
        match self.0.read() {
            FormRef::Packed(packed) => {
                super::packed::row(packed).fields.for_each(visit);
                WalkPlace::End
            }
            FormRef::Native(table) => WalkPlace::at_cursor(table.scan(from.cursor(), count, visit)),
        }
    }

    fn put_content(&self, name: &[u8], out: &mut Vec<u8>) -> bool {
        was(self, self.stored(Item::of(name)), out)
    }

    fn from_head(head: &[u8]) -> Result<Hash, DecodeError> {
        if head.is_empty() {
            Ok(Hash::default())
        } else {
            Err(DecodeError::Corrupt("a hash's head"))
        }
    }

    fn adopt(
        &mut self,
        name: &[u8],
        content: &[u8],
        limits: &FormLimits,
    ) -> Result<(), DecodeError> {
        let mut rest = content;
        let value = Item::take_shortest(&mut rest)?;
        let (expire_ms, version) = take_times(rest)?;
        let name = Item::of(name);
        self.put(Field { name, value, expire_ms }, limits);
        if let Some(version) = version {
            self.put_version(name, version);
        }
        Ok(())
    }
}
