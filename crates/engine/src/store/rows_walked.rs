//! Walking over keys that are not all in memory: rows are read a few at a time, off the network
//! threads, and merged with what is in memory under the partition's lock.
//!
//! ```text
//! a walk comes to a partition that is not wholly in memory ▸ RowsWanted, from this hash on
//!   a thread of the pool reads rows ▸ WalkedRows: names, kinds, expiries, up to some hash
//! the walk goes on: entries of that slice of the table, and rows of it whose keys have no entry
//! ```
//! Rows are as of the partition's version, which each checkpoint that writes some raises. What has
//! left memory since it was read was on disk before, so it is among the rows; what has come since
//! has an entry. If rows were written meanwhile, they are read again.

use crate::engine::Engine;
use crate::error::EngineError;
use crate::residency::rows::gone_ms;
use crate::residency::rows_read::{Page, RowsWanted, WalkedRow, WalkedRows};
use crate::store::view::live;
use crate::store::walk::{Walk, WalkLimits};
use basalt_change::place::PartitionId;
use basalt_change::row::{self, HASH_SHIFT, ObjectRow, RowKind};
use basalt_keyspace::database::Database;
use basalt_keyspace::deferred::Change;
use basalt_keyspace::hash::KeyHasher;
use basalt_keyspace::partition::Partition;
use basalt_value::Kind;
use std::ops::ControlFlow;

/// Rows that are read at once at least …
const ROWS_MIN: usize = 16;
/// … and at most, and bytes of keys.
const ROWS_MAX: usize = 4_096;
const BYTES_MAX: usize = 256 << 10;
/// Partitions that are gone over for one reading.
const PARTITIONS_MAX: usize = 64;
/// Buckets that are visited under one lock.
const BUCKETS_A_LOCK: usize = 256;

impl RowsWanted {
    /// As many as a walk with these limits may need.
    pub(crate) fn new(
        walk: Walk,
        partition: PartitionId,
        from: u64,
        limits: WalkLimits,
    ) -> RowsWanted {
        let rows = limits.keys.clamp(ROWS_MIN, ROWS_MAX);
        RowsWanted { db: walk.db, partition, from, rows }
    }
}

impl WalkedRows {
    /// Those of a database's share of a partition from a hash on, if they are what is on disk.
    fn page(&self, walk: Walk, id: PartitionId, partition: &Partition, from: u64) -> Option<&Page> {
        self.pages.iter().find(|page| {
            (page.db, page.partition) == (walk.db, id)
                && page.from <= from
                && page.to.is_none_or(|to| from < to)
                && page.cold_version == partition.cold_version()
                && page.generation == partition.database(walk.db).generation()
        })
    }

    /// Goes on with a walk over a partition that is not wholly in memory, in a slice for which the
    /// rows have been read. Returns the hash where to go on, or `None` at the end; or that the rows
    /// have not been read.
    pub(crate) fn visit(
        &self,
        (walk, id, from): (Walk, PartitionId, u64),
        partition: &Partition,
        hasher: &KeyHasher,
        left: &mut WalkLimits,
        visit: &mut dyn FnMut(&[u8], Option<Kind>),
    ) -> Option<Option<u64>> {
        let page = self.page(walk, id, partition, from)?;
        let database = partition.database(walk.db);
        let slice = Slice { from, to: page.to, hasher };
        let end = visit_entries(database, walk, &slice, left, visit);
        let end = match (end, page.to) {
            (Some(end), Some(to)) => Some(end.min(to)),
            (end, to) => end.or(to),
        };
        for row in &page.rows {
            let hash = hasher.hash(&row.key);
            let leading = hash >> HASH_SHIFT << HASH_SHIFT;
            if leading < from >> HASH_SHIFT << HASH_SHIFT {
                continue;
            }
            if end.is_some_and(|end| leading >= end) {
                break;
            }
            let is_known = database.table().find(hash, &row.key).is_some();
            if !is_known && row.is_live(database, walk.now_ms) {
                left.keys = left.keys.saturating_sub(1);
                visit(&row.key, row.kind);
            }
        }
        Some(end)
    }
}

impl WalkedRow {
    fn is_live(&self, database: &Database, now_ms: u64) -> bool {
        let changes = database.spread().deferred(&self.key);
        // What fields have become by changes that wait for the row is not known.
        if self.gone_ms <= now_ms && changes.is_none() {
            return false;
        }
        let expiry =
            changes.iter().flat_map(|changes| changes.iter().rev()).find_map(
                |change| match change {
                    Change::Expire(expire_ms) => Some(*expire_ms),
                    _ => None,
                },
            );
        let expire_ms = expiry.unwrap_or(self.expire_ms);
        expire_ms == 0 || expire_ms > now_ms
    }
}

/// Hashes from one on, up to another or to the partition's end.
struct Slice<'a> {
    from: u64,
    to: Option<u64>,
    hasher: &'a KeyHasher,
}

impl Slice<'_> {
    /// Whether a key of a bucket that begins in the slice is in it: the bucket may end behind it.
    fn has(&self, key: &[u8]) -> bool {
        self.to.is_none_or(|to| self.hasher.hash(key) < to)
    }
}

