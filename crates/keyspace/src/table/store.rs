//! HOT PATH
//! The table itself: lookup, insertion, replacement, removal, growth.

use super::bucket::{Bucket, DIRTY, EXPIRING, Slot, tag};
use super::found::{EntryHint, Found, Further, Place, Revision};
use super::segment::SegmentRef;
use super::strays::Stray;
use crate::entry::{Access, Content, Entry, EntryPtr};
use crate::hash::KeyHasher;
use crate::memory::pages::PagePool;
use crate::memory::slab::Slab;
use basalt_change::version::Version;
use basalt_stdx::prefetch::{LINE_BYTES, prefetch};
use basalt_value::{Value, ValueMut};
use std::sync::Arc;

/// Most bytes of an entry that are fetched ahead.
pub(super) const AHEAD_BYTES_MAX: usize = 256;

/// A hash table of entries. See [`crate::table`].
///
/// In this order: what a lookup reads comes first, in one cache line with the database's counts.
#[repr(C)]
pub struct Table {
    /// The only segment while there is one; what `directory` holds then, one access nearer.
    pub(super) root: Option<SegmentRef>,
    /// The directory has `1 << depth` entries, none while the table is empty.
    pub(super) depth: u32,
    /// Average size of an entry when the table last grew or shrank, less one; for prefetching.
    pub(super) entry_bytes_typical: u32,
    pub(super) hasher: Arc<KeyHasher>,
    pub(super) counts: Counts,
    pub(super) slab: Slab,
    pub(super) directory: Vec<SegmentRef>,
    pub(super) revision: Revision,
    /// See `table/strays.rs`. Nearly always empty.
    pub(super) strays: Vec<Stray>,
}

/// What the table holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// Entries that are not tombstones.
    pub live: usize,
    /// Tombstones.
    pub tombstones: usize,
    /// Entries, tombstones included, that the cold tier has not seen.
    pub dirty: usize,
    /// Entries with an expiry.
    pub expiring: usize,
    /// Bytes of the entries, without values that stand apart.
    pub entry_bytes: usize,
    /// Bytes of values that stand apart from their entries.
    pub apart_bytes: usize,
    /// Bytes of segments and directory.
    pub index_bytes: usize,
}

/// What a table knows of a key.
pub enum Lookup<'a> {
    /// It has this value.
    Live(Entry<'a>),
    /// It is gone; the cold tier's row for it is out of date.
    Tombstone,
    /// Nothing: it may exist in the cold tier.
    Unknown,
}

// SAFETY: the table owns its segments and entries; nothing in it has thread affinity.
unsafe impl Send for Table {}

impl Table {
    /// An empty table, without memory.
    pub fn new(pool: Arc<PagePool>, hasher: Arc<KeyHasher>) -> Table {
        Table {
            root: None,
            directory: Vec::new(),
            depth: 0,
            entry_bytes_typical: 0,
            hasher,
            slab: Slab::new(pool),
            counts: Counts::default(),
            revision: Revision::next(),
            strays: Vec::new(),
        }
    }

    /// What the table holds.
    #[inline]
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Where large segments come from.
    pub(super) fn pool(&self) -> &PagePool {
        self.slab.pool()
    }

    /// It has or had entries, and so takes memory.
    #[inline]
    pub(crate) fn takes_memory(&self) -> bool {
        self.depth != 0 || self.root.is_some()
    }

    /// Bytes of entries in the global allocator.
    pub fn large_bytes(&self) -> usize {
        self.slab.large_bytes()
    }

    /// The segment that covers a hash.
    #[inline]
    pub(crate) fn segment(&self, hash: u64) -> Option<SegmentRef> {
        if self.depth == 0 {
            return self.root;
        }
        Some(self.directory[(hash >> (64 - self.depth)) as usize])
    }

    /// Brings the home bucket of a hash into the cache.
    #[inline]
    pub fn prefetch_bucket(&self, hash: u64) {
        if let Some(segment) = self.segment(hash) {
            prefetch(segment.bucket(segment.home(hash)).cast());
        }
    }

