//! HOT PATH
//! Entries within a range, in either direction.

use super::id::EntryId;
use super::native::Native;
use super::node::{Entry, Node, Walk};
use std::collections::btree_map::Range;

/// Entries within a range, ascending.
pub struct Entries<'a> {
    walk: Option<Walk<'a>>,
    nodes: Range<'a, EntryId, Node>,
    last: EntryId,
}

/// Entries within a range, descending.
pub struct EntriesBack<'a> {
    /// What is left of the node that was read last. A node is read forwards.
    node: Vec<Entry<'a>>,
    nodes: Range<'a, EntryId, Node>,
    first: EntryId,
    last: EntryId,
}

impl Native {
    /// The node that `id` is in, if it is in any.
    pub(super) fn node_key(&self, id: EntryId) -> EntryId {
        self.nodes.range(..=id).next_back().map_or(EntryId::MIN, |(&first, _)| first)
    }

    /// Entries from `first` to `last`, both inclusive.
    pub(super) fn entries(&self, first: EntryId, last: EntryId) -> Entries<'_> {
        let start = if first <= last { self.node_key(first) } else { EntryId::MAX };
        let mut nodes = self.nodes.range(start..);
        let mut walk = nodes.next().map(|(&key, node)| node.walk(key));
        if let Some(walk) = &mut walk {
            walk.skip_before(first);
        }
        // With the bounds reversed there is nothing, not even what stands behind the last node.
        let last = if first <= last { last } else { EntryId::MIN };
        Entries { walk, nodes, last }
    }

    /// Entries from `last` down to `first`, both inclusive.
    pub(super) fn entries_back(&self, first: EntryId, last: EntryId) -> EntriesBack<'_> {
        if first > last {
            let nodes = self.nodes.range(EntryId::MIN..=EntryId::MIN);
            return EntriesBack { node: Vec::new(), nodes, first, last: EntryId::MIN };
        }
        let nodes = self.nodes.range(self.node_key(first)..=last);
        EntriesBack { node: Vec::new(), nodes, first, last }
    }
}

impl<'a> Iterator for Entries<'a> {
    type Item = Entry<'a>;

    #[inline]
    fn next(&mut self) -> Option<Entry<'a>> {
        loop {
            match self.walk.as_mut()?.next() {
                Some(entry) if entry.id <= self.last => return Some(entry),
                Some(_) => {
                    self.walk = None;
                    return None;
                }
                None => self.walk = self.nodes.next().map(|(&key, node)| node.walk(key)),
            }
        }
    }
}

impl<'a> Iterator for EntriesBack<'a> {
    type Item = Entry<'a>;

    fn next(&mut self) -> Option<Entry<'a>> {
        loop {
            if let Some(entry) = self.node.pop() {
                return Some(entry);
            }
            let (&key, node) = self.nodes.next_back()?;
            let mut walk = node.walk(key);
            walk.skip_before(self.first);
            self.node.extend(walk.take_while(|entry| entry.id <= self.last));
        }
    }
}
