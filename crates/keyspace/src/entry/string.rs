//! HOT PATH
//! Strings of entries, in the entry or apart from it.

use std::mem::ManuallyDrop;
use std::sync::Arc;

/// A string value.
#[derive(Clone, Copy, Debug)]
pub enum StringValue<'a> {
    /// Stored in the entry.
    Inline(&'a [u8]),
    /// Stored apart.
    Shared(SharedValue<'a>),
}

/// A value that stands apart from its entry and can outlive it.
#[derive(Clone, Copy, Debug)]
pub struct SharedValue<'a> {
    /// From `Arc::into_raw`; the entry holds one reference count.
    pub(super) ptr: *const Vec<u8>,
    pub(super) guard: std::marker::PhantomData<&'a u8>,
}

impl<'a> SharedValue<'a> {
    /// The bytes.
    #[inline]
    pub fn vec(self) -> &'a Vec<u8> {
        // SAFETY: the entry's reference count keeps the vector alive during 'a, and nobody changes
        // it while an `Entry<'a>` exists.
        unsafe { &*self.ptr }
    }

    /// Whether it has other owners than its entry. One may go at any time; another comes only while
    /// the entry can be read.
    pub fn is_held_elsewhere(self) -> bool {
        // SAFETY: `ptr` came from `Arc::into_raw` and its count is at least one; the reference
        // that is made of it is not counted and not dropped.
        let shared = unsafe { ManuallyDrop::new(Arc::from_raw(self.ptr)) };
        Arc::strong_count(&shared) > 1
    }

    /// Whether it is this value, and not only an equal one.
    pub fn is(self, value: &Arc<Vec<u8>>) -> bool {
        std::ptr::eq(self.ptr, Arc::as_ptr(value))
    }

    /// Another owner of the value.
    pub fn to_arc(self) -> Arc<Vec<u8>> {
        // SAFETY: `ptr` came from `Arc::into_raw` and its count is at least one.
        unsafe {
            Arc::increment_strong_count(self.ptr);
            Arc::from_raw(self.ptr)
        }
    }
}

impl<'a> StringValue<'a> {
    /// The bytes.
    #[inline]
    pub fn bytes(self) -> &'a [u8] {
        match self {
            StringValue::Inline(bytes) => bytes,
            StringValue::Shared(shared) => shared.vec(),
        }
    }
}
