//! HOT PATH
//! Adding and deleting entries, and the stream's own numbers.

use super::edit;
use super::id::EntryId;
use super::listpack::Sizes;
use super::marks::Marks;
use super::native::{Native, Stream};
use super::node::{ENTRY_BYTES_MAX, EntryPlace, Node, Row};
use super::spread;
use crate::edits::Edits;
use crate::item::Item;
use crate::limits::FormLimits;
use basalt_stdx::varint;

/// An entry's names and values have more than [`ENTRY_BYTES_MAX`] together.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the entry is too large, split it")]
pub struct TooLarge;

impl Stream {
    /// Adds an entry behind the last identity given. `words` are names and values in turn.
    ///
    /// # Errors
    /// It is too large; nothing has changed.
    ///
    /// # Panics
    /// If the identity is not greater than the last one, or there is no pair.
    #[inline]
    pub fn add<'a>(
        &mut self,
        id: EntryId,
        words: impl Iterator<Item = &'a [u8]> + Clone,
        limits: &FormLimits,
        edits: &mut Edits<'_>,
    ) -> Result<(), TooLarge> {
        if words.clone().map(<[u8]>::len).sum::<usize>() > ENTRY_BYTES_MAX {
            return Err(TooLarge);
        }
        let native = self.native_mut();
        assert!(id > native.last_id, "identities ascend");
        native.touch_last_node(edits);
        let place = edits.write_through(|out| {
            let start = out.len();
            out.push(edit::ADD);
            id.put(out);
            let (names, values) = (words.clone().step_by(2), words.clone().skip(1).step_by(2));
            varint::put(out, names.clone().count() as u64);
            let fields_at = out.len();
            names.for_each(|name| Item::of(name).put(out));
            let values_at = out.len();
            values.for_each(|value| Item::of(value).put(out));
            let row = Row::new(&out[fields_at..values_at], &out[values_at..])
                .expect("names and values come in pairs");
            let place = native.place_for(&row, limits);
            native.append(id, &row, place);
            if place == EntryPlace::NewNode {
                out[start] = edit::ADD_TO_NEW_NODE;
            }
            place
        });
        if place == EntryPlace::NewNode {
            spread::touch_new_node(id, edits);
        }
        Ok(())
    }

    /// Deletes an entry; returns true if it was there.
    pub fn delete(&mut self, id: EntryId, edits: &mut Edits<'_>) -> bool {
        let native = self.native_mut();
        native.touch_nodes(id..=id, edits);
        let deleted = native.delete(id);
        if deleted {
            edits.write(|out| {
                out.push(edit::DELETE);
                id.put(out);
            });
        }
        deleted
    }

    /// Sets what it knows about its history.
    ///
    /// # Panics
    /// If the last identity were below that of an entry.
    pub fn set_marks(&mut self, marks: Marks, edits: &mut Edits<'_>) {
        assert!(self.last_entry_id() <= marks.last_id, "the last identity is the greatest");
        self.native_mut().set_marks(marks);
        edits.write(|out| {
            out.push(edit::SET_MARKS);
            marks.put(out);
        });
    }

    /// What it knows about its history.
    pub fn marks(&self) -> Marks {
        self.native().marks()
    }
}

impl Native {
    /// Whether an entry goes into the last node: as Redis decides.
    pub(super) fn place_for(&self, row: &Row<'_>, limits: &FormLimits) -> EntryPlace {
        let Some((_, node)) = self.nodes.last_key_value() else { return EntryPlace::NewNode };
        let bytes_max = match limits.stream_node_bytes_max as usize {
            0 => ENTRY_BYTES_MAX,
            bytes => bytes.min(ENTRY_BYTES_MAX),
        };
        let entries_max = limits.stream_node_entries_max;
        let Sizes { string_bytes: names, .. } = row.field_sizes;
        let bytes = node.listpack_bytes() + names + row.value_sizes.string_bytes;
        let is_full = entries_max != 0 && node.live().saturating_add(node.deleted()) >= entries_max;
        if bytes >= bytes_max || is_full { EntryPlace::NewNode } else { EntryPlace::LastNode }
    }

    /// Adds an entry behind all others.
    #[inline]
    pub(super) fn append(&mut self, id: EntryId, row: &Row<'_>, place: EntryPlace) {
        if place == EntryPlace::NewNode {
            let mut node = Node::new(id, row);
            node.append(id, id, row);
            self.node_bytes += node.heap_bytes();
            self.nodes.insert(id, node);
        } else {
            let mut last = self.nodes.last_entry().expect("the last node was found full or not");
            let first = *last.key();
            let node = last.get_mut();
            self.node_bytes -= node.heap_bytes();
            node.append(first, id, row);
            self.node_bytes += node.heap_bytes();
        }
        self.len += 1;
        self.entries_added = self.entries_added.wrapping_add(1);
        self.last_id = id;
    }

    /// Deletes an entry, which leaves a gap among all that were added.
    pub(super) fn delete(&mut self, id: EntryId) -> bool {
        let key = self.node_key(id);
        let Some(node) = self.nodes.get_mut(&key) else { return false };
        let before = node.heap_bytes();
        if !node.delete(key, id) {
            return false;
        }
        self.node_bytes = self.node_bytes - before + node.heap_bytes();
        self.len -= 1;
        self.max_deleted_id = self.max_deleted_id.max(id);
        if node.live() == 0 {
            self.remove_node(key);
        }
        true
    }

    /// Removes a node with all that is left in it; returns how much that was.
    pub(super) fn remove_node(&mut self, key: EntryId) -> u64 {
        let Some(node) = self.nodes.remove(&key) else { return 0 };
        self.node_bytes -= node.heap_bytes();
        self.len -= u64::from(node.live());
        node.live().into()
    }
}
