//! HOT PATH
//! What a queue consists of, and the steps that all of its changes are made of. Each step says
//! first which elements it changes, and keeps the sums.

use super::block::Record;
use super::due::Due;
use super::entry::{Entry, Known};
use super::id::{LANES, LaneNumber, MessageId};
use super::lane::{FIRST_SEQUENCE, Lane};
use super::name::Name;
use super::settings::Settings;
use super::state::State;
use super::totals::{Gone, Totals};
use super::workers::WorkerNames;
use crate::edits::Edits;
use crate::form::Form;
use crate::spread::parts::RowName;
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
    /// The lanes that have ready messages, a bit each.
    pub(super) ready_lanes: u16,
    /// Bytes of memory of the lanes.
    pub(super) lane_bytes: usize,
    /// Of the consumers that messages were delivered to.
    pub(super) workers: WorkerNames,
    /// When time changes something about a message. Each has one note at most.
    pub(super) due: Due,
    pub(super) known: BTreeMap<Box<[u8]>, Known>,
    /// When names are forgotten.
    pub(super) known_due: BTreeSet<(u64, Box<[u8]>)>,
    /// Messages by state, but for those that are ready, which the lanes count.
    pub(super) delayed: u64,
    pub(super) leased: u64,
    pub(super) dead: u64,
    /// Of all bodies.
    pub(super) body_bytes: u64,
    /// Bytes of memory of the names of messages.
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
        ready_lanes: 0,
        lane_bytes: 0,
        workers: WorkerNames::EMPTY,
        due: Due::EMPTY,
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

    /// Changes what is in a lane, and keeps the sum of its memory and whether it has ready
    /// messages.
    #[inline]
    pub(super) fn change_lane<R>(
        &mut self,
        lane: LaneNumber,
        change: impl FnOnce(&mut Lane) -> R,
    ) -> R {
        let place = &mut self.lanes[lane.index()];
        let before = place.heap_bytes();
        let result = change(place);
        self.lane_bytes = self.lane_bytes - before + place.heap_bytes();
        let bit = 1 << lane.index();
        self.ready_lanes = match place.ready() {
            0 => self.ready_lanes & !bit,
            _ => self.ready_lanes | bit,
        };
        result
    }

    /// A message as it was put.
    #[inline]
    pub(super) fn record(&self, id: MessageId) -> Option<Record<'_>> {
        self.lane(id.lane()).record(id.sequence())
    }

    /// A message and its entry, if it has one.
    #[inline]
    pub(super) fn message(&self, id: MessageId) -> Option<(Record<'_>, Option<&Entry>)> {
        self.lane(id.lane()).message(id.sequence())
    }

    /// The entry of a message that is not fresh.
    #[inline]
    pub(super) fn entry(&self, id: MessageId) -> Option<&Entry> {
        self.lane(id.lane()).entry(id.sequence())
    }

    /// All entries, by their messages.
    pub(super) fn entries(&self) -> impl Iterator<Item = (MessageId, &Entry)> {
        self.entries_from(MessageId::FIRST)
    }

    /// Entries of the messages from one on.
    pub(super) fn entries_from(
        &self,
        from: MessageId,
    ) -> impl Iterator<Item = (MessageId, &Entry)> {
        let lanes = LaneNumber::all().filter(move |&lane| lane >= from.lane());
        lanes.flat_map(move |lane| {
            let first = if lane == from.lane() { from.sequence() } else { FIRST_SEQUENCE };
            let entries = self.lane(lane).entries_from(first);
            entries
                .filter_map(move |(sequence, entry)| Some((MessageId::new(lane, sequence)?, entry)))
        })
    }

    /// The lanes that have ready messages, the one that is delivered first before the others.
    #[inline]
    pub(super) fn ready_lanes(&self) -> impl Iterator<Item = LaneNumber> + use<> {
        let mut left = self.ready_lanes;
        std::iter::from_fn(move || {
            let number = left.checked_ilog2()?;
            left &= !(1 << number);
            LaneNumber::new(number.into())
        })
    }

    /// How many are ready.
    #[inline]
    pub(super) fn ready(&self) -> u64 {
        self.ready_lanes().map(|lane| self.lane(lane).ready()).sum()
    }

    /// How many there are.
    #[inline]
    pub(super) fn len(&self) -> u64 {
        self.ready() + self.delayed + self.leased + self.dead
    }

    pub(super) fn heap_bytes(&self) -> usize {
        // Nodes of B-trees are two thirds full, about.
        const KNOWN: usize = (size_of::<Known>() + 2 * size_of::<Box<[u8]>>() + 8) * 3 / 2;
        debug_assert_eq!(self.lane_bytes, self.lanes.iter().map(Lane::heap_bytes).sum::<usize>());
        size_of::<Native>()
            + self.lane_bytes
            + self.workers.heap_bytes()
            + self.due.heap_bytes()
            + self.known.len() * KNOWN
            + self.name_bytes
    }

    /// When time changes something here, all ones for never.
    #[inline]
    pub(super) fn next_ms(&self) -> u64 {
        let message = self.due.first().map_or(u64::MAX, |(due_ms, _)| due_ms);
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
        self.change_lane(lane, |place| place.append(first, record));
        if !record.began_delayed() && record.expire_ms() != u64::MAX {
            self.due.insert((record.expire_ms(), id));
        }
        self.body_bytes += record.body.len() as u64;
        Some(id)
    }

    /// Has a message have this entry: a fresh one leaves those that are fresh. The share of a name
    /// that comes with the entry is given back with it.
    pub(super) fn set_entry(&mut self, id: MessageId, entry: Entry, edits: &mut Edits<'_>) {
        self.touch(&Name::Entry(id), edits);
        let before = self.change_lane(id.lane(), |lane| lane.put_entry(id.sequence(), entry));
        let Some(before) = before else {
            self.workers.release(entry.worker);
            return;
        };
        if before.is_fresh {
            self.drop_note(before.expire_ms, id);
        }
        if let Some(before_entry) = &before.entry {
            self.entry_goes(id, before_entry, before.expire_ms);
        }
        self.entry_comes(id, &entry, before.expire_ms);
    }

    /// Keeps the sums and notes of an entry that is new.
    #[inline]
    fn entry_comes(&mut self, id: MessageId, entry: &Entry, expire_ms: u64) {
        let due_ms = entry.due_ms(expire_ms);
        if due_ms != u64::MAX {
            self.due.insert((due_ms, id));
        }
        match self.count(entry.state) {
            Some(count) => *count += 1,
            None => {
                self.change_lane(id.lane(), |lane| lane.returned.insert(id.sequence()));
            }
        }
    }

    /// Keeps the sums and notes of an entry that is no more.
    #[inline]
    fn entry_goes(&mut self, id: MessageId, entry: &Entry, expire_ms: u64) {
        self.drop_note(entry.due_ms(expire_ms), id);
        self.workers.release(entry.worker);
        match self.count(entry.state) {
            Some(count) => *count -= 1,
            None => {
                self.change_lane(id.lane(), |lane| lane.returned.remove(&id.sequence()));
            }
        }
    }

    /// Takes back the note of a message's time; one to which time does nothing has none.
    #[inline]
    fn drop_note(&mut self, due_ms: u64, id: MessageId) {
        if due_ms != u64::MAX {
            self.due.remove((due_ms, id));
        }
    }

    /// Removes a message, whatever state it is in, and counts it among those that have gone in this
    /// way; returns true if it was there.
    pub(super) fn remove(&mut self, id: MessageId, how: Gone, edits: &mut Edits<'_>) -> bool {
        if edits.notes_elements() {
            self.touch_message(id, edits);
        }
        let removed = self.change_lane(id.lane(), |lane| lane.remove(id.sequence()));
        let Some(removed) = removed else { return false };
        self.body_bytes -= removed.body_bytes as u64;
        *self.totals.gone(how) += 1;
        match &removed.entry {
            Some(entry) => self.entry_goes(id, entry, removed.expire_ms),
            None => self.drop_note(removed.expire_ms, id),
        }
        true
    }

    /// A message is about to go.
    fn touch_message(&self, id: MessageId, edits: &mut Edits<'_>) {
        if let Some((_, entry)) = self.message(id) {
            self.touch_block_of(id, edits);
            if entry.is_some() {
                self.touch(&Name::Entry(id), edits);
            }
        }
    }

    /// Does with a message's entry what `change` says; returns false if it has none.
    pub(super) fn with_entry(
        &mut self,
        id: MessageId,
        edits: &mut Edits<'_>,
        change: impl FnOnce(Entry) -> Entry,
    ) -> bool {
        let Some(&entry) = self.entry(id) else { return false };
        self.workers.share(entry.worker);
        self.set_entry(id, change(entry), edits);
        true
    }

    /// A message is dead from here on, and does not expire.
    pub(super) fn bury(&mut self, id: MessageId, edits: &mut Edits<'_>) {
        let expires = self.record(id).is_some_and(|record| record.expire_ms() != u64::MAX);
        if expires {
            self.touch_block_of(id, edits);
        }
        let dead = |entry| Entry { state: State::Dead, until_ms: 0, ..entry };
        if !self.with_entry(id, edits, dead) {
            return;
        }
        // The note of its time has gone before its time does.
        if expires {
            self.change_lane(id.lane(), |lane| lane.expires_no_more(id.sequence()));
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

    fn touch_block_of(&self, id: MessageId, edits: &mut Edits<'_>) {
        if let Some((first, _)) = self.lane(id.lane()).block_of(id.sequence()) {
            self.touch(&Name::Block(id.lane(), first), edits);
        }
    }

    /// The element of this name is about to change.
    #[inline]
    pub(super) fn touch(&self, name: &Name<'_>, edits: &mut Edits<'_>) {
        name.touch(edits, |out| self.put_content(name, out));
    }
}
