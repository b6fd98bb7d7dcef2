//! The edits of streams.
//!
//! ```text
//! edit = 1 id count:varint name-item … value-item …    an entry, into the last node
//!      | 2 id count:varint name-item … value-item …    an entry, into a new node
//!      | 3 id                                          delete an entry
//!      | 4 id                                          trim all entries up to this one
//!      | 5 marks                                       last id, greatest deleted id, entries added
//!      | 6 group place                                 make a group
//!      | 7 group                                       remove a group
//!      | 8 group place                                 set how far a group is
//!      | 9 visit                                       a consumer was seen; it is made if absent
//!      | 10 group consumer                             remove a consumer
//!      | 11 visit place ids                            entries are delivered to a consumer
//!      | 12 visit delivered_ms:varint count:varint (id-after deliveries:varint) …
//!      | 13 group ids                                  entries are no longer pending
//!      | 14 length:varint name length:varint content   an element's row, stream/spread.rs
//! id    = ms:varint sequence:varint
//! marks = id id added:varint
//! place = id optional                     last id delivered, entries read
//! visit = group consumer seen_ms:varint optional        when it was last active
//! ids   = count:varint id-after …         id-after: ms:varint, the difference to the last (first:
//!                                         0-0), modulo 2^64; sequence:varint, likewise
//! group, consumer = item                  optional = varint: 0 for none, else the number and one
//! ```
//! Whether an entry begins a node is written down, so that recovery gives the same nodes under
//! other limits.

use super::bytes::{put_optional, take_bytes, take_name, take_optional};
use super::group::{Delivery, Group, GroupPlace};
use super::id::EntryId;
use super::marks::Marks;
use super::native::Native;
use super::node::{EntryPlace, Row};
use super::reader::{Attempt, Reader};
use crate::error::DecodeError;
use crate::item::{Item, NUMBER_CHARS_MAX};
use basalt_stdx::varint;

pub(super) const ADD: u8 = 1;
pub(super) const ADD_TO_NEW_NODE: u8 = 2;
pub(super) const DELETE: u8 = 3;
pub(super) const TRIM: u8 = 4;
pub(super) const SET_MARKS: u8 = 5;
pub(super) const CREATE_GROUP: u8 = 6;
pub(super) const DESTROY_GROUP: u8 = 7;
pub(super) const SET_GROUP: u8 = 8;
pub(super) const SEE: u8 = 9;
pub(super) const DELETE_CONSUMER: u8 = 10;
pub(super) const DELIVER: u8 = 11;
pub(super) const CLAIM: u8 = 12;
pub(super) const ACKNOWLEDGE: u8 = 13;
const ADOPT: u8 = 14;

/// An edit holds at most this many identities; more take several edits, so that none becomes large.
pub(super) const IDS_AN_EDIT: usize = 4_096;

const NO_ENTRY: DecodeError = DecodeError::Corrupt("an entry that is not there");
const NO_GROUP: DecodeError = DecodeError::Corrupt("a group that is not there");
const NO_CONSUMER: DecodeError = DecodeError::Corrupt("a consumer that is not there");
const NOT_PENDING: DecodeError = DecodeError::Corrupt("an entry that is not pending");
const BAD_ENTRY: DecodeError = DecodeError::Corrupt("an entry whose fields are broken");
const BAD_ID: DecodeError = DecodeError::Corrupt("an identity that does not ascend");

/// Does what edits say.
pub(super) fn apply(native: &mut Native, edits: &[u8]) -> Result<(), DecodeError> {
    let mut rest = edits;
    while let Some((&tag, after)) = rest.split_first() {
        rest = after;
        match tag {
            ADD => add(native, EntryPlace::LastNode, &mut rest)?,
            ADD_TO_NEW_NODE => add(native, EntryPlace::NewNode, &mut rest)?,
            DELETE => {
                let id = take(EntryId::take(&mut rest))?;
                native.delete(id).then_some(()).ok_or(NO_ENTRY)?;
            }
            TRIM => {
                native.trim_through(take(EntryId::take(&mut rest))?);
            }
            SET_MARKS => {
                let marks = take(Marks::take(&mut rest))?;
                if marks.last_id < native.last_entry_id() {
                    return Err(BAD_ID);
                }
                native.set_marks(marks);
            }
            CREATE_GROUP..=ACKNOWLEDGE => apply_to_group(native, tag, &mut rest)?,
            ADOPT => {
                let name = take(take_bytes(&mut rest))?;
                native.adopt_element(name, take(take_bytes(&mut rest))?)?;
            }
            _ => return Err(DecodeError::UnknownEdit(tag)),
        }
    }
    Ok(())
}

fn add(native: &mut Native, place: EntryPlace, rest: &mut &[u8]) -> Result<(), DecodeError> {
    let id = take(EntryId::take(rest))?;
    let count = take(varint::take(rest))?;
    let fields = take_items(count, rest)?;
    let values = take_items(count, rest)?;
    let row = Row::new(fields, values).ok_or(BAD_ENTRY)?;
    if id <= native.last_id {
        return Err(BAD_ID);
    }
    if place == EntryPlace::LastNode && native.nodes.is_empty() {
        return Err(DecodeError::Corrupt("an entry for a node that is not there"));
    }
    native.append(id, &row, place);
    Ok(())
}