    /// Brings the first entry into the cache whose tag matches the hash: the one with the key, or
    /// one time in thirty another; says where it stands. If there is none, the key may be about to
    /// come.
    #[inline]
    pub fn prefetch_entry(&self, hash: u64) -> EntryHint {
        self.segment(hash)
            .map_or_else(EntryHint::default, |segment| self.prefetch_entry_in(segment, hash))
    }

    /// Prefetches an entry where the hash's segment is known.
    #[inline]
    pub(crate) fn prefetch_entry_in(&self, segment: SegmentRef, hash: u64) -> EntryHint {
        debug_assert!(self.segment(hash).map(SegmentRef::bits) == Some(segment.bits()));
        let home = segment.home(hash);
        // SAFETY: the partition's lock is held, so the segment is alive and does not change.
        let bucket = unsafe { &*segment.bucket(home) };
        match bucket.matching(tag(hash)).next() {
            Some(index) => self.prefetch_slot(segment, home, index, bucket.slot(index)),
            None if bucket.is_passed() => self.prefetch_further(segment, hash),
            None => {
                self.slab.prefetch_next();
                EntryHint::default()
            }
        }
    }

    /// Prefetches an entry behind its home bucket, one in twenty. The bucket is not waited for
    /// less here than in `find`, but the entry is.
    #[inline(never)]
    fn prefetch_further(&self, segment: SegmentRef, hash: u64) -> EntryHint {
        let home = segment.home(hash);
        for number in home + 1..segment.reach(home) {
            // SAFETY: as above.
            let bucket = unsafe { &*segment.bucket(number) };
            if let Some(index) = bucket.matching(tag(hash)).next() {
                return self.prefetch_slot(segment, number, index, bucket.slot(index));
            }
            if !bucket.is_passed() {
                break;
            }
        }
        EntryHint::default()
    }

    /// Brings as many lines in as an entry of average size takes: how many does not depend on where
    /// it begins, for a branch on that could not be predicted.
    #[inline]
    fn prefetch_slot(
        &self,
        segment: SegmentRef,
        bucket: usize,
        index: usize,
        slot: Slot,
    ) -> EntryHint {
        let first = slot.address();
        let bytes = self.entry_bytes_typical as usize;
        prefetch(first);
        let mut offset = LINE_BYTES;
        while offset < bytes {
            prefetch(first.wrapping_add(offset));
            offset += LINE_BYTES;
        }
        prefetch(first.wrapping_add(bytes));
        EntryHint { segment: segment.bits(), place: Place::new(bucket, index), slot }
    }

    /// Finds the entry of a key, even if it is a tombstone, and looks first where it was seen: then
    /// nothing has to be searched, and fetching the entry waits for no look at its bucket.
    #[inline(always)]
    pub fn find_again(&self, seen: EntryHint, hash: u64, key: &[u8]) -> Option<Found> {
        match self.find_there(seen, hash, key) {
            None => self.find_anywhere(hash, key),
            found => found,
        }
    }

    /// The entry that was seen, if it is still where it was, and this key's.
    #[inline(always)]
    fn find_there(&self, seen: EntryHint, hash: u64, key: &[u8]) -> Option<Found> {
        let segment = self.segment(hash)?;
        if segment.bits() != seen.segment {
            return None;
        }
        let EntryHint { place, slot, .. } = seen;
        // SAFETY: the table is borrowed, so its segments are alive and unchanged; this one is as
        // large as the one that the entry was seen in, so it has that bucket.
        let bucket = unsafe { &*segment.bucket(place.bucket()) };
        let is_there = bucket.holds(place.index(), tag(hash), slot);
        // SAFETY: the table refers to that entry, so it is alive, and does not change.
        let is_it = is_there && unsafe { slot.entry().entry() }.has_key(key);
        is_it.then_some(self.found(segment, place, slot))
    }

    #[inline(never)]
    fn find_anywhere(&self, hash: u64, key: &[u8]) -> Option<Found> {
        self.find(hash, key)
    }

