//! Commands on strings.

mod append;
mod comparison;
mod counter;
mod digest;
mod expiry_option;
mod float;
mod get;
mod get_change;
mod lcs;
mod many;
mod range;
mod set;
mod set_shorthand;

pub(crate) use comparison::Comparison;
pub(crate) use expiry_option::ExpiryOption;

use super::generic::{RAW, encoding};
use basalt_call::entry::Entry;
use basalt_engine::{Key, Object, StringValue, Txn};
use basalt_resp::{Reply, SHARED_BYTES_MIN};
use basalt_service::error::CommandError;

/// The family.
pub const COMMANDS: &[Entry] = &[
    get::GET,
    set::SET,
    get_change::GETEX,
    get_change::GETDEL,
    set_shorthand::GETSET,
    many::MGET,
    many::MSET,
    many::MSETNX,
    set_shorthand::SETNX,
    set_shorthand::SETEX,
    set_shorthand::PSETEX,
    append::APPEND,
    range::STRLEN,
    range::GETRANGE,
    range::SUBSTR,
    append::SETRANGE,
    counter::INCR,
    counter::DECR,
    counter::INCRBY,
    counter::DECRBY,
    float::INCRBYFLOAT,
    lcs::LCS,
    digest::DIGEST,
    digest::DELEX,
];

/// The string in an object.
///
/// # Errors
/// [`CommandError::WRONG_TYPE`].
#[inline]
pub(crate) fn string(object: Object<'_>) -> Result<StringValue<'_>, CommandError> {
    object.string().ok_or(CommandError::WRONG_TYPE)
}

/// The bytes of the string in an object.
#[inline]
pub(crate) fn bytes(object: Object<'_>) -> Result<&[u8], CommandError> {
    Ok(string(object)?.bytes())
}

/// Has `OBJECT ENCODING` call a string `raw`, as Redis stores one that a command was about to edit.
/// The bytes stay the same, so a string that is raw already is neither written nor logged.
#[inline]
pub(super) fn make_raw(txn: &mut Txn<'_>, key: &Key<'_>) {
    if txn.get(key).is_some_and(|object| encoding(object) != RAW) {
        txn.reform(key);
    }
}

/// Replies with a string, without copying it if it is large.
#[inline(always)]
pub(crate) fn reply_string(value: StringValue<'_>, reply: &mut Reply<'_>) {
    match value {
        StringValue::Shared(shared) if shared.vec().len() >= SHARED_BYTES_MIN => {
            reply.bulk_shared(shared.to_arc());
        }
        value => reply.bulk(value.bytes()),
    }
}

/// Replies with the string in an object, or null.
#[inline(always)]
fn reply_object(object: Option<Object<'_>>, reply: &mut Reply<'_>) -> Result<(), CommandError> {
    match object {
        Some(object) => reply_string(string(object)?, reply),
        None => reply.null(),
    }
    Ok(())
}

/// Refuses zeros behind the `len` bytes of a string, up to `offset`, if there is no memory for them
/// at all.
#[inline]
pub(super) fn check_zeros(txn: &Txn<'_>, len: usize, offset: usize) -> Result<(), CommandError> {
    match txn.may_add_zeros(len, offset) {
        true => Ok(()),
        false => Err(CommandError::OUT_OF_MEMORY),
    }
}

/// Refuses to make a string of more than `proto-max-bulk-len` bytes.
#[inline]
fn check_length(bytes: usize, more: usize, bytes_max: usize) -> Result<(), CommandError> {
    match bytes.checked_add(more) {
        Some(total) if total <= bytes_max => Ok(()),
        _ => {
            Err(CommandError::fixed("ERR string exceeds maximum allowed size (proto-max-bulk-len)"))
        }
    }
}
