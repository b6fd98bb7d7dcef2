//! HOT PATH
//! Prefetching what stands on one or some cache lines.

use basalt_stdx::prefetch::{LINE_BYTES, prefetch};

/// Brings something small in that may begin anywhere in a cache line.
#[inline]
pub fn prefetch_small(address: *const u8) {
    const HALF: usize = LINE_BYTES / 2;
    prefetch(address);
    prefetch(address.wrapping_add(HALF));
}

/// Brings all of a value in.
#[inline]
pub(crate) fn prefetch_all<T>(value: &T) {
    let first = std::ptr::from_ref(value).cast::<u8>();
    for offset in (0..size_of::<T>()).step_by(LINE_BYTES) {
        prefetch(first.wrapping_add(offset));
    }
}
