//! The names of a queue's rows, as `queue/spread.rs` draws them.

use super::id::{LaneNumber, MessageId};
use crate::spread::parts::RowName;

const BLOCK: u8 = 0;
const ENTRY: u8 = 1;
const KNOWN: u8 = 2;

/// The name of a row, taken apart.
pub(super) enum Name<'a> {
    Block(LaneNumber, u64),
    Entry(MessageId),
    Known(&'a [u8]),
}

impl<'a> Name<'a> {
    pub(super) fn of(name: &'a [u8]) -> Option<Name<'a>> {
        let (&part, rest) = name.split_first()?;
        match part {
            BLOCK => {
                let (&lane, first) = rest.split_first()?;
                let first = u64::from_be_bytes(first.try_into().ok()?);
                Some(Name::Block(LaneNumber::new(lane.into())?, first))
            }
            ENTRY => MessageId::from_bytes(rest).map(Name::Entry),
            KNOWN => Some(Name::Known(rest)),
            _ => None,
        }
    }
}

impl RowName for Name<'_> {
    fn put(&self, out: &mut Vec<u8>) {
        match *self {
            Name::Block(lane, first) => {
                out.extend_from_slice(&[BLOCK, lane.number()]);
                out.extend_from_slice(&first.to_be_bytes());
            }
            Name::Entry(id) => {
                out.push(ENTRY);
                out.extend_from_slice(&id.to_bytes());
            }
            Name::Known(name) => {
                out.push(KNOWN);
                out.extend_from_slice(name);
            }
        }
    }
}

/// The row of this name has messages.
pub(super) fn is_block(name: &[u8]) -> bool {
    name.first() == Some(&BLOCK)
}
