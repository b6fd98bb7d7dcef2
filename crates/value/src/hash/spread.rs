//! A hash field by field.
//!
//! ```text
//! content = value:item [expire_ms:u64le]
//! ```

use super::{Field, Hash};
use crate::error::DecodeError;
use crate::form::FormRef;
use crate::item::{Digits, Item};
use crate::limits::FormLimits;
use crate::spread::elements::{Spread, Visit, WalkPlace};

/// Appends the content of a field.
fn put_content(field: &Field<'_>, out: &mut Vec<u8>) {
    field.value.put(out);
    if field.expire_ms != 0 {
        out.extend_from_slice(&field.expire_ms.to_le_bytes());
    }
}

/// Appends the content of a field that may not have been there; returns true if it was.
pub(super) fn was(field: Option<Field<'_>>, out: &mut Vec<u8>) -> bool {
    field.inspect(|field| put_content(field, out)).is_some()
}

impl Spread for Hash {
    fn put_head(&self, _: &mut Vec<u8>) {}

    fn visit_elements(&self, from: WalkPlace, count: usize, visit: &mut Visit<'_>) -> WalkPlace {
        let mut content = Vec::new();
        let visit = |field: Field<'_>| {
            content.clear();
            put_content(&field, &mut content);
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
        was(self.stored(Item::of(name)), out)
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
        let expire_ms = match rest.try_into() {
            Ok(bytes) => u64::from_le_bytes(bytes),
            Err(_) if rest.is_empty() => 0,
            Err(_) => return Err(DecodeError::Corrupt("a field of odd length")),
        };
        if i64::try_from(expire_ms).is_err() {
            return Err(DecodeError::Corrupt("an expiry beyond all times"));
        }
        self.put(Field { name: Item::of(name), value, expire_ms }, limits);
        Ok(())
    }
}
