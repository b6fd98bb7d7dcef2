//! HOT PATH
//! A node: some entries in a row, the names of the first one's fields written once for all
//! that share them.
//!
//! ```text
//! node   = fields | entry …
//! fields = count:varint bytes:varint name-item …
//! entry  = len:varint (bytes that follow) | head | [fields, if they are its own] value-item …
//! head   = flags:u8 [ms:varint] [sequence:varint]
//!          flags  0x01 own fields   0x02 a sequence follows, else it is 0
//!                 0x7C low five bits of ms   0x80 the others follow
//! ```
//! `ms` counts from the node's first identity, and so does `sequence` if `ms` is 0. An entry of a
//! node whose fields are shared costs three to five bytes beside its values, against eight to
//! twelve in a listpack (flags, two differences, a count, each with its length behind it), and its
//! length in front makes skipping it one step. The first identity is the key in the stream's map;
//! it stays when its entry goes.

use super::id::EntryId;
use super::listpack::{self, Sizes};
use crate::item::{Item, Items};
use crate::packed::Packed;
use basalt_stdx::varint;
use std::ops::Range;

/// Most bytes that the names and values of an entry may have together, and that a node has: Redis'
/// limit.
pub const ENTRY_BYTES_MAX: usize = 1 << 30;

const OWN_FIELDS: u8 = 0x01;
const SEQUENCE: u8 = 0x02;
const MS_SHIFT: u32 = 2;
const MS_LOW_BITS: u32 = 5;
const MS_MORE: u8 = 0x80;

/// Where an entry is put.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum EntryPlace {
    /// Into the last node.
    LastNode,
    /// Into a node of its own, to be followed by others.
    NewNode,
}

/// Some entries.
pub(crate) struct Node {
    bytes: Packed,
    /// Identity of the last entry that was ever put here, even if it has been deleted.
    last: EntryId,
    live: u32,
    deleted: u32,
    /// What Redis' node would take without its two counters.
    listpack_rest: u32,
}

/// What an entry consists of, as items.
#[derive(Clone, Copy)]
pub(super) struct Row<'a> {
    /// Names of the fields.
    pub(super) fields: &'a [u8],
    /// Values of the fields.
    pub(super) values: &'a [u8],
    pub(super) field_sizes: Sizes,
    pub(super) value_sizes: Sizes,
}

impl<'a> Row<'a> {
    /// Checks that there is a whole value to every whole field, and at least one.
    pub(super) fn new(fields: &'a [u8], values: &'a [u8]) -> Option<Row<'a>> {
        let (field_sizes, value_sizes) = (Sizes::of(fields)?, Sizes::of(values)?);
        let fits = field_sizes.count == value_sizes.count && field_sizes.count > 0;
        fits.then_some(Row { fields, values, field_sizes, value_sizes })
    }
}

/// An entry in its node.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a> {
    /// Its identity.
    pub id: EntryId,
    /// How many fields it has.
    pub field_count: usize,
    fields: &'a [u8],
    values: &'a [u8],
}

impl<'a> Entry<'a> {
    /// Its fields with their values, in the order in which they were given.
    #[inline]
    pub fn pairs(&self) -> impl Iterator<Item = (Item<'a>, Item<'a>)> + use<'a> {
        Items(self.fields).zip(Items(self.values))
    }
}

impl Node {
    /// A node without an entry yet, for a first entry like this.
    pub(super) fn new(first: EntryId, row: &Row<'_>) -> Node {
        let mut header = Head::new();
        header.varint(row.field_sizes.count as u64);
        header.varint(row.fields.len() as u64);
        let mut bytes = Packed::new();
        bytes.extend(header.bytes());
        bytes.extend(row.fields);
        let rest = listpack::FRAME_BYTES
            + listpack::of_integer(row.field_sizes.count as i64)
            + row.field_sizes.listpack_bytes
            + listpack::of_integer(0);
        Node { bytes, last: first, live: 0, deleted: 0, listpack_rest: rest as u32 }
    }

    /// Entries in it.
    pub(super) fn live(&self) -> u32 {
        self.live
    }

    /// Entries that were deleted from it.
    pub(super) fn deleted(&self) -> u32 {
        self.deleted
    }

    /// Identity of the last entry that was ever put here.
    pub(super) fn last(&self) -> EntryId {
        self.last
    }

    /// All of it.
    pub(super) fn bytes(&self) -> &[u8] {
        self.bytes.bytes()
    }

    /// Bytes of memory outside of itself.
    pub(super) fn heap_bytes(&self) -> usize {
        self.bytes.heap_bytes()
    }

