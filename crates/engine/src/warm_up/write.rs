//! Writing the list of hot keys.
//!
//! The keyspace is gone over twice, few keys a lock: once to see how long ago keys were used, which
//! says how recent a use must be (`heat.rs`), and once to list the keys. So there is never more in
//! memory than one section of the list.
//!
//! A key is hot if somebody has used it in a later second than that in which it came: a newcomer on
//! probation (`keyspace/src/turnover.rs`) is one that nobody has, and its access word says so.

use super::file::{HotKeysDir, ListWriter};
use super::format::{HEADER_BYTES, KEY_BYTES_MAX, Origin, SECTION_HEAD_BYTES, SectionBuilder};
use super::heat::{Heat, KEY_EXTRA_BYTES, Threshold};
use crate::engine::Engine;
use basalt_change::place::PartitionId;
use basalt_env::Instant;
use basalt_keyspace::entry::Entry;
use basalt_keyspace::table::bucket::SLOTS;
use basalt_stdx::short_lock::LockWait;
use std::io;
use std::time::Duration;

/// Buckets that are gone over under one lock: some 1,000 keys.
const BUCKETS_A_LOCK: usize = 1_024 / SLOTS;
/// The list takes this part of the memory target at most.
const TARGET_PART: u64 = 100;
/// Or this many bytes where there is no target.
const BYTES_MAX: u64 = 64 << 20;
/// What a list has besides its sections.
const LIST_EXTRA_BYTES: u64 = (HEADER_BYTES + SECTION_HEAD_BYTES) as u64;
/// The thread rests this many times as long as it has worked.
const RESTS: u32 = 4;

/// How much time the writing may take.
#[derive(Clone, Copy)]
pub(super) enum Pace {
    /// As much as it needs beside other work, unless the engine stops.
    Background,
    /// Until then.
    Until(Instant),
}

/// One part of the keyspace.
#[derive(Clone, Copy)]
struct Part {
    partition: PartitionId,
    db: u8,
}

/// A walk of all keys that have been used.
#[derive(Clone, Copy)]
struct Walk<'e> {
    engine: &'e Engine,
    pace: Pace,
    now_s: u32,
}

impl Engine {
    /// Writes the list in the place of the one before. Returns its bytes; `None` if there was no
    /// time to finish, and the one before is still there.
    pub(super) fn write_hot_keys(&self, place: &HotKeysDir, pace: Pace) -> io::Result<Option<u64>> {
        let now_s = (self.env.clock.unix_ms() / 1_000) as u32;
        let walk = Walk { engine: self, pace, now_s };
        let bytes_max = self.memory_target().map_or(BYTES_MAX, |target| target / TARGET_PART);
        let Some(threshold) = walk.threshold(bytes_max) else { return Ok(None) };
        let mut list = ListWriter::begin(place)?;
        for partition in PartitionId::all() {
            let start = self.env.clock.now();
            for db in (0..self.options.databases).filter(|&db| self.is_used(db)) {
                if !walk.list(Part { partition, db }, threshold, bytes_max, &mut list)? {
                    return Ok(None);
                }
            }
            walk.rest(start);
        }
        list.finish().map(Some)
    }
}

impl Walk<'_> {
    fn goes_on(self) -> bool {
        match self.pace {
            Pace::Background => !self.engine.is_stopping(),
            Pace::Until(end) => self.engine.env.clock.now() < end,
        }
    }

    fn rest(self, since: Instant) {
        if matches!(self.pace, Pace::Background) && !self.engine.is_stopping() {
            let worked: Duration = self.engine.env.clock.since(since);
            std::thread::park_timeout(worked * RESTS);
        }
    }

    /// How recent a use must be; `None` if there was no time to find out.
    fn threshold(self, bytes_max: u64) -> Option<Threshold> {
        let (mut heat, mut head_bytes) = (Heat::new(), LIST_EXTRA_BYTES);
        for partition in PartitionId::all() {
            let start = self.engine.env.clock.now();
            for db in (0..self.engine.options.databases).filter(|&db| self.engine.is_used(db)) {
                let (mut from, mut has_some) = (Some(0), false);
                while let Some(hash) = from {
                    if !self.goes_on() {
                        return None;
                    }
                    let note = |idle, entry: Entry<'_>| {
                        heat.note(idle, entry.key().len());
                        has_some = true;
                    };
                    (from, _) = self.look(Part { partition, db }, hash, note);
                }
                head_bytes += if has_some { SECTION_HEAD_BYTES as u64 } else { 0 };
            }
            self.rest(start);
        }
        Some(heat.threshold(bytes_max.saturating_sub(head_bytes)))
    }

    /// Lists what is hot of a part; false if there was no time.
    fn list(
        self,
        part: Part,
        threshold: Threshold,
        bytes_max: u64,
        list: &mut ListWriter<'_>,
    ) -> io::Result<bool> {
        let (mut from, mut section) = (Some(0), None);
        while let Some(hash) = from {
            if !self.goes_on() {
                return Ok(false);
            }
            let mut keys: Vec<(u64, Vec<u8>)> = Vec::new();
            let generation;
            (from, generation) = self.look(part, hash, |idle, entry| {
                let hash = self.engine.keyspace.hasher().hash(entry.key());
                if threshold.admits(idle, hash) {
                    keys.push((hash, entry.key().to_vec()));
                }
            });
            // Of buckets the order is that of hashes, but not within one.
            keys.sort_unstable();
            let origin = Origin { partition: part.partition, db: part.db, generation };
            for (_, key) in keys {
                let section = section.get_or_insert_with(|| SectionBuilder::new(origin));
                if section.is_full() || section.origin() != origin {
                    list.add(section)?;
                    *section = SectionBuilder::new(origin);
                }
                // What has come since the keys were counted finds no room.
                let bytes = list.bytes() + (section.bytes() + SECTION_HEAD_BYTES) as u64;
                if bytes + key.len() as u64 + KEY_EXTRA_BYTES <= bytes_max {
                    section.push(&key);
                }
            }
        }
        if let Some(section) = section.filter(|section| !section.is_empty()) {
            list.add(&section)?;
        }
        Ok(true)
    }

    /// Shows the keys of some buckets that have been used, with how many seconds ago that was.
    /// Returns where to go on, and the generation that the database has.
    fn look(
        self,
        part: Part,
        from: u64,
        mut show: impl FnMut(u32, Entry<'_>),
    ) -> (Option<u64>, u64) {
        let look = |partition: &basalt_keyspace::partition::Partition| {
            let database = partition.database(part.db);
            if database.table().counts().live == 0 {
                return (None, database.generation());
            }
            let next = database.table().scan(from, BUCKETS_A_LOCK, |entry| {
                let is_hot = !entry.is_tombstone() && entry.access().has_uses();
                if is_hot && entry.key().len() <= KEY_BYTES_MAX {
                    show(entry.access().idle_seconds(self.now_s), entry);
                }
            });
            (next, database.generation())
        };
        let looked = self.engine.keyspace.with(part.partition, LockWait::Endless, look);
        looked.expect("an endless wait ends with the lock")
    }
}
