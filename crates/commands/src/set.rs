//! Commands on sets.

mod change;
mod combine;
mod random;
mod read;
mod scan;

use super::item::reply_item;
use basalt_call::entry::Entry;

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