    /// Bytes of the listpack that Redis would have.
    pub(super) fn listpack_bytes(&self) -> usize {
        self.listpack_rest as usize
            + listpack::of_integer(self.live.into())
            + listpack::of_integer(self.deleted.into())
    }

    /// Puts an entry behind the last. `first` is the node's first identity.
    pub(super) fn append(&mut self, first: EntryId, id: EntryId, row: &Row<'_>) {
        let is_own = {
            let (_, shared, _) = header(self.bytes.bytes());
            shared != row.fields
        };
        let mut head = Head::new();
        head.identity(first, id, is_own);
        if is_own {
            head.varint(row.field_sizes.count as u64);
            head.varint(row.fields.len() as u64);
        }
        let fields: &[u8] = if is_own { row.fields } else { &[] };
        let mut len = Head::new();
        len.varint((head.bytes().len() + fields.len() + row.values.len()) as u64);
        self.bytes.extend(len.bytes());
        self.bytes.extend(head.bytes());
        self.bytes.extend(fields);
        self.bytes.extend(row.values);
        self.note(first, id, row, is_own);
    }

    /// Counts an entry that stands at the end.
    fn note(&mut self, first: EntryId, id: EntryId, row: &Row<'_>, is_own: bool) {
        let count = row.field_sizes.count as i64;
        let own =
            if is_own { listpack::of_integer(count) + row.field_sizes.listpack_bytes } else { 0 };
        let elements = if is_own { 2 * count + 4 } else { count + 3 };
        let bytes = listpack::of_integer(if is_own { 0 } else { 2 })
            + listpack::of_integer(id.ms.wrapping_sub(first.ms).cast_signed())
            + listpack::of_integer(id.sequence.wrapping_sub(first.sequence).cast_signed())
            + own
            + row.value_sizes.listpack_bytes
            + listpack::of_integer(elements);
        self.listpack_rest = self.listpack_rest.saturating_add(bytes as u32);
        self.live += 1;
        self.last = id;
    }

    /// Its entries from the first on.
    #[inline]
    pub(super) fn walk(&self, first: EntryId) -> Walk<'_> {
        let bytes = self.bytes.bytes();
        let (shared_count, shared, rest) = header(bytes);
        Walk { first, shared_count, shared, rest, len: bytes.len() }
    }

    /// Takes an entry out, if it is here.
    pub(super) fn delete(&mut self, first: EntryId, id: EntryId) -> bool {
        let mut walk = self.walk(first);
        loop {
            let start = walk.offset();
            match walk.next() {
                Some(entry) if entry.id < id => {}
                Some(entry) if entry.id == id => {
                    let range = start..walk.offset();
                    self.remove(range, 1);
                    return true;
                }
                _ => return false,
            }
        }
    }

    /// Takes out the entries up to `id`; returns how many.
    pub(super) fn delete_through(&mut self, first: EntryId, id: EntryId) -> u32 {
        let mut walk = self.walk(first);
        let start = walk.offset();
        let (mut end, mut count) = (start, 0);
        while walk.next().is_some_and(|entry| entry.id <= id) {
            end = walk.offset();
            count += 1;
        }
        self.remove(start..end, count);
        count
    }

    fn remove(&mut self, range: Range<usize>, count: u32) {
        self.bytes.splice(range, &[]);
        self.live -= count;
        self.deleted = self.deleted.saturating_add(count);
    }

    /// Reads a node's bytes, checking every one; `None` if they are no node.
    pub(super) fn decode(
        first: EntryId,
        last: EntryId,
        deleted: u32,
        bytes: &[u8],
    ) -> Option<Node> {
        u32::try_from(bytes.len()).ok()?;
        let mut rest = bytes;
        let (shared_count, shared) = take_fields(&mut rest)?;
        let shared_row = Row::new(shared, shared)?;
        if shared_row.field_sizes.count != shared_count {
            return None;
        }
        let mut node = Node { deleted, ..Node::new(first, &shared_row) };
        let mut walk = Walk { first, shared_count, shared, rest, len: bytes.len() };
        let mut before: Option<EntryId> = None;
        while !walk.rest.is_empty() {
            let (flags, id, body) = walk.read()?;
            let entry = walk.entry(flags, id, body)?;
            let row = Row::new(entry.fields, entry.values)?;
            let is_ascending = before.is_none_or(|before| before < id);
            if !is_ascending || row.field_sizes.count != entry.field_count {
                return None;
            }
            before = Some(id);
            node.note(first, id, &row, flags & OWN_FIELDS != 0);
        }
        if before? > last {
            return None;
        }
        Some(Node { bytes: Packed::from_bytes(bytes), last, ..node })
    }
}

