//! HOT PATH
//! What a hash consists of.

use crate::item::Item;

/// A field of a hash.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Field<'a> {
    /// Its name.
    pub name: Item<'a>,
    /// Its value.
    pub value: Item<'a>,
    /// Unix time in milliseconds when it expires, 0 for never.
    pub expire_ms: u64,
}

impl Field<'_> {
    /// It has not expired.
    #[inline]
    pub fn is_live(&self, now_ms: u64) -> bool {
        self.expire_ms == 0 || self.expire_ms > now_ms
    }
}
