//! HOT PATH
//! What a queue consists of, and the steps that all of its changes are made of. Each step says
//! first which elements it changes, and keeps the sums.

use super::block::Record;
use super::entry::{Entry, Known};
use super::id::{LANES, LaneNumber, MessageId};
use super::lane::Lane;
use super::name::Name;
use super::settings::Settings;
use super::state::State;
use super::totals::Totals;
use crate::edits::Edits;
use crate::form::Form;
use std::collections::{BTreeMap, BTreeSet};

/// A queue.
#[repr(transparent)]
#[derive(Default)]
pub struct Queue(pub(crate) Form<Native>);

/// What a queue consists of.
pub struct Native {
    pub(super) settings: Settings,
    pub(super) totals: Totals,
    /// The latest time at which time has changed something here, or a message has come or gone out.
    /// A clock that steps back behind it stands still for the queue.
    pub(super) clock_ms: u64,
    pub(super) lanes: [Lane; LANES],
    /// Messages that are not fresh.
    pub(super) entries: BTreeMap<MessageId, Entry>,
    /// When time changes something about a message. Each has one note at most.
    pub(super) due: BTreeSet<(u64, MessageId)>,
    pub(super) known: BTreeMap<Box<[u8]>, Known>,
    /// When names are forgotten.
    pub(super) known_due: BTreeSet<(u64, Box<[u8]>)>,
    /// Messages by state, but for those that are ready, which the lanes count.
    pub(super) delayed: u64,
    pub(super) leased: u64,
    pub(super) dead: u64,
    /// Of all bodies.
    pub(super) body_bytes: u64,
    /// Bytes of memory of names and workers.
    pub(super) name_bytes: usize,
}

/// A queue without anything.
static UNTOUCHED: Native = Native::EMPTY;

impl Native {
    const EMPTY: Native = Native {
        settings: Settings::DEFAULT,
        totals: Totals::ZERO,
        clock_ms: 0,
        lanes: [const { Lane::EMPTY }; LANES],
        entries: BTreeMap::new(),
        due: BTreeSet::new(),
        known: BTreeMap::new(),
        known_due: BTreeSet::new(),
        delayed: 0,
        leased: 0,
        dead: 0,
        body_bytes: 0,
        name_bytes: 0,
    };
}

impl Default for Native {
    fn default() -> Native {
        Native::EMPTY
    }
}

impl Queue {
    /// What it consists of.
    #[inline]
    pub(super) fn native(&self) -> &Native {
        self.0.native_or(&UNTOUCHED)
    }

    /// What it consists of, to be changed.
    #[inline]
    pub(super) fn native_mut(&mut self) -> &mut Native {
        self.0.make_native()
    }
}

impl Native {
    #[inline]
    pub(super) fn lane(&self, lane: LaneNumber) -> &Lane {
        &self.lanes[lane.index()]
    }

    #[inline]
    pub(super) fn lane_mut(&mut self, lane: LaneNumber) -> &mut Lane {
        &mut self.lanes[lane.index()]
    }

