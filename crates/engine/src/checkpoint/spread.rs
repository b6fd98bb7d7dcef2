//! Large collections: whether they are spread, and gathering the rows of their elements. Long
//! strings: whether they go to the cold tier in pieces.
//!
//! ```text
//! under the partition's lock    which collections are spread; what is touched from here on is kept
//! under many short locks        the elements, as of the first lock
//! ```
//! A collection becomes spread when it takes more than `collection-row-max` bytes, and one row
//! again when it takes less than half of that. The elements of one that becomes spread may be
//! gigabytes: they go to the cold tier in parts of their own, before the checkpoint that makes them
//! visible. A crash leaves them under an id that nothing refers to, which is given again, and
//! cleared before.
//!
//! A string of more than one piece has an id, too, and a row for each piece. It has another id each
//! time that it is written, since any part of it may have changed. The id before is dead, so its
//! pieces go when the new ones come: in one ingest.
//!
//! A key may go while its elements are gathered: then the partition is copied again, and after a
//! few such times under one lock.

use super::elements::ElementRows;
use super::rows::{At, Rows, Terms};
use crate::engine::Engine;
use crate::store::hold::Hold;
use basalt_change::element::ElementsOf;
use basalt_cold::ColdError;
use basalt_keyspace::partition::Partition;
use basalt_keyspace::spread::{SpreadKey, SpreadKeys};
use basalt_value::ValueRef;
use basalt_value::dirty::DirtyElements;
use basalt_value::spread::Gathering;
use std::time::Duration;

/// Elements that are gathered under one lock: less than 1 ms.
const ELEMENTS_A_LOCK: usize = 1_024;
/// Elements of one partition that are gathered under the first lock, together with what else is
/// dirty.
const ELEMENTS_AT_ONCE: usize = 1_024;
/// Between two locks: a thread that unlocks and locks again at once lets nobody else in.
const BETWEEN_LOCKS: Duration = Duration::from_micros(100);
/// Bytes of a collection that becomes spread are written as soon as there are this many.
const PART_BYTES: usize = 32 << 20;

/// A collection whose elements are being gathered.
pub(super) struct Spreading {
    pub(super) of: ElementsOf,
    /// It was not spread before.
    pub(super) is_new: bool,
    database: usize,
    hash: u64,
    key: Box<[u8]>,
    gathering: Gathering,
    /// Elements that were touched, or that there are if it is new.
    elements: usize,
}

/// The collection is no longer where it was when its gathering began.
struct Gone;

/// How the elements of a partition are gathered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Holding {
    /// Under many short locks.
    Slices,
    /// Under the first lock.
    Throughout,
}

/// Whether a collection is to be spread, and if so, begins to gather.
pub(super) fn spread_form(
    at: At,
    key: &[u8],
    value: ValueRef<'_>,
    spread: &mut SpreadKeys,
    next_id: &mut u64,
    terms: Terms<'_>,
) -> Option<Spreading> {
    let max = terms.collection_row_bytes_max;
    let bytes = value.heap_bytes();
    if bytes <= max && spread.is_empty() {
        return None;
    }
    let hash = terms.hasher.hash(key);
    let of = |id| ElementsOf { partition: at.id, generation: at.generation, id };
    let place = (at.number, hash, Box::from(key));
    if let Some(existing) = spread.resident_mut(hash, key) {
        if value.can_spread() && bytes > max / 2 {
            existing.in_flight = true;
            let elements = existing.dirty.len();
            let gathering = Gathering::changed(value.kind(), &mut existing.dirty);
            return Some(Spreading::new(of(existing.id), place, gathering, elements));
        }
        spread.forget(hash, key);
        return None;
    }
    if bytes <= max || !value.can_spread() {
        return None;
    }
    let id = *next_id;
    *next_id += 1;
    let mut dirty = DirtyElements::default();
    let gathering = Gathering::all(value.kind(), &mut dirty);
    spread.insert(SpreadKey { hash, key: key.into(), id, dirty, in_flight: true });
    Some(Spreading { is_new: true, ..Spreading::new(of(id), place, gathering, value.len()) })
}

