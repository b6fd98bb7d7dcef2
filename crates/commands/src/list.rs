//! Commands on lists.

mod blocking;
mod edit;
mod pop;
mod push;
mod read;
mod transfer;

use super::item::reply_item;
use super::number::{count, integer};
use basalt_call::entry::Entry;
use basalt_service::args::Args;
use basalt_service::error::CommandError;
use basalt_value::list::Side;

/// The family.
pub const COMMANDS: &[Entry] = &[
    push::LPUSH,
    push::RPUSH,
    push::LPUSHX,
    push::RPUSHX,
    pop::LPOP,
    pop::RPOP,
    pop::LMPOP,
    read::LLEN,
    read::LINDEX,
    read::LRANGE,
    read::LPOS,
    edit::LSET,
    edit::LINSERT,
    edit::LREM,
    edit::LTRIM,
    transfer::LMOVE,
    transfer::RPOPLPUSH,
    blocking::BLPOP,
    blocking::BRPOP,
    blocking::BLMPOP,
    blocking::BLMOVE,
    blocking::BRPOPLPUSH,
];

/// The event of an element that comes at an end.
fn pushed(side: Side) -> &'static str {
    match side {
        Side::Left => "lpush",
        Side::Right => "rpush",
    }
}

/// The event of elements that go at an end.
fn popped(side: Side) -> &'static str {
    match side {
        Side::Left => "lpop",
        Side::Right => "rpop",
    }
}

/// `LEFT` or `RIGHT`.
fn side(args: &Args<'_>, at: usize) -> Result<Side, CommandError> {
    if args.is(at, "LEFT") {
        Ok(Side::Left)
    } else if args.is(at, "RIGHT") {
        Ok(Side::Right)
    } else {
        Err(CommandError::SYNTAX)
    }
}

/// An index from the head, or from the tail if negative: as an index of a list of this length, if
/// that has one there.
fn index(index: i64, len: usize) -> Option<usize> {
    let index = if index < 0 { (len as i64).checked_add(index)? } else { index };
    usize::try_from(index).ok().filter(|&index| index < len)
}

/// Start and stop, inclusive, each from the head, or from the tail if negative.
struct Range {
    start: i64,
    stop: i64,
}

impl Range {
    fn parse(args: &Args<'_>) -> Result<Range, CommandError> {
        Ok(Range { start: integer(args.word(2))?, stop: integer(args.word(3))? })
    }

    /// First index and number of elements in a list of this length.
    fn within(&self, len: usize) -> (usize, usize) {
        let len = len as i64;
        let from_head = |index: i64| if index < 0 { len.saturating_add(index) } else { index };
        let start = from_head(self.start).max(0);
        let stop = from_head(self.stop).min(len - 1);
        if start > stop { (0, 0) } else { (start as usize, (stop - start + 1) as usize) }
    }
}
