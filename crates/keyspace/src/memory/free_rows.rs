//! Which pages of the chunks are free: rows of them by address and by length.
//!
//! Two ordered maps cost a few hundred nanoseconds a page, and a page takes some ninety entries, or
//! eight of the largest.

use super::chunks::CHUNK_BYTES;
use super::pages::ROW_STEP_BYTES;
use std::collections::{BTreeMap, BTreeSet};

/// Rows that are looked at for one that is aligned.
const ROWS_TRIED: usize = 8;

/// Free rows. No row crosses the border of a chunk, and no two touch within one.
#[derive(Debug, Default)]
pub(super) struct FreeRows {
    /// Length by address, both in bytes.
    by_address: BTreeMap<usize, usize>,
    /// Length, address.
    by_length: BTreeSet<(usize, usize)>,
    bytes: usize,
}

impl FreeRows {
    /// Bytes of all rows.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Takes this number of bytes, aligned to a power of two of at least the step of rows and at
    /// most the bytes; `None` if no row has them.
    pub(super) fn take(&mut self, bytes: usize, align: usize) -> Option<usize> {
        let fits = |&&(length, address): &&(usize, usize)| {
            address.next_multiple_of(align) + bytes <= address + length
        };
        // Rows of just this length may all stand awkwardly; a step more always suffices.
        let rows = self.by_length.range((bytes, 0)..);
        let surely = (bytes + align - ROW_STEP_BYTES, 0);
        let tried = rows.take(ROWS_TRIED).find(fits);
        let &(length, address) = tried.or_else(|| self.by_length.range(surely..).next())?;
        self.remove(address, length);
        let taken = address.next_multiple_of(align);
        let (head, tail) = (taken - address, address + length - taken - bytes);
        if head > 0 {
            self.insert(address, head);
        }
        if tail > 0 {
            self.insert(taken + bytes, tail);
        }
        Some(taken)
    }

    /// Adds a row, which may be part of a longer one then; returns that one's bytes.
    pub(super) fn give(&mut self, mut address: usize, mut bytes: usize) -> usize {
        let chunk = address & !(CHUNK_BYTES - 1);
        if let Some((&before, &length)) = self.by_address.range(chunk..address).next_back() {
            debug_assert!(before + length <= address, "given back twice");
            if before + length == address {
                self.remove(before, length);
                address = before;
                bytes += length;
            }
        }
        let end = address + bytes;
        if end < chunk + CHUNK_BYTES
            && let Some(&length) = self.by_address.get(&end)
        {
            self.remove(end, length);
            bytes += length;
        }
        self.insert(address, bytes);
        bytes
    }

    /// A row is in this chunk.
    pub(super) fn has_in(&self, chunk: usize) -> bool {
        self.by_address.range(chunk..chunk + CHUNK_BYTES).next().is_some()
    }

    /// What no row is as long as.
    pub(super) const ABOVE_ALL: (usize, usize) = (usize::MAX, 0);

    /// The longest row that comes behind this one in the order of falling length and address: its
    /// length and address.
    pub(super) fn longest_below(&self, row: (usize, usize)) -> Option<(usize, usize)> {
        self.by_length.range(..row).next_back().copied()
    }

    fn insert(&mut self, address: usize, length: usize) {
        self.by_address.insert(address, length);
        self.by_length.insert((length, address));
        self.bytes += length;
    }

    fn remove(&mut self, address: usize, length: usize) {
        self.by_address.remove(&address);
        self.by_length.remove(&(length, address));
        self.bytes -= length;
    }
}

#[cfg(test)]
mod tests {
    use super::super::pages::{PAGE_BYTES, RUN_PAGE_BYTES};
    use super::*;

    #[test]
    fn rows_do_not_overlap_and_chunks_become_whole_again() {
        let (mut free, mut chunks, mut taken) = (FreeRows::default(), 0, Vec::new());
        for round in 0..if cfg!(miri) { 300 } else { 2000usize } {
            let steps = 1 + round * 5 % 16;
            let (bytes, align) = match steps {
                3 => (PAGE_BYTES, PAGE_BYTES),
                5 => (RUN_PAGE_BYTES, RUN_PAGE_BYTES),
                _ => (steps * ROW_STEP_BYTES, ROW_STEP_BYTES),
            };
            let address = loop {
                if let Some(address) = free.take(bytes, align) {
                    break address;
                }
                chunks += 1;
                free.give(chunks * CHUNK_BYTES, CHUNK_BYTES);
            };
            assert!(address.is_multiple_of(align));
            assert_eq!(address / CHUNK_BYTES, (address + bytes - 1) / CHUNK_BYTES);
            taken.push((address, bytes));
            if round % 3 == 2 {
                let (address, bytes) = taken.swap_remove(round * 7 % taken.len());
                free.give(address, bytes);
            }
        }
        taken.sort_unstable();
        for pair in taken.windows(2) {
            assert!(pair[0].0 + pair[0].1 <= pair[1].0, "{pair:?}");
        }
        let in_use: usize = taken.iter().map(|(_, bytes)| bytes).sum();
        assert_eq!(free.bytes() + in_use, chunks * CHUNK_BYTES);
        // Under Miri there are few, and the last chunk is mostly free.
        let holes =
            if cfg!(miri) { free.bytes().saturating_sub(CHUNK_BYTES) } else { free.bytes() };
        assert!(holes < in_use / 10, "holes are used before chunks are added");
        for (address, bytes) in taken {
            assert!(free.give(address, bytes) >= bytes);
        }
        let whole = free.by_length.iter().all(|&(length, _)| length == CHUNK_BYTES);
        assert!(whole && free.by_length.len() == chunks);
    }
}
