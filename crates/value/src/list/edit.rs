//! HOT PATH
//! Edits of a list, as the head of `list.rs` draws them.

use super::element::Element;
use super::side::Side;
use crate::error::DecodeError;
use crate::item::Item;
use basalt_stdx::varint;

const PUSH_LEFT: u8 = 1;
const PUSH_RIGHT: u8 = 2;
const POP_LEFT: u8 = 3;
const POP_RIGHT: u8 = 4;
const SET: u8 = 5;
const INSERT: u8 = 6;
const REMOVE: u8 = 7;

/// One edit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Edit<'a> {
    Push(Side, Item<'a>),
    Pop(Side, usize),
    Set(usize, Item<'a>),
    Insert(usize, Item<'a>),
    Remove(usize, usize),
}

/// Appends an [`Edit::Push`].
#[inline]
pub(super) fn put_push(side: Side, element: &Element<'_>, out: &mut Vec<u8>) {
    out.push(if side == Side::Left { PUSH_LEFT } else { PUSH_RIGHT });
    element.put_item(out);
}

impl<'a> Edit<'a> {
    #[inline]
    pub(super) fn put(self, out: &mut Vec<u8>) {
        match self {
            Edit::Push(side, item) => put_push(side, &Element::of(item), out),
            Edit::Pop(side, count) => {
                out.push(if side == Side::Left { POP_LEFT } else { POP_RIGHT });
                varint::put(out, count as u64);
            }
            Edit::Set(index, item) => {
                out.push(SET);
                varint::put(out, index as u64);
                item.put(out);
            }
            Edit::Insert(index, item) => {
                out.push(INSERT);
                varint::put(out, index as u64);
                item.put(out);
            }
            Edit::Remove(index, count) => {
                out.push(REMOVE);
                varint::put(out, index as u64);
                varint::put(out, count as u64);
            }
        }
    }

    #[inline]
    pub(super) fn take(rest: &mut &'a [u8]) -> Result<Edit<'a>, DecodeError> {
        let (&code, after) = rest.split_first().ok_or(DecodeError::Truncated)?;
        *rest = after;
        Ok(match code {
            PUSH_LEFT => Edit::Push(Side::Left, take_item(rest)?),
            PUSH_RIGHT => Edit::Push(Side::Right, take_item(rest)?),
            POP_LEFT => Edit::Pop(Side::Left, take_count(rest)?),
            POP_RIGHT => Edit::Pop(Side::Right, take_count(rest)?),
            SET => Edit::Set(take_count(rest)?, take_item(rest)?),
            INSERT => Edit::Insert(take_count(rest)?, take_item(rest)?),
            REMOVE => Edit::Remove(take_count(rest)?, take_count(rest)?),
            unknown => return Err(DecodeError::UnknownEdit(unknown)),
        })
    }
}

fn take_item<'a>(rest: &mut &'a [u8]) -> Result<Item<'a>, DecodeError> {
    Item::take(rest).ok_or(DecodeError::Truncated)
}

fn take_count(rest: &mut &[u8]) -> Result<usize, DecodeError> {
    let count = varint::take(rest).ok_or(DecodeError::Truncated)?;
    usize::try_from(count).map_err(|_| DecodeError::Truncated)
}
