//! Rows of elements, and of pieces of strings, on their way to the cold tier.

use basalt_change::element::{ElementsOf, RowSet};
use basalt_cold::{CheckpointWriter, ColdError};
use basalt_value::spread::Row;
use std::sync::Arc;

/// The number of rows, some 200 µs, after which the thread yields its core. Else a network thread
/// that wants it waits for the end of a slice of the scheduler, 4 ms: with server and checkpoints
/// on one core, 2.4 s in all of the load of 8 million keys, and so 0.07 s of that of 5 million.
pub(super) const ROWS_AT_A_STRETCH: usize = 128;

/// Rows of elements, in one buffer, and strings of which each piece is a row.
#[derive(Default)]
pub(super) struct ElementRows {
    bytes: Vec<u8>,
    index: Vec<RowAt>,
    strings: Vec<LongString>,
}

#[derive(Clone, Copy)]
struct RowAt {
    start: usize,
    key_len: u32,
    content: Content,
}

#[derive(Clone, Copy)]
enum Content {
    /// The row is to be deleted.
    None,
    /// As many bytes behind the key.
    Bytes(u32),
    /// One of [`ElementRows::strings`], and the number of a piece of it.
    Piece { string: u32, number: u32 },
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
    fn key<'a>(&self, bytes: &'a [u8]) -> &'a [u8] {
        &bytes[self.start..self.start + self.key_len as usize]
    }

    fn content<'a>(&self, bytes: &'a [u8], strings: &'a [LongString]) -> Option<&'a [u8]> {
        let start = self.start + self.key_len as usize;
        match self.content {
            Content::None => None,
            Content::Bytes(len) => Some(&bytes[start..start + len as usize]),
            Content::Piece { string, number } => Some(strings[string as usize].piece(number)),
        }
    }
}

impl ElementRows {
    pub(super) fn clear(&mut self) {
        /// A large collection's rows leave no more memory behind than this.
        const KEPT_BYTES_MAX: usize = 4 << 20;
        self.bytes.clear();
        self.bytes.shrink_to(KEPT_BYTES_MAX);
        self.index.clear();
        self.index.shrink_to(KEPT_BYTES_MAX / size_of::<RowAt>());
        self.strings.clear();
    }

    /// Makes room for what is gathered under one lock, before it is taken: to grow by megabytes
    /// takes milliseconds.
    pub(super) fn make_room(&mut self, elements: usize) {
        /// What a row takes, about; two a member of a sorted set.
        const ROW_BYTES: usize = 128;
        self.bytes.reserve(2 * elements * ROW_BYTES);
        self.index.reserve(2 * elements);
    }

    /// Bytes of memory in use.
    pub(super) fn bytes(&self) -> usize {
        self.bytes.len() + self.index.len() * size_of::<RowAt>()
    }

    /// Takes the rows of others in, which are no pieces.
    pub(super) fn append(&mut self, other: &ElementRows) {
        debug_assert!(other.strings.is_empty(), "strings are not gathered in slices");
        let shift = self.bytes.len();
        self.bytes.extend_from_slice(&other.bytes);
        self.index.extend(other.index.iter().map(|row| RowAt { start: row.start + shift, ..*row }));
    }

    pub(super) fn len(&self) -> usize {
        self.index.len()
    }

    pub(super) fn push(&mut self, of: ElementsOf, row: Row, name: &[u8], content: Option<&[u8]>) {
        let set = match row {
            Row::Name => RowSet::ByName,
            Row::Order => RowSet::ByOrder,
        };
        let start = self.bytes.len();
        of.key(set, name, &mut self.bytes);
        let key_len = (self.bytes.len() - start) as u32;
        self.bytes.extend_from_slice(content.unwrap_or_default());
        let content = content.map_or(Content::None, |content| Content::Bytes(content.len() as u32));
        self.index.push(RowAt { start, key_len, content });
    }

    /// Adds a row for each piece of a string; returns how many these are.
    pub(super) fn push_string(
        &mut self,
        of: ElementsOf,
        bytes: Arc<Vec<u8>>,
        piece_bytes: usize,
    ) -> u64 {
        let long = LongString { bytes, piece_bytes };
        let (string, pieces) = (self.strings.len() as u32, long.pieces());
        for number in 0..pieces {
            let start = self.bytes.len();
            of.piece_key(number, &mut self.bytes);
            let key_len = (self.bytes.len() - start) as u32;
            self.index.push(RowAt { start, key_len, content: Content::Piece { string, number } });
        }
        self.strings.push(long);
        u64::from(pieces)
    }

    /// Passes all rows to a checkpoint, in order. A walk may have shown an element twice, as the
    /// same. A string is let go as soon as its last piece is written: it may have been replaced
    /// meanwhile, and an edit in place copies what has other owners.
    pub(super) fn write(
        &mut self,
        writer: &mut (dyn CheckpointWriter<'_> + '_),
    ) -> Result<(), ColdError> {
        let bytes = &self.bytes;
        self.index.sort_unstable_by(|a, b| a.key(bytes).cmp(b.key(bytes)));
        self.index.dedup_by(|a, b| a.key(bytes) == b.key(bytes));
        for (number, row) in self.index.iter().enumerate() {
            let is_piece = matches!(row.content, Content::Piece { .. });
            if is_piece || number % ROWS_AT_A_STRETCH == 0 {
                std::thread::yield_now();
            }
            match row.content(bytes, &self.strings) {
                Some(content) => writer.put(row.key(bytes), content)?,
                None => writer.delete(row.key(bytes))?,
            }
            if let Content::Piece { string, number } = row.content {
                let string = &mut self.strings[string as usize];
                if number + 1 == string.pieces() {
                    string.bytes = Arc::default();
                }
            }
        }
        Ok(())
    }
}
