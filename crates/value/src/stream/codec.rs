//! A whole stream as bytes.
//!
//! ```text
//! stream   = marks count:varint node … count:varint group …
//! node     = id-after (its first identity, after the one of the node before, at first 0-0)
//!            id-after (the last identity that was ever in it, after its first)
//!            deleted:varint len:varint bytes              bytes: as in memory, stream/node.rs
//! group    = name-item place count:varint consumer … count:varint pending …
//! consumer = name-item seen_ms:varint active_ms:optional
//! pending  = id-after delivered_ms:varint deliveries:varint consumer:varint
//! ```
//! Marks, identities, places and optional numbers are as in stream/edit.rs. Groups, and the
//! consumers of a group, ascend by name; a pending entry names its consumer by its place among
//! these. Nodes are kept as they are, so that trimming with `~` does the same after a restart.

use super::bytes::{put_optional, take_name, take_optional};
use super::group::{Delivery, Group, GroupPlace};
use super::id::EntryId;
use super::marks::Marks;
use super::native::Native;
use super::node::Node;
use crate::error::DecodeError;
use crate::item::{Item, NUMBER_CHARS_MAX};
use basalt_stdx::varint;

const BAD_NODE: DecodeError = DecodeError::Corrupt("a node of entries is broken");
const BAD_ORDER: DecodeError = DecodeError::Corrupt("identities or names do not ascend");
const NO_CONSUMER: DecodeError = DecodeError::Corrupt("a consumer that is not there");

impl Native {
    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        self.marks().put(out);
        varint::put(out, self.nodes.len() as u64);
        let mut before = EntryId::MIN;
        for (&first, node) in &self.nodes {
            first.put_after(before, out);
            put_node(first, node, out);
            before = first;
        }
        varint::put(out, self.groups.len() as u64);
        for (name, group) in &self.groups {
            put_group(name, group, out);
        }
    }

    /// Visits the bytes in parts of which none is large.
    pub(super) fn visit_parts(&self, visit: &mut dyn FnMut(&[u8])) {
        let mut part = Vec::new();
        self.marks().put(&mut part);
        visit(&part);
        for (&first, node) in &self.nodes {
            part.clear();
            first.put(&mut part);
            put_node(first, node, &mut part);
            visit(&part);
        }
        for (name, group) in &self.groups {
            part.clear();
            put_group(name, group, &mut part);
            visit(&part);
        }
    }

    pub(super) fn decode(bytes: &[u8]) -> Result<Native, DecodeError> {
        let mut rest = bytes;
        let marks = take(Marks::take(&mut rest))?;
        let mut native = Native::default();
        native.set_marks(marks);
        let (mut before, mut last) = (EntryId::MIN, EntryId::MIN);
        for _ in 0..take(varint::take(&mut rest))? {
            let first = take(EntryId::take_after(before, &mut rest))?;
            if first <= last {
                return Err(BAD_ORDER);
            }
            let node = take_node(first, &mut rest)?;
            last = node.walk(first).last().map_or(first, |entry| entry.id);
            before = first;
            native.adopt(first, node);
        }
        if last > marks.last_id {
            return Err(BAD_ORDER);
        }
        for _ in 0..take(varint::take(&mut rest))? {
            native.take_group(&mut rest)?;
        }
        if rest.is_empty() { Ok(native) } else { Err(DecodeError::Corrupt("bytes after its end")) }
    }

    /// Takes a node in behind the others.
    pub(super) fn adopt(&mut self, first: EntryId, node: Node) {
        self.len += u64::from(node.live());
        self.node_bytes += node.heap_bytes();
        self.nodes.insert(first, node);
    }

    fn take_group(&mut self, rest: &mut &[u8]) -> Result<(), DecodeError> {
        let mut digits = [0; NUMBER_CHARS_MAX];
        let name = take_name(rest, &mut digits)?;
        if self.groups.last_key_value().is_some_and(|(before, _)| **before >= *name) {
            return Err(BAD_ORDER);
        }
        self.create_group(name, take(GroupPlace::take(rest))?);
        self.with_group(name, |group| take_consumers_and_pending(group, rest))
            .expect("it was just made")
    }
}

pub(super) fn put_node(first: EntryId, node: &Node, out: &mut Vec<u8>) {
    node.last().put_after(first, out);
    varint::put(out, node.deleted().into());
    varint::put(out, node.bytes().len() as u64);
    out.extend_from_slice(node.bytes());
}

pub(super) fn take_node(first: EntryId, rest: &mut &[u8]) -> Result<Node, DecodeError> {
    let last = take(EntryId::take_after(first, rest))?;
    let deleted = take(varint::take(rest))?;
    let len = usize::try_from(take(varint::take(rest))?).map_err(|_| DecodeError::Truncated)?;
    let (bytes, after) = take(rest.split_at_checked(len))?;
    *rest = after;
    let deleted = u32::try_from(deleted).map_err(|_| BAD_NODE)?;
    Node::decode(first, last, deleted, bytes).ok_or(BAD_NODE)
}

fn put_group(name: &[u8], group: &Group, out: &mut Vec<u8>) {
    Item::of(name).put(out);
    put_consumers(group, out);
    let places = group.places_by_name();
    varint::put(out, group.pending_count() as u64);
    let mut before = EntryId::MIN;
    for (id, pending) in group.pending(EntryId::MIN..=EntryId::MAX) {
        id.put_after(before, out);
        varint::put(out, pending.delivered_ms);
        varint::put(out, pending.deliveries);
        varint::put(out, places[pending.number() as usize].into());
        before = id;
    }
}

/// Appends how far a group is, and its consumers.
pub(super) fn put_consumers(group: &Group, out: &mut Vec<u8>) {
    group.place().put(out);
    varint::put(out, group.consumer_count() as u64);
    for consumer in group.consumers() {
        Item::of(consumer.name()).put(out);
        varint::put(out, consumer.seen_ms());
        put_optional(consumer.active_ms(), out);
    }
}

/// Takes the consumers of a new group off the front; returns their number.
pub(super) fn take_consumers(group: &mut Group, rest: &mut &[u8]) -> Result<u64, DecodeError> {
    let count = take(varint::take(rest))?;
    for place in 0..count {
        let mut digits = [0; NUMBER_CHARS_MAX];
        let name = take_name(rest, &mut digits)?;
        if group.consumers().next_back().is_some_and(|before| before.name() >= name) {
            return Err(BAD_ORDER);
        }
        let (number, _) = group.consumer_or_new(name, take(varint::take(rest))?);
        // A group that is new numbers its consumers in turn.
        debug_assert_eq!(u64::from(number), place);
        group.consumer_mut(number).active_ms = take(take_optional(rest))?;
    }
    Ok(count)
}

fn take_consumers_and_pending(group: &mut Group, rest: &mut &[u8]) -> Result<(), DecodeError> {
    let count = take_consumers(group, rest)?;
    let mut before = None;
    for _ in 0..take(varint::take(rest))? {
        let id = take(EntryId::take_after(before.unwrap_or(EntryId::MIN), rest))?;
        if before.is_some_and(|before| id <= before) {
            return Err(BAD_ORDER);
        }
        let delivered_ms = take(varint::take(rest))?;
        let deliveries = take(varint::take(rest))?;
        let number = take(varint::take(rest))?;
        if number >= count {
            return Err(NO_CONSUMER);
        }
        group.assign(id, number as u32, Delivery { delivered_ms, deliveries });
        before = Some(id);
    }
    Ok(())
}

fn take<T>(taken: Option<T>) -> Result<T, DecodeError> {
    taken.ok_or(DecodeError::Truncated)
}
