//! Commands on hashes.

mod count;
mod expire;
mod fields_option;
mod get;
mod get_change;
mod increment;
mod random;
mod scan;
mod set;
mod set_expiring;
mod ttl;

use super::item::reply_item;
use basalt_call::entry::Entry;
use basalt_engine::Txn;
use basalt_resp::Reply;
use basalt_value::hash::{Field, Terms};

/// The family.
pub const COMMANDS: &[Entry] = &[
    set::HSET,
    set::HSETNX,
    set::HMSET,
    set::HDEL,
    get::HGET,
    get::HMGET,
    get::HGETALL,
    get::HKEYS,
    get::HVALS,
    count::HEXISTS,
    count::HLEN,
    count::HSTRLEN,
    increment::HINCRBY,
    increment::HINCRBYFLOAT,
    random::HRANDFIELD,
    scan::HSCAN,
    expire::HEXPIRE,
    expire::HPEXPIRE,
    expire::HEXPIREAT,
    expire::HPEXPIREAT,
    expire::HPERSIST,
    ttl::HTTL,
    ttl::HPTTL,
    ttl::HEXPIRETIME,
    ttl::HPEXPIRETIME,
    get_change::HGETDEL,
    get_change::HGETEX,
    set_expiring::HSETEX,
];

/// Replies with a field's value, or with nothing.
#[inline]
fn reply_value(field: Option<Field<'_>>, reply: &mut Reply<'_>) {
    match field {
        Some(field) => reply_item(field.value, reply),
        None => reply.null(),
    }
}

/// What a change of a hash goes by.
#[inline]
fn terms(txn: &Txn<'_>) -> Terms {
    Terms { now_ms: txn.now_ms(), limits: txn.limits() }
}
