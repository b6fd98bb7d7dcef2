//! The allocator: jemalloc, and a word to the user when there is no memory.
//!
//! RocksDB is built against it, too: one allocator for the process, whose figures INFO shows.
//!
//! The standard library ends the process then, with "memory allocation of 320 bytes failed". What
//! can be done about it stands before that line. It is written without allocating anything.

use std::alloc::{GlobalAlloc, Layout};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, Ordering};
use tikv_jemallocator::Jemalloc;

/// Jemalloc, which says what can be done when it has nothing left.
pub(crate) struct Allocator;

const NO_MEMORY: &[u8] = b"\
basalt: the system gives this process no more memory, so it ends; what was acknowledged is on disk\n\
basalt: look at the limits of the process (ulimit -v, MemoryMax= of its systemd unit, its \
container) and of the machine (vm.overcommit_memory, vm.max_map_count), and set maxmemory well \
below them\n";

/// Passes on what an allocation returned.
#[inline(always)]
fn checked(pointer: *mut u8) -> *mut u8 {
    if pointer.is_null() {
        say_that_there_is_none();
    }
    pointer
}

#[cold]
#[inline(never)]
fn say_that_there_is_none() {
    static SAID: AtomicBool = AtomicBool::new(false);
    if !SAID.swap(true, Ordering::Relaxed) {
        // Nowhere is left to report it if standard error is closed.
        let _ = rustix::io::write(std::io::stderr(), NO_MEMORY);
    }
}

/// Has jemalloc return what is free to the system now, not after a second. Takes a millisecond for
/// some megabytes; network threads have better things to do.
pub(crate) fn give_back() {
    /// Of all arenas: `MALLCTL_ARENAS_ALL` of `jemalloc(3)`.
    const PURGE: &std::ffi::CStr = c"arena.4096.purge";
    // It cannot fail: the name is there in every build, and takes and returns nothing.
    // SAFETY: the name ends with a NUL; the other arguments are documented to be null.
    // JUSTIFICATION: `tikv-jemalloc-ctl` has no call for names that take and return nothing.
    let _ = unsafe {
        tikv_jemalloc_sys::mallctl(PURGE.as_ptr(), null_mut(), null_mut(), null_mut(), 0)
    };
}

// SAFETY: every call is jemalloc's own, with its arguments, and returns what that returns.
// JUSTIFICATION: the trait is unsafe, and there is no other way to be told of a failed allocation
// (`std::alloc::set_alloc_error_hook` is unstable). What it costs is one branch an allocation,
// which is always predicted; GET and SET allocate nothing.
unsafe impl GlobalAlloc for Allocator {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the promises of the same function.
        checked(unsafe { Jemalloc.alloc(layout) })
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the promises of the same function.
        checked(unsafe { Jemalloc.alloc_zeroed(layout) })
    }

    #[inline]
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the promises of the same function.
        unsafe { Jemalloc.dealloc(pointer, layout) }
    }

    #[inline]
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        // SAFETY: the caller keeps the promises of the same function.
        checked(unsafe { Jemalloc.realloc(pointer, layout, bytes) })
    }
}