    /// Finds the entry of a key, even if it is a tombstone.
    // Inlined always: what it gives is four words, and reading them from memory in pairs, as a
    // caller does, stalls until they have been written.
    #[inline(always)]
    pub fn find(&self, hash: u64, key: &[u8]) -> Option<Found> {
        let segment = self.segment(hash)?;
        let home = segment.home(hash);
        // SAFETY: the table is borrowed, so its segments are alive and unchanged.
        let bucket = unsafe { &*segment.bucket(home) };
        match find_in(bucket, hash, key) {
            Some((index, slot)) => Some(self.found(segment, Place::new(home, index), slot)),
            None if bucket.is_passed() => {
                let Further { place, slot } = self.find_further(segment, hash, key)?;
                Some(self.found(segment, place, slot))
            }
            None => None,
        }
    }

    /// Finds an entry by its hash alone, if it stands in a bucket; a tombstone, too.
    pub(crate) fn find_by_hash(&self, hash: u64) -> Option<Found> {
        let segment = self.segment(hash)?;
        let home = segment.home(hash);
        for number in home..segment.reach(home) {
            // SAFETY: the table is borrowed, so its segments are alive and unchanged.
            let bucket = unsafe { &*segment.bucket(number) };
            for index in bucket.matching(tag(hash)) {
                let slot = bucket.slot(index);
                // SAFETY: the table refers to the entry, so it is alive, and does not change.
                if self.hasher.hash(unsafe { slot.entry().entry() }.key()) == hash {
                    return Some(self.found(segment, Place::new(number, index), slot));
                }
            }
            if !bucket.is_passed() {
                return None;
            }
        }
        None
    }

    #[inline(always)]
    pub(super) fn found(&self, segment: SegmentRef, place: Place, slot: Slot) -> Found {
        Found { revision: self.revision, segment, place, slot }
    }

    /// Finds the entry of a key behind its home bucket.
    #[inline(never)]
    fn find_further(&self, segment: SegmentRef, hash: u64, key: &[u8]) -> Option<Further> {
        let home = segment.home(hash);
        for number in home + 1..segment.reach(home) {
            // SAFETY: the table is borrowed, so its segments are alive and unchanged.
            let bucket = unsafe { &*segment.bucket(number) };
            if let Some((index, slot)) = find_in(bucket, hash, key) {
                return Some(Further { place: Place::new(number, index), slot });
            }
            if !bucket.is_passed() {
                return None;
            }
        }
        let (index, slot) = self.find_stray(hash, key)?;
        Some(Further { place: Place::stray(index), slot })
    }

