//! Commands on sets.

mod change;
mod combine;
mod random;
mod read;
mod scan;

use super::Entry;
use basalt_resp::Reply;
use basalt_value::item::{Item, NUMBER_CHARS_MAX};

/// The family.
pub const COMMANDS: &[Entry] = &[
    change::SADD,
    change::SREM,
    change::SMOVE,
    read::SCARD,
    read::SISMEMBER,
    read::SMISMEMBER,
    read::SMEMBERS,
    random::SPOP,
    random::SRANDMEMBER,
    scan::SSCAN,
    combine::SINTER,
    combine::SINTERCARD,
    combine::SINTERSTORE,
    combine::SUNION,
    combine::SUNIONSTORE,
    combine::SDIFF,
    combine::SDIFFSTORE,
];

/// Replies with a member.
#[inline]
fn reply_item(item: Item<'_>, reply: &mut Reply<'_>) {
    reply.bulk(item.spell(&mut [0; NUMBER_CHARS_MAX]));
}
