//! HOT PATH
//! Bytes behind one pointer: what a small collection consists of.
//!
//! ```text
//! packed ─▶ len:u32 capacity:u32 | bytes …
//! ```
//! Grows to the next size that the allocator gives anyway (steps of 16 bytes, of an eighth above
//! 128), so that a collection that is filled once carries no spare room that was not paid for.

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error, realloc};
use std::ops::Range;
use std::ptr::NonNull;

#[repr(C, align(8))]
struct Header {
    len: u32,
    capacity: u32,
}

const HEADER_BYTES: usize = size_of::<Header>();

/// What an empty one points to, so that it needs no memory. Never written.
static EMPTY: Header = Header { len: 0, capacity: 0 };

/// Bytes up to which a collection stays packed at most, whatever the limits say: as in Redis.
pub const PACKED_BYTES_MAX: usize = 1 << 30;

/// A growing run of bytes, one word wide.
#[repr(transparent)]
pub struct Packed(NonNull<Header>);

// SAFETY: it owns its bytes; `EMPTY` is never written.
unsafe impl Send for Packed {}
// SAFETY: `&Packed` only reads.
unsafe impl Sync for Packed {}

impl Packed {
    /// An empty one. Allocates nothing.
    #[inline]
    pub const fn new() -> Packed {
        Packed(NonNull::from_ref(&EMPTY))
    }

    /// One with these bytes.
    pub fn from_bytes(bytes: &[u8]) -> Packed {
        let mut packed = Packed::new();
        packed.splice(0..0, bytes);
        packed
    }

    /// An empty one with room for this number of bytes.
    pub fn with_capacity(bytes: usize) -> Packed {
        let mut packed = Packed::new();
        packed.set_capacity(round(bytes + HEADER_BYTES) - HEADER_BYTES);
        packed
    }

    /// Bytes in it.
    #[inline]
    pub fn len(&self) -> usize {
        self.header().len as usize
    }

    /// No byte is in it.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    #[inline]
    fn header(&self) -> &Header {
        // SAFETY: the pointer is to a live header.
        unsafe { self.0.as_ref() }
    }

    #[inline]
    fn data(&self) -> *mut u8 {
        // SAFETY: the bytes stand behind the header; one past an empty header is a valid address,
        // too.
        unsafe { self.0.as_ptr().add(1).cast() }
    }

