//! Rows of elements, and of pieces of strings, on their way to the cold tier.

use basalt_change::element::{ElementsOf, RowSet};
use basalt_cold::{CheckpointWriter, ColdError};
use basalt_value::spread::Row;
use std::sync::Arc;

/// The number of rows, some 200 µs, after which the thread yields its core. Else a network thread
/// that wants it waits for the end of a slice of the scheduler, 4 ms: with server and checkpoints
/// on one core, 2.4 s in all of the load of 8 million keys, and so 0.07 s of that of 5 million.
pub(super) const ROWS_AT_A_STRETCH: usize = 128;

/// Bytes of rows that stand together; a row that is longer stands alone.
const BUFFER_BYTES: usize = 1 << 20;
/// Those that stand in the first buffer: most checkpoints have few.
const FIRST_BUFFER_BYTES: usize = 64 << 10;
/// What stands before a row: the numbers of its set, of the bytes of its name and of those of its
/// content, each as `u32`.
const HEAD_BYTES: usize = 12;
/// Bytes of content of a row that is to be deleted.
const DELETED: u32 = u32::MAX;

/// Rows of elements, and strings of which each piece is a row.
///
/// They may be those of millions of elements, gathered under a lock. So what all elements of a
/// collection share is there once, and nothing is copied while rows are added.
#[derive(Default)]
pub(super) struct ElementRows {
    buffers: Vec<Vec<u8>>,
    index: Vec<RowAt>,
    sets: Vec<Set>,
    /// In the buffers.
    bytes: usize,
}

/// What rows have in common.
struct Set {
    of: ElementsOf,
    which: RowSet,
    /// Where the pieces are whose numbers are the names.
    string: Option<LongString>,
}

#[derive(Clone, Copy)]
struct RowAt {
    buffer: u32,
    start: u32,
}

/// A row, read.
struct ElementRow<'a> {
    set: usize,
    name: &'a [u8],
    content: Option<&'a [u8]>,
}

/// A string as it was when its partition was copied: nobody edits what has other owners.
struct LongString {
    bytes: Arc<Vec<u8>>,
    piece_bytes: usize,
}

impl LongString {
    fn pieces(&self) -> u32 {
        self.bytes.len().div_ceil(self.piece_bytes) as u32
    }

    fn piece(&self, number: u32) -> &[u8] {
        let start = number as usize * self.piece_bytes;
        &self.bytes[start..self.bytes.len().min(start + self.piece_bytes)]
    }
}

impl RowAt {
    fn read(self, buffers: &[Vec<u8>]) -> ElementRow<'_> {
        let bytes = &buffers[self.buffer as usize][self.start as usize..];
        let (head, bytes) = bytes.split_at(HEAD_BYTES);
        let number = |at: usize| head[at..at + 4].try_into().map_or(0, u32::from_ne_bytes);
        let (name, bytes) = bytes.split_at(number(4) as usize);
        let content = match number(8) {
            DELETED => None,
            len => Some(&bytes[..len as usize]),
        };
        ElementRow { set: number(0) as usize, name, content }
    }
}

impl ElementRows {
    pub(super) fn clear(&mut self) {
        /// A large collection's rows leave no more memory behind than this.
        const KEPT_BYTES_MAX: usize = 4 << 20;
        self.buffers.retain(|buffer| buffer.capacity() <= BUFFER_BYTES);
        self.buffers.truncate(1);
        self.buffers.iter_mut().for_each(Vec::clear);
        self.index.clear();
        self.index.shrink_to(KEPT_BYTES_MAX / size_of::<RowAt>());
        self.sets.clear();
        self.bytes = 0;
    }

    /// Makes room for what is gathered under one lock, before it is taken: to grow by megabytes
    /// takes milliseconds.
    pub(super) fn make_room(&mut self, elements: usize) {
        /// What a row takes, about; two a member of a sorted set.
        const ROW_BYTES: usize = 128;
        self.index.reserve(2 * elements);
        self.buffer_with_room((2 * elements * ROW_BYTES).min(BUFFER_BYTES));
    }

    /// Bytes of memory in use.
    pub(super) fn bytes(&self) -> usize {
        self.bytes + self.index.len() * size_of::<RowAt>()
    }