    /// What the table knows of a key.
    #[inline]
    pub fn lookup(&self, hash: u64, key: &[u8]) -> Lookup<'_> {
        match self.find(hash, key) {
            None => Lookup::Unknown,
            Some(found) => {
                let entry = self.entry(found);
                if entry.is_tombstone() { Lookup::Tombstone } else { Lookup::Live(entry) }
            }
        }
    }

    /// The entry at a place.
    #[inline]
    pub fn entry(&self, found: Found) -> Entry<'_> {
        self.revision.check(found.revision);
        // SAFETY: `found` is from this table since its last change, so the entry is alive, and it
        // cannot change while the table is borrowed.
        unsafe { found.slot.entry().entry() }
    }

    /// Notes an access to the entry at a place.
    #[inline]
    pub fn touch(&self, found: Found, access: Access) {
        self.revision.check(found.revision);
        // SAFETY: the entry is alive. The access field is written although the table is only
        // borrowed: it lies outside of every reference that `Entry` gives out, and the partition's
        // lock, without which there is no `&Table`, keeps other threads away.
        unsafe { found.slot.entry().touch(access) };
    }

    /// Sets when and how often the entry at a place was accessed.
    pub fn set_access(&mut self, found: Found, access: Access) {
        self.revision.check(found.revision);
        // SAFETY: the entry is alive, and the table is borrowed mutably.
        unsafe { found.slot.entry().set_access(access) };
    }

    /// Changes the expiry in place if the entry has room for it; returns true if it did. Marks the
    /// entry dirty.
    pub fn overwrite_expiry(&mut self, found: Found, expire_ms: u64) -> bool {
        self.revision.check(found.revision);
        // SAFETY: the table is borrowed mutably, so nobody else reads its entries.
        let done = unsafe { found.slot.entry().overwrite_expiry(expire_ms) };
        if done {
            self.mark(found, DIRTY);
        }
        done
    }

    /// Changes the version in place if the entry has room for it; returns true if it did. Marks the
    /// entry dirty.
    pub fn overwrite_version(&mut self, found: Found, version: Version) -> bool {
        self.revision.check(found.revision);
        // SAFETY: the table is borrowed mutably, so nobody else reads its entries.
        let done = unsafe { found.slot.entry().overwrite_version(version) };
        if done {
            self.mark(found, DIRTY);
        }
        done
    }

    /// Adds an entry for a key that has none, with these flags besides EXPIRING.
    pub fn insert(&mut self, hash: u64, content: Content<'_>, flags: u64) {
        let expiring = if content.expire_ms != 0 { EXPIRING } else { 0 };
        let entry = EntryPtr::create(&mut self.slab, content);
        let slot = Slot::new(entry, flags | expiring);
        self.count_in(slot);
        self.revision = Revision::next();
        while !self.place(hash, slot) {
            if !self.grow(hash) {
                return self.add_stray(hash, slot);
            }
        }
    }

    /// Puts another entry for the same key in the place of the one found. A key that has one keeps
    /// its frequency.
    pub fn replace(&mut self, found: Found, mut content: Content<'_>, flags: u64) {
        self.revision.check(found.revision);
        let before = self.entry(found);
        if !before.is_tombstone() {
            content.access = before.access().renewed(content.access);
        }
        let expiring = if content.expire_ms != 0 { EXPIRING } else { 0 };
        let entry = EntryPtr::create(&mut self.slab, content);
        let slot = Slot::new(entry, flags | expiring);
        let old = self.slot(found);
        self.count_out(old);
        self.count_in(slot);
        self.write(found, slot);
        self.revision = Revision::next();
        // SAFETY: the table no longer refers to the old entry, and it came from this slab.
        unsafe { old.entry().destroy(&mut self.slab) };
    }

    /// Overwrites a string in place if it fits and neither it nor the new one has a version;
    /// returns true if it did. Marks the entry dirty.
    // Inlined always: see `find`.
    #[inline(always)]
    pub fn overwrite(&mut self, found: Found, content: &Content<'_>) -> bool {
        self.revision.check(found.revision);
        let crate::entry::NewValue::Bytes(bytes, form) = &content.value else { return false };
        let has_expiry = found.slot.has(EXPIRING);
        if has_expiry != (content.expire_ms != 0) || !content.version.is_none() {
            return false;
        }
        let entry = found.slot.entry();
        // SAFETY: the table is borrowed mutably, so nobody else reads its entries.
        unsafe {
            let Some(old_bytes) = entry.overwrite(bytes, *form) else { return false };
            self.counts.entry_bytes = self.counts.entry_bytes + bytes.len() - old_bytes;
            if has_expiry {
                entry.overwrite_expiry(content.expire_ms);
            }
            entry.touch(content.access);
        }
        self.mark(found, DIRTY);
        true
    }

    /// Changes a shared value in place. Marks the entry dirty.
    pub fn edit_shared(&mut self, found: Found, change: impl FnOnce(&mut Vec<u8>)) {
        self.revision.check(found.revision);
        self.counts.apart_bytes -= self.entry(found).apart_bytes();
        // SAFETY: the table is borrowed mutably, so nobody else reads its entries; the caller found
        // the value to be shared.
        unsafe { found.slot.entry().shared_mut().edit(change) };
        self.counts.apart_bytes += self.entry(found).apart_bytes();
        self.mark(found, DIRTY);
    }

    /// Puts a copy in the place of a shared value; returns the original.
    pub fn swap_shared(&mut self, found: Found, copy: Arc<Vec<u8>>) -> Arc<Vec<u8>> {
        self.revision.check(found.revision);
        self.counts.apart_bytes -= self.entry(found).apart_bytes();
        // SAFETY: the table is borrowed mutably, so nobody else reads its entries; the caller found
        // the value to be shared.
        let original = unsafe { found.slot.entry().shared_mut().swap(copy) };
        self.counts.apart_bytes += self.entry(found).apart_bytes();
        original
    }

    /// Changes a collection in place; `None` if the entry is none. The caller marks a changed
    /// entry dirty: `change` may find that there is nothing to do.
    #[inline]
    pub fn edit_collection<R>(
        &mut self,
        found: Found,
        change: impl FnOnce(ValueMut<'_>) -> R,
    ) -> Option<R> {
        let before = self.entry(found).apart_bytes();
        // SAFETY: the table is borrowed mutably, so nobody else reads its entries.
        let result = unsafe { found.slot.entry().collection_mut() }.map(change);
        let after = self.entry(found).apart_bytes();
        self.counts.apart_bytes = self.counts.apart_bytes + after - before;
        result
    }

    /// Takes a collection out and leaves an empty one in its place; `None` if the entry is none.
    pub fn take_collection(&mut self, found: Found) -> Option<Value> {
        self.revision.check(found.revision);
        self.counts.apart_bytes -= self.entry(found).apart_bytes();
        // SAFETY: as above.
        let value = unsafe { found.slot.entry().take_collection() };
        self.counts.apart_bytes += self.entry(found).apart_bytes();
        value
    }

    /// Changes bytes of a value that stands in its entry. Marks the entry dirty.
    ///
    /// # Panics
    /// If the entry has no such value.
    #[inline]
    pub fn edit_inline(&mut self, found: Found, change: impl FnOnce(&mut [u8])) {
        self.revision.check(found.revision);
        // SAFETY: the table is borrowed mutably, so nobody else reads its entries, and `change`
        // cannot keep what it is lent.
        change(unsafe { found.slot.entry().inline_mut() });
        self.mark(found, DIRTY);
    }

    /// Sets flags of the entry's reference.
    #[inline]
    pub fn mark(&mut self, found: Found, flags: u64) {
        self.revision.check(found.revision);
        if !found.slot.has(flags) {
            // Marked since it was found, perhaps.
            let slot = self.slot(found);
            if flags & DIRTY != 0 && !slot.has(DIRTY) {
                self.counts.dirty += 1;
            }
            self.write(found, slot.marked(flags));
        }
    }

    /// Takes the entry out.
    pub fn remove(&mut self, hash: u64, found: Found) {
        self.revision.check(found.revision);
        let old = self.slot(found);
        self.count_out(old);
        self.revision = Revision::next();
        let Found { segment, place, .. } = found;
        if place.is_stray() {
            self.take_stray(place.index());
        } else {
            let home = segment.home(hash);
            for number in home..place.bucket() {
                // SAFETY: the table is borrowed mutably; the buckets are alive.
                unsafe { (*segment.bucket(number)).unpass() };
            }
            // SAFETY: as above.
            unsafe {
                (*segment.bucket(place.bucket())).clear(place.index());
                (*segment.head()).used -= 1;
            }
        }
        // SAFETY: the entry came from this slab and nobody refers to it any more.
        unsafe { old.entry().destroy(&mut self.slab) };
        self.shrink(hash);
    }

    /// The reference at a place, with the flags that it has now.
    #[inline]
    fn slot(&self, found: Found) -> Slot {
        let Found { segment, place, .. } = found;
        if place.is_stray() {
            return self.strays[place.index()].slot;
        }
        // SAFETY: `found` is from this table since its last change; the table is borrowed.
        unsafe { (*segment.bucket(place.bucket())).slot(place.index()) }
    }

    #[inline]
    pub(super) fn write(&mut self, found: Found, slot: Slot) {
        let Found { segment, place, .. } = found;
        if place.is_stray() {
            self.strays[place.index()].slot = slot;
            return;
        }
        // SAFETY: `found` is from this table since its last change; the table is borrowed mutably.
        unsafe { (*segment.bucket(place.bucket())).set_slot(place.index(), slot) };
    }

    /// Stores a reference; false if the segment has to grow first.
    fn place(&mut self, hash: u64, slot: Slot) -> bool {
        let Some(segment) = self.segment(hash) else { return false };
        // SAFETY: the table is borrowed mutably, so its segments are alive and nobody reads them.
        unsafe {
            if (*segment.head()).used as usize >= segment.used_max() {
                return false;
            }
            place_in(segment, hash, slot)
        }
    }

    #[inline]
    fn count_in(&mut self, slot: Slot) {
        // SAFETY: the slot's entry is alive; the table is borrowed mutably.
        let entry = unsafe { slot.entry().entry() };
        let counts = &mut self.counts;
        counts.live += usize::from(!entry.is_tombstone());
        counts.tombstones += usize::from(entry.is_tombstone());
        counts.dirty += usize::from(slot.has(DIRTY));
        counts.expiring += usize::from(slot.has(EXPIRING));
        counts.entry_bytes += entry.bytes();
        counts.apart_bytes += entry.apart_bytes();
    }

    #[inline]
    fn count_out(&mut self, slot: Slot) {
        // SAFETY: as above.
        let entry = unsafe { slot.entry().entry() };
        let counts = &mut self.counts;
        counts.live -= usize::from(!entry.is_tombstone());
        counts.tombstones -= usize::from(entry.is_tombstone());
        counts.dirty -= usize::from(slot.has(DIRTY));
        counts.expiring -= usize::from(slot.has(EXPIRING));
        counts.entry_bytes -= entry.bytes();
        counts.apart_bytes -= entry.apart_bytes();
    }
}

