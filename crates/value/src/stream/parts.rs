//! A stream made of its parts, as another format has them.

use super::group::{Delivery, GroupPlace};
use super::id::EntryId;
use super::marks::Marks;
use super::native::{Native, Stream};
use super::node::{ENTRY_BYTES_MAX, Row};
use crate::error::DecodeError;
use crate::form::Form;
use crate::item::Item;
use crate::limits::FormLimits;

/// Takes the parts of a stream and checks that they fit together: its entries, then its groups, the
/// consumers of each and what is pending for them.
pub struct Builder {
    native: Native,
    limits: FormLimits,
    scratch: Vec<u8>,
}

/// A consumer's name and times.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ConsumerPart<'a> {
    /// Its name.
    pub name: &'a [u8],
    /// When it last tried anything, as a unix time in milliseconds.
    pub seen_ms: u64,
    /// When it last got anything.
    pub active_ms: Option<u64>,
}

impl Builder {
    /// A stream without anything, to be built under these limits.
    pub fn new(limits: FormLimits) -> Builder {
        Builder { native: Native::default(), limits, scratch: Vec::new() }
    }

    /// The next entry, with its names and values in turn.
    ///
    /// # Errors
    /// Identities do not ascend, a value is missing, or it is too large.
    pub fn entry<'a>(
        &mut self,
        id: EntryId,
        words: impl Iterator<Item = &'a [u8]> + Clone,
    ) -> Result<(), DecodeError> {
        if id <= self.native.last_id {
            return Err(DecodeError::Corrupt("identities of entries do not ascend"));
        }
        if words.clone().map(<[u8]>::len).sum::<usize>() > ENTRY_BYTES_MAX {
            return Err(DecodeError::Corrupt("an entry is too large"));
        }
        self.scratch.clear();
        words.clone().step_by(2).for_each(|name| Item::of(name).put(&mut self.scratch));
        let values_at = self.scratch.len();
        words.skip(1).step_by(2).for_each(|value| Item::of(value).put(&mut self.scratch));
        let (fields, values) = self.scratch.split_at(values_at);
        let row = Row::new(fields, values)
            .ok_or(DecodeError::Corrupt("names and values of an entry do not come in pairs"))?;
        let place = self.native.place_for(&row, &self.limits);
        self.native.append(id, &row, place);
        Ok(())
    }

    /// A group.
    ///
    /// # Errors
    /// There is one of this name.
    pub fn group(&mut self, name: &[u8], at: GroupPlace) -> Result<(), DecodeError> {
        if self.native.groups.contains_key(name) {
            return Err(DecodeError::Corrupt("two groups of one name"));
        }
        self.native.create_group(name, at);
        Ok(())
    }

    /// A consumer of a group.
    ///
    /// # Errors
    /// There is no such group, or the group has one of this name.
    pub fn consumer(&mut self, group: &[u8], part: ConsumerPart<'_>) -> Result<(), DecodeError> {
        let made = self.native.with_group(group, |group| {
            let (number, made) = group.consumer_or_new(part.name, part.seen_ms);
            group.consumer_mut(number).active_ms = part.active_ms;
            made
        });
        match made {
            Some(true) => Ok(()),
            Some(false) => Err(DecodeError::Corrupt("two consumers of one name")),
            None => Err(DecodeError::Corrupt("a group that is not there")),
        }
    }

    /// An entry that is pending for a consumer of a group.
    ///
    /// # Errors
    /// There is no such consumer, or the entry is pending already.
    pub fn pending(
        &mut self,
        group: &[u8],
        consumer: &[u8],
        id: EntryId,
        delivery: Delivery,
    ) -> Result<(), DecodeError> {
        let assigned = self.native.with_group(group, |group| {
            let number = group.number(consumer)?;
            let is_new = group.pending_entry(id).is_none();
            is_new.then(|| group.assign(id, number, delivery))
        });
        assigned.flatten().ok_or(DecodeError::Corrupt("a pending entry without a place"))
    }

    /// The stream with what it knows about its history.
    ///
    /// # Errors
    /// The last identity is below that of an entry.
    pub fn finish(mut self, marks: Marks) -> Result<Stream, DecodeError> {
        if marks.last_id < self.native.last_entry_id() {
            return Err(DecodeError::Corrupt("the last identity is not the greatest"));
        }
        self.native.set_marks(marks);
        Ok(Stream(Form::native(Box::new(self.native))))
    }
}
