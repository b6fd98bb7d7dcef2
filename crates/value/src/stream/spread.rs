//! A stream node by node, group by group, pending entry by pending entry.
//!
//! ```text
//! head     = marks
//! 00 first_id                            = node                       as in stream/codec.rs
//! 01 name                                = place consumers            the same
//! 02 length of the name:u32be name id    = delivered_ms:varint deliveries:varint consumer-item
//! id = ms:u64be sequence:u64be
//! ```
//! In the order of names a group comes before what is pending in it.

use super::codec::{put_consumers, put_node, take_consumers, take_node};
use super::edit;
use super::group::{Delivery, Group, GroupPlace, Pending};
use super::id::EntryId;
use super::marks::Marks;
use super::native::{Native, Stream};
use crate::edits::Edits;
use crate::error::DecodeError;
use crate::form::{Form, FormRef};
use crate::item::{Digits, Item};
use crate::limits::FormLimits;
use crate::spread::elements::{Spread, Visit, WalkPlace};
use crate::spread::parts::{RowName, Walk};
use basalt_stdx::varint;
use std::ops::{Bound, RangeInclusive};

const NODE: u8 = 0;
const GROUP: u8 = 1;
const PENDING: u8 = 2;
const ID_BYTES: usize = 16;

const BAD: DecodeError = DecodeError::Corrupt("a part of a stream");

