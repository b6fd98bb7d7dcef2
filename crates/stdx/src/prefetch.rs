//! HOT PATH
//! Bringing a cache line in before it is needed.
//!
//! JUSTIFICATION for `unsafe`: the instruction has no safe name. Fetching the end of a journal's
//! stream ahead alone takes a SET's own cycles from 605 to 575 (pipeline 50, medians of three).
#![cfg_attr(
    all(target_arch = "x86_64", not(miri)),
    expect(unsafe_code, reason = "the instruction has no safe name")
)]

/// Bytes of a cache line.
pub const LINE_BYTES: usize = 64;

/// Brings a cache line in. Nothing is read: the address may be any.
#[inline]
pub fn prefetch(address: *const u8) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: a prefetch has no effect but on the cache, whatever the address.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(address.cast());
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = address;
}
