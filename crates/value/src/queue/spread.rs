//! A queue block by block, entry by entry, name by name.
//!
//! ```text
//! head             = settings totals clock:varint { next:varint cursor:varint }*10
//! 00 lane first:u64be = block      queue/block.rs
//! 01 id:u64be         = entry      state:u8 until stamp deliveries forgiven worker-bytes
//! 02 name             = id until   of a message that is known by a name
//! ```
//! In the order of names a block comes before what is known of its messages.

use super::block::{Block, Record};
use super::edit;
use super::entry::{Entry, Known};
use super::id::{LaneNumber, MessageId};
use super::lane::FIRST_SEQUENCE;
use super::name::Name;
use super::native::{Native, Queue};
use super::settings::Settings;
use super::state::State;
use super::totals::Totals;
use crate::edits::Edits;
use crate::error::DecodeError;
use crate::form::{Form, FormRef};
use crate::limits::FormLimits;
use crate::spread::elements::{Spread, Visit, WalkPlace};
use crate::spread::parts::Walk;
use basalt_stdx::varint;
use std::ops::Bound;

const BAD: DecodeError = DecodeError::Corrupt("a part of a queue");

impl Native {
    /// Visits all messages as they were put.
    pub(super) fn visit_records(&self, visit: &mut dyn FnMut(MessageId, &Record<'_>)) {
        for (lane, number) in self.lanes.iter().zip(0..) {
            for (sequence, record) in lane.records_from(FIRST_SEQUENCE) {
                if let Some(lane) = LaneNumber::new(number)
                    && let Some(id) = MessageId::new(lane, sequence)
                {
                    visit(id, &record);
                }
            }
        }
    }

    pub(super) fn put_head(&self, out: &mut Vec<u8>) {
        self.settings.put(out);
        self.totals.put(out);
        varint::put(out, self.clock_ms);
        for lane in &self.lanes {
            varint::put(out, lane.next);
            varint::put(out, lane.cursor);
        }
    }

    pub(super) fn from_head(head: &[u8]) -> Option<Native> {
        let rest = &mut &*head;
        let mut native = Native {
            settings: Settings::take(rest)?,
            totals: Totals::take(rest)?,
            clock_ms: varint::take(rest)?,
            ..Native::default()
        };
        for (lane, number) in native.lanes.iter_mut().zip(0..) {
            lane.next = varint::take(rest)?;
            lane.cursor = varint::take(rest)?;
            MessageId::new(LaneNumber::new(number)?, lane.next)?;
            if lane.cursor < FIRST_SEQUENCE || lane.cursor > lane.next {
                return None;
            }
        }
        rest.is_empty().then_some(native)
    }

    pub(super) fn put_content(&self, name: &Name<'_>, out: &mut Vec<u8>) -> bool {
        match *name {
            Name::Block(lane, first) => {
                let block = self.lane(lane).blocks.get(&first);
                block.inspect(|block| block.encode(out)).is_some()
            }
            Name::Entry(id) => {
                let entry = self.entry(id);
                entry.inspect(|it| it.put(self.workers.name(it.worker), out)).is_some()
            }
            Name::Known(name) => self.known.get(name).inspect(|known| known.put(out)).is_some(),
        }
    }

    /// Takes an element in, which comes in the order of names.
    pub(super) fn adopt_element(&mut self, name: &[u8], content: &[u8]) -> Result<(), DecodeError> {
        match Name::of(name).ok_or(BAD)? {
            Name::Block(lane, first) => self.adopt_block(lane, first, content),
            Name::Entry(id) => {
                let mut rest = content;
                let (entry, worker) =
                    Entry::take(&mut rest).filter(|_| rest.is_empty()).ok_or(BAD)?;
                let lane = self.lane(id.lane());
                let (record, before) = lane.message(id.sequence()).ok_or(BAD)?;
                let may_have = !lane.is_fresh(id.sequence(), &record)
                    && before.is_none()
                    && (entry.state != State::Dead || record.expire_ms() == u64::MAX);
                if !may_have {
                    return Err(BAD);
                }
                let worker = self.workers.share_of(worker);
                self.set_entry(id, Entry { worker, ..entry }, &mut Edits::none());
                Ok(())
            }
            Name::Known(name) => {
                let mut rest = content;
                let known = Known::take(&mut rest).filter(|_| rest.is_empty()).ok_or(BAD)?;
                self.know(name, known, &mut Edits::none());
                Ok(())
            }
        }
    }

    fn adopt_block(
        &mut self,
        lane: LaneNumber,
        first: u64,
        content: &[u8],
    ) -> Result<(), DecodeError> {
        let place = self.lane(lane);
        let begin = match place.blocks.last_key_value() {
            Some((&last, block)) => last + block.span(),
            None => FIRST_SEQUENCE,
        };
        if first < begin {
            return Err(BAD);
        }
        let (next, cursor) = (place.next, place.cursor);
        let (mut fresh, mut body_bytes) = (0, 0u64);
        let mut due = Vec::new();
        let block = Block::decode(content, |index, record| {
            let Some(id) = first.checked_add(index).and_then(|it| MessageId::new(lane, it)) else {
                return false;
            };
            body_bytes += record.body.len() as u64;
            if id.sequence() >= cursor && !record.began_delayed() {
                fresh += 1;
                if record.expire_ms() != u64::MAX {
                    due.push((record.expire_ms(), id));
                }
            }
            id.sequence() < next
        })?;
        self.change_lane(lane, |place| {
            place.block_bytes += block.heap_bytes();
            place.fresh += fresh;
            place.blocks.insert(first, block);
        });
        self.body_bytes += body_bytes;
        due.into_iter().for_each(|note| self.due.insert(note));
        Ok(())
    }
}

/// Parts of a walk over all elements; each returns false if enough have been seen.
impl Native {
    fn show(&self, name: &Name<'_>, weight: usize, walk: &mut Walk<'_, '_>) -> bool {
        walk.show(name, weight, |out| self.put_content(name, out))
    }

