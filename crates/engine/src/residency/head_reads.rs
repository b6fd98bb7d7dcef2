//! Reading what the rows of keys begin with, for commands that need no more.
//!
//! ```text
//! a command misses keys ▸ the pool reads what their rows begin with ▸ ReadHeads
//! it runs again and misses them still ▸ KnownHeads, those that are still true
//! ```

use crate::engine::Engine;
use crate::error::EngineError;
use crate::residency::heads::{KeyHead, KnownHeads, ReadHead, ReadHeads, Unknown};
use crate::residency::queue::{Done, Miss, Missing};
use crate::residency::rows::LoadError;
use crate::store::view::View;
use basalt_change::row;
use basalt_keyspace::keyspace::Locked;
use std::collections::HashMap;
use std::sync::Arc;

impl Engine {
    /// Reads in the background what the rows of keys begin with, then calls `done`.
    pub fn fetch_heads(&self, missing: Missing, read: Arc<ReadHeads>, done: Done) {
        self.misses.add_heads(missing.misses, &read, done);
    }

    pub(super) fn read_heads(&self, misses: &[Miss], read: &ReadHeads) -> Result<(), EngineError> {
        let keys: Vec<Vec<u8>> = misses.iter().map(|miss| miss.row_key.clone()).collect();
        let rows = self.cold.read_heads(&keys)?;
        let mut heads = Vec::with_capacity(misses.len());
        for (miss, row) in misses.iter().zip(rows) {
            let head = row.as_ref().map(KeyHead::decode).transpose();
            let head = head.map_err(|error| EngineError::from(LoadError::from(error)))?;
            heads.push((miss.row_key.clone(), ReadHead { cold_version: miss.cold_version, head }));
        }
        read.0.lock().extend(heads);
        Ok(())
    }

    /// What has been read of these keys, if that is true still: no checkpoint has written rows of
    /// their partitions since.
    fn known_heads(&self, missing: &Missing, read: &ReadHeads) -> Option<KnownHeads> {
        let read = read.0.lock();
        let mut known = HashMap::with_capacity(missing.misses.len());
        for miss in &missing.misses {
            let read = read.get(&miss.row_key)?;
            let (_, key) = row::split_object_key(&miss.row_key)?;
            if read.cold_version != miss.cold_version {
                return None;
            }
            known.insert(key.into(), read.head);
        }
        Some(KnownHeads(known))
    }
}

impl Missing {
    /// Whether what the rows say is all that there is to know of the keys. It is not of a
    /// collection that has changed since and was not read to change it.
    fn rows_are_true(&self, locked: &Locked<'_>) -> bool {
        self.misses.iter().all(|miss| {
            let spread = locked.partition(miss.partition).database(miss.db).spread();
            let key = row::split_object_key(&miss.row_key).map(|(_, key)| key);
            key.is_some_and(|key| spread.deferred(key).is_none())
        })
    }
}

impl View<'_> {
    /// What the rows of these keys say, if `read` has it and it is true still.
    ///
    /// # Errors
    /// What is to be read.
    pub fn heads_of(
        &self,
        missing: &Missing,
        read: Option<&ReadHeads>,
    ) -> Result<KnownHeads, Unknown> {
        if !missing.rows_are_true(&self.locked) {
            return Err(Unknown::Value);
        }
        read.and_then(|read| self.engine.known_heads(missing, read)).ok_or(Unknown::Head)
    }
}
