//! The rows of one partition, copied under its lock.

use super::elements::{ElementRows, ROWS_AT_A_STRETCH};
use super::spread::{Spreading, spread_form, string_form};
use basalt_change::element::{self, ElementsOf};
use basalt_change::library;
use basalt_change::place::PartitionId;
use basalt_change::row::{self, DatabaseMark, HashEnd, Mark, ObjectRow, RowKind, SpreadHead};
use basalt_cold::{CheckpointWriter, ColdError};
use basalt_keyspace::entry::{Entry, EntryValue, SharedValue, StringValue};
use basalt_keyspace::hash::KeyHasher;
use basalt_keyspace::partition::{Partition, ToCopy};
use basalt_keyspace::table::bucket::DIRTY;
use basalt_value::ValueRef;
use std::ops::Range;
use std::sync::Arc;

/// The rows of one partition. One is used for all partitions of a checkpoint: to ask for memory,
/// and to touch it for the first time, takes longer than to copy.
#[derive(Default)]
pub(super) struct Rows {
    keys: Vec<u8>,
    values: Vec<u8>,
    index: Vec<RowAt>,
    mark: Mark,
    /// Elements and pieces that become visible together with the rest.
    pub(super) elements: ElementRows,
    /// Elements of a collection that nobody sees before that.
    pub(super) part: ElementRows,
    /// Collections whose elements are to be gathered.
    pub(super) spreading: Vec<Spreading>,
    /// What is to be deleted before.
    dead: Dead,
    /// Ids that begin here, or before a crash that no mark tells of: nothing may be left under
    /// them.
    begun: Vec<ElementsOf>,
    /// Libraries of functions that have changed.
    libraries: Vec<LibraryRow>,
}

/// A library of functions: its name, and its text if there still is one.
pub(super) struct LibraryRow {
    name: Vec<u8>,
    code: Option<Arc<Vec<u8>>>,
}

impl LibraryRow {
    /// Writes it, behind the marks.
    pub(super) fn write(
        &self,
        writer: &mut (dyn CheckpointWriter<'_> + '_),
    ) -> Result<(), ColdError> {
        let mut key = Vec::new();
        library::library_key(&self.name, &mut key);
        match &self.code {
            Some(code) => writer.put(&key, &[&[library::LIBRARY_VERSION], &code[..]].concat()),
            None => writer.delete(&key),
        }
    }
}

/// What is no longer found by anything, as of a partition's mark.
#[derive(Clone, Default)]
pub(super) struct Dead {
    pub(super) generations: Vec<u64>,
    /// By generation, ids of spread collections and of strings in pieces.
    pub(super) spread: Vec<(u64, Vec<u64>)>,
    /// The partition has or had some of these.
    has_elements: bool,
}

struct RowAt {
    key: Range<usize>,
    value: RowValue,
}

enum RowValue {
    Delete,
    Inline(Range<usize>),
    /// What stands before the value in `values`, and the value.
    Shared(Range<usize>, Arc<Vec<u8>>),
}

/// Up to where a collection or a string is one row, and how keys are found.
#[derive(Clone, Copy)]
pub(super) struct Terms<'a> {
    pub(super) collection_row_bytes_max: usize,
    pub(super) string_piece_bytes: usize,
    pub(super) hasher: &'a KeyHasher,
}

impl Rows {
    /// Empties itself and makes room for about this number of keys, before the lock is taken.
    pub(super) fn make_room(&mut self, dirty: usize) {
        self.keys.clear();
        self.values.clear();
        self.index.clear();
        self.elements.clear();
        self.part.clear();
        self.spreading.clear();
        self.begun.clear();
        self.libraries.clear();
        self.keys.reserve(dirty * 32);
        self.values.reserve(dirty * 80);
        self.index.reserve(dirty);
    }

    /// How many rows there are.
    pub(super) fn len(&self) -> usize {
        self.index.len() + self.elements.len() + self.libraries.len()
    }

    /// How many rows are those of keys.
    pub(super) fn objects(&self) -> u64 {
        self.index.len() as u64
    }

    /// What the cold tier has got rid of once these rows are there.
    pub(super) fn dead(&self) -> &Dead {
        &self.dead
    }

