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

mod bytes;
mod change;
mod codec;
mod edit;
mod group;
mod groups;
mod id;
mod listpack;
mod marks;
mod native;
mod node;
mod parts;
mod progress;
mod range;
mod reader;
mod spread;
mod trim;

#[cfg(test)]
mod tests;

pub use change::TooLarge;
pub use group::{Consumer, Delivery, Group, GroupPlace, Pending};
pub use id::{EntryId, ID_CHARS_MAX};
pub use marks::Marks;
pub use native::{Native, Stream};
pub use node::{ENTRY_BYTES_MAX, Entry};
pub use parts::{Builder, ConsumerPart};
pub use range::{Entries, EntriesBack};
pub use reader::{Acknowledgement, Attempt, Reader};
pub use trim::{Exactness, Trim, TrimTo};

use crate::collection::Collection;
use crate::edits::Edits;
use crate::error::DecodeError;
use crate::form::{Form, FormRef};
use crate::kind::Kind;
use crate::limits::FormLimits;

impl Stream {
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
}