fn take_items<'a>(count: u64, rest: &mut &'a [u8]) -> Result<&'a [u8], DecodeError> {
    let start = *rest;
    for _ in 0..count {
        take(Item::take(rest))?;
    }
    Ok(&start[..start.len() - rest.len()])
}

fn apply_to_group(native: &mut Native, tag: u8, rest: &mut &[u8]) -> Result<(), DecodeError> {
    let mut digits = [0; NUMBER_CHARS_MAX];
    let name = take_name(rest, &mut digits)?;
    match tag {
        CREATE_GROUP => {
            let at = take(GroupPlace::take(rest))?;
            if native.groups.contains_key(name) {
                return Err(DecodeError::Corrupt("a group that is there already"));
            }
            native.create_group(name, at);
            Ok(())
        }
        DESTROY_GROUP => native.destroy_group(name).then_some(()).ok_or(NO_GROUP),
        _ => native.with_group(name, |group| change_group(group, tag, rest)).ok_or(NO_GROUP)?,
    }
}

fn change_group(group: &mut Group, tag: u8, rest: &mut &[u8]) -> Result<(), DecodeError> {
    match tag {
        SET_GROUP => {
            group.set_place(take(GroupPlace::take(rest))?);
            return Ok(());
        }
        ACKNOWLEDGE => {
            return each_id(rest, |id| group.release(id).then_some(()).ok_or(NOT_PENDING));
        }
        _ => {}
    }
    let mut digits = [0; NUMBER_CHARS_MAX];
    let consumer = take_name(rest, &mut digits)?;
    if tag == DELETE_CONSUMER {
        return group.delete_consumer(consumer).map(|_| ()).ok_or(NO_CONSUMER);
    }
    let seen_ms = take(varint::take(rest))?;
    let active_ms = take(take_optional(rest))?;
    let (number, _) = group.consumer_or_new(consumer, seen_ms);
    let it = group.consumer_mut(number);
    it.seen_ms = seen_ms;
    it.active_ms = active_ms.or(it.active_ms);
    match tag {
        DELIVER => {
            group.set_place(take(GroupPlace::take(rest))?);
            let delivery = Delivery { delivered_ms: seen_ms, deliveries: 1 };
            each_id(rest, |id| {
                group.assign(id, number, delivery);
                Ok(())
            })
        }
        CLAIM => claim(group, number, rest),
        _ => Ok(()),
    }
}

fn claim(group: &mut Group, number: u32, rest: &mut &[u8]) -> Result<(), DecodeError> {
    let delivered_ms = take(varint::take(rest))?;
    let mut before = EntryId::MIN;
    for _ in 0..take(varint::take(rest))? {
        before = take(EntryId::take_after(before, rest))?;
        let deliveries = take(varint::take(rest))?;
        group.assign(before, number, Delivery { delivered_ms, deliveries });
    }
    Ok(())
}

/// Writes an element as its row has it.
pub(super) fn put_adopt(name: &[u8], content: &[u8], out: &mut Vec<u8>) {
    out.push(ADOPT);
    for bytes in [name, content] {
        varint::put(out, bytes.len() as u64);
        out.extend_from_slice(bytes);
    }
}

fn take<T>(taken: Option<T>) -> Result<T, DecodeError> {
    taken.ok_or(DecodeError::Truncated)
}

fn each_id(
    rest: &mut &[u8],
    mut act: impl FnMut(EntryId) -> Result<(), DecodeError>,
) -> Result<(), DecodeError> {
    let mut before = EntryId::MIN;
    for _ in 0..take(varint::take(rest))? {
        before = take(EntryId::take_after(before, rest))?;
        act(before)?;
    }
    Ok(())
}

/// That a consumer was here.
pub(super) struct Visit<'a> {
    reader: Reader<'a>,
    attempt: Attempt,
}

impl<'a> Visit<'a> {
    pub(super) fn new(reader: Reader<'a>, attempt: Attempt) -> Visit<'a> {
        Visit { reader, attempt }
    }

    fn active_ms(&self) -> Option<u64> {
        (self.attempt == Attempt::Fruitful).then_some(self.reader.now_ms)
    }

    /// Notes it; returns the consumer's number, and whether it was made.
    pub(super) fn make(&self, group: &mut Group) -> (u32, bool) {
        let now_ms = self.reader.now_ms;
        let (number, made) = group.consumer_or_new(self.reader.consumer, now_ms);
        let consumer = group.consumer_mut(number);
        consumer.seen_ms = now_ms;
        consumer.active_ms = self.active_ms().or(consumer.active_ms);
        (number, made)
    }

    /// Appends it.
    pub(super) fn put(&self, tag: u8, out: &mut Vec<u8>) {
        out.push(tag);
        Item::of(self.reader.group).put(out);
        Item::of(self.reader.consumer).put(out);
        varint::put(out, self.reader.now_ms);
        put_optional(self.active_ms(), out);
    }
}