    /// Copies what is dirty. The elements of spread collections are still to be gathered.
    pub(super) fn copy(&mut self, id: PartitionId, partition: &mut Partition, terms: Terms<'_>) {
        self.mark = Mark { applied: partition.last_seq(), ..Mark::default() };
        self.dead = Dead::default();
        self.copy_libraries(partition);
        let ToCopy { databases, next_spread_id, last_version, dead_generations } =
            partition.to_copy();
        for (number, database) in databases.iter_mut().enumerate() {
            let (keys, generation) = (database.keys(), database.generation());
            let expiry_ms = match database.earliest_expiry_ms() {
                u64::MAX => 0,
                expiry_ms => expiry_ms.max(1),
            };
            let (table, spread) = database.to_copy();
            let at = At { id, number, generation };
            table.walk(DIRTY, |entry, _| {
                let key_start = self.keys.len();
                let hash = terms.hasher.hash(entry.key());
                row::object_key(id, generation, (hash, entry.key()), &mut self.keys);
                let key = key_start..self.keys.len();
                let key_bytes = entry.key();
                let value = match entry.value() {
                    Some(EntryValue::Collection(value)) => {
                        let form = spread_form(at, key_bytes, value, spread, next_spread_id, terms);
                        form.map(|spreading| self.copy_head(entry, spreading))
                    }
                    Some(EntryValue::String(StringValue::Shared(shared))) => {
                        let bytes = shared.vec().len();
                        let form = string_form(at, key_bytes, bytes, spread, next_spread_id, terms);
                        form.map(|of| self.copy_pieces(entry, shared, of, terms.string_piece_bytes))
                    }
                    _ => None,
                };
                let value = value.unwrap_or_else(|| self.copy_whole(entry));
                self.index.push(RowAt { key, value });
            });
            let mark = DatabaseMark { generation, keys, spread: spread.len(), expiry_ms };
            self.mark.databases.push(mark);
            if !spread.dead().is_empty() {
                self.dead.spread.push((generation, spread.dead().to_vec()));
            }
        }
        self.mark.next_id = *next_spread_id;
        self.mark.last_version = last_version;
        self.dead.has_elements = *next_spread_id > 0;
        self.dead.generations = dead_generations.to_vec();
    }

    fn copy_libraries(&mut self, partition: &Partition) {
        self.libraries.clear();
        let changed = partition.libraries.iter().flat_map(|libraries| libraries.to_copy());
        self.libraries.extend(
            changed.map(|(name, code)| LibraryRow { name: name.to_vec(), code: code.cloned() }),
        );
    }

    /// The libraries that have changed, which are written behind all marks.
    pub(super) fn take_libraries(&mut self) -> Vec<LibraryRow> {
        std::mem::take(&mut self.libraries)
    }

    fn copy_whole(&mut self, entry: Entry<'_>) -> RowValue {
        let values = &mut self.values;
        let start = values.len();
        let (expire_ms, version) = (entry.expire_ms(), entry.version());
        let end = end_of(entry);
        let mut head =
            |kind| ObjectRow { expire_ms, version, kind, end, value: b"" }.encode_head(values);
        match entry.value() {
            None => RowValue::Delete,
            Some(EntryValue::String(StringValue::Inline(bytes))) => {
                head(RowKind::String(entry.form()));
                values.extend_from_slice(bytes);
                RowValue::Inline(start..values.len())
            }
            Some(EntryValue::String(StringValue::Shared(shared))) => {
                head(RowKind::String(entry.form()));
                RowValue::Shared(start..values.len(), shared.to_arc())
            }
            Some(EntryValue::Collection(value)) => {
                head(RowKind::Collection(value.kind() as u8));
                value.encode(values);
                RowValue::Inline(start..values.len())
            }
        }
    }

    /// The object of a spread collection.
    fn copy_head(&mut self, entry: Entry<'_>, spreading: Spreading) -> RowValue {
        let start = self.values.len();
        if let Some(value) = entry.collection() {
            let (mut head, mut body) = (Vec::new(), Vec::new());
            value.put_head(&mut head);
            let (id, elements) = (spreading.of.id, value.len() as u64);
            SpreadHead { id, elements, head: &head }.encode(&mut body);
            let kind = RowKind::Spread(value.kind() as u8);
            let (expire_ms, version, end) = (entry.expire_ms(), entry.version(), end_of(entry));
            ObjectRow { expire_ms, version, kind, end, value: &body }.encode(&mut self.values);
        }
        if spreading.is_new {
            self.begun.push(spreading.of);
        }
        self.spreading.push(spreading);
        RowValue::Inline(start..self.values.len())
    }

