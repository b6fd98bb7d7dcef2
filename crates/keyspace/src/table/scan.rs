//! Walking a table: by hash for SCAN, by place for the background, at random for RANDOMKEY.

use super::bucket::{Bucket, COLD, DIRTY, Slot, Standing};
use super::found::{Found, Place, Revision};
use super::segment::SegmentRef;
use super::store::Table;
use crate::entry::Entry;
use crate::hash::KeyHasher;
use std::sync::Arc;

/// What [`Table::pick`] has found.
pub(crate) enum Picked {
    /// An entry, with its hash.
    Entry(u64, Found),
    /// None: where to go on, or the end.
    Nothing(Option<u64>),
}

impl Table {
    /// Visits the entries, tombstones included, of at most `buckets_max` home buckets, beginning
    /// with hash `from`, in bucket order. Returns the hash where the next call goes on, or `None`
    /// at the end.
    ///
    /// Every entry whose hash is in `[from, next)` and that exists during the call is visited once;
    /// growth between two calls does not matter.
    pub fn scan(&self, from: u64, buckets_max: usize, visit: impl FnMut(Entry<'_>)) -> Option<u64> {
        self.scan_flagged(from, buckets_max, 0, visit)
    }

    /// Like [`Table::scan`], but visits only entries whose reference has all of `flags` set, and
    /// touches no others.
    pub fn scan_flagged(
        &self,
        from: u64,
        buckets_max: usize,
        flags: u64,
        mut visit: impl FnMut(Entry<'_>),
    ) -> Option<u64> {
        let mut from = from;
        for _ in 0..buckets_max {
            let segment = self.segment(from)?;
            let home = segment.home(from);
            self.visit_home(segment, home, from, flags, &mut visit);
            from = next_home(segment, from, home)?;
        }
        Some(from)
    }

    fn visit_home(
        &self,
        segment: SegmentRef,
        home: usize,
        from: u64,
        flags: u64,
        visit: &mut impl FnMut(Entry<'_>),
    ) {
        for number in home..segment.reach(home) {
            // SAFETY: the table is borrowed: its segments and entries are alive and unchanged.
            let bucket = unsafe { &*segment.bucket(number) };
            for index in bucket.occupied().filter(|&index| bucket.slot(index).has(flags)) {
                // SAFETY: as above.
                let entry = unsafe { bucket.slot(index).entry().entry() };
                let hash = self.hasher.hash(entry.key());
                if hash >= from && segment.home(hash) == home {
                    visit(entry);
                }
            }
            if !bucket.is_passed() {
                return;
            }
        }
        for stray in self.strays_of(segment, home).filter(|stray| stray.slot.has(flags)) {
            if stray.hash >= from {
                // SAFETY: as above.
                visit(unsafe { stray.slot.entry().entry() });
            }
        }
    }

    /// Visits every entry whose reference has all of `flags` set, in no useful order.
    pub fn walk(&self, flags: u64, mut visit: impl FnMut(Entry<'_>, u64)) {
        for bucket in self.buckets() {
            // SAFETY: the table is borrowed: its buckets and entries are alive and unchanged.
            let bucket = unsafe { &*bucket };
            for index in bucket.occupied() {
                let slot = bucket.slot(index);
                if slot.has(flags) {
                    // SAFETY: as above.
                    visit(unsafe { slot.entry().entry() }, slot.flags());
                }
            }
        }
        for stray in self.strays.iter().filter(|stray| stray.slot.has(flags)) {
            // SAFETY: as above.
            visit(unsafe { stray.slot.entry().entry() }, stray.slot.flags());
        }
    }

    /// A checkpoint under way writes every dirty entry: they are in flight now. Shows those that
    /// the cold tier has no row of yet, and by what they are hashed.
    pub fn mark_in_flight(&mut self, mut new: impl FnMut(Entry<'_>, &KeyHasher)) {
        let hasher = Arc::clone(&self.hasher);
        self.change_references(|slot| {
            if slot.standing() == Standing::New {
                // SAFETY: the table refers to the entry, so it is alive, and does not change.
                new(unsafe { slot.entry().entry() }, &hasher);
            }
            if slot.has(DIRTY) { slot.without(DIRTY | COLD) } else { slot }
        });
        self.counts.dirty = 0;
    }

    /// What was in flight has arrived: the cold tier has it as it is now, or as it was before it
    /// changed again.
    pub fn mark_arrived(&mut self) {
        self.change_references(|slot| match slot.standing() {
            Standing::InFlight => slot.with(COLD),
            _ => slot,
        });
    }

    /// What was in flight does not arrive.
    pub fn mark_lost(&mut self) {
        let mut lost = 0;
        self.change_references(|slot| match slot.standing() {
            Standing::InFlight => {
                lost += 1;
                slot.with(DIRTY | COLD)
            }
            _ => slot,
        });
        self.counts.dirty += lost;
    }

    fn change_references(&mut self, mut change: impl FnMut(Slot) -> Slot) {
        self.revision = Revision::next();
        for bucket in self.buckets() {
            // SAFETY: the table is borrowed mutably, so nobody else uses its buckets.
            let bucket = unsafe { &mut *bucket };
            for index in bucket.occupied() {
                let slot = bucket.slot(index);
                let changed = change(slot);
                if changed != slot {
                    bucket.set_slot(index, changed);
                }
            }
        }
        for stray in &mut self.strays {
            stray.slot = change(stray.slot);
        }
    }

    /// The first entry from this hash on, in the order of buckets, that `picks` picks among those
    /// of at most `buckets_max` home buckets, with its hash. Else the hash where the next call goes
    /// on, or `None` at the end.
    pub(crate) fn pick(
        &self,
        from: u64,
        buckets_max: usize,
        mut picks: impl FnMut(Slot, Entry<'_>) -> bool,
    ) -> Picked {
        let mut at = from;
        for _ in 0..buckets_max {
            let Some(segment) = self.segment(at) else { return Picked::Nothing(None) };
            let home = segment.home(at);
            if let Some((hash, found)) = self.pick_in_home(segment, home, at, &mut picks) {
                return Picked::Entry(hash, found);
            }
            match next_home(segment, at, home) {
                Some(next) => at = next,
                None => return Picked::Nothing(None),
            }
        }
        Picked::Nothing(Some(at))
    }

    fn pick_in_home(
        &self,
        segment: SegmentRef,
        home: usize,
        from: u64,
        picks: &mut impl FnMut(Slot, Entry<'_>) -> bool,
    ) -> Option<(u64, Found)> {
        for number in home..segment.reach(home) {
            // SAFETY: the table is borrowed, so its segments are alive and unchanged.
            let bucket = unsafe { &*segment.bucket(number) };
            for index in bucket.occupied() {
                let slot = bucket.slot(index);
                // SAFETY: as above; the table refers to the entry.
                let entry = unsafe { slot.entry().entry() };
                if !picks(slot, entry) {
                    continue;
                }
                let hash = self.hasher.hash(entry.key());
                if hash >= from && segment.home(hash) == home {
                    return Some((hash, self.found(segment, Place::new(number, index), slot)));
                }
            }
            if !bucket.is_passed() {
                return None;
            }
        }
        None
    }

    /// Some live entry, each about as likely as another; `None` if there is none. `random` is any
    /// number.
    pub fn random(&self, random: u64) -> Option<Entry<'_>> {
        if self.counts.live == 0 {
            return None;
        }
        let mut hash = random;
        let mut turn = random;
        let mut ends_passed = 0;
        loop {
            let segment = self.segment(hash)?;
            let home = segment.home(hash);
            // SAFETY: the table is borrowed.
            let bucket = unsafe { &*segment.bucket(home) };
            let live: Vec<Slot> = bucket
                .occupied()
                .map(|index| bucket.slot(index))
                // SAFETY: as above.
                .filter(|slot| !unsafe { slot.entry().entry() }.is_tombstone())
                .collect();
            if !live.is_empty() {
                let slot = live[(turn >> 32) as usize % live.len()];
                // SAFETY: as above.
                return Some(unsafe { slot.entry().entry() });
            }
            turn = turn.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(1);
            // In a sparse table, go on to the neighbour; its entries are a little likelier then.
            hash = next_home(segment, hash, home).unwrap_or_else(|| {
                ends_passed += 1;
                0
            });
            // What is left stands in overflow buckets only, behind tombstones.
            if ends_passed == 2 {
                return self.first_live();
            }
        }
    }

    fn first_live(&self) -> Option<Entry<'_>> {
        let in_buckets = self.buckets().flat_map(|bucket| {
            // SAFETY: the table is borrowed: its buckets are alive and unchanged.
            let bucket = unsafe { &*bucket };
            bucket.occupied().map(|index| bucket.slot(index))
        });
        let slots = in_buckets.chain(self.strays.iter().map(|stray| stray.slot));
        // SAFETY: so are its entries.
        let mut entries = slots.map(|slot| unsafe { slot.entry().entry() });
        entries.find(|entry| !entry.is_tombstone())
    }

    fn buckets(&self) -> impl Iterator<Item = *mut Bucket> {
        let mut before = None;
        self.directory
            .iter()
            .copied()
            .filter(move |&segment| before.replace(segment) != Some(segment))
            .flat_map(|segment| {
                (0..segment.buckets_total()).map(move |number| segment.bucket(number))
            })
    }
}

/// The first hash of the bucket after `home`, `None` after the last of the table.
fn next_home(segment: SegmentRef, hash: u64, home: usize) -> Option<u64> {
    let depth = segment.depth();
    let prefix = if depth == 0 { 0 } else { hash >> (64 - depth) << (64 - depth) };
    let leading = segment.first_leading(home + 1);
    // `leading << 32` does not fit when the next bucket is past the segment's end.
    let offset = u128::from(leading) << 32 >> depth;
    u64::try_from(u128::from(prefix) + offset).ok()
}
