//! A shard: open addressing, each slot near the place that the hash's leading bits say, so that it
//! can grow by a fifth and needs no bits for where it was to be.

use super::Located;
use crate::place::{Place, SizeClass};

/// Slots of the first table.
const SLOTS_MIN: usize = 16;
/// It grows where more than this part of 100 is full.
const FULL_PERCENT: usize = 85;
/// And shrinks where less is.
const EMPTY_PERCENT: usize = 30;

const SEGMENT_BITS: u32 = 24;
const UNIT_BITS: u32 = 24;
const REST_BITS: u32 = 64 - SEGMENT_BITS - UNIT_BITS - SizeClass::BITS;

const REST_MASK: u64 = (1 << REST_BITS) - 1;

/// Largest numbers that a slot has room for.
pub(crate) const SEGMENT_MAX: u32 = (1 << SEGMENT_BITS) - 1;
pub(crate) const UNIT_MAX: u32 = (1 << UNIT_BITS) - 1;

/// Leading bits of a hash; then `segment:24 unit:24 size:11 rest of the hash:5`. No segment is 0.
#[derive(Clone, Copy, Default)]
struct Slot {
    leading: u64,
    packed: u64,
}

impl Slot {
    fn new(leading: u64, rest: u8, located: Located) -> Slot {
        let Located { place, size } = located;
        let places = (u64::from(place.segment) << UNIT_BITS) | u64::from(place.unit);
        let sized = (places << SizeClass::BITS) | u64::from(size.0);
        let packed = (sized << REST_BITS) | u64::from(rest) & REST_MASK;
        Slot { leading, packed }
    }

    fn is_empty(self) -> bool {
        self.packed == 0
    }

    fn is(self, leading: u64, rest: u8) -> bool {
        self.leading == leading
            && (self.packed ^ u64::from(rest)) & REST_MASK == 0
            && !self.is_empty()
    }

    fn located(self) -> Located {
        let sized = self.packed >> REST_BITS;
        let places = sized >> SizeClass::BITS;
        let unit = (places & u64::from(UNIT_MAX)) as u32;
        let place = Place { segment: (places >> UNIT_BITS) as u32, unit };
        let size = sized & ((1 << SizeClass::BITS) - 1);
        Located { place, size: SizeClass(size as u16) }
    }
}

/// See the head of this file.
#[derive(Default)]
pub(crate) struct Shard {
    slots: Box<[Slot]>,
    len: usize,
}

impl Shard {
    pub(super) fn find(&self, leading: u64, rest: u8) -> Option<Located> {
        let index = self.search(leading, rest).ok()?;
        Some(self.slots[index].located())
    }

    pub(super) fn insert(&mut self, leading: u64, rest: u8, located: Located) -> Option<Located> {
        let slot = Slot::new(leading, rest, located);
        if let Ok(index) = self.search(leading, rest) {
            let replaced = std::mem::replace(&mut self.slots[index], slot);
            return Some(replaced.located());
        }
        if (self.len + 1) * 100 > self.slots.len() * FULL_PERCENT {
            self.resize((self.slots.len() * 6 / 5).max(SLOTS_MIN));
        }
        self.place(slot);
        self.len += 1;
        None
    }

    pub(super) fn remove(&mut self, leading: u64, rest: u8) -> Option<Located> {
        let mut hole = self.search(leading, rest).ok()?;
        let removed = self.slots[hole].located();
        // What stands behind for lack of room comes forward, so that no search ends too early.
        let mut next = hole;
        loop {
            next = self.after(next);
            let slot = self.slots[next];
            if slot.is_empty() {
                break;
            }
            let home = self.home(slot.leading);
            if self.distance(home, next) >= self.distance(hole, next) {
                self.slots[hole] = slot;
                hole = next;
            }
        }
        self.slots[hole] = Slot::default();
        self.len -= 1;
        if self.slots.len() > SLOTS_MIN && self.len * 100 < self.slots.len() * EMPTY_PERCENT {
            self.resize((self.slots.len() / 2).max(SLOTS_MIN));
        }
        Some(removed)
    }

    pub(super) fn bytes(&self) -> usize {
        size_of_val(&*self.slots)
    }

    /// Where it is, or the empty slot at which it is certain that it is not there.
    fn search(&self, leading: u64, rest: u8) -> Result<usize, usize> {
        if self.slots.is_empty() {
            return Err(0);
        }
        let mut index = self.home(leading);
        loop {
            let slot = self.slots[index];
            if slot.is(leading, rest) {
                return Ok(index);
            }
            if slot.is_empty() {
                return Err(index);
            }
            index = self.after(index);
        }
    }

    fn place(&mut self, slot: Slot) {
        let mut index = self.home(slot.leading);
        while !self.slots[index].is_empty() {
            index = self.after(index);
        }
        self.slots[index] = slot;
    }

    fn resize(&mut self, slots: usize) {
        let empty = vec![Slot::default(); slots].into_boxed_slice();
        let old = std::mem::replace(&mut self.slots, empty);
        old.into_iter().filter(|slot| !slot.is_empty()).for_each(|slot| self.place(slot));
    }

    fn home(&self, leading: u64) -> usize {
        ((u128::from(leading) * self.slots.len() as u128) >> u64::BITS) as usize
    }

    fn after(&self, index: usize) -> usize {
        if index + 1 == self.slots.len() { 0 } else { index + 1 }
    }

    /// Slots from one to the other, around the end.
    fn distance(&self, from: usize, to: usize) -> usize {
        if to >= from { to - from } else { to + self.slots.len() - from }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn located(number: u32) -> Located {
        let place = Place { segment: 1 + number % SEGMENT_MAX, unit: UNIT_MAX - number };
        Located { place, size: SizeClass(number as u16 % 2_048) }
    }

    proptest! {
        /// Few hashes, most of them near one another, so that they stand in one another's way.
        #[test]
        fn it_is_a_map(steps in prop::collection::vec((0u64..40, 0u8..2, any::<bool>(), any::<bool>()), 0..600)) {
            let (mut shard, mut model) = (Shard::default(), BTreeMap::new());
            for (number, (low, rest, is_high, inserts)) in (0u32..).zip(steps) {
                let leading = if is_high { u64::MAX - low } else { low << 56 };
                let there = model.get(&(leading, rest)).copied();
                prop_assert_eq!(shard.find(leading, rest), there);
                if inserts {
                    prop_assert_eq!(shard.insert(leading, rest, located(number)), there);
                    model.insert((leading, rest), located(number));
                } else {
                    prop_assert_eq!(shard.remove(leading, rest), there);
                    model.remove(&(leading, rest));
                }
                prop_assert_eq!(shard.len, model.len());
            }
            for (&(leading, rest), &located) in &model {
                prop_assert_eq!(shard.find(leading, rest), Some(located));
            }
        }
    }

    #[test]
    fn it_takes_little_more_than_its_slots_and_gives_memory_back() {
        let mut shard = Shard::default();
        let hash = |number: u64| number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        for number in 0..10_000 {
            shard.insert(hash(number), 0, located(number as u32));
        }
        assert!(shard.bytes() <= 10_000 * 16 * 6 / 5 * 100 / FULL_PERCENT, "{}", shard.bytes());
        for number in 0..10_000 {
            assert_eq!(shard.remove(hash(number), 0), Some(located(number as u32)));
        }
        assert_eq!(shard.bytes(), SLOTS_MIN * size_of::<Slot>());
    }
}
