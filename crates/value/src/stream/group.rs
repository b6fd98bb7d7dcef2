//! Consumer groups: what was delivered to whom and not acknowledged.
//!
//! A pending entry stands in its group, ordered by identity, with its consumer and its times; and
//! once more, by identity alone, with its consumer. A consumer has a number in its group that means
//! nothing outside of it: edits and encodings name consumers by their names.

use super::bytes::{put_optional, take_optional};
use super::id::EntryId;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

/// A consumer group.
#[derive(Default, Debug)]
pub struct Group {
    pub(super) last_id: EntryId,
    pub(super) entries_read: Option<u64>,
    /// Numbers of the consumers, by name.
    names: BTreeMap<Box<[u8]>, u32>,
    /// By number.
    consumers: Vec<Option<Consumer>>,
    /// Numbers of deleted consumers, to be given again.
    free: Vec<u32>,
    pending: BTreeMap<EntryId, Pending>,
    /// Bytes of all names.
    name_bytes: usize,
}

/// How far a group is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GroupPlace {
    /// The last identity delivered.
    pub last_id: EntryId,
    /// How many entries it has read, if that is known.
    pub entries_read: Option<u64>,
}

/// A consumer of a group.
#[derive(Debug)]
pub struct Consumer {
    name: Box<[u8]>,
    pub(super) seen_ms: u64,
    pub(super) active_ms: Option<u64>,
    pending: BTreeSet<EntryId>,
}

/// An entry that was delivered and not acknowledged. The entry itself may be deleted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pending {
    /// When it was last delivered, as a unix time in milliseconds.
    pub delivered_ms: u64,
    /// How often it was delivered.
    pub deliveries: u64,
    consumer: u32,
}

impl Group {
    /// The last identity delivered.
    pub fn last_id(&self) -> EntryId {
        self.last_id
    }

    /// How many entries of the stream have been read by it, if that is known.
    pub fn entries_read(&self) -> Option<u64> {
        self.entries_read
    }

    /// How many consumers it has.
    pub fn consumer_count(&self) -> usize {
        self.names.len()
    }

    /// Its consumers, in the order of their names.
    pub fn consumers(&self) -> impl DoubleEndedIterator<Item = &Consumer> {
        self.names.values().filter_map(|&number| self.numbered(number))
    }

    /// A consumer.
    pub fn consumer(&self, name: &[u8]) -> Option<&Consumer> {
        self.numbered(*self.names.get(name)?)
    }

    fn numbered(&self, number: u32) -> Option<&Consumer> {
        self.consumers[number as usize].as_ref()
    }

    /// How many entries are pending.
    pub fn pending_count(&self) -> usize {
        self.pending.len()
    }

    /// Pending entries within a range, ascending.
    pub fn pending(
        &self,
        range: RangeInclusive<EntryId>,
    ) -> impl DoubleEndedIterator<Item = (EntryId, &Pending)> {
        let range = (range.start() <= range.end()).then_some(range);
        range.into_iter().flat_map(|range| self.pending.range(range)).map(|(&id, it)| (id, it))
    }

    /// A pending entry.
    pub fn pending_entry(&self, id: EntryId) -> Option<&Pending> {
        self.pending.get(&id)
    }

    /// The consumer that a pending entry belongs to.
    pub fn owner(&self, pending: &Pending) -> &Consumer {
        self.numbered(pending.consumer).expect("a pending entry has a consumer")
    }

    /// For every number the place of its consumer in the order of names.
    pub(super) fn places_by_name(&self) -> Vec<u32> {
        let mut places = vec![0; self.consumers.len()];
        for (place, &number) in (0..).zip(self.names.values()) {
            places[number as usize] = place;
        }
        places
    }

    /// Bytes of memory beside itself and its name, about.
    pub(super) fn heap_bytes(&self) -> usize {
        // B-trees that grow at their end are a little over half full.
        const PENDING_BYTES: usize = (16 + size_of::<Pending>() + 16) * 2;
        const CONSUMER_BYTES: usize = size_of::<Option<Consumer>>() + (16 + 4) * 3 / 2 + 2 * 16;
        self.pending.len() * PENDING_BYTES + self.names.len() * CONSUMER_BYTES + 2 * self.name_bytes
    }

