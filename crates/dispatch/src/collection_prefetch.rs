//! HOT PATH
//! Prefetching what the commands of a batch will touch in collections, and in long strings.
//!
//! The entry of a key has been fetched already
//! ([`Prepared::prefetch_entry`](basalt_service::prepared::Prepared::prefetch_entry)). What its
//! word points to comes next, for all commands; then, for those on an element of a large
//! collection, [`Step`] by step the way to the element. Commands in a row on one key share a look
//! at it. A bit of a string is one step away: its byte is all that is fetched.

use super::prepare::Incoming;
use basalt_engine::{Engine, Key};
use basalt_number::parse_i64;
use basalt_service::collection_target::CollectionTarget;
use basalt_service::draws;
use basalt_stdx::prefetch::prefetch;
use basalt_value::Kind;
use basalt_value::fetch::{Step, Way, element_hash, prefetch_small};

/// What a thread remembers while it prefetches for a batch.
#[derive(Default)]
pub(super) struct CollectionPrefetch {
    targets: Vec<Target>,
    /// What a step fetches.
    addresses: Vec<usize>,
}

/// An element that will be touched.
struct Target {
    /// Number of the request in its batch.
    request: usize,
    /// Requests in a row on one key have the same number.
    run: usize,
    way: Way,
}

/// What requests before one in its batch will have done.
#[derive(Default)]
struct Before {
    /// Numbers drawn.
    draws: usize,
    /// Elements taken from an end of the same collection.
    taken: usize,
}

impl<'a> Incoming<'a> {
    /// The key with the collection that it works on.
    #[inline]
    fn collection(&self) -> Option<Key<'a>> {
        let word = match self.prepared.target {
            CollectionTarget::Nothing => return None,
            CollectionTarget::Collection { key }
            | CollectionTarget::Element { key, .. }
            | CollectionTarget::Random { key }
            | CollectionTarget::End { key, .. }
            | CollectionTarget::Bit { key, .. } => key,
        };
        let bytes = self.words.get(usize::from(word))?.of(self.buffer);
        Some(Key { bytes, hash: self.prepared.hash, partition: self.prepared.partition? })
    }

    /// No word follows the key.
    #[inline]
    fn ends_with(&self, key: u8) -> bool {
        self.words.len() == usize::from(key) + 1
    }

    /// How it finds its element in a collection of this kind.
    #[inline]
    fn way(&self, kind: Kind, before: &Before) -> Option<Way> {
        match self.prepared.target {
            CollectionTarget::Element { element, .. } => {
                let element = self.words.get(usize::from(element))?.of(self.buffer);
                Some(Way::Hash(element_hash(kind, element)))
            }
            CollectionTarget::Random { key } if self.ends_with(key) => {
                Some(Way::Random(draws::upcoming(before.draws)))
            }
            CollectionTarget::End { key, direction } if self.ends_with(key) => {
                Some(Way::End(direction, before.taken))
            }
            _ => None,
        }
    }

    /// The byte of a string in which its bit stands.
    #[inline]
    fn byte(&self) -> Option<usize> {
        let CollectionTarget::Bit { offset, .. } = self.prepared.target else { return None };
        let bit = parse_i64(self.words.get(usize::from(offset))?.of(self.buffer))?;
        usize::try_from(bit / 8).ok()
    }

    #[inline]
    fn has_key_of(&self, other: &Incoming<'_>) -> bool {
        let (one, other) = (self.prepared, other.prepared);
        one.hash == other.hash && one.partition == other.partition && one.db == other.db
    }
}

impl CollectionPrefetch {
    /// Prefetches for a batch of `count` requests; `upcoming` returns one by its number, if
    /// something of a collection is prefetched for it.
    pub(super) fn fetch<'a>(
        &mut self,
        engine: &Engine,
        count: usize,
        upcoming: impl Fn(usize) -> Option<Incoming<'a>>,
    ) {
        self.fetch_collections(engine, count, &upcoming);
        // One alone would be waited for here instead of there.
        if self.targets.len() > 1 {
            let is_ordered = |target: &Target| matches!(target.way, Way::End(..));
            let steps = if self.targets.iter().any(is_ordered) { 0.. } else { 1.. };
            for &step in &Step::ALL[steps] {
                self.take(step, engine, &upcoming);
            }
        }
    }

    /// Fetches what the words point to; notes the elements that are further away.
    fn fetch_collections<'a>(
        &mut self,
        engine: &Engine,
        count: usize,
        upcoming: &impl Fn(usize) -> Option<Incoming<'a>>,
    ) {
        self.targets.clear();
        let mut before = Before::default();
        let mut last: Option<(Incoming<'a>, _)> = None;
        let mut run = 0;
        for request in 0..count {
            let Some(one) = upcoming(request) else { continue };
            let Some(key) = one.collection() else { continue };
            if let Some(byte) = one.byte() {
                engine.try_look_at_string(one.prepared.db, &key, |bytes| {
                    bytes.get(byte).inspect(|byte| prefetch(std::ptr::from_ref(*byte)));
                });
                continue;
            }
            let kind = match last {
                Some((other, kind)) if one.has_key_of(&other) => kind,
                _ => {
                    before.taken = 0;
                    run += 1;
                    engine.try_look_at(one.prepared.db, &key, |value| value.fetch()).flatten()
                }
            };
            last = Some((one, kind));
            if let Some(way) = kind.and_then(|kind| one.way(kind, &before)) {
                self.targets.push(Target { request, run, way });
            }
            match one.prepared.target {
                CollectionTarget::Random { key } if one.ends_with(key) => before.draws += 1,
                CollectionTarget::End { key, .. } if one.ends_with(key) => before.taken += 1,
                _ => {}
            }
        }
    }

    fn take<'a>(
        &mut self,
        step: Step,
        engine: &Engine,
        upcoming: &impl Fn(usize) -> Option<Incoming<'a>>,
    ) {
        let addresses = &mut self.addresses;
        addresses.clear();
        for run in self.targets.chunk_by_mut(|one, other| one.run == other.run) {
            let Some(first) = upcoming(run[0].request) else { continue };
            let Some(key) = first.collection() else { continue };
            engine.try_look_at(first.prepared.db, &key, |value| {
                if value.is_near(step) {
                    return;
                }
                let mut fetch = |address: *const u8| addresses.push(address.addr());
                run.iter_mut().for_each(|target| value.ahead(&mut target.way, step, &mut fetch));
            });
        }
        // Numbers, since nothing may be read there any more: a thread that holds the partition may
        // move it.
        for &address in addresses.iter() {
            prefetch_small(std::ptr::without_provenance(address));
        }
    }
}