/// Finds the entry of a key in one bucket.
#[inline(always)]
fn find_in(bucket: &Bucket, hash: u64, key: &[u8]) -> Option<(usize, Slot)> {
    for index in bucket.matching(tag(hash)) {
        let slot = bucket.slot(index);
        // SAFETY: a holder of a reference to a bucket has borrowed its table, so the entry is alive
        // and does not change.
        if unsafe { slot.entry().entry() }.has_key(key) {
            return Some((index, slot));
        }
    }
    None
}

/// Stores a reference in a segment; false if no slot is free near its home.
///
/// # Safety
/// The segment is alive and nobody else uses it meanwhile.
pub(super) unsafe fn place_in(segment: SegmentRef, hash: u64, slot: Slot) -> bool {
    let home = segment.home(hash);
    for number in home..segment.reach(home) {
        // SAFETY: says the caller.
        unsafe {
            let bucket = &mut *segment.bucket(number);
            if let Some(index) = bucket.vacant() {
                bucket.set(index, tag(hash), slot);
                (*segment.head()).used += 1;
                for passed in home..number {
                    (*segment.bucket(passed)).pass();
                }
                return true;
            }
        }
    }
    false
}

impl Drop for Table {
    fn drop(&mut self) {
        let apart = self.counts.apart_bytes > 0 || self.slab.needs_freeing();
        for stray in std::mem::take(&mut self.strays) {
            // SAFETY: the table is being dropped: nobody else uses its entries.
            unsafe { stray.slot.entry().destroy(&mut self.slab) };
        }
        let mut before = None;
        for segment in std::mem::take(&mut self.directory) {
            if before.replace(segment) == Some(segment) {
                continue;
            }
            for number in 0..if apart { segment.buckets_total() } else { 0 } {
                // SAFETY: the table is being dropped: nobody else uses its segments and entries.
                unsafe {
                    let bucket = &*segment.bucket(number);
                    for index in bucket.occupied() {
                        bucket.slot(index).entry().destroy(&mut self.slab);
                    }
                }
            }
            // SAFETY: as above.
            unsafe { segment.free(self.slab.pool()) };
        }
    }
}