    /// The bytes.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: `len` bytes behind the header are initialised.
        unsafe { std::slice::from_raw_parts(self.data(), self.header().len as usize) }
    }

    /// The bytes, to be changed.
    #[inline]
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as in `bytes`; the form is borrowed mutably. Of `EMPTY` it is no byte.
        unsafe { std::slice::from_raw_parts_mut(self.data(), self.header().len as usize) }
    }

    /// Bytes of memory that it takes.
    #[inline]
    pub fn heap_bytes(&self) -> usize {
        match self.header().capacity as usize {
            0 => 0,
            capacity => capacity + HEADER_BYTES,
        }
    }

    /// Puts `new` in the place of the bytes in `range`.
    ///
    /// # Panics
    /// If the range is not inside, or the whole exceeds 4 GiB: collections become native long
    /// before.
    #[inline]
    pub fn splice(&mut self, range: Range<usize>, new: &[u8]) {
        self.splice_parts(range, &[new]);
    }

    /// Puts `parts`, one after the other, in the place of the bytes in `range`.
    ///
    /// # Panics
    /// As [`Packed::splice`].
    #[inline]
    pub fn splice_parts(&mut self, range: Range<usize>, parts: &[&[u8]]) {
        let len = self.header().len as usize;
        assert!(range.start <= range.end && range.end <= len, "a splice stays inside");
        let new_bytes: usize = parts.iter().map(|part| part.len()).sum();
        let len_after = len - range.len() + new_bytes;
        if len_after > self.header().capacity as usize {
            self.grow(len_after);
        }
        if len_after == 0 && len == 0 {
            return; // EMPTY must not be written.
        }
        // SAFETY: there is room for `len_after` bytes; the tail moves within it, and the parts
        // cannot overlap what `self` owns mutably.
        unsafe {
            let mut at = self.data().add(range.start);
            if new_bytes != range.len() {
                self.data().add(range.end).copy_to(at.add(new_bytes), len - range.end);
                self.0.as_mut().len = len_after as u32;
            }
            for part in parts {
                at.copy_from_nonoverlapping(part.as_ptr(), part.len());
                at = at.add(part.len());
            }
        }
        if new_bytes < range.len() {
            self.shrink_if_sparse();
        }
    }

    /// Adds what `parts` are, one after the other, at the end.
    #[inline]
    pub fn extend_parts(&mut self, parts: &[&[u8]]) {
        let len = self.header().len as usize;
        self.splice_parts(len..len, parts);
    }

    /// Adds the first `count` bytes of a block at the end.
    ///
    /// # Panics
    /// If the block has fewer.
    #[inline]
    pub fn extend_from_block<const N: usize>(&mut self, block: &[u8; N], count: usize) {
        let Header { len, capacity } = *self.header();
        let (len, capacity) = (len as usize, capacity as usize);
        if len + N > capacity || count > N {
            return self.extend(&block[..count]);
        }
        // SAFETY: there is room for the whole block, and that is more than `count` bytes; with such
        // a capacity it is not `EMPTY`.
        unsafe {
            self.data().add(len).cast::<[u8; N]>().write_unaligned(*block);
            self.0.as_mut().len = (len + count) as u32;
        }
    }

    /// Where it begins; nothing is read.
    #[inline]
    pub(crate) fn address(&self) -> *const u8 {
        self.0.as_ptr().cast()
    }

    /// Adds bytes at the end.
    #[inline]
    pub fn extend(&mut self, new: &[u8]) {
        let len = self.header().len as usize;
        self.splice(len..len, new);
    }

    #[cold]
    fn grow(&mut self, bytes: usize) {
        self.set_capacity(round(bytes + HEADER_BYTES) - HEADER_BYTES);
    }

    #[inline]
    fn shrink_if_sparse(&mut self) {
        let Header { len, capacity } = *self.header();
        if capacity > 128 && len < capacity / 2 {
            self.set_capacity(round(len as usize + HEADER_BYTES) - HEADER_BYTES);
        }
    }

    #[cold]
    fn set_capacity(&mut self, capacity: usize) {
        let field = u32::try_from(capacity).expect("a packed collection is small");
        let old = self.header().capacity as usize;
        // SAFETY: the old block, if any, has the layout of its capacity; the size is not zero.
        unsafe {
            let block = if old == 0 {
                alloc(layout(capacity))
            } else {
                realloc(self.0.as_ptr().cast(), layout(old), HEADER_BYTES + capacity)
            };
            let Some(header) = NonNull::new(block.cast::<Header>()) else {
                handle_alloc_error(layout(capacity))
            };
            if old == 0 {
                header.write(Header { len: 0, capacity: 0 });
            }
            self.0 = header;
            self.0.as_mut().capacity = field;
        }
    }

    /// Becomes its address.
    #[inline]
    pub(crate) fn into_raw(self) -> NonNull<u8> {
        std::mem::ManuallyDrop::new(self).0.cast()
    }

    /// Takes it back.
    ///
    /// # Safety
    /// The address is from [`Packed::into_raw`], and nobody else takes it.
    #[inline]
    pub(crate) unsafe fn from_raw(address: NonNull<u8>) -> Packed {
        Packed(address.cast())
    }
}

impl Default for Packed {
    fn default() -> Packed {
        Packed::new()
    }
}

impl Drop for Packed {
    fn drop(&mut self) {
        let capacity = self.header().capacity as usize;
        if capacity != 0 {
            // SAFETY: allocated with this layout.
            unsafe { dealloc(self.0.as_ptr().cast(), layout(capacity)) };
        }
    }
}

fn layout(capacity: usize) -> Layout {
    Layout::from_size_align(HEADER_BYTES + capacity, align_of::<Header>())
        .expect("a packed collection is small")
}

/// The size that the allocator would round a block of `bytes` up to: steps of 16 bytes, above 128
/// four steps a doubling.
fn round(bytes: usize) -> usize {
    if bytes <= 128 {
        return bytes.next_multiple_of(16);
    }
    let step = bytes.next_power_of_two() / 8;
    bytes.next_multiple_of(step)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 4 } else { 256 }))]
        #[test]
        fn splices_as_a_vector_does(
            splices in proptest::collection::vec((any::<u16>(), any::<u16>(), 0..300usize), 0..40),
        ) {
            let (mut packed, mut vector) = (Packed::new(), Vec::new());
            for (from, to, len) in splices {
                let from = usize::from(from) % (vector.len() + 1);
                let to = from + usize::from(to) % (vector.len() - from + 1);
                let new: Vec<u8> = (0..len).map(|byte| byte as u8).collect();
                packed.splice(from..to, &new);
                vector.splice(from..to, new);
                prop_assert_eq!(packed.bytes(), &vector[..]);
                prop_assert!(packed.heap_bytes() <= 2 * vector.len() + 144);
            }
        }
    }

    #[test]
    fn sizes_are_the_allocators() {
        for (bytes, rounded) in [(1, 16), (16, 16), (17, 32), (128, 128), (129, 160), (200, 224)] {
            assert_eq!(round(bytes), rounded);
        }
    }
}
