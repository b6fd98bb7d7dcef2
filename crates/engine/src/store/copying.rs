//! Copies of long strings, made while no partition is locked.
//!
//! A string that a reply, a checkpoint or another key still refers to cannot be changed in place,
//! nor can one that has no room for what is added. Copying half a gigabyte takes a tenth of a
//! second. So a command that finds such a string asks for a copy ([`Txn::must_copy_first`]) and
//! returns, having changed nothing. The copy is made when the locks are gone, the command runs
//! again, and what it finds is replaced by the copy if it is what was copied.
//!
//! ```text
//! run ▸ it asks ▸ unlock ▸ copy ▸ run: is the value the same? ─ yes ▸ the copy takes its place
//!                           ▲                                 └ no, and it must be copied
//!                           └──────────────────────────────────────┘
//! ```
//! Somebody who only reads cannot make it ask twice. If the value is another one, somebody else has
//! written meanwhile.
//!
//! A string of which two would be too much is not copied while a checkpoint holds it
//! ([`Txn::must_wait_for_checkpoint`]).
//!
//! [`Txn::must_copy_first`]: crate::Txn::must_copy_first
//! [`Txn::must_wait_for_checkpoint`]: crate::Txn::must_wait_for_checkpoint

use basalt_keyspace::entry::SharedValue;
use std::ops::Range;
use std::sync::Arc;

/// What is copied under a partition's lock at most: some 50 µs.
pub(crate) const COPIED_BYTES_MAX: usize = 1 << 20;

/// A long string that is to be copied while no partition is locked.
#[derive(Debug)]
pub struct Copying {
    old: Arc<Vec<u8>>,
    /// Bytes of the copy, a gap of zeros included.
    len: usize,
    /// Bytes that it has room for.
    capacity: usize,
}

/// A long string and its copy.
#[derive(Debug)]
pub struct StringCopy {
    pub(crate) old: Arc<Vec<u8>>,
    pub(crate) new: Arc<Vec<u8>>,
}

impl Copying {
    /// What has to be copied for `range` of a value to be written in place, if that is much.
    pub(crate) fn of(value: SharedValue<'_>, range: Range<usize>) -> Option<Copying> {
        let old = value.vec();
        let len = old.len().max(range.start);
        let has_room = range.end <= old.capacity();
        let written = match has_room && !value.is_held_elsewhere() {
            true => len - old.len(),
            false => len,
        };
        if written <= COPIED_BYTES_MAX {
            return None;
        }
        // What has grown once is expected to grow again, as a vector does.
        let capacity =
            if has_room { len.max(range.end) } else { range.end.max(2 * old.capacity()) };
        Some(Copying { old: value.to_arc(), len, capacity })
    }

    /// Makes the copy.
    pub fn copy(self) -> StringCopy {
        let Copying { old, len, capacity } = self;
        // Zeroed memory from the allocator costs nothing where it is never touched.
        let mut new = vec![0; capacity];
        new.truncate(len);
        new[..old.len()].copy_from_slice(&old);
        StringCopy { old, new: Arc::new(new) }
    }
}