    /// Takes the rows of others in, which are no pieces.
    pub(super) fn append(&mut self, others: &ElementRows) {
        for row in &others.index {
            let ElementRow { set, name, content } = row.read(&others.buffers);
            let Set { of, which, string } = &others.sets[set];
            debug_assert!(string.is_none(), "strings are not gathered in slices");
            self.push_row(*of, *which, name, content);
        }
    }

    pub(super) fn len(&self) -> usize {
        self.index.len()
    }

    pub(super) fn push(&mut self, of: ElementsOf, row: Row, name: &[u8], content: Option<&[u8]>) {
        let which = match row {
            Row::Name => RowSet::ByName,
            Row::Order => RowSet::ByOrder,
        };
        self.push_row(of, which, name, content);
    }

    /// Adds a row for each piece of a string; returns how many these are.
    pub(super) fn push_string(
        &mut self,
        of: ElementsOf,
        bytes: Arc<Vec<u8>>,
        piece_bytes: usize,
    ) -> u64 {
        let string = LongString { bytes, piece_bytes };
        let pieces = string.pieces();
        self.sets.push(Set { of, which: RowSet::ByName, string: Some(string) });
        for number in 0..pieces {
            self.push_in_set(self.sets.len() - 1, &number.to_be_bytes(), Some(b""));
        }
        u64::from(pieces)
    }

    fn push_row(&mut self, of: ElementsOf, which: RowSet, name: &[u8], content: Option<&[u8]>) {
        // The rows of a sorted set's member come one after the other.
        let recent = self.sets.len().saturating_sub(2);
        let is_theirs = |set: &Set| set.of == of && set.which == which && set.string.is_none();
        let set = match self.sets[recent..].iter().position(is_theirs) {
            Some(found) => recent + found,
            None => {
                self.sets.push(Set { of, which, string: None });
                self.sets.len() - 1
            }
        };
        self.push_in_set(set, name, content);
    }

    fn push_in_set(&mut self, set: usize, name: &[u8], content: Option<&[u8]>) {
        let content_len = content.map_or(DELETED, |content| content.len() as u32);
        let content = content.unwrap_or_default();
        let len = HEAD_BYTES + name.len() + content.len();
        let buffer = self.buffer_with_room(len);
        let bytes = &mut self.buffers[buffer];
        self.index.push(RowAt { buffer: buffer as u32, start: bytes.len() as u32 });
        for number in [set as u32, name.len() as u32, content_len] {
            bytes.extend_from_slice(&number.to_ne_bytes());
        }
        bytes.extend_from_slice(name);
        bytes.extend_from_slice(content);
        self.bytes += len;
    }

    /// The last buffer, or a new one if that has no room.
    fn buffer_with_room(&mut self, len: usize) -> usize {
        let has_room = |buffer: &Vec<u8>| buffer.capacity() - buffer.len() >= len;
        if !self.buffers.last().is_some_and(has_room) {
            let is_first = self.buffers.is_empty();
            let capacity = if is_first { FIRST_BUFFER_BYTES } else { BUFFER_BYTES };
            self.buffers.push(Vec::with_capacity(len.max(capacity)));
        }
        self.buffers.len() - 1
    }

    /// Passes all rows to a checkpoint, in order. A walk may have shown an element twice, as the
    /// same. A string is let go as soon as its last piece is written: it may have been replaced
    /// meanwhile, and an edit in place copies what has other owners.
    pub(super) fn write(
        &mut self,
        writer: &mut (dyn CheckpointWriter<'_> + '_),
    ) -> Result<(), ColdError> {
        self.sort();
        let mut key = Vec::new();
        for (number, row) in self.index.iter().enumerate() {
            let ElementRow { set, name, content } = row.read(&self.buffers);
            let Set { of, which, string } = &mut self.sets[set];
            if string.is_some() || number % ROWS_AT_A_STRETCH == 0 {
                std::thread::yield_now();
            }
            key.clear();
            of.key(*which, name, &mut key);
            match (&string, content) {
                (Some(pieces), _) => {
                    let piece = name.try_into().map_or(0, u32::from_be_bytes);
                    writer.put(&key, pieces.piece(piece))?;
                    if piece + 1 == pieces.pieces() {
                        *string = None;
                    }
                }
                (None, Some(content)) => writer.put(&key, content)?,
                (None, None) => writer.delete(&key)?,
            }
        }
        Ok(())
    }

