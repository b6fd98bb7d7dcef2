//! Entries that found no place near their home bucket, and no growth that would have made one.
//!
//! More than 80 keys with nearly the same hash do that. The hash is seeded, so no client can choose
//! such keys unless it knows the seed; then the table is slower for these keys, and for no others.
//! A look-up comes here only behind buckets that are all passed, and goes through all strays.

use super::bucket::Slot;
use super::segment::SegmentRef;
use super::store::Table;

/// An entry without a place in a bucket.
#[derive(Clone, Copy)]
pub(super) struct Stray {
    pub(super) hash: u64,
    pub(super) slot: Slot,
}

impl Table {
    /// Takes in an entry that has no place in the segment of its hash.
    #[cold]
    pub(super) fn add_stray(&mut self, hash: u64, slot: Slot) {
        if let Some(segment) = self.segment(hash) {
            // SAFETY: the table is borrowed mutably, so nobody else uses its buckets.
            unsafe { pass_all(segment, hash) };
        }
        self.strays.push(Stray { hash, slot });
        self.recount_index();
    }

    /// The stray of a key, and its number.
    #[cold]
    pub(super) fn find_stray(&self, hash: u64, key: &[u8]) -> Option<(usize, Slot)> {
        let mut strays = self.strays.iter().enumerate();
        let found = strays.find(|(_, stray)| {
            // SAFETY: the table refers to the entry, so it is alive, and does not change.
            stray.hash == hash && unsafe { stray.slot.entry().entry() }.has_key(key)
        });
        found.map(|(number, stray)| (number, stray.slot))
    }

    /// Takes a stray out.
    #[cold]
    pub(super) fn take_stray(&mut self, number: usize) {
        let stray = self.strays.swap_remove(number);
        let Some(segment) = self.segment(stray.hash) else { return };
        let home = segment.home(stray.hash);
        for number in home..segment.reach(home) {
            // SAFETY: the table is borrowed mutably, so nobody else uses its buckets.
            unsafe { (*segment.bucket(number)).unpass() };
        }
    }

    /// Those that belong to a bucket.
    pub(super) fn strays_of(
        &self,
        segment: SegmentRef,
        home: usize,
    ) -> impl Iterator<Item = &Stray> {
        let is_its = move |stray: &&Stray| {
            self.segment(stray.hash) == Some(segment) && segment.home(stray.hash) == home
        };
        self.strays.iter().filter(is_its)
    }
}

/// Has look-ups of a hash go through all buckets where its entry could stand, and then on to the
/// strays.
///
/// # Safety
/// The segment is alive and nobody else uses it meanwhile.
pub(super) unsafe fn pass_all(segment: SegmentRef, hash: u64) {
    let home = segment.home(hash);
    for number in home..segment.reach(home) {
        // SAFETY: says the caller.
        unsafe { (*segment.bucket(number)).pass() };
    }
}

#[cfg(test)]
mod tests {
    use crate::entry::{Access, Content, NewValue, StringValue};
    use crate::hash::KeyHasher;
    use crate::memory::pages::PagePool;
    use crate::table::Table;
    use crate::table::bucket::DIRTY;
    use basalt_change::op::StringForm;
    use basalt_change::version::Version;
    use std::sync::Arc;

    struct World {
        table: Table,
        hasher: Arc<KeyHasher>,
    }

    impl World {
        fn put(&mut self, key: &[u8], value: &[u8]) {
            let value = NewValue::string(value, StringForm::Whole);
            let (access, version) = (Access::default(), Version::NONE);
            let content = Content { key, value, expire_ms: 0, access, version };
            let hash = self.hasher.hash(key);
            match self.table.find(hash, key) {
                Some(found) if self.table.overwrite(found, &content) => {}
                Some(found) => self.table.replace(found, content, DIRTY),
                None => self.table.insert(hash, content, DIRTY),
            }
        }

        fn get(&self, key: &[u8]) -> Option<&[u8]> {
            let found = self.table.find(self.hasher.hash(key), key)?;
            self.table.entry(found).string().map(StringValue::bytes)
        }

        fn remove(&mut self, key: &[u8]) {
            let hash = self.hasher.hash(key);
            let found = self.table.find(hash, key).expect("it is there");
            self.table.remove(hash, found);
        }

        fn scanned(&self) -> Vec<Vec<u8>> {
            let (mut keys, mut from) = (Vec::new(), Some(0));
            while let Some(hash) = from {
                from = self.table.scan(hash, 2, |entry| keys.push(entry.key().to_vec()));
            }
            keys.sort();
            keys
        }

        fn dirty(&self) -> Vec<Vec<u8>> {
            let mut keys = Vec::new();
            self.table.walk(DIRTY, |entry, _| keys.push(entry.key().to_vec()));
            assert_eq!(keys.len(), self.table.counts().dirty);
            keys.sort();
            keys
        }
    }

    /// Several times as many keys with one hash as stand near one bucket, among others.
    #[test]
    fn keys_that_collide_are_found_walked_and_removed() {
        const COLLIDING: u32 = if cfg!(miri) { 90 } else { 400 };
        const OTHERS: u32 = if cfg!(miri) { 20 } else { 1_000 };
        const MORE: u32 = if cfg!(miri) { 0 } else { 20_000 };
        let hasher = Arc::new(KeyHasher::colliding(b"same"));
        let table = Table::new(Arc::new(PagePool::default()), Arc::clone(&hasher));
        let mut world = World { table, hasher };
        let same = (0..COLLIDING).map(|n| format!("same {n:05}"));
        let keys = (0..OTHERS).map(|n| format!("other {n:05}")).chain(same);
        let keys: Vec<Vec<u8>> = keys.map(String::into_bytes).collect();
        keys.iter().for_each(|key| world.put(key, b"v"));
        assert!(world.table.counts().index_bytes < 4 << 20, "{:?}", world.table.counts());
        assert!(world.table.strays.len() > 81 * (COLLIDING / 100) as usize / 2);
        assert_eq!((world.scanned(), world.dirty()), (keys.clone(), keys.clone()));
        world.table.mark_in_flight(|_, _| ());
        assert!(world.dirty().is_empty());
        for key in keys.iter().step_by(3) {
            world.put(key, b"a longer value");
        }
        assert_eq!(world.dirty(), keys.iter().step_by(3).cloned().collect::<Vec<_>>());
        world.table.mark_lost();
        assert_eq!(world.dirty(), keys);
        world.table.mark_in_flight(|_, _| ());
        world.table.mark_arrived();
        world.table.mark_lost();
        assert!(world.dirty().is_empty());
        // The table grows, splits and shrinks.
        (0..MORE).for_each(|number| world.put(format!("more {number}").as_bytes(), b"v"));
        (0..MORE).for_each(|number| world.remove(format!("more {number}").as_bytes()));
        assert_eq!(world.scanned(), keys);
        for (number, key) in keys.iter().enumerate() {
            let value = if number % 3 == 0 { &b"a longer value"[..] } else { b"v" };
            assert_eq!(world.get(key), Some(value), "{number}");
            assert!(world.table.random(number as u64).is_some());
            world.remove(key);
            assert_eq!(world.get(key), None);
        }
        let counts = world.table.counts();
        assert_eq!((counts.live, counts.dirty, counts.entry_bytes), (0, 0, 0));
        assert!(world.table.random(1).is_none() && world.table.strays.is_empty());
    }
}