    /// Its consumer, made if it is not there; and whether it was made.
    pub(super) fn consumer_or_new(&mut self, name: &[u8], seen_ms: u64) -> (u32, bool) {
        if let Some(&number) = self.names.get(name) {
            return (number, false);
        }
        let number = self.free.pop().unwrap_or_else(|| {
            self.consumers.push(None);
            self.consumers.len() as u32 - 1
        });
        let pending = BTreeSet::new();
        let consumer = Consumer { name: name.into(), seen_ms, active_ms: None, pending };
        self.consumers[number as usize] = Some(consumer);
        self.name_bytes += name.len();
        self.names.insert(name.into(), number);
        (number, true)
    }

    pub(super) fn consumer_mut(&mut self, number: u32) -> &mut Consumer {
        self.consumers[number as usize].as_mut().expect("a number in use has a consumer")
    }

    /// The number of a consumer.
    pub(super) fn number(&self, name: &[u8]) -> Option<u32> {
        self.names.get(name).copied()
    }

    /// Removes a consumer and what is pending for it; returns how much that was.
    pub(super) fn delete_consumer(&mut self, name: &[u8]) -> Option<usize> {
        let number = self.names.remove(name)?;
        let consumer = self.consumers[number as usize].take()?;
        for id in &consumer.pending {
            self.pending.remove(id);
        }
        self.free.push(number);
        self.name_bytes -= name.len();
        Some(consumer.pending.len())
    }

    /// An entry is pending for a consumer from here on, whosever it was.
    pub(super) fn assign(&mut self, id: EntryId, number: u32, delivery: Delivery) {
        let Delivery { delivered_ms, deliveries } = delivery;
        let pending = Pending { delivered_ms, deliveries, consumer: number };
        match self.pending.insert(id, pending) {
            Some(before) if before.consumer == number => return,
            Some(before) => {
                self.consumer_mut(before.consumer).pending.remove(&id);
            }
            None => {}
        }
        self.consumer_mut(number).pending.insert(id);
    }

    /// An entry is not pending any longer; returns true if it was.
    pub(super) fn release(&mut self, id: EntryId) -> bool {
        let Some(pending) = self.pending.remove(&id) else { return false };
        self.consumer_mut(pending.consumer).pending.remove(&id);
        true
    }
}

impl Pending {
    pub(super) fn number(&self) -> u32 {
        self.consumer
    }
}

/// When and how often an entry was delivered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Delivery {
    /// When the last time, as a unix time in milliseconds.
    pub delivered_ms: u64,
    /// How often.
    pub deliveries: u64,
}

impl Consumer {
    /// Its name.
    pub fn name(&self) -> &[u8] {
        &self.name
    }

    /// When it last tried anything, as a unix time in milliseconds.
    pub fn seen_ms(&self) -> u64 {
        self.seen_ms
    }

    /// When it last got anything, as a unix time in milliseconds.
    pub fn active_ms(&self) -> Option<u64> {
        self.active_ms
    }

    /// How many entries are pending for it.
    pub fn pending_count(&self) -> usize {
        self.pending.len()
    }

    /// Identities of what is pending for it within a range, ascending.
    pub fn pending(&self, range: RangeInclusive<EntryId>) -> impl Iterator<Item = EntryId> {
        let range = (range.start() <= range.end()).then_some(range);
        range.into_iter().flat_map(|range| self.pending.range(range)).copied()
    }
}

impl GroupPlace {
    pub(super) fn put(self, out: &mut Vec<u8>) {
        self.last_id.put(out);
        put_optional(self.entries_read, out);
    }

    pub(super) fn take(bytes: &mut &[u8]) -> Option<GroupPlace> {
        let last_id = EntryId::take(bytes)?;
        Some(GroupPlace { last_id, entries_read: take_optional(bytes)? })
    }
}

impl Group {
    /// How far it is.
    pub fn place(&self) -> GroupPlace {
        GroupPlace { last_id: self.last_id, entries_read: self.entries_read }
    }

    pub(super) fn set_place(&mut self, at: GroupPlace) {
        self.last_id = at.last_id;
        self.entries_read = at.entries_read;
    }
}
