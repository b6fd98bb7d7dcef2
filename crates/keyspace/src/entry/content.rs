//! What an entry is made of.

use super::access::Access;
use basalt_change::op::StringForm;
use basalt_change::version::Version;
use basalt_value::Value;
use std::sync::Arc;

/// Values of this size and more are shared objects of their own.
pub const SHARED_BYTES_MIN: usize = 2048;

/// What [`EntryPtr::create`](super::EntryPtr::create) makes an entry of.
pub struct Content<'a> {
    /// The key.
    pub key: &'a [u8],
    /// The value.
    pub value: NewValue<'a>,
    /// Unix time in milliseconds, 0 for none.
    pub expire_ms: u64,
    /// See [`Access`].
    pub access: Access,
    /// The version of the key.
    pub version: Version,
}

/// A value to be stored.
pub enum NewValue<'a> {
    /// None: the entry is a tombstone.
    Tombstone,
    /// A string, copied.
    Bytes(&'a [u8], StringForm),
    /// A string of [`SHARED_BYTES_MIN`] or more, taken over.
    Shared(Arc<Vec<u8>>, StringForm),
    /// A collection, taken over.
    Collection(Value),
}

impl<'a> NewValue<'a> {
    /// A string stored the way that its size asks for.
    pub fn string(bytes: &'a [u8], form: StringForm) -> NewValue<'a> {
        if bytes.len() < SHARED_BYTES_MIN {
            NewValue::Bytes(bytes, form)
        } else {
            NewValue::Shared(Arc::new(bytes.to_vec()), form)
        }
    }
}
