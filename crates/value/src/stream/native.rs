//! HOT PATH
//! What a stream consists of.

use super::group::Group;
use super::id::EntryId;
use super::node::Node;
use crate::form::Form;
use std::collections::BTreeMap;

/// A stream.
#[repr(transparent)]
#[derive(Default)]
pub struct Stream(pub(crate) Form<Native>);

/// What a stream consists of.
#[derive(Default)]
pub struct Native {
    pub(super) nodes: BTreeMap<EntryId, Node>,
    pub(super) len: u64,
    pub(super) last_id: EntryId,
    pub(super) max_deleted_id: EntryId,
    pub(super) entries_added: u64,
    pub(super) groups: BTreeMap<Box<[u8]>, Group>,
    /// Bytes of memory of the nodes' entries.
    pub(super) node_bytes: usize,
    /// Bytes of memory of the groups.
    pub(super) group_bytes: usize,
}

/// A stream without anything.
static UNTOUCHED: Native = Native {
    nodes: BTreeMap::new(),
    len: 0,
    last_id: EntryId::MIN,
    max_deleted_id: EntryId::MIN,
    entries_added: 0,
    groups: BTreeMap::new(),
    node_bytes: 0,
    group_bytes: 0,
};

impl Stream {
    /// What it consists of.
    #[inline]
    pub(super) fn native(&self) -> &Native {
        self.0.native_or(&UNTOUCHED)
    }

    /// What it consists of, to be changed.
    #[inline]
    pub(super) fn native_mut(&mut self) -> &mut Native {
        self.0.make_native()
    }
}

impl Native {
    pub(super) fn first_id(&self) -> EntryId {
        let Some((&key, node)) = self.nodes.first_key_value() else { return EntryId::MIN };
        node.walk(key).next().map_or(EntryId::MIN, |entry| entry.id)
    }

    pub(super) fn last_entry_id(&self) -> EntryId {
        match self.nodes.last_key_value() {
            // What a node's last entry was is known; the last that is left is found by walking.
            Some((_, node)) if node.deleted() == 0 => node.last(),
            Some((&key, node)) => node.walk(key).last().map_or(EntryId::MIN, |entry| entry.id),
            None => EntryId::MIN,
        }
    }

    pub(super) fn heap_bytes(&self) -> usize {
        // Of the B-tree: keys are added at its end, which leaves nodes a little over half full.
        const NODE_BYTES: usize = (size_of::<EntryId>() + size_of::<Node>()) * 11 / 6;
        size_of::<Native>() + self.node_bytes + self.nodes.len() * NODE_BYTES + self.group_bytes
    }
}
