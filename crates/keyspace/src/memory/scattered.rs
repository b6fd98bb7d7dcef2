//! Chunks that are not to be huge pages for now.
//!
//! A row that gives its memory back has its huge page split, and the kernel gathers it again: with
//! its usual settings a single page in use suffices, and a minute after 45 MB had gone, 37 were
//! back. So a chunk of which a part has given its memory back is not marked for huge pages, until
//! it is wholly in use, or wholly idle.
//!
//! Each change of the mark may split a mapping of the process, of which it may have 65,530.
//! [`CHUNKS_MAX`] leaves half of them to others.

use super::chunks::CHUNK_BYTES;
use std::collections::BTreeSet;

/// Chunks that lose their mark, at most: 32 GiB. With further ones, the kernel may take back what
/// rows have given.
const CHUNKS_MAX: usize = 16 << 10;

/// The chunks without the mark, by their addresses.
#[derive(Debug, Default)]
pub(super) struct Scattered(BTreeSet<usize>);

impl Scattered {
    /// A part of this chunk has given its memory back.
    pub(super) fn note_part(&mut self, chunk: usize) {
        if self.0.len() < CHUNKS_MAX && self.0.insert(chunk) {
            advise(chunk, Mark::Small);
        }
    }

    /// This chunk is wholly in use, or wholly idle.
    #[inline]
    pub(super) fn note_whole(&mut self, chunk: usize) {
        if self.0.remove(&chunk) {
            advise(chunk, Mark::Huge);
        }
    }

    /// This chunk has no mark.
    #[inline]
    pub(super) fn has(&self, chunk: usize) -> bool {
        !self.0.is_empty() && self.0.contains(&chunk)
    }
}

#[derive(Clone, Copy)]
enum Mark {
    Huge,
    Small,
}

fn advise(chunk: usize, mark: Mark) {
    if cfg!(miri) {
        return;
    }
    let advice = match mark {
        Mark::Huge => rustix::mm::Advice::LinuxHugepage,
        Mark::Small => rustix::mm::Advice::LinuxNoHugepage,
    };
    let chunk = std::ptr::with_exposed_provenance_mut(chunk);
    // A refusal costs speed, or some memory.
    // SAFETY: chunks are never unmapped while their pool lives; the advice does not change what
    // they hold.
    let _ = unsafe { rustix::mm::madvise(chunk, CHUNK_BYTES, advice) };
}
