//! How far a group is: which entries it has read, and how many it has not.
//!
//! A group counts what it reads. The count stands for a place among all entries ever added only as
//! long as none was deleted (XDEL) in between: the greatest deleted identity tells. Trimming takes
//! entries from the front, which does not matter. Where the count is not known, it is known again
//! at places whose number is plain: the last identity given, and the first entry while nothing
//! behind it was deleted.

use super::group::Group;
use super::id::EntryId;
use super::native::{Native, Stream};

impl Stream {
    /// How many entries a group has not read; `None` if that cannot be told.
    pub fn lag(&self, group: &Group) -> Option<u64> {
        let native = self.native();
        if native.entries_added == 0 {
            return Some(0);
        }
        let read = match group.entries_read {
            Some(read) if !native.has_deleted_from(group.last_id) => read,
            _ => native.number_of(group.last_id)?,
        };
        Some(native.entries_added.wrapping_sub(read))
    }
}

impl Native {
    /// Whether an entry from `id` on may have been deleted, other than at the front.
    pub(super) fn has_deleted_from(&self, id: EntryId) -> bool {
        let deleted = self.max_deleted_id;
        self.len > 0 && deleted != EntryId::MIN && id <= deleted && self.first_id() <= deleted
    }

    /// How many entries up to `id` were ever added, if that can be told.
    pub(super) fn number_of(&self, id: EntryId) -> Option<u64> {
        if self.entries_added == 0 {
            return Some(0);
        }
        if self.len == 0 && id <= self.last_id {
            return Some(self.entries_added);
        }
        if id == self.last_id {
            return Some(self.entries_added);
        }
        let first = self.first_id();
        let is_whole = self.max_deleted_id == EntryId::MIN || self.max_deleted_id < first;
        if id > self.last_id || !is_whole {
            return None;
        }
        match id.cmp(&first) {
            std::cmp::Ordering::Less => Some(self.entries_added.wrapping_sub(self.len)),
            std::cmp::Ordering::Equal => Some(self.entries_added.wrapping_sub(self.len) + 1),
            std::cmp::Ordering::Greater => None,
        }
    }

    /// The count of a group that reads entry `id` next.
    pub(super) fn entries_read_after(&self, read: Option<u64>, id: EntryId) -> Option<u64> {
        match read {
            Some(read) if !self.has_deleted_from(id) => Some(read.wrapping_add(1)),
            read if self.entries_added == 0 => read,
            _ => self.number_of(id),
        }
    }
}
