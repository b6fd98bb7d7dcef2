//! The nodes of a stream: some entries in one listpack.
//!
//! ```text
//! node   = count deleted master entry*     count: entries that are not deleted
//! master = names name{names} 0
//! entry  = flags ms sequence body items    ms, sequence: above those of the node's master identity
//! body   = value{names}                    if flags has 2: the names are the master's
//!        | pairs { name value }{pairs}     otherwise
//! items                                    listpack's elements in the entry, without this one
//! ```
//!
//! `flags` has 1 if the entry is deleted.

use std::borrow::Cow;

use crate::error::DecodeError;
use crate::limits::Budget;
use crate::model::{Bytes, StreamEntry, StreamId};
use crate::packed::{Element, listpack};
use crate::reader::Reader;
use crate::types::{ENTRY_DELETED, ENTRY_SAME_FIELDS};

const CORRUPT: DecodeError = DecodeError::Corrupt("stream: node");

/// Reads one node and adds its entries. `last_id` is that of the entry before, deleted ones
/// included.
pub(super) fn node<'a>(
    reader: &mut Reader<'a>,
    last_id: &mut Option<StreamId>,
    entries: &mut Vec<StreamEntry<'a>>,
) -> Result<(), DecodeError> {
    let master = reader.string()?;
    let master: &[u8; 16] = master.as_array().ok_or(CORRUPT)?;
    let master = u128::from_be_bytes(*master);
    let master = StreamId { ms: (master >> 64) as u64, sequence: master as u64 };
    match reader.string()? {
        Cow::Borrowed(bytes) => {
            let elements = listpack::elements(bytes, &mut reader.budget)?;
            let node = Node::open(master, &elements, &mut reader.budget)?;
            node.read(last_id, |entry| entries.push(entry))
        }
        Cow::Owned(bytes) => {
            let elements = listpack::elements(&bytes, &mut reader.budget)?;
            let node = Node::open(master, &elements, &mut reader.budget)?;
            node.read(last_id, |entry| entries.push(entry.into_owned()))
        }
    }
}

struct Node<'n, 'b> {
    master: StreamId,
    names: &'n [Element<'b>],
    names_bytes: usize,
    count: usize,
    deleted: usize,
    rest: &'n [Element<'b>],
    budget: &'n mut Budget,
}

impl<'n, 'b> Node<'n, 'b> {
    /// Reads what stands before the entries.
    fn open(
        master: StreamId,
        elements: &'n [Element<'b>],
        budget: &'n mut Budget,
    ) -> Result<Node<'n, 'b>, DecodeError> {
        let mut rest = elements;
        let count = number(&mut rest)?;
        let deleted = number(&mut rest)?;
        let names = number(&mut rest)?;
        let names = rest.split_off(..names).ok_or(CORRUPT)?;
        if number(&mut rest)? != 0 {
            return Err(CORRUPT);
        }
        let names_bytes = names.iter().map(|name| name.bytes().len() + size_of::<Bytes<'_>>());
        let names_bytes = names_bytes.sum();
        Ok(Node { master, names, names_bytes, count, deleted, rest, budget })
    }

    /// Hands every entry that is not deleted to `push`.
    fn read(
        mut self,
        last_id: &mut Option<StreamId>,
        mut push: impl FnMut(StreamEntry<'b>),
    ) -> Result<(), DecodeError> {
        let (mut count, mut deleted) = (0, 0);
        while !self.rest.is_empty() {
            let (flags, entry) = self.entry()?;
            if entry.id < self.master || last_id.is_some_and(|last_id| entry.id <= last_id) {
                return Err(DecodeError::Corrupt("stream: order of entries"));
            }
            *last_id = Some(entry.id);
            if flags & ENTRY_DELETED == 0 {
                count += 1;
                push(entry);
            } else {
                deleted += 1;
            }
        }
        if (count, deleted) != (self.count, self.deleted) {
            return Err(DecodeError::Corrupt("stream: number of entries"));
        }
        Ok(())
    }

    fn entry(&mut self) -> Result<(i64, StreamEntry<'b>), DecodeError> {
        let before = self.rest.len();
        let flags = integer(&mut self.rest)?;
        // Redis adds and subtracts with wrap-around: a later millisecond may have a lower sequence.
        let ms = self.master.ms.wrapping_add(integer(&mut self.rest)? as u64);
        let sequence = self.master.sequence.wrapping_add(integer(&mut self.rest)? as u64);
        let fields: Vec<_> = if flags & ENTRY_SAME_FIELDS == 0 {
            let pairs = number(&mut self.rest)?;
            let pairs = pairs.checked_mul(2).and_then(|items| self.rest.split_off(..items));
            let (pairs, _) = pairs.ok_or(CORRUPT)?.as_chunks::<2>();
            pairs.iter().map(|[name, value]| (name.bytes(), value.bytes())).collect()
        } else {
            // The one place where a few bytes stand for many: every such entry has the master's
            // names.
            self.budget.charge(self.names_bytes)?;
            let values = self.rest.split_off(..self.names.len()).ok_or(CORRUPT)?;
            let pairs = self.names.iter().zip(values);
            pairs.map(|(name, value)| (name.bytes(), value.bytes())).collect()
        };
        let items = before - self.rest.len();
        if fields.is_empty() || number(&mut self.rest)? != items {
            return Err(CORRUPT);
        }
        Ok((flags, StreamEntry { id: StreamId { ms, sequence }, fields }))
    }
}

fn integer(rest: &mut &[Element<'_>]) -> Result<i64, DecodeError> {
    rest.split_off_first().and_then(|element| element.integer()).ok_or(CORRUPT)
}

/// A number of things.
fn number(rest: &mut &[Element<'_>]) -> Result<usize, DecodeError> {
    usize::try_from(integer(rest)?).map_err(|_| CORRUPT)
}
