//! Reading the list of hot keys after a start, and their rows.
//!
//! The keys are read as those that commands wait for are, but by this thread alone and in batches,
//! with rests between them: clients come first. Only what is still true is installed
//! (`residency/miss.rs`), so a list may be as old as it likes.

use super::file::{HotKeysDir, ListReader};
use super::format::{ListError, Origin, Section};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::residency::miss::ReadFor;
use crate::residency::queue::Miss;
use basalt_change::row;

/// Keys that are read together, in the order of their rows.
const KEYS_AT_ONCE: usize = 128;
/// Percent of the memory target that listed keys may fill.
const TARGET_PERCENT: u64 = 90;
/// The thread rests this many times as long as it has worked.
const RESTS: u32 = 1;
/// And this many times while commands wait for a thread to read for them.
const RESTS_WHILE_OTHERS_WAIT: u32 = 4;

/// What has become of a list.
#[derive(Default, Debug)]
pub(super) struct BroughtIn {
    /// Keys that are in memory now because of it.
    pub(super) keys: u64,
    /// Keys of databases that have been flushed since, or that there are no longer.
    pub(super) outdated: u64,
    /// Keys that could not be read.
    pub(super) unreadable: u64,
    /// Memory was full before the end.
    pub(super) is_full: bool,
}

impl Engine {
    /// Brings the listed keys into memory; `None` if there is no list. Ends when memory is full or
    /// the engine stops.
    pub(super) fn bring_in_hot_keys(
        &self,
        place: &HotKeysDir,
    ) -> Result<Option<BroughtIn>, (BroughtIn, ListError)> {
        let mut brought = BroughtIn::default();
        let mut list = match ListReader::open(place) {
            Ok(Some(list)) => list,
            Ok(None) => return Ok(None),
            Err(error) => return Err((brought, error)),
        };
        loop {
            match list.next() {
                Ok(Some(section)) => self.bring_in(&section, &mut brought),
                Ok(None) => return Ok(Some(brought)),
                Err(error) => return Err((brought, error)),
            }
            if brought.is_full || self.is_stopping() {
                return Ok(Some(brought));
            }
        }
    }

    fn bring_in(&self, section: &Section, brought: &mut BroughtIn) {
        for keys in section.keys.chunks(KEYS_AT_ONCE) {
            if self.is_stopping() {
                return;
            }
            if self.takes_more_than(TARGET_PERCENT) {
                brought.is_full = true;
                return;
            }
            let start = self.env.clock.now();
            match self.listed_misses(section.origin, keys) {
                Some(misses) => self.bring_in_misses(&misses, brought),
                None => brought.outdated += keys.len() as u64,
            }
            let rests = if self.misses.is_behind() { RESTS_WHILE_OTHERS_WAIT } else { RESTS };
            std::thread::park_timeout(self.env.clock.since(start) * rests);
        }
    }

    /// Those keys that are not in memory; `None` if the database is not that of the list.
    fn listed_misses(&self, origin: Origin, keys: &[Vec<u8>]) -> Option<Vec<Miss>> {
        let Origin { partition: id, db, generation } = origin;
        if db >= self.options.databases {
            return None;
        }
        let locked = self.keyspace.lock(id);
        let partition = locked.partition(id);
        let database = partition.database(db);
        if database.generation() != generation {
            return None;
        }
        let is_complete = database.is_complete();
        let miss = |key: &Vec<u8>| {
            let hash = self.keyspace.hasher().hash(key);
            if is_complete || database.table().find(hash, key).is_some() {
                return None;
            }
            let mut row_key = Vec::new();
            row::object_key(id, generation, (hash, key), &mut row_key);
            let cold_version = partition.cold_version();
            Some(Miss { partition: id, db, cold_version, hash, row_key })
        };
        Some(keys.iter().filter_map(miss).collect())
    }

    fn bring_in_misses(&self, misses: &[Miss], brought: &mut BroughtIn) {
        match self.read_as(misses, ReadFor::WarmUp) {
            Ok(keys) => {
                brought.keys += keys as u64;
                self.warm_up_progress.add(keys as u64);
            }
            Err(EngineError::Stopping) => {}
            // One of them is damaged; the others are to be had.
            Err(error) if error.is_damage() && misses.len() > 1 => {
                misses.chunks(1).for_each(|one| self.bring_in_misses(one, brought));
            }
            // It is said when somebody asks for the key.
            Err(error) => {
                tracing::debug!(%error, "hot keys cannot be read");
                brought.unreadable += misses.len() as u64;
            }
        }
    }
}
