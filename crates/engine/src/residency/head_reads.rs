//! Reading what the rows of keys begin with, for commands that need no more.
//!
//! ```text
//! a command misses keys ▸ the pool reads what their rows begin with ▸ ReadHeads
//! it runs again and misses them still ▸ KnownHeads, those that are still true
//! ```

use crate::engine::Engine;
use crate::error::EngineError;
use crate::residency::heads::{KnownHeads, ReadHead, ReadHeads, Said, Unknown};
use crate::residency::queue::{Done, Miss, Missing};
use crate::residency::rows::LoadError;
use crate::store::view::View;
use basalt_change::row;
use basalt_keyspace::keyspace::Locked;
use std::collections::HashMap;
use std::sync::Arc;

/// What a head takes until its command has run, besides three copies of its row's key.
const HEAD_BYTES: u64 = 128;

impl Engine {
    /// Reads in the background what the rows of keys begin with, then calls `done`.
    ///
    /// The error is that they cannot be read, or take more memory than a command may at once.
    pub fn fetch_heads(&self, missing: Missing, read: Arc<ReadHeads>, done: Done) {
        let bytes_of = |miss: &Miss| HEAD_BYTES + 3 * miss.row_key.len() as u64;
        let bytes = missing.misses.iter().map(bytes_of).sum();
        if let Err(error) = self.weigh_bytes(missing.misses.len() as u64, bytes) {
            return done(Err(error));
        }
        self.misses.add_heads(missing.misses, &read, done);
    }

    pub(super) fn read_heads(&self, misses: &[Miss], read: &ReadHeads) -> Result<(), EngineError> {
        let keys: Vec<Vec<u8>> = misses.iter().map(|miss| miss.row_key.clone()).collect();
        let rows = self.cold.read_heads(&keys)?;
        let mut heads = Vec::with_capacity(misses.len());
        for (miss, row) in misses.iter().zip(rows) {
            let said = row.as_ref().map_or(Ok(Said::NoKey), Said::by);
            let said = said.map_err(|error| EngineError::from(LoadError::from(error)))?;
            let cold_version = miss.cold_version;
            heads.push((miss.row_key.clone(), ReadHead { cold_version, said }));
        }
        read.0.lock().extend(heads);
        Ok(())
    }

    /// What has been read of these keys, if that is true still: no checkpoint has written rows of
    /// their partitions since.
    fn known_heads(&self, missing: &Missing, read: &ReadHeads) -> Result<KnownHeads, Unknown> {
        let read = read.0.lock();
        let mut known = HashMap::with_capacity(missing.misses.len());
        for miss in &missing.misses {
            let read = read.get(&miss.row_key).ok_or(Unknown::Head)?;
            if read.cold_version != miss.cold_version {
                return Err(Unknown::Head);
            }
            let head = match read.said {
                Said::NoKey => None,
                Said::Head(head) => Some(head),
                Said::NotAll => return Err(Unknown::Value),
            };
            let (_, key) = row::split_object_key(&miss.row_key).ok_or(Unknown::Value)?;
            known.insert(key.into(), head);
        }
        Ok(KnownHeads(known))
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
        self.engine.known_heads(missing, read.ok_or(Unknown::Head)?)
    }
}
