//! Rows of elements on their way to the cold tier.

use basalt_change::element::{ElementsOf, RowSet};
use basalt_cold::{CheckpointWriter, ColdError};
use basalt_value::spread::Row;

/// The number of rows, some 200 µs, after which the thread yields its core. Else a network thread
/// that wants it waits for the end of a slice of the scheduler, 4 ms: with server and checkpoints
/// on one core, 2.4 s in all of the load of 8 million keys, and so 0.07 s of that of 5 million.
pub(super) const ROWS_AT_A_STRETCH: usize = 128;

/// Rows of elements, in one buffer.
#[derive(Default)]
pub(super) struct ElementRows {
    bytes: Vec<u8>,
    index: Vec<RowAt>,
}

#[derive(Clone, Copy)]
struct RowAt {
    start: usize,
    key_len: u32,
    /// Bytes behind the key; `None`: the row is to be deleted.
    content_len: Option<u32>,
}

impl RowAt {
    fn key<'a>(&self, bytes: &'a [u8]) -> &'a [u8] {
        &bytes[self.start..self.start + self.key_len as usize]
    }

    fn content<'a>(&self, bytes: &'a [u8]) -> Option<&'a [u8]> {
        let start = self.start + self.key_len as usize;
        self.content_len.map(|len| &bytes[start..start + len as usize])
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

    /// Takes the rows of others in.
    pub(super) fn append(&mut self, other: &ElementRows) {
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
        let content_len = content.map(|content| content.len() as u32);
        self.index.push(RowAt { start, key_len, content_len });
    }

    /// Passes all rows to a checkpoint, in order. A walk may have shown an element twice, as the
    /// same.
    pub(super) fn write(
        &mut self,
        writer: &mut (dyn CheckpointWriter<'_> + '_),
    ) -> Result<(), ColdError> {
        let bytes = &self.bytes;
        self.index.sort_unstable_by(|a, b| a.key(bytes).cmp(b.key(bytes)));
        self.index.dedup_by(|a, b| a.key(bytes) == b.key(bytes));
        for (number, row) in self.index.iter().enumerate() {
            if number % ROWS_AT_A_STRETCH == 0 {
                std::thread::yield_now();
            }
            match row.content(bytes) {
                Some(content) => writer.put(row.key(bytes), content)?,
                None => writer.delete(row.key(bytes))?,
            }
        }
        Ok(())
    }
}
