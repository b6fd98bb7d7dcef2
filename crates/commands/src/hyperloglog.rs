//! Commands on HyperLogLogs, which are strings with a certain content.

mod add;
mod count;
mod debug;
mod merge;
mod self_test;

use super::strings::bytes;
use basalt_call::entry::Entry;
use basalt_change::op::StringForm;
use basalt_engine::{Key, Object, PutOptions, Txn};
use basalt_service::error::CommandError;
use basalt_value::hll::Hll;

/// The family.
pub const COMMANDS: &[Entry] =
    &[add::PFADD, count::PFCOUNT, merge::PFMERGE, debug::PFDEBUG, self_test::PFSELFTEST];

/// The HyperLogLog in an object.
#[inline]
fn hll(object: Object<'_>) -> Result<Hll<'_>, CommandError> {
    Ok(Hll::new(bytes(object)?)?)
}

/// Up to how many bytes a HyperLogLog keeps its sparse form.
fn sparse_bytes_max(txn: &Txn<'_>) -> usize {
    txn.limits().hll_sparse_bytes_max as usize
}

/// Stores what a HyperLogLog has become. What it begins and ends with mostly stays: what is between
/// is logged, unless that is a good part of it. A whole string spares recovery a look at the old
/// one.
fn store(txn: &mut Txn<'_>, key: &Key<'_>, new: &[u8]) -> Result<(), CommandError> {
    let (old, expire_ms) = match txn.get(key) {
        Some(object) => (bytes(object)?, object.expire_ms()),
        None => (&[][..], 0),
    };
    let start = same_bytes(old, new);
    let (old_rest, new_rest) = (&old[start..], &new[start..]);
    let same_end = same_end_bytes(old_rest, new_rest);
    let (removed, added) = (old_rest.len() - same_end, &new_rest[..new_rest.len() - same_end]);
    if old.is_empty() || added.len() > new.len() / 2 {
        txn.put(key, new, PutOptions { expire_ms, form: StringForm::Edited });
    } else {
        txn.replace(key, start..start + removed, added);
    }
    Ok(())
}

/// Bytes that are compared at once.
const AT_ONCE: usize = 32;

/// How many bytes two strings begin with alike.
fn same_bytes(one: &[u8], other: &[u8]) -> usize {
    let blocks = one.chunks_exact(AT_ONCE).zip(other.chunks_exact(AT_ONCE));
    let same = blocks.take_while(|(one, other)| one == other).count() * AT_ONCE;
    let rest = one[same..].iter().zip(&other[same..]);
    same + rest.take_while(|(one, other)| one == other).count()
}

/// How many bytes two strings end with alike.
fn same_end_bytes(one: &[u8], other: &[u8]) -> usize {
    let blocks = one.rchunks_exact(AT_ONCE).zip(other.rchunks_exact(AT_ONCE));
    let same = blocks.take_while(|(one, other)| one == other).count() * AT_ONCE;
    let rest = one[..one.len() - same].iter().rev().zip(other[..other.len() - same].iter().rev());
    same + rest.take_while(|(one, other)| one == other).count()
}
