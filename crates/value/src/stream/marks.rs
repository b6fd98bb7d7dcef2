//! What a stream knows about its history.

use super::id::EntryId;
use super::native::Native;
use basalt_stdx::varint;

/// The numbers that outlast the entries which they tell of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Marks {
    /// The last identity given.
    pub last_id: EntryId,
    /// The greatest identity of a deleted entry.
    pub max_deleted_id: EntryId,
    /// How many entries were ever added.
    pub entries_added: u64,
}

impl Marks {
    pub(super) fn put(&self, out: &mut Vec<u8>) {
        self.last_id.put(out);
        self.max_deleted_id.put(out);
        varint::put(out, self.entries_added);
    }

    pub(super) fn take(bytes: &mut &[u8]) -> Option<Marks> {
        Some(Marks {
            last_id: EntryId::take(bytes)?,
            max_deleted_id: EntryId::take(bytes)?,
            entries_added: varint::take(bytes)?,
        })
    }
}

impl Native {
    pub(super) fn marks(&self) -> Marks {
        let Native { last_id, max_deleted_id, entries_added, .. } = *self;
        Marks { last_id, max_deleted_id, entries_added }
    }

    pub(super) fn set_marks(&mut self, marks: Marks) {
        self.last_id = marks.last_id;
        self.max_deleted_id = marks.max_deleted_id;
        self.entries_added = marks.entries_added;
    }
}
