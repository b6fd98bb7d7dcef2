//! Trimming from the front: by length or by identity, exactly or by whole nodes.

use super::edit;
use super::id::EntryId;
use super::native::{Native, Stream};
use super::node::Node;
use crate::edits::Edits;

/// How much is taken away.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Trim {
    /// What stays.
    pub to: TrimTo,
    /// How exactly.
    pub exactness: Exactness,
}

/// What stays after trimming.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TrimTo {
    /// This many entries at the end.
    Length(u64),
    /// Entries from this identity on.
    From(EntryId),
}

/// How exactly a stream is trimmed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Exactness {
    /// To the entry.
    Exact,
    /// Only whole nodes go, and no more than this number of entries if it is not 0.
    Nodes {
        /// Most entries that go.
        entries_max: u64,
    },
}

impl Stream {
    /// Takes entries away at the front; returns how many. Trimmed entries count as added, not as
    /// deleted.
    pub fn trim(&mut self, trim: Trim, edits: &mut Edits<'_>) -> u64 {
        let native = self.native_mut();
        let Some(through) = native.last_to_trim(trim) else { return 0 };
        edits.write(|out| {
            out.push(edit::TRIM);
            through.put(out);
        });
        native.touch_nodes(EntryId::MIN..=through, edits);
        native.trim_through(through)
    }
}

impl Native {
    /// The last entry that has to go; `None` if all stay.
    fn last_to_trim(&self, trim: Trim) -> Option<EntryId> {
        let mut last = None;
        let mut left = self.len;
        for (&key, node) in &self.nodes {
            let entries = u64::from(node.live());
            if matches!(trim.to, TrimTo::Length(length) if left <= length) {
                break;
            }
            if trim.exactness.forbids(self.len - left + entries) {
                break;
            }
            let is_whole = match trim.to {
                TrimTo::Length(length) => left - entries >= length,
                TrimTo::From(first) => node.last() < first,
            };
            if is_whole {
                left -= entries;
                last = Some((key, node));
                continue;
            }
            if trim.exactness == Exactness::Exact
                && let Some(id) = last_within(key, node, trim.to, left)
            {
                return Some(id);
            }
            break;
        }
        // Of whole nodes the last entry that is there counts; what was deleted behind it may by now
        // be less than the next node's.
        last.and_then(|(key, node)| node.walk(key).last()).map(|entry| entry.id)
    }

    /// Removes all entries up to one; returns how many.
    pub(super) fn trim_through(&mut self, id: EntryId) -> u64 {
        let mut removed = 0;
        while let Some(mut node) = self.nodes.first_entry() {
            let key = *node.key();
            if key > id {
                break;
            }
            if node.get().last() > id {
                let node = node.get_mut();
                let before = node.heap_bytes();
                let count = u64::from(node.delete_through(key, id));
                self.node_bytes = self.node_bytes - before + node.heap_bytes();
                self.len -= count;
                removed += count;
                if node.live() > 0 {
                    break;
                }
            }
            removed += self.remove_node(key);
        }
        removed
    }
}

impl Exactness {
    fn forbids(self, entries: u64) -> bool {
        matches!(self, Exactness::Nodes { entries_max: max @ 1.. } if entries > max)
    }
}

/// The last entry of a node that has to go, if the first has to. `left` entries are in the stream
/// up to here.
fn last_within(key: EntryId, node: &Node, to: TrimTo, left: u64) -> Option<EntryId> {
    let entries = node.walk(key);
    match to {
        TrimTo::Length(length) => entries.take((left - length) as usize).last(),
        TrimTo::From(first) => entries.take_while(|entry| entry.id < first).last(),
    }
    .map(|entry| entry.id)
}