    /// The object of a string in pieces; notes its pieces, which are still where they were.
    fn copy_pieces(
        &mut self,
        entry: Entry<'_>,
        shared: SharedValue<'_>,
        of: ElementsOf,
        piece_bytes: usize,
    ) -> RowValue {
        let (start, mut body) = (self.values.len(), Vec::new());
        let bytes = shared.to_arc();
        let len = bytes.len() as u64;
        let pieces = self.elements.push_string(of, bytes, piece_bytes);
        SpreadHead::encode_of_string(of.id, pieces, len, &mut body);
        let kind = RowKind::StringInPieces(entry.form());
        let (expire_ms, version, end) = (entry.expire_ms(), entry.version(), HashEnd::Unsaid);
        ObjectRow { expire_ms, version, kind, end, value: &body }.encode(&mut self.values);
        self.begun.push(of);
        RowValue::Inline(start..self.values.len())
    }

    /// Whether nothing has been written yet of a collection that begins here; from now on something
    /// has.
    pub(super) fn take_begun(&mut self, of: ElementsOf) -> bool {
        let found = self.begun.iter().position(|&begun| begun == of);
        found.map(|found| self.begun.swap_remove(found)).is_some()
    }

    /// The partition's mark, which is written behind all rows.
    pub(super) fn mark(&self) -> Vec<u8> {
        let mut mark = Vec::new();
        self.mark.encode(&mut mark);
        mark
    }

    /// Writes all but the mark.
    pub(super) fn write(
        &mut self,
        id: PartitionId,
        writer: &mut (dyn CheckpointWriter<'_> + '_),
    ) -> Result<(), ColdError> {
        self.dead.write(id, writer)?;
        for of in &self.begun {
            let (from, to) = of.whole_range();
            writer.delete_range(&from, &to)?;
        }
        let mut value = Vec::new();
        let keys = &self.keys;
        self.index.sort_unstable_by(|a, b| keys[a.key.clone()].cmp(&keys[b.key.clone()]));
        for (number, row) in self.index.iter_mut().enumerate() {
            if number % ROWS_AT_A_STRETCH == 0 {
                std::thread::yield_now();
            }
            let key = &keys[row.key.clone()];
            match &mut row.value {
                RowValue::Delete => writer.delete(key)?,
                RowValue::Inline(range) => writer.put(key, &self.values[range.clone()])?,
                RowValue::Shared(head, bytes) => {
                    value.clear();
                    value.extend_from_slice(&self.values[head.clone()]);
                    // Let go here: it may have been replaced meanwhile, and an edit in place copies
                    // what has other owners.
                    value.extend_from_slice(&std::mem::take(bytes));
                    writer.put(key, &value)?;
                }
            }
        }
        // Elements sort behind objects.
        self.elements.write(writer)
    }
}

/// When a hash is gone without having been removed. It is left to its fields where the row begins
/// with an expiry and a version: there is no room for a third number in what is read of a row
/// without its value.
fn end_of(entry: Entry<'_>) -> HashEnd {
    let Some(ValueRef::Hash(hash)) = entry.collection() else { return HashEnd::Unsaid };
    match hash.gone_ms() {
        u64::MAX => HashEnd::Never,
        _ if entry.expire_ms() != 0 && !entry.version().is_none() => HashEnd::Unsaid,
        gone_ms => HashEnd::At(gone_ms),
    }
}

impl Dead {
    /// How many ids of a generation there are.
    pub(super) fn ids_of(&self, generation: u64) -> usize {
        let of = self.spread.iter().find(|(of, _)| *of == generation);
        of.map_or(0, |(_, ids)| ids.len())
    }

    fn write(
        &self,
        id: PartitionId,
        writer: &mut (dyn CheckpointWriter<'_> + '_),
    ) -> Result<(), ColdError> {
        for &generation in &self.generations {
            let (from, to) = row::generation_range(id, generation);
            writer.delete_range(&from, &to)?;
            if self.has_elements {
                let (from, to) = element::generation_range(id, generation);
                writer.delete_range(&from, &to)?;
            }
        }
        for (generation, ids) in &self.spread {
            for &spread in ids {
                let of = ElementsOf { partition: id, generation: *generation, id: spread };
                let (from, to) = of.whole_range();
                writer.delete_range(&from, &to)?;
            }
        }
        Ok(())
    }
}

/// Where a key is.
#[derive(Clone, Copy)]
pub(super) struct At {
    pub(super) id: PartitionId,
    /// Number of the database.
    pub(super) number: usize,
    pub(super) generation: u64,
}
