//! HOT PATH
//! Streams: entries in the order of their identities, and consumer groups.
//!
//! ```text
//! stream ─▶ nodes   B-tree: first identity ─▶ node    (stream/node.rs: some entries, packed)
//!           groups  B-tree: name ─▶ group             (stream/group.rs: consumers, pending)
//!           length, last identity, greatest deleted identity, entries ever added
//! ```
//! A stream that was never touched is an empty packed form, any other is native: there is nothing
//! to gain from a form for small ones, whose entries are packed anyway. Nodes end where Redis'
//! would (stream/listpack.rs), since trimming with `~` removes whole ones. Entries that are deleted
//! leave their node at once, where Redis marks them and keeps their bytes.
//!
//! Every change is one edit (stream/edit.rs) with identities, names and absolute times. A stream
//! stays when it is empty.
//!
//! Costs that grow with what is removed: deleting a consumer or a group walks what is pending in
//! it, trimming walks the nodes that it removes.

mod change;
mod codec;
mod edit;
mod group;
mod groups;
mod id;
mod listpack;
mod node;
mod parts;
mod progress;
mod range;
mod spread;
mod trim;

#[cfg(test)]
mod tests;

pub use change::{ENTRY_BYTES_MAX, Marks, TooLarge};
pub use group::{Consumer, Delivery, Group, Pending};
pub use groups::{Acknowledgement, Attempt, GroupPlace, Reader};
pub use id::{EntryId, ID_CHARS_MAX};
pub use node::Entry;
pub use parts::{Builder, ConsumerPart};
pub use range::{Entries, EntriesBack};
pub use trim::{Exactness, Trim, TrimTo};

use crate::form::{Form, FormMut, FormRef};
use crate::value::conversions;
use crate::{Collection, DecodeError, Edits, FormLimits, Kind};
use node::Node;
use std::collections::BTreeMap;

/// A stream.
#[repr(transparent)]
#[derive(Default)]
pub struct Stream(pub(crate) Form<Native>);

/// What a stream consists of.
#[derive(Default)]
pub struct Native {
    nodes: BTreeMap<EntryId, Node>,
    len: u64,
    last_id: EntryId,
    max_deleted_id: EntryId,
    entries_added: u64,
    groups: BTreeMap<Box<[u8]>, Group>,
    /// Bytes of memory of the nodes' entries.
    node_bytes: usize,
    /// Bytes of memory of the groups.
    group_bytes: usize,
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
    #[inline]
    fn native(&self) -> &Native {
        match self.0.read() {
            FormRef::Native(native) => native,
            FormRef::Packed(_) => &UNTOUCHED,
        }
    }

    #[inline]
    fn native_mut(&mut self) -> &mut Native {
        if let FormRef::Packed(_) = self.0.read() {
            self.0 = Form::native(Box::default());
        }
        match self.0.change() {
            FormMut::Native(native) => native,
            FormMut::Packed(_) => unreachable!("it was just made native"),
        }
    }

    /// The last identity given, not below that of any entry.
    #[inline]
    pub fn last_id(&self) -> EntryId {
        self.native().last_id
    }

    /// Identity of the first entry, `0-0` if there is none.
    pub fn first_id(&self) -> EntryId {
        self.native().first_id()
    }

    /// The greatest identity of a deleted entry.
    pub fn max_deleted_id(&self) -> EntryId {
        self.native().max_deleted_id
    }

    /// How many entries were ever added.
    pub fn entries_added(&self) -> u64 {
        self.native().entries_added
    }

    /// How many nodes its entries are in.
    pub fn node_count(&self) -> usize {
        self.native().nodes.len()
    }

    /// Entries from `first` to `last`, both inclusive, ascending.
    pub fn entries(&self, first: EntryId, last: EntryId) -> Entries<'_> {
        self.native().entries(first, last)
    }

    /// Entries from `last` down to `first`, both inclusive.
    pub fn entries_back(&self, first: EntryId, last: EntryId) -> EntriesBack<'_> {
        self.native().entries_back(first, last)
    }

    /// An entry.
    pub fn entry(&self, id: EntryId) -> Option<Entry<'_>> {
        self.entries(id, id).next()
    }

    /// Identity of the last entry, `0-0` if there is none.
    pub fn last_entry_id(&self) -> EntryId {
        self.native().last_entry_id()
    }

    /// How many consumer groups it has.
    pub fn group_count(&self) -> usize {
        self.native().groups.len()
    }

    /// Its consumer groups with their names, in the order of these.
    pub fn groups(&self) -> impl Iterator<Item = (&[u8], &Group)> {
        self.native().groups.iter().map(|(name, group)| (&**name, group))
    }

    /// A consumer group.
    pub fn group(&self, name: &[u8]) -> Option<&Group> {
        self.native().groups.get(name)
    }
}

impl Native {
    fn first_id(&self) -> EntryId {
        let Some((&key, node)) = self.nodes.first_key_value() else { return EntryId::MIN };
        node.walk(key).next().map_or(EntryId::MIN, |entry| entry.id)
    }

    fn last_entry_id(&self) -> EntryId {
        match self.nodes.last_key_value() {
            // What a node's last entry was is known; the last that is left is found by walking.
            Some((_, node)) if node.deleted() == 0 => node.last(),
            Some((&key, node)) => node.walk(key).last().map_or(EntryId::MIN, |entry| entry.id),
            None => EntryId::MIN,
        }
    }

    fn heap_bytes(&self) -> usize {
        // Of the B-tree: keys are added at its end, which leaves nodes a little over half full.
        const NODE_BYTES: usize = (size_of::<EntryId>() + size_of::<Node>()) * 11 / 6;
        size_of::<Native>() + self.node_bytes + self.nodes.len() * NODE_BYTES + self.group_bytes
    }
}

impl Collection for Stream {
    const KIND: Kind = Kind::Stream;
    const STAYS_WHEN_EMPTY: bool = true;

    fn new() -> Stream {
        Stream::default()
    }

    #[inline]
    fn len(&self) -> usize {
        self.native().len as usize
    }

    #[inline]
    fn heap_bytes(&self) -> usize {
        match self.0.read() {
            FormRef::Native(native) => native.heap_bytes(),
            FormRef::Packed(packed) => packed.heap_bytes(),
        }
    }

    fn encoding(&self) -> &'static str {
        "stream"
    }

    fn encode(&self, out: &mut Vec<u8>) {
        self.native().encode(out);
    }

    fn write_as_edits(&self, edits: &mut Edits<'_>) {
        spread::write_as_edits(self, edits);
    }

    fn visit_parts(&self, visit: &mut dyn FnMut(&[u8])) {
        self.native().visit_parts(visit);
    }

    fn decode(bytes: &[u8], _: &FormLimits) -> Result<Stream, DecodeError> {
        let native = Native::decode(bytes)?;
        Ok(Stream(Form::native(Box::new(native))))
    }

    fn apply(&mut self, edits: &[u8], _: &FormLimits) -> Result<(), DecodeError> {
        edit::apply(self.native_mut(), edits)
    }

    conversions!(Stream);
}