/// The name of a row, taken apart.
enum Name<'a> {
    Node(EntryId),
    Group(&'a [u8]),
    Pending(&'a [u8], EntryId),
}

fn put_id(id: EntryId, out: &mut Vec<u8>) {
    out.extend_from_slice(&id.ms.to_be_bytes());
    out.extend_from_slice(&id.sequence.to_be_bytes());
}

fn id_of(bytes: &[u8]) -> Option<EntryId> {
    let (ms, sequence) = bytes.split_first_chunk()?;
    let sequence = u64::from_be_bytes(sequence.try_into().ok()?);
    Some(EntryId { ms: u64::from_be_bytes(*ms), sequence })
}

impl<'a> Name<'a> {
    fn of(name: &'a [u8]) -> Option<Name<'a>> {
        let (&part, rest) = name.split_first()?;
        match part {
            NODE => id_of(rest).map(Name::Node),
            GROUP => Some(Name::Group(rest)),
            PENDING => {
                let (length, rest) = rest.split_first_chunk()?;
                let (group, id) = rest.split_at_checked(u32::from_be_bytes(*length) as usize)?;
                Some(Name::Pending(group, id_of(id)?))
            }
            _ => None,
        }
    }
}

impl RowName for Name<'_> {
    fn put(&self, out: &mut Vec<u8>) {
        match *self {
            Name::Node(first) => {
                out.push(NODE);
                put_id(first, out);
            }
            Name::Group(name) => {
                out.push(GROUP);
                out.extend_from_slice(name);
            }
            Name::Pending(group, id) => {
                out.reserve(1 + size_of::<u32>() + group.len() + ID_BYTES);
                out.push(PENDING);
                out.extend_from_slice(&(group.len() as u32).to_be_bytes());
                out.extend_from_slice(group);
                put_id(id, out);
            }
        }
    }
}

/// A node is new.
pub(super) fn touch_new_node(first: EntryId, edits: &mut Edits<'_>) {
    Name::Node(first).touch_new(edits);
}

/// A group is new.
pub(super) fn touch_new_group(name: &[u8], edits: &mut Edits<'_>) {
    Name::Group(name).touch_new(edits);
}

/// What is about to change, or to go.
impl Native {
    #[inline]
    pub(super) fn touch_last_node(&self, edits: &mut Edits<'_>) {
        if edits.notes_elements()
            && let Some((&last, _)) = self.nodes.last_key_value()
        {
            self.touch_name(&Name::Node(last), edits);
        }
    }

    /// The nodes with entries of a range.
    pub(super) fn touch_nodes(&self, entries: RangeInclusive<EntryId>, edits: &mut Edits<'_>) {
        if !edits.notes_elements() {
            return;
        }
        let first = self.node_key(*entries.start());
        for &key in self.nodes.range(first..=*entries.end()).map(|(key, _)| key) {
            self.touch_name(&Name::Node(key), edits);
        }
    }

    pub(super) fn touch_group(&self, name: &[u8], edits: &mut Edits<'_>) {
        self.touch_name(&Name::Group(name), edits);
    }

    pub(super) fn touch_pending(
        &self,
        group: &[u8],
        ids: impl Iterator<Item = EntryId>,
        edits: &mut Edits<'_>,
    ) {
        if edits.notes_elements() {
            ids.for_each(|id| self.touch_name(&Name::Pending(group, id), edits));
        }
    }

    /// All that is pending for a consumer.
    pub(super) fn touch_pending_of(&self, group: &[u8], consumer: &[u8], edits: &mut Edits<'_>) {
        let consumer = self.groups.get(group).and_then(|group| group.consumer(consumer));
        let all = consumer.map(|consumer| consumer.pending(EntryId::MIN..=EntryId::MAX));
        self.touch_pending(group, all.into_iter().flatten(), edits);
    }

    /// All that is pending in a group.
    pub(super) fn touch_all_pending(&self, group: &[u8], edits: &mut Edits<'_>) {
        let found = self.groups.get(group);
        let all = found.map(|group| group.pending(EntryId::MIN..=EntryId::MAX));
        self.touch_pending(group, all.into_iter().flatten().map(|(id, _)| id), edits);
    }

    fn touch_name(&self, name: &Name<'_>, edits: &mut Edits<'_>) {
        name.touch(edits, |out| self.put_content(name, out));
    }

    fn put_content(&self, name: &Name<'_>, out: &mut Vec<u8>) -> bool {
        match *name {
            Name::Node(first) => {
                let node = self.nodes.get(&first);
                node.inspect(|node| put_node(first, node, out)).is_some()
            }
            Name::Group(name) => {
                self.groups.get(name).inspect(|group| put_consumers(group, out)).is_some()
            }
            Name::Pending(name, id) => {
                let Some(group) = self.groups.get(name) else { return false };
                group.pending_entry(id).inspect(|it| put_pending(group, it, out)).is_some()
            }
        }
    }

    /// Takes an element in, which comes in the order of names.
    pub(super) fn adopt_element(&mut self, name: &[u8], content: &[u8]) -> Result<(), DecodeError> {
        match Name::of(name).ok_or(BAD)? {
            Name::Node(first) => {
                let mut rest = content;
                let node = take_node(first, &mut rest)?;
                let last = node.walk(first).last().map_or(first, |entry| entry.id);
                if !rest.is_empty() || first <= self.last_entry_id() || last > self.last_id {
                    return Err(BAD);
                }
                self.adopt(first, node);
                Ok(())
            }
            Name::Group(name) => self.adopt_group(name, content),
            Name::Pending(group, id) => self.adopt_pending(group, id, content),
        }
    }

    fn adopt_pending(
        &mut self,
        group: &[u8],
        id: EntryId,
        content: &[u8],
    ) -> Result<(), DecodeError> {
        let mut rest = content;
        let delivered_ms = varint::take(&mut rest).ok_or(DecodeError::Truncated)?;
        let deliveries = varint::take(&mut rest).ok_or(DecodeError::Truncated)?;
        let consumer = Item::take(&mut rest).ok_or(DecodeError::Truncated)?;
        let assigned = self.with_group(group, |group| {
            let number = group.number(consumer.spell(&mut Digits::default()))?;
            group.assign(id, number, Delivery { delivered_ms, deliveries });
            Some(())
        });
        if rest.is_empty() { assigned.flatten().ok_or(BAD) } else { Err(BAD) }
    }

    fn adopt_group(&mut self, name: &[u8], content: &[u8]) -> Result<(), DecodeError> {
        if self.groups.contains_key(name) {
            return Err(BAD);
        }
        let mut rest = content;
        self.create_group(name, GroupPlace::take(&mut rest).ok_or(DecodeError::Truncated)?);
        self.with_group(name, |group| take_consumers(group, &mut rest)).ok_or(BAD)??;
        if rest.is_empty() { Ok(()) } else { Err(BAD) }
    }
}

fn put_pending(group: &Group, pending: &Pending, out: &mut Vec<u8>) {
    varint::put(out, pending.delivered_ms);
    varint::put(out, pending.deliveries);
    Item::of(group.owner(pending).name()).put(out);
}

/// Parts of a walk over all elements; each returns false if enough have been seen.
impl Native {
    fn show(&self, name: &Name<'_>, weight: usize, walk: &mut Walk<'_, '_>) -> bool {
        walk.show(name, weight, |out| self.put_content(name, out))
    }

    fn walk_nodes(&self, after: Bound<EntryId>, walk: &mut Walk<'_, '_>) -> bool {
        let mut nodes = self.nodes.range((after, Bound::Unbounded));
        nodes.all(|(&key, node)| self.show(&Name::Node(key), node.live() as usize, walk))
    }

    fn walk_groups(&self, after: Bound<&[u8]>, walk: &mut Walk<'_, '_>) -> bool {
        let mut groups = self.groups.range::<[u8], _>((after, Bound::Unbounded));
        groups.all(|(name, _)| self.show(&Name::Group(name), 1, walk))
    }

    /// What is pending in groups, in the order of their rows: short names before long ones.
    fn walk_pending(&self, after: Option<(&[u8], EntryId)>, walk: &mut Walk<'_, '_>) -> bool {
        let mut groups: Vec<(&[u8], &Group)> =
            self.groups.iter().map(|(name, group)| (&**name, group)).collect();
        groups.sort_by_key(|(name, _)| (name.len(), *name));
        for (name, group) in groups {
            let first = match after {
                Some((last, _)) if (name.len(), name) < (last.len(), last) => continue,
                Some((last, id)) if name == last => match id.next() {
                    Some(next) => next,
                    None => continue,
                },
                _ => EntryId::MIN,
            };
            for (id, _) in group.pending(first..=EntryId::MAX) {
                if !self.show(&Name::Pending(name, id), 1, walk) {
                    return false;
                }
            }
        }
        true
    }
}

impl Spread for Stream {
    fn can_spread(&self) -> bool {
        matches!(self.0.read(), FormRef::Native(_))
    }

    fn put_head(&self, out: &mut Vec<u8>) {
        self.native().marks().put(out);
    }

    fn visit_elements(&self, from: WalkPlace, count: usize, visit: &mut Visit<'_>) -> WalkPlace {
        let (native, mut walk) = (self.native(), Walk::new(count, visit));
        let last = match &from {
            WalkPlace::After(last) => Name::of(last),
            _ => None,
        };
        let all = Bound::Unbounded;
        let goes_on = match last {
            None => {
                native.walk_nodes(Bound::Unbounded, &mut walk)
                    && native.walk_groups(all, &mut walk)
                    && native.walk_pending(None, &mut walk)
            }
            Some(Name::Node(last)) => {
                native.walk_nodes(Bound::Excluded(last), &mut walk)
                    && native.walk_groups(all, &mut walk)
                    && native.walk_pending(None, &mut walk)
            }
            Some(Name::Group(last)) => {
                native.walk_groups(Bound::Excluded(last), &mut walk)
                    && native.walk_pending(None, &mut walk)
            }
            Some(Name::Pending(group, id)) => native.walk_pending(Some((group, id)), &mut walk),
        };
        walk.end(goes_on)
    }

    fn put_content(&self, name: &[u8], out: &mut Vec<u8>) -> bool {
        Name::of(name).is_some_and(|name| self.native().put_content(&name, out))
    }

    fn from_head(head: &[u8]) -> Result<Stream, DecodeError> {
        let mut rest = head;
        let marks = Marks::take(&mut rest).ok_or(DecodeError::Truncated)?;
        let mut native = Native::default();
        native.set_marks(marks);
        if rest.is_empty() { Ok(Stream(Form::native(Box::new(native)))) } else { Err(BAD) }
    }

    fn adopt(&mut self, name: &[u8], content: &[u8], _: &FormLimits) -> Result<(), DecodeError> {
        self.native_mut().adopt_element(name, content)
    }
}

/// Writes edits that make an empty stream equal to this one: its marks, then each element as its
/// row has it.
pub(super) fn write_as_edits(stream: &Stream, edits: &mut Edits<'_>) {
    edits.write(|out| {
        out.push(edit::SET_MARKS);
        stream.native().marks().put(out);
    });
    stream.visit_elements(WalkPlace::Start, usize::MAX, &mut |name, content| {
        edits.write(|out| edit::put_adopt(name, content, out));
    });
}