    fn walk_blocks(&self, after: Option<(LaneNumber, u64)>, walk: &mut Walk<'_, '_>) -> bool {
        LaneNumber::all().all(|lane| {
            let from = match after {
                Some((last, _)) if lane < last => return true,
                Some((last, first)) if lane == last => Bound::Excluded(first),
                _ => Bound::Unbounded,
            };
            let mut blocks = self.lane(lane).blocks.range((from, Bound::Unbounded));
            blocks.all(|(&first, block)| {
                self.show(&Name::Block(lane, first), block.live() as usize, walk)
            })
        })
    }

    /// Entries of the messages from one on.
    fn walk_entries(&self, from: MessageId, walk: &mut Walk<'_, '_>) -> bool {
        self.entries_from(from).all(|(id, _)| self.show(&Name::Entry(id), 1, walk))
    }

    fn walk_known(&self, after: Bound<&[u8]>, walk: &mut Walk<'_, '_>) -> bool {
        let mut known = self.known.range::<[u8], _>((after, Bound::Unbounded));
        known.all(|(name, _)| self.show(&Name::Known(name), 1, walk))
    }
}

impl Spread for Queue {
    fn can_spread(&self) -> bool {
        matches!(self.0.read(), FormRef::Native(_))
    }

    fn put_head(&self, out: &mut Vec<u8>) {
        self.native().put_head(out);
    }

    fn visit_elements(&self, from: WalkPlace, count: usize, visit: &mut Visit<'_>) -> WalkPlace {
        let (native, mut walk) = (self.native(), Walk::new(count, visit));
        let last = match &from {
            WalkPlace::After(last) => Name::of(last),
            _ => None,
        };
        let (first, all) = (MessageId::FIRST, Bound::Unbounded);
        let goes_on = match last {
            None => {
                native.walk_blocks(None, &mut walk)
                    && native.walk_entries(first, &mut walk)
                    && native.walk_known(all, &mut walk)
            }
            Some(Name::Block(lane, sequence)) => {
                native.walk_blocks(Some((lane, sequence)), &mut walk)
                    && native.walk_entries(first, &mut walk)
                    && native.walk_known(all, &mut walk)
            }
            Some(Name::Entry(id)) => {
                native.walk_entries(id.next(), &mut walk) && native.walk_known(all, &mut walk)
            }
            Some(Name::Known(name)) => native.walk_known(Bound::Excluded(name), &mut walk),
        };
        walk.end(goes_on)
    }

    fn put_content(&self, name: &[u8], out: &mut Vec<u8>) -> bool {
        Name::of(name).is_some_and(|name| self.native().put_content(&name, out))
    }

    fn from_head(head: &[u8]) -> Result<Queue, DecodeError> {
        let native = Native::from_head(head).ok_or(BAD)?;
        Ok(Queue(Form::native(Box::new(native))))
    }

    fn adopt(&mut self, name: &[u8], content: &[u8], _: &FormLimits) -> Result<(), DecodeError> {
        self.native_mut().adopt_element(name, content)
    }
}

/// Writes edits that make an empty queue equal to this one: its head, then each element as its row
/// has it.
pub(super) fn write_as_edits(queue: &Queue, edits: &mut Edits<'_>) {
    let mut head = Vec::new();
    queue.native().put_head(&mut head);
    edits.write(|out| {
        out.push(edit::HEAD);
        super::entry::put_bytes(&head, out);
    });
    queue.visit_elements(WalkPlace::Start, usize::MAX, &mut |name, content| {
        edits.write(|out| edit::put_adopt(name, content, out));
    });
}
