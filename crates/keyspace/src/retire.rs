//! HOT PATH
//! Big values that nobody needs any more.
//!
//! Giving a gigabyte back to the system takes tens of milliseconds, which no partition's lock shall
//! wait for. So a database shows the value of an entry that it is about to destroy to a [`Retire`],
//! if it is big.

use crate::entry::StringValue;
use crate::table::{Found, Table};
use basalt_value::Value;
use std::sync::Arc;

/// Strings from this size on are retired.
pub const RETIRED_BYTES_MIN: usize = 1 << 20;
/// Collections from this size on are retired: they are many small pieces.
pub const RETIRED_COLLECTION_BYTES_MIN: usize = 64 << 10;

/// A value that nobody needs any more.
pub enum Big {
    /// A string.
    String(Arc<Vec<u8>>),
    /// A collection.
    Collection(Value),
}

/// Takes big values over, to free them where nobody waits. Called under a partition's lock.
pub trait Retire {
    /// Takes a value over that takes about this many bytes.
    fn retire(&self, value: Big, bytes: usize);
}

/// Frees each value at once.
#[derive(Clone, Copy, Debug)]
pub struct FreeAtOnce;

impl Retire for FreeAtOnce {
    fn retire(&self, value: Big, _: usize) {
        drop(value);
    }
}

/// The entry is about to be destroyed: hands its value over if it is big. Another owner of the
/// value, a reply or another key, frees it itself.
#[inline(always)]
pub(crate) fn retire(table: &mut Table, found: Found, retired: &impl Retire) {
    if table.entry(found).apart_bytes() >= RETIRED_COLLECTION_BYTES_MIN {
        retire_apart(table, found, retired);
    }
}

#[cold]
fn retire_apart(table: &mut Table, found: Found, retired: &impl Retire) {
    let entry = table.entry(found);
    let bytes = entry.apart_bytes();
    match entry.string() {
        Some(StringValue::Shared(shared)) if bytes >= RETIRED_BYTES_MIN => {
            let value = shared.to_arc();
            // Two owners: the entry and this one.
            if Arc::strong_count(&value) == 2 {
                retired.retire(Big::String(value), bytes);
            }
        }
        Some(_) => {}
        None => {
            if let Some(value) = table.take_collection(found) {
                retired.retire(Big::Collection(value), bytes);
            }
        }
    }
}