    /// A message as it was put.
    #[inline]
    pub(super) fn record(&self, id: MessageId) -> Option<Record<'_>> {
        self.lane(id.lane()).record(id.sequence())
    }

    /// How many are ready.
    #[inline]
    pub(super) fn ready(&self) -> u64 {
        self.lanes.iter().map(Lane::ready).sum()
    }

    /// How many there are.
    #[inline]
    pub(super) fn len(&self) -> u64 {
        self.ready() + self.delayed + self.leased + self.dead
    }

    pub(super) fn heap_bytes(&self) -> usize {
        // Nodes of B-trees are two thirds full, about.
        const ENTRY: usize = (size_of::<MessageId>() + size_of::<Entry>()) * 3 / 2;
        const DUE: usize = size_of::<(u64, MessageId)>() * 3 / 2;
        const KNOWN: usize = (size_of::<Known>() + 2 * size_of::<Box<[u8]>>() + 8) * 3 / 2;
        const BLOCK: usize = (size_of::<u64>() + size_of::<super::block::Block>()) * 3 / 2;
        let of_lane = |lane: &Lane| {
            lane.block_bytes + lane.blocks.len() * BLOCK + lane.returned.len() * size_of::<u64>()
        };
        size_of::<Native>()
            + self.lanes.iter().map(of_lane).sum::<usize>()
            + self.entries.len() * ENTRY
            + self.due.len() * DUE
            + self.known.len() * KNOWN
            + self.name_bytes
    }

    /// When time changes something here, all ones for never.
    #[inline]
    pub(super) fn next_ms(&self) -> u64 {
        let message = self.due.first().map_or(u64::MAX, |&(due_ms, _)| due_ms);
        let name = self.known_due.first().map_or(u64::MAX, |&(due_ms, _)| due_ms);
        message.min(name)
    }

    fn count(&mut self, state: State) -> Option<&mut u64> {
        match state {
            State::Ready => None,
            State::Delayed => Some(&mut self.delayed),
            State::Leased => Some(&mut self.leased),
            State::Dead => Some(&mut self.dead),
        }
    }

    /// Puts a message behind the others of its lane, and returns which it is; `None` if the lane
    /// has given all of its numbers, which takes an age.
    pub(super) fn append(
        &mut self,
        lane: LaneNumber,
        record: &Record<'_>,
        edits: &mut Edits<'_>,
    ) -> Option<MessageId> {
        let place = self.lane(lane);
        let id = MessageId::new(lane, place.next)?;
        let first = match place.block_for(record) {
            Some(first) => {
                self.touch(&Name::Block(lane, first), edits);
                first
            }
            None => {
                Name::Block(lane, place.next).touch_new(edits);
                place.next
            }
        };
        let place = self.lane_mut(lane);
        place.append(first, record);
        if !record.began_delayed() {
            place.fresh += 1;
            if record.expire_ms() != u64::MAX {
                self.due.insert((record.expire_ms(), id));
            }
        }
        self.body_bytes += record.body.len() as u64;
        Some(id)
    }

    /// Has a message have this entry: a fresh one leaves those that are fresh.
    pub(super) fn set_entry(&mut self, id: MessageId, entry: Entry, edits: &mut Edits<'_>) {
        self.touch(&Name::Entry(id), edits);
        let Some(record) = self.record(id) else { return };
        let expire_ms = record.expire_ms();
        if self.entries.contains_key(&id) {
            self.drop_entry(id, expire_ms);
        } else if self.lane(id.lane()).is_fresh(id.sequence(), &record) {
            self.drop_note(expire_ms, id);
            let lane = self.lane_mut(id.lane());
            lane.fresh -= 1;
            lane.cursor = id.sequence() + 1;
        }
        self.adopt_entry(id, entry, expire_ms);
    }

    /// Takes an entry in of a message that has none.
    pub(super) fn adopt_entry(&mut self, id: MessageId, entry: Entry, expire_ms: u64) {
        let due_ms = entry.due_ms(expire_ms);
        if due_ms != u64::MAX {
            self.due.insert((due_ms, id));
        }
        match self.count(entry.state) {
            Some(count) => *count += 1,
            None => {
                self.lane_mut(id.lane()).returned.insert(id.sequence());
            }
        }
        self.name_bytes += entry.heap_bytes();
        self.entries.insert(id, entry);
    }

    /// Takes back the note of a message's time; one to which time does nothing has none.
    #[inline]
    fn drop_note(&mut self, due_ms: u64, id: MessageId) {
        if due_ms != u64::MAX {
            self.due.remove(&(due_ms, id));
        }
    }

    fn drop_entry(&mut self, id: MessageId, expire_ms: u64) {
        let Some(entry) = self.entries.remove(&id) else { return };
        self.drop_note(entry.due_ms(expire_ms), id);
        self.name_bytes -= entry.heap_bytes();
        match self.count(entry.state) {
            Some(count) => *count -= 1,
            None => {
                self.lane_mut(id.lane()).returned.remove(&id.sequence());
            }
        }
    }

    /// Removes a message, whatever state it is in; returns true if it was there.
    pub(super) fn remove(&mut self, id: MessageId, edits: &mut Edits<'_>) -> bool {
        let lane = self.lane(id.lane());
        let Some((first, _)) = lane.block_of(id.sequence()) else { return false };
        let Some(record) = lane.record(id.sequence()) else { return false };
        let (expire_ms, is_fresh) = (record.expire_ms(), lane.is_fresh(id.sequence(), &record));
        self.touch(&Name::Block(id.lane(), first), edits);
        if self.entries.contains_key(&id) {
            self.touch(&Name::Entry(id), edits);
            self.drop_entry(id, expire_ms);
        } else if is_fresh {
            self.drop_note(expire_ms, id);
            self.lane_mut(id.lane()).fresh -= 1;
        }
        let body_bytes = self.lane_mut(id.lane()).remove(id.sequence()).unwrap_or(0);
        self.body_bytes -= body_bytes as u64;
        true
    }

    /// A message is dead from here on, and does not expire.
    pub(super) fn bury(&mut self, id: MessageId, edits: &mut Edits<'_>) {
        let Some(entry) = self.entries.get(&id) else { return };
        let entry = Entry { state: State::Dead, until_ms: 0, ..entry.clone() };
        let lane = self.lane(id.lane());
        let expires = lane.record(id.sequence()).is_some_and(|it| it.expire_ms() != u64::MAX);
        if let (true, Some((first, _))) = (expires, lane.block_of(id.sequence())) {
            self.touch(&Name::Block(id.lane(), first), edits);
            // The note of its time goes before its time does.
            self.set_entry(id, entry, edits);
            let lane = self.lane_mut(id.lane());
            if let Some(block) = lane.blocks.get_mut(&first) {
                block.expires_no_more(id.sequence() - first);
            }
        } else {
            self.set_entry(id, entry, edits);
        }
        self.totals.buried += 1;
    }

    /// From now on a message is known by this name, for a time.
    pub(super) fn know(&mut self, name: &[u8], known: Known, edits: &mut Edits<'_>) {
        self.forget(name, edits);
        self.touch(&Name::Known(name), edits);
        self.known_due.insert((known.until_ms, name.into()));
        self.known.insert(name.into(), known);
        self.name_bytes += 2 * name.len();
    }

    /// No message is known by this name any more.
    pub(super) fn forget(&mut self, name: &[u8], edits: &mut Edits<'_>) {
        self.touch(&Name::Known(name), edits);
        if let Some(known) = self.known.remove(name) {
            self.known_due.remove(&(known.until_ms, name.into()));
            self.name_bytes -= 2 * name.len();
        }
    }

    /// The element of this name is about to change.
    #[inline]
    pub(super) fn touch(&self, name: &Name<'_>, edits: &mut Edits<'_>) {
        if edits.notes_elements() {
            name.touch(edits, |out| self.put_content(name, out));
        }
    }
}
