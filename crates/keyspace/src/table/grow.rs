//! Growth and shrinking: one segment at a time is built again.

use super::bucket::{Bucket, Slot};
use super::segment::{BUCKETS_MAX, SegmentRef, buckets_for, larger};
use super::store::{AHEAD_BYTES_MAX, Table, place_in};
use super::strays::{Stray, pass_all};

/// What becomes of references that have no room in a copy.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rest {
    /// The copy fails.
    Fails,
    /// They become strays.
    Strays,
}

/// Most buckets of a smaller segment, in percent of those that there were before: with more it is
/// not worth the copy.
const SHRUNK_PERCENT_MAX: usize = 66;

/// Segments that hold what another one does, and what had no room in them.
struct Copied {
    parts: Vec<SegmentRef>,
    strays: Vec<Stray>,
}

impl Table {
    /// Makes room for one more entry with this hash; returns false if the table has grown as far as
    /// that helps.
    #[cold]
    pub(super) fn grow(&mut self, hash: u64) -> bool {
        match self.segment(hash) {
            None => self.directory.push(SegmentRef::allocate(self.pool(), 1, 0)),
            Some(old) if old.buckets() < BUCKETS_MAX => {
                let wanted = buckets_for(used(old)).max(larger(old.buckets()));
                self.rebuild(old, old.depth(), wanted);
            }
            Some(old) if self.may_split(old) => {
                self.rebuild(old, old.depth() + 1, buckets_for(used(old) / 2));
            }
            Some(_) => return false,
        }
        self.recount_index();
        true
    }

    /// A segment may split unless that makes the directory far larger than the table: keys with
    /// nearly the same hash stay together however often their segment splits. With others a segment
    /// that splits holds some 7,000 entries.
    fn may_split(&self, segment: SegmentRef) -> bool {
        const DIRECTORY_MIN: usize = 16;
        const ENTRIES_A_SEGMENT_MIN: usize = 256;
        let entries = self.counts.live + self.counts.tombstones;
        let directory_max = (entries / ENTRIES_A_SEGMENT_MIN).max(DIRECTORY_MIN);
        segment.depth() < self.depth || 2 << self.depth <= directory_max
    }

    /// Frees memory when a segment has become far too large for what it holds.
    #[inline]
    pub(super) fn shrink(&mut self, hash: u64) {
        if let Some(old) = self.segment(hash)
            && self.strays.is_empty() // A smaller one has no room for them either.
            && old.buckets() > 4
            && used(old) * 5 < old.used_max()
        {
            self.shrink_segment(old);
        }
    }

    /// Puts a smaller segment in the place of `old`, if one has room for what that holds.
    ///
    /// None has where entries go in the order of their hashes, as a cursor, a hand or a walk meets
    /// them: those that are left have their homes side by side, in fewer buckets the smaller the
    /// segment is. Then it is tried again when half as many have gone as were left, for to try with
    /// each one would take the square of their number.
    #[cold]
    fn shrink_segment(&mut self, old: SegmentRef) {
        // SAFETY: the segment is alive, and the table is borrowed mutably.
        let head = unsafe { &mut *old.head() };
        if head.removals_to_await > 0 {
            head.removals_to_await -= 1;
            return;
        }
        head.removals_to_await = head.used / 2;
        let mut buckets = buckets_for(used(old));
        while buckets <= old.buckets() * SHRUNK_PERCENT_MAX / 100 {
            if let Some(copy) = self.try_copy(old, old.depth(), buckets, Rest::Fails) {
                self.replace_segment(old, copy);
                self.recount_index();
                return;
            }
            buckets = larger(buckets);
        }
    }

    /// Puts one segment, or two if `depth` is one more than before, in the place of `old`.
    ///
    /// An entry that came late may stand eight buckets from its home although the segment has room:
    /// full buckets come in runs. So the copy can fail at any size. Then the largest segment
    /// splits, and what has no place even so becomes a stray.
    #[cold]
    fn rebuild(&mut self, old: SegmentRef, mut depth: u32, mut buckets: usize) {
        let mut rest = Rest::Fails;
        let copy = loop {
            if let Some(copy) = self.try_copy(old, depth, buckets, rest) {
                break copy;
            }
            if buckets < BUCKETS_MAX {
                // Chance filled one neighbourhood: a little more room scatters it.
                buckets = larger(buckets);
            } else if depth == old.depth() && self.may_split(old) {
                depth += 1;
                buckets = buckets_for(used(old) / 2);
            } else {
                rest = Rest::Strays;
            }
        };
        self.replace_segment(old, copy);
    }

    /// Copies `old` to one segment of as many buckets, or to two if `depth` is one more than its
    /// own; `None` if something has no room and that fails.
    fn try_copy(&self, old: SegmentRef, depth: u32, buckets: usize, rest: Rest) -> Option<Copied> {
        let halves = 1usize << (depth - old.depth());
        let part = |_| SegmentRef::allocate(self.pool(), buckets, depth);
        let parts: Vec<_> = (0..halves).map(part).collect();
        match self.copy(old, &parts, rest) {
            Some(strays) => Some(Copied { parts, strays }),
            None => {
                for part in parts {
                    // SAFETY: nobody else knows it.
                    unsafe { part.free(self.pool()) };
                }
                None
            }
        }
    }

    /// Puts a copy in the place of `old`, which is freed.
    fn replace_segment(&mut self, old: SegmentRef, Copied { parts, strays }: Copied) {
        let mut all = std::mem::take(&mut self.strays);
        all.retain(|stray| self.segment(stray.hash) != Some(old));
        all.extend(strays);
        self.strays = all;
        let depth = parts[0].depth();
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

    /// Copies all references of `old`, those of its strays included, to `parts`. Returns those that
    /// had no room, or `None` if there are some and that fails.
    fn copy(&self, old: SegmentRef, parts: &[SegmentRef], rest: Rest) -> Option<Vec<Stray>> {
        let mut slots: Vec<Slot> = Vec::with_capacity(used(old));
        for number in 0..old.buckets_total() {
            // SAFETY: the segment is alive, and nobody changes it while the table is borrowed.
            let bucket = unsafe { &*old.bucket(number) };
            slots.extend(bucket.occupied().map(|index| bucket.slot(index)));
        }
        let of_old = self.strays.iter().filter(|stray| self.segment(stray.hash) == Some(old));
        slots.extend(of_old.map(|stray| stray.slot));
        let part_shift = 64 - parts[0].depth();
        let mut strays = Vec::new();
        for (number, &slot) in slots.iter().enumerate() {
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
                if place_in(part, hash, slot) {
                    continue;
                }
                if rest == Rest::Fails {
                    return None;
                }
                pass_all(part, hash);
                strays.push(Stray { hash, slot });
            }
        }
        Some(strays)
    }

    /// After the directory has changed: the root, the bytes, and the size of an entry.
    pub(super) fn recount_index(&mut self) {
        let mut bytes =
            self.directory.len() * size_of::<SegmentRef>() + self.strays.len() * size_of::<Stray>();
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

#[cfg(test)]
mod tests;
