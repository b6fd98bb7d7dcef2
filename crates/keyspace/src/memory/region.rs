//! Address space from the system, aligned for huge pages.

use super::chunks::{CHUNK_BYTES, REGION_BYTES};
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise, mmap_anonymous, munmap};
use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::ptr::{self, NonNull};

/// [`REGION_BYTES`] bytes, aligned to [`CHUNK_BYTES`]. Memory comes with the first touch.
#[derive(Debug)]
pub(super) struct Region {
    pub(super) base: NonNull<u8>,
    /// What was mapped to find an aligned place in it.
    mapped: NonNull<u8>,
    source: Source,
}

/// Where a region is from.
#[derive(Debug)]
enum Source {
    /// A mapping of its own.
    System,
    /// The allocator, where the system gives no mapping: the allocator may still have memory, or
    /// says what can be done. And under Miri, which knows no mappings.
    Allocator,
}

// SAFETY: the pointers are plain addresses of memory that has no thread affinity.
unsafe impl Send for Region {}

const MAPPED_BYTES: usize = REGION_BYTES + CHUNK_BYTES;

impl Region {
    pub(super) fn map() -> Region {
        let flags = MapFlags::PRIVATE | MapFlags::NORESERVE;
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        let mapped = if cfg!(miri) {
            None
        } else {
            // SAFETY: a new mapping, at an address that the system chooses, touches no other
            // memory.
            let mapped =
                unsafe { mmap_anonymous(ptr::null_mut(), MAPPED_BYTES, protection, flags) };
            mapped.ok().and_then(|mapped| NonNull::new(mapped.cast()))
        };
        let (mapped, source) = match mapped {
            Some(mapped) => (mapped, Source::System),
            None => {
                // SAFETY: the layout's size is not zero.
                let allocated = NonNull::new(unsafe { alloc(layout()) });
                let allocated = allocated.unwrap_or_else(|| handle_alloc_error(layout()));
                (allocated, Source::Allocator)
            }
        };
        // SAFETY: one chunk more than the region was mapped, so that there is room to align it.
        let base = unsafe { mapped.add(mapped.align_offset(CHUNK_BYTES)) };
        Region { base, mapped, source }
    }

    /// From now on memory comes a huge page at a time where the system has one; what has come
    /// already is gathered by and by.
    pub(super) fn use_huge_pages(&self) {
        if !cfg!(miri) {
            // A refusal (not supported, switched off) costs only speed.
            // SAFETY: the range is a live mapping of ours; the advice does not change its contents.
            let _ =
                unsafe { madvise(self.base.as_ptr().cast(), REGION_BYTES, Advice::LinuxHugepage) };
        }
    }

    /// Returns it.
    ///
    /// # Safety
    /// Nobody uses any of it any more.
    pub(super) unsafe fn unmap(self) {
        let mapped = self.mapped.as_ptr();
        match self.source {
            // SAFETY: allocated in `map` with this layout.
            Source::Allocator => unsafe { dealloc(mapped, layout()) },
            Source::System => {
                // SAFETY: mapped in `map` with this length. It fails only for a range that is not
                // one.
                let unmapped = unsafe { munmap(mapped.cast(), MAPPED_BYTES) };
                debug_assert!(unmapped.is_ok(), "a mapping of ours could not be undone");
            }
        }
    }
}

/// Of a region from the allocator.
fn layout() -> Layout {
    Layout::from_size_align(MAPPED_BYTES, 4096).expect("a constant layout")
}
