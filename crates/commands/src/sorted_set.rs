//! Commands on sorted sets.

mod add;
mod blocking;
mod bounds;
mod combine;
mod input;
mod pop;
mod random;
mod range;
mod rank;
mod remove;
pub(crate) mod reply;
mod scan;
mod score;

pub(crate) use add::{Conditions, set_scores};

use basalt_call::entry::Entry;

/// The family.
pub const COMMANDS: &[Entry] = &[
    add::ZADD,
    add::ZINCRBY,
    score::ZSCORE,
    score::ZMSCORE,
    score::ZCARD,
    rank::ZRANK,
    rank::ZREVRANK,
    rank::ZCOUNT,
    rank::ZLEXCOUNT,
    range::ZRANGE,
    range::ZRANGESTORE,
    range::ZREVRANGE,
    range::ZRANGEBYSCORE,
    range::ZREVRANGEBYSCORE,
    range::ZRANGEBYLEX,
    range::ZREVRANGEBYLEX,
    remove::ZREM,
    remove::ZREMRANGEBYRANK,
    remove::ZREMRANGEBYSCORE,
    remove::ZREMRANGEBYLEX,
    pop::ZPOPMIN,
    pop::ZPOPMAX,
    pop::ZMPOP,
    blocking::BZPOPMIN,
    blocking::BZPOPMAX,
    blocking::BZMPOP,
    random::ZRANDMEMBER,
    scan::ZSCAN,
    combine::ZUNION,
    combine::ZUNIONSTORE,
    combine::ZINTER,
    combine::ZINTERSTORE,
    combine::ZINTERCARD,
    combine::ZDIFF,
    combine::ZDIFFSTORE,
];
