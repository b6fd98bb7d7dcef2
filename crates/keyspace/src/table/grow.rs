//! Growth and shrinking: one segment at a time is built anew.

use super::bucket::{Bucket, Slot};
use super::segment::{BUCKETS_MAX, SegmentRef, buckets_for, larger};
use super::store::{AHEAD_BYTES_MAX, Table, place_in};

impl Table {
    /// Makes room for one more entry with this hash.
    #[cold]
    pub(super) fn grow(&mut self, hash: u64) {
        match self.segment(hash) {
            None => self.directory.push(SegmentRef::allocate(self.pool(), 1, 0)),
            Some(old) => {
                if old.buckets() < BUCKETS_MAX {
                    let wanted = buckets_for(used(old)).max(larger(old.buckets()));
                    self.rebuild(old, old.depth(), wanted);
                } else {
                    self.rebuild(old, old.depth() + 1, buckets_for(used(old) / 2));
                }
            }
        }
        self.recount_index();
    }

    /// Gives memory back when a segment has become far too large for what it holds.
    #[inline]
    pub(super) fn shrink(&mut self, hash: u64) {
        if let Some(old) = self.segment(hash)
            && old.buckets() > 4
            && used(old) * 5 < old.used_max()
        {
            self.rebuild(old, old.depth(), buckets_for(used(old)));
            self.recount_index();
        }
    }

    /// Puts one segment, or two if `depth` is one more than before, in the place of `old`.
    ///
    /// An entry that came late may stand eight buckets from its home although the segment has room: full
    /// buckets come in runs. So the copy can fail at any size, and the largest segment splits then.
    #[cold]
    fn rebuild(&mut self, old: SegmentRef, mut depth: u32, mut buckets: usize) {
        let parts = loop {
            let halves = 1usize << (depth - old.depth());
            let part = |_| SegmentRef::allocate(self.pool(), buckets, depth);
            let parts: Vec<_> = (0..halves).map(part).collect();
            if self.copy(old, &parts) {
                break parts;
            }
            for part in parts {
                // SAFETY: nobody else knows it.
                unsafe { part.free(self.pool()) };
            }
            if buckets < BUCKETS_MAX {
                // Chance filled one neighbourhood: a little more room scatters it.
                buckets = larger(buckets);
            } else {
                assert!(depth == old.depth(), "a seeded hash does not put 80 keys in one place");
                depth += 1;
                buckets = buckets_for(used(old) / 2);
            }
        };
        if depth > self.depth {
            self.directory = self.directory.iter().flat_map(|&segment| [segment; 2]).collect();
            self.depth = depth;
        }
        let span_bits = self.depth - depth;
        for (index, segment) in self.directory.iter_mut().enumerate() {
            if *segment == old {
                *segment = parts[(index >> span_bits) & (parts.len() - 1)];
            }
        }
        // SAFETY: the directory no longer refers to it, and the table is borrowed mutably.
        unsafe { old.free(self.pool()) };
    }

    /// Copies all references of `old` to `parts`; false if one of them had no room.
    fn copy(&self, old: SegmentRef, parts: &[SegmentRef]) -> bool {
        let mut slots: Vec<Slot> = Vec::with_capacity(used(old));
        for number in 0..old.buckets_total() {
            // SAFETY: the segment is alive, and nobody changes it while the table is borrowed.
            let bucket = unsafe { &*old.bucket(number) };
            slots.extend(bucket.occupied().map(|index| bucket.slot(index)));
        }
        let part_shift = 64 - parts[0].depth();
        slots.iter().enumerate().all(|(number, &slot)| {
            if let Some(later) = slots.get(number + 8) {
                basalt_stdx::prefetch::prefetch(later.entry().addr().as_ptr());
            }
            // SAFETY: the entry is alive; the new segments are known to nobody else.
            unsafe {
                let hash = self.hasher.hash(slot.entry().entry().key());
                let part = if parts.len() == 1 {
                    parts[0]
                } else {
                    parts[(hash >> part_shift & 1) as usize]
                };
                place_in(part, hash, slot)
            }
        })
    }

    /// After the directory has changed: the root, the bytes, and the size of an entry.
    fn recount_index(&mut self) {
        let mut bytes = self.directory.len() * size_of::<SegmentRef>();
        let mut before = None;
        for &segment in &self.directory {
            if before.replace(segment) != Some(segment) {
                bytes += (1 + segment.buckets_total()) * size_of::<Bucket>();
            }
        }
        self.counts.index_bytes = bytes;
        let entries = (self.counts.live + self.counts.tombstones).max(1);
        let typical = (self.counts.entry_bytes / entries).clamp(1, AHEAD_BYTES_MAX);
        self.entry_bytes_typical = typical as u32 - 1;
        self.root = self.directory.first().copied().filter(|_| self.depth == 0);
    }
}

#[inline]
fn used(segment: SegmentRef) -> usize {
    // SAFETY: segments in a table's directory are alive.
    unsafe { (*segment.head()).used as usize }
}
