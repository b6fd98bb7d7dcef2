//! Push queues: items that every subscriber reads by itself, by their index. Nothing is consumed.
//!
//! ```text
//! a stream    0-15   0-16   0-17        the index of an entry is the second half of its ID
//!           ┌──────┬──────┬──────┐
//!        si │      │      │      │ ci   window (si, ci]: what is still there
//!           └──────┴──────┴──────┘
//! an entry    item <bytes>   at <unix milliseconds>.<seconds to live>
//! ```
//! `XADD … 0-*` gives the next index, so publishers need no lock and each item has one index. An
//! index ahead of the window is an ID that is given, with all before it trimmed by the same
//! command. An item that is over is trimmed from the head by the items after it, as there is no
//! timer; until then a read refuses it.
//!
//! Rejected: the index as the first half of the ID, for which a stream gives no next one; the time
//! as the first half, with which an index is not found without a search.

mod item;
mod publish;
mod stat;
mod subscribe;
mod wait;
mod window;
mod words;

pub(super) use publish::publish;
pub(super) use stat::stat;
pub(super) use subscribe::subscribe;
pub(super) use wait::wait;
pub(super) use words::info;