    /// Sorts the rows by their keys, and leaves one of each.
    fn sort(&mut self) {
        let ElementRows { buffers, index, sets, .. } = self;
        let place = |row: &RowAt| {
            let ElementRow { set, name, .. } = row.read(buffers);
            let Set { of, which, .. } = &sets[set];
            (*of, *which, name)
        };
        index.sort_unstable_by(|a, b| place(a).cmp(&place(b)));
        index.dedup_by(|a, b| place(a) == place(b));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use basalt_change::place::PartitionId;
    use basalt_cold::{ColdTier, MemoryDisk, MemoryTier, Residency};
    use std::ops::ControlFlow;
    use std::path::Path;

    fn of(id: u64) -> ElementsOf {
        let partition = PartitionId::new(7).expect("it is below 1,024");
        ElementsOf { partition, generation: 3, id }
    }

    /// What the cold tier has once it has these rows.
    fn written(rows: &mut ElementRows) -> Vec<(Vec<u8>, Vec<u8>)> {
        let disk = Arc::new(MemoryDisk::default());
        let tier = MemoryTier::open(&disk, Path::new("cold"), Residency::Cached);
        let mut writer = tier.checkpoint_writer().expect("a writer");
        rows.write(&mut *writer).expect("the rows are in order");
        writer.prepare().and_then(|prepared| prepared.commit()).expect("they are committed");
        let mut found = Vec::new();
        tier.scan(b"", &[0xFF; 4], &mut |key, value| {
            found.push((key.to_vec(), value.to_vec()));
            ControlFlow::Continue(())
        })
        .expect("a scan");
        found
    }

    fn row(of: ElementsOf, set: RowSet, name: &[u8], content: &[u8]) -> (Vec<u8>, Vec<u8>) {
        let mut key = Vec::new();
        of.key(set, name, &mut key);
        (key, content.to_vec())
    }

    #[test]
    fn rows_are_written_in_order_whatever_the_order_in_which_they_came() {
        let mut rows = ElementRows::default();
        let long = vec![b'x'; BUFFER_BYTES + 1];
        rows.push(of(2), Row::Name, b"b", Some(b"2b"));
        rows.push(of(2), Row::Order, b"1b", Some(b""));
        rows.push(of(2), Row::Name, b"gone", None);
        rows.push(of(2), Row::Name, b"a", Some(&long));
        rows.push(of(2), Row::Order, b"0a", Some(b""));
        let string: Vec<u8> = (0..=255).cycle().take(700).collect();
        assert_eq!(rows.push_string(of(1), Arc::new(string.clone()), 300), 3);
        let mut others = ElementRows::default();
        others.push(of(0), Row::Name, b"z", Some(b"0z"));
        others.push(of(0), Row::Name, &long, Some(b"long"));
        rows.append(&others);
        // A walk may show an element twice.
        rows.push(of(2), Row::Name, b"b", Some(b"2b"));
        let piece =
            |number: u32, bytes: &[u8]| row(of(1), RowSet::ByName, &number.to_be_bytes(), bytes);
        let expected = vec![
            row(of(0), RowSet::ByName, &long, b"long"),
            row(of(0), RowSet::ByName, b"z", b"0z"),
            piece(0, &string[..300]),
            piece(1, &string[300..600]),
            piece(2, &string[600..]),
            row(of(2), RowSet::ByName, b"a", &long),
            row(of(2), RowSet::ByName, b"b", b"2b"),
            row(of(2), RowSet::ByOrder, b"0a", b""),
            row(of(2), RowSet::ByOrder, b"1b", b""),
        ];
        assert!(written(&mut rows) == expected);
        rows.clear();
        assert_eq!((rows.len(), rows.bytes()), (0, 0));
        assert!(written(&mut rows).is_empty());
    }

    /// A million elements that have gone while they were gathered are gathered under one lock.
    #[test]
    fn a_row_takes_little_more_than_its_name_and_its_content() {
        let mut rows = ElementRows::default();
        rows.make_room(1_000_000);
        for number in 0..1_000_000 {
            rows.push(of(1), Row::Name, format!("field:{number:07}").as_bytes(), Some(b"value"));
        }
        let buffers: usize = rows.buffers.iter().map(Vec::capacity).sum();
        assert!(buffers < 32 << 20, "{buffers} bytes");
        assert!(rows.bytes() <= 38 * rows.len(), "{} bytes", rows.bytes());
    }
}