/// Whether a string that stands apart from its entry goes to the cold tier in pieces, and if so,
/// under which id: a new one. Whatever id it had is dead.
pub(super) fn string_form(
    at: At,
    key: &[u8],
    bytes: usize,
    spread: &mut SpreadKeys,
    next_id: &mut u64,
    terms: Terms<'_>,
) -> Option<ElementsOf> {
    let is_long = bytes > terms.string_piece_bytes;
    if !is_long && spread.is_empty() {
        return None;
    }
    let hash = terms.hasher.hash(key);
    spread.forget(hash, key);
    if !is_long {
        return None;
    }
    let id = *next_id;
    *next_id += 1;
    let dirty = DirtyElements::default();
    spread.insert(SpreadKey { hash, key: key.into(), id, dirty, in_flight: true });
    Some(ElementsOf { partition: at.id, generation: at.generation, id })
}

impl Spreading {
    fn new(
        of: ElementsOf,
        place: (usize, u64, Box<[u8]>),
        gathering: Gathering,
        elements: usize,
    ) -> Spreading {
        let (database, hash, key) = place;
        Spreading { of, is_new: false, database, hash, key, gathering, elements }
    }

    /// Gathers some elements; false if those were the last.
    fn step(
        &mut self,
        partition: &mut Partition,
        count: usize,
        rows: &mut ElementRows,
    ) -> Result<bool, Gone> {
        let databases = partition.to_copy().databases;
        let database = databases.numbered_mut(self.database).ok_or(Gone)?;
        if database.generation() != self.of.generation {
            return Err(Gone);
        }
        let (table, spread) = database.to_copy();
        let spread = spread.resident_mut(self.hash, &self.key).ok_or(Gone)?;
        let found = table.find(self.hash, &self.key).ok_or(Gone)?;
        let value = table.entry(found).collection().ok_or(Gone)?;
        if spread.id != self.of.id || !spread.in_flight || !value.can_spread() {
            return Err(Gone);
        }
        Ok(self.gathering.step(value, &mut spread.dirty, count, &mut |row, name, content| {
            rows.push(self.of, row, name, content);
        }))
    }
}

impl Engine {
    /// Gathers, under the first lock, what is little or what has to be gathered there; the rest
    /// stays in `rows.spreading`.
    pub(super) fn gather_at_once(partition: &mut Partition, rows: &mut Rows, holding: Holding) {
        let mut left = match holding {
            Holding::Slices => ELEMENTS_AT_ONCE,
            Holding::Throughout => usize::MAX,
        };
        for mut spreading in std::mem::take(&mut rows.spreading) {
            if spreading.elements > left {
                rows.spreading.push(spreading);
                continue;
            }
            left -= spreading.elements;
            rows.elements.make_room(spreading.elements);
            // Nothing goes away under the lock.
            while let Ok(true) = spreading.step(partition, usize::MAX, &mut rows.elements) {}
        }
    }

    /// Gathers the rest in slices; false if a collection has gone meanwhile.
    pub(super) fn gather_slices(&self, rows: &mut Rows) -> Result<bool, ColdError> {
        for mut spreading in std::mem::take(&mut rows.spreading) {
            rows.part.clear();
            let id = spreading.of.partition;
            loop {
                let gathered = if spreading.is_new { &mut rows.part } else { &mut rows.elements };
                gathered.make_room(ELEMENTS_A_LOCK);
                let mut locked = self.keyspace.lock(id);
                let hold = Hold::begin(self.clock());
                let partition = locked.partition_mut(id);
                let goes_on = spreading.step(partition, ELEMENTS_A_LOCK, gathered);
                drop(locked);
                self.checkpointing.holds.note(self.clock(), &hold);
                let Ok(goes_on) = goes_on else { return Ok(false) };
                if rows.part.bytes() >= PART_BYTES {
                    self.write_part(spreading.of, rows)?;
                }
                if !goes_on {
                    break;
                }
                std::thread::sleep(BETWEEN_LOCKS);
            }
            rows.elements.append(&rows.part);
        }
        rows.part.clear();
        Ok(true)
    }

    /// Writes elements of a collection that becomes spread. Until its object is written nobody
    /// looks at them.
    fn write_part(&self, of: ElementsOf, rows: &mut Rows) -> Result<(), ColdError> {
        let mut writer = self.cold.checkpoint_writer()?;
        if rows.take_begun(of) {
            let (from, to) = of.whole_range();
            writer.delete_range(&from, &to)?;
        }
        rows.part.write(&mut *writer)?;
        rows.part.clear();
        writer.prepare()?.commit()
    }
}
