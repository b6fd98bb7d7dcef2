//! Keeps what different cores write on different cache lines.

use std::ops::Deref;

/// A value alone on its lines: 128 bytes, because Intel prefetches lines in pairs.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct CachePadded<T>(pub(crate) T);

impl<T> Deref for CachePadded<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.0
    }
}
