//! HOT PATH
//! A field of a native hash: one word, one allocation.
//!
//! ```text
//! stored ─▶ len:u32 capacity:u32 | name item | value item | [expire_ms:u64le]
//! ```
//! What a lookup compares and what it then replies with stand side by side. A value of the same
//! size is written over the old one.

use super::field::Field;
use crate::item::Item;
use crate::packed::Packed;
use crate::set::member::hash_item;

/// A field on its own.
pub(super) struct Stored(Packed);

impl Stored {
    #[inline]
    pub(super) fn of(field: Field<'_>) -> Stored {
        let (name, value) = (field.name.head(), field.value.head());
        let expiry = field.expire_ms.to_le_bytes();
        let expiry = if field.expire_ms == 0 { &[][..] } else { &expiry[..] };
        let mut packed = Packed::new();
        packed.splice_parts(
            0..0,
            &[name.bytes(), field.name.body(), value.bytes(), field.value.body(), expiry],
        );
        Stored(packed)
    }

    #[inline]
    pub(super) fn name(&self) -> Item<'_> {
        Item::take(&mut self.0.bytes()).expect("a field begins with its name")
    }

    #[inline]
    pub(super) fn field(&self) -> Field<'_> {
        let mut rest = self.0.bytes();
        let name = Item::take(&mut rest).expect("a field begins with its name");
        let value = Item::take(&mut rest).expect("behind its name is its value");
        let expire_ms = rest.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
        Field { name, value, expire_ms }
    }

    /// Where it begins.
    #[inline]
    pub(super) fn address(&self) -> *const u8 {
        self.0.address()
    }

    #[inline]
    pub(super) fn hash(&self) -> u64 {
        hash_item(self.name())
    }

    /// Bytes that it takes beside its word.
    #[inline]
    pub(super) fn heap_bytes(&self) -> usize {
        self.0.heap_bytes()
    }

    /// Sets another value and another expiry.
    #[inline]
    pub(super) fn replace(&mut self, value: Item<'_>, expire_ms: u64) {
        let mut rest = self.0.bytes();
        Item::take(&mut rest).expect("a field begins with its name");
        let (start, end) = (self.0.len() - rest.len(), self.0.len());
        let expiry = expire_ms.to_le_bytes();
        let expiry = if expire_ms == 0 { &[][..] } else { &expiry[..] };
        self.0.splice_parts(start..end, &[value.head().bytes(), value.body(), expiry]);
    }

    /// Sets another expiry, 0 for none.
    pub(super) fn set_expiry(&mut self, expire_ms: u64) {
        let end = self.0.len();
        let start = if self.field().expire_ms == 0 { end } else { end - size_of::<u64>() };
        let expiry = expire_ms.to_le_bytes();
        self.0.splice(start..end, if expire_ms == 0 { &[] } else { &expiry });
    }
}
