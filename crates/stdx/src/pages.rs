//! Memory that goes back to the system at once.
//!
//! An allocator keeps what is freed for a while, for the next that asks. Where a bound stands on
//! what all hold together, and many large buffers go at the same moment as others grow, the
//! process would hold both.

use rustix::mm::{Advice, madvise};
use rustix::param::page_size;

/// Frees a buffer whose memory goes back to the system at once: its pages are empty before the
/// allocator has it. Takes a tenth of a microsecond for each of those that were written.
pub fn free_at_once(mut buffer: Vec<u8>) {
    empty(&mut buffer);
}

/// Has the system take the whole pages of the buffer, which is of length 0 afterwards.
#[allow(unsafe_code)]
fn empty(buffer: &mut Vec<u8>) {
    buffer.clear();
    let room = buffer.spare_capacity_mut();
    let page = page_size();
    let before = room.as_ptr().addr().wrapping_neg() % page;
    let Some(whole) = room.len().checked_sub(before).map(|rest| rest / page * page) else { return };
    if whole == 0 || cfg!(miri) {
        return;
    }
    let start = room[before..].as_mut_ptr();
    // JUSTIFICATION: without it 16 bodies that never end took 66 and 68 MiB of 64 in some runs, for
    // those that came again filled the room that was still in memory (`docs/testing.md`).
    // A refusal leaves the pages to the allocator.
    // SAFETY: the pages lie within what this buffer alone has allocated, and hold nothing: their
    // bytes count as not initialised, so that zeros in their place change nothing.
    let _ = unsafe { madvise(start.cast(), whole, Advice::LinuxDontNeed) };
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Seek, SeekFrom};

    /// How many pages from this address on are in memory, by `/proc/self/pagemap`.
    fn resident(address: usize, pages: usize) -> usize {
        const PRESENT: u64 = 1 << 63;
        let mut map = std::fs::File::open("/proc/self/pagemap").expect("Linux has it");
        let mut entries = vec![0; pages * 8];
        map.seek(SeekFrom::Start((address / page_size() * 8) as u64)).expect("has a place");
        map.read_exact(&mut entries).expect("is mapped");
        let (entries, _) = entries.as_chunks::<8>();
        entries.iter().filter(|&&entry| u64::from_le_bytes(entry) & PRESENT != 0).count()
    }

    #[test]
    #[cfg_attr(miri, ignore = "has no pages")]
    fn its_pages_are_empty_before_the_allocator_has_it() {
        const PAGES: usize = 300;
        let mut buffer = vec![1_u8; PAGES * page_size()];
        let second = buffer.as_ptr().addr() + page_size();
        assert_eq!(resident(second, PAGES - 2), PAGES - 2);
        empty(&mut buffer);
        assert!(resident(second, PAGES - 2) < PAGES / 10);
        buffer.resize(PAGES * page_size(), 2);
        assert!(buffer.iter().all(|&byte| byte == 2));
        free_at_once(buffer);
    }

    #[test]
    fn small_buffers_have_no_whole_pages() {
        for capacity in [0, 1, 100, page_size(), page_size() + 1] {
            free_at_once(Vec::with_capacity(capacity));
        }
    }
}