/// Entries of a node, ascending.
#[derive(Clone)]
pub(super) struct Walk<'a> {
    first: EntryId,
    shared_count: usize,
    shared: &'a [u8],
    rest: &'a [u8],
    /// Of the whole node.
    len: usize,
}

impl<'a> Walk<'a> {
    /// Where the next entry begins in the node.
    fn offset(&self) -> usize {
        self.len - self.rest.len()
    }

    /// The entries from `id` on.
    pub(super) fn skip_before(&mut self, id: EntryId) {
        let mut ahead = self.clone();
        while ahead.next_id().is_some_and(|next| next < id) {
            self.rest = ahead.rest;
        }
    }

    /// Steps over an entry; returns its identity.
    #[inline]
    fn next_id(&mut self) -> Option<EntryId> {
        let (_, id, _) = self.read()?;
        Some(id)
    }

    #[inline]
    fn read(&mut self) -> Option<(u8, EntryId, &'a [u8])> {
        let mut rest = self.rest;
        let len = usize::try_from(varint::take(&mut rest)?).ok()?;
        let (mut body, rest) = rest.split_at_checked(len)?;
        let (flags, id) = take_identity(self.first, &mut body)?;
        self.rest = rest;
        Some((flags, id, body))
    }

    #[inline]
    fn entry(&self, flags: u8, id: EntryId, mut body: &'a [u8]) -> Option<Entry<'a>> {
        let (field_count, fields) = if flags & OWN_FIELDS == 0 {
            (self.shared_count, self.shared)
        } else {
            take_fields(&mut body)?
        };
        Some(Entry { id, field_count, fields, values: body })
    }
}

impl<'a> Iterator for Walk<'a> {
    type Item = Entry<'a>;

    #[inline]
    fn next(&mut self) -> Option<Entry<'a>> {
        let (flags, id, body) = self.read()?;
        self.entry(flags, id, body)
    }
}
fn take_identity(first: EntryId, body: &mut &[u8]) -> Option<(u8, EntryId)> {
    let (&flags, rest) = body.split_first()?;
    *body = rest;
    let mut ms = u64::from((flags & !MS_MORE) >> MS_SHIFT);
    if flags & MS_MORE != 0 {
        let more = varint::take(body)?;
        if more.leading_zeros() < MS_LOW_BITS {
            return None;
        }
        ms |= more << MS_LOW_BITS;
    }
    let sequence = if flags & SEQUENCE == 0 { 0 } else { varint::take(body)? };
    let base = if ms == 0 { first.sequence } else { 0 };
    let id = EntryId { ms: first.ms.checked_add(ms)?, sequence: base.checked_add(sequence)? };
    Some((flags, id))
}

/// Count of fields, names of fields.
fn take_fields<'a>(bytes: &mut &'a [u8]) -> Option<(usize, &'a [u8])> {
    let count = usize::try_from(varint::take(bytes)?).ok()?;
    let len = usize::try_from(varint::take(bytes)?).ok()?;
    let (fields, rest) = bytes.split_at_checked(len)?;
    *bytes = rest;
    Some((count, fields))
}

/// Count and names of the shared fields, and the entries.
#[inline]
fn header(bytes: &[u8]) -> (usize, &[u8], &[u8]) {
    let mut rest = bytes;
    let (count, fields) = take_fields(&mut rest).expect("a node begins with its fields");
    (count, fields, rest)
}

/// Room for what stands before an entry's items.
struct Head {
    bytes: [u8; Head::BYTES_MAX],
    len: usize,
}

impl Head {
    /// Flags and four numbers.
    const BYTES_MAX: usize = 1 + 4 * varint::BYTES_MAX;

    fn new() -> Head {
        Head { bytes: [0; Head::BYTES_MAX], len: 0 }
    }

    fn bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    fn varint(&mut self, value: u64) {
        self.len += varint::write(&mut self.bytes[self.len..], value);
    }

    fn identity(&mut self, first: EntryId, id: EntryId, is_own: bool) {
        let ms = id.ms - first.ms;
        let base = if ms == 0 { first.sequence } else { 0 };
        let sequence = id.sequence - base;
        let more = ms >> MS_LOW_BITS;
        let low = (ms as u8) << MS_SHIFT & !MS_MORE;
        self.bytes[0] = low
            | if is_own { OWN_FIELDS } else { 0 }
            | if sequence != 0 { SEQUENCE } else { 0 }
            | if more != 0 { MS_MORE } else { 0 };
        self.len = 1;
        if more != 0 {
            self.varint(more);
        }
        if sequence != 0 {
            self.varint(sequence);
        }
    }
}