/// Visits what the table has of a slice, until the limits are reached; returns where that was.
fn visit_entries(
    database: &Database,
    walk: Walk,
    slice: &Slice<'_>,
    left: &mut WalkLimits,
    visit: &mut dyn FnMut(&[u8], Option<Kind>),
) -> Option<u64> {
    let mut from = slice.from;
    for _ in 0..BUCKETS_A_LOCK {
        left.buckets = left.buckets.saturating_sub(1);
        from = database.table().scan(from, 1, |entry| {
            if let Some(object) = live(entry, walk.now_ms)
                && !entry.is_tombstone()
                && slice.has(entry.key())
            {
                left.keys = left.keys.saturating_sub(1);
                visit(entry.key(), object.collection().map(|value| value.kind()));
            }
        })?;
        if left.are_reached() || slice.to.is_some_and(|to| from >= to) {
            break;
        }
    }
    Some(from)
}

impl Engine {
    /// Reads rows for a walk; blocks on the disk.
    pub(crate) fn read_rows(&self, wanted: RowsWanted) -> Result<WalkedRows, EngineError> {
        let mut walked = WalkedRows::default();
        let (mut rows, mut from) = (0, wanted.from);
        let partitions = PartitionId::all().skip(wanted.partition.index());
        for id in partitions.take(PARTITIONS_MAX) {
            if let Some(page) = self.read_page(wanted.db, id, from, wanted.rows - rows)? {
                rows += page.rows.len();
                let is_cut = page.to.is_some();
                walked.pages.push(page);
                if is_cut || rows >= wanted.rows {
                    break;
                }
            }
            from = 0;
        }
        Ok(walked)
    }

    /// Reads rows of a partition; `None` if it is wholly in memory.
    fn read_page(
        &self,
        db: u8,
        id: PartitionId,
        from: u64,
        rows_max: usize,
    ) -> Result<Option<Page>, EngineError> {
        let (is_complete, generation, cold_version) = {
            let locked = self.keyspace.lock(id);
            let partition = locked.partition(id);
            let database = partition.database(db);
            (database.is_complete(), database.generation(), partition.cold_version())
        };
        if is_complete {
            return Ok(None);
        }
        let mut page =
            Page { db, partition: id, generation, cold_version, from, to: None, rows: Vec::new() };
        let (mut bytes, mut last, mut outcome) = (0, None, Ok(()));
        let (start, end) = row::generation_range_from(id, generation, from);
        self.cold.scan(&start, &end, &mut |row_key, value| {
            let Some(hash) = row::hash_in_object_key(row_key) else {
                return ControlFlow::Break(());
            };
            // Rows whose hashes begin alike are read together: a cursor could not part them.
            let is_full = page.rows.len() >= rows_max.max(1) || bytes >= BYTES_MAX;
            if is_full && last != Some(hash) {
                page.to = Some(hash);
                return ControlFlow::Break(());
            }
            last = Some(hash);
            match walked_row(row_key, value) {
                Ok(row) => {
                    bytes += row.key.len();
                    page.rows.push(row);
                    ControlFlow::Continue(())
                }
                Err(error) => {
                    outcome = Err(error);
                    ControlFlow::Break(())
                }
            }
        })?;
        outcome.map(|()| Some(page))
    }
}

fn walked_row(row_key: &[u8], value: &[u8]) -> Result<WalkedRow, EngineError> {
    let (_, key) = row::split_object_key(row_key).unwrap_or_default();
    let row = ObjectRow::decode(value).map_err(|error| EngineError::Row(error.into()))?;
    let kind = match row.kind {
        RowKind::String(_) | RowKind::StringInPieces(_) => None,
        RowKind::Collection(number) | RowKind::Spread(number) => Kind::from_number(number),
    };
    let (expire_ms, gone_ms) = (row.expire_ms, gone_ms(&row));
    Ok(WalkedRow { key: key.into(), kind, expire_ms, gone_ms })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::walk::{Cursor, WalkEnd};
    use crate::testing::{engine, put};
    use basalt_stdx::short_lock::LockWait;
    use std::collections::BTreeSet;

    /// A cursor may stand between two rows, and so within a bucket.
    #[test]
    fn a_walk_over_memory_and_disk_meets_each_key_once() {
        let (engine, _) = engine();
        let key = |number: u32| format!("{{tag}}{number}").into_bytes();
        (0..600).for_each(|number| put(&engine, &key(number), 0));
        engine.checkpoint().expect("a checkpoint");
        assert_eq!(engine.unload().kept, 0);
        (600..800).for_each(|number| put(&engine, &key(number), 0));
        let walk = Walk { db: 0, now_ms: engine.clock().unix_ms(), wait: LockWait::Endless };
        for keys in [1, 10, 1_000] {
            let limits = WalkLimits { keys, buckets: 64 };
            let (mut met, mut rows, mut at) = (Vec::new(), WalkedRows::default(), Cursor::START);
            loop {
                let mut visit = |key: &[u8], _: Option<Kind>| met.push(key.to_vec());
                match engine.walk_keys(walk, at, &mut { limits }, &rows, &mut visit) {
                    Ok(Cursor::START) => break,
                    Ok(next) => at = next,
                    Err(WalkEnd::Unread(wanted)) => {
                        rows = engine.read_rows(wanted).expect("a healthy disk");
                    }
                    Err(WalkEnd::Held) => panic!("nobody holds it"),
                }
            }
            let different: BTreeSet<_> = met.iter().collect();
            assert_eq!((met.len(), different.len()), (800, 800), "{keys} keys a call");
        }
    }
}
