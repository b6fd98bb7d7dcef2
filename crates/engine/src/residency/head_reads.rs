//! Reading what the rows of keys begin with, for commands that need no more.
//!
//! ```text
//! a command misses keys ▸ the pool reads what their rows begin with ▸ ReadHeads
//!   and what those begin with that commands behind it in a pipeline will miss
//! it runs again and misses them still ▸ KnownHeads, those that are still true
//! ```

use crate::engine::Engine;
use crate::error::EngineError;
use crate::residency::heads::{KnownHeads, ReadHead, ReadHeads, Said, Unknown};
use crate::residency::queue::{Done, Miss, Missing};
use crate::residency::rows::LoadError;
use crate::store::key::Key;
use crate::store::txn::Txn;
use crate::store::view::View;
use basalt_change::row;
use basalt_keyspace::keyspace::Locked;
use std::collections::HashMap;
use std::sync::Arc;

/// What a head takes until its command has run, besides three copies of its row's key.
const HEAD_BYTES: u64 = 128;

impl Engine {
    /// Reads in the background what the rows of keys begin with, and of those that are expected,
    /// then calls `done`.
    ///
    /// The error is that the former cannot be read, or take more memory than a command may at once.
    pub fn fetch_heads(&self, missing: Missing, read: Arc<ReadHeads>, done: Done) {
        if let Err(error) = self.weigh_heads(&missing.misses) {
            return done(Err(error));
        }
        self.misses.add_heads(missing.misses, &read, done);
    }

    /// Has what the rows of these keys begin with read, too, when that is fetched for which there
    /// is `read`: they are those of requests behind it. Does nothing where [`Engine::expect`] does
    /// nothing.
    pub fn expect_heads<'k>(&self, keys: impl Iterator<Item = (u8, Key<'k>)>, read: &ReadHeads) {
        let misses = self.expected_misses(keys);
        if self.weigh_heads(&misses).is_ok() {
            *read.expected.lock() = misses;
        }
    }

    fn weigh_heads(&self, misses: &[Miss]) -> Result<(), EngineError> {
        let bytes_of = |miss: &Miss| HEAD_BYTES + 3 * miss.row_key.len() as u64;
        self.weigh_bytes(misses.len() as u64, misses.iter().map(bytes_of).sum())
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
        read.heads.lock().extend(heads);
        Ok(())
    }

    /// What has been read of these keys, if that is true still: no checkpoint has written rows of
    /// their partitions since. It is taken out of `read`.
    fn known_heads(&self, missing: &Missing, read: &ReadHeads) -> Result<KnownHeads, Unknown> {
        let mut read = read.heads.lock();
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
        for miss in &missing.misses {
            read.remove(&miss.row_key);
        }
        Ok(KnownHeads(known))
    }

    fn heads_of(
        &self,
        locked: &Locked<'_>,
        missing: &Missing,
        read: Option<&ReadHeads>,
    ) -> Result<KnownHeads, Unknown> {
        if !missing.rows_are_true(locked) {
            return Err(Unknown::Value);
        }
        self.known_heads(missing, read.ok_or(Unknown::Head)?)
    }
}

impl ReadHeads {
    /// Nothing is left that somebody has not asked for.
    pub fn is_empty(&self) -> bool {
        self.heads.lock().is_empty()
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
        self.engine.heads_of(&self.locked, missing, read)
    }
}

impl Txn<'_> {
    /// What the rows of these keys say, which are to be removed, if `read` has it and it is true
    /// still.
    ///
    /// # Errors
    /// What is to be read.
    pub fn heads_of(
        &self,
        missing: &Missing,
        read: Option<&ReadHeads>,
    ) -> Result<KnownHeads, Unknown> {
        let known = self.engine.heads_of(&self.locked, missing, read)?;
        if known.are_enough_to_remove() { Ok(known) } else { Err(Unknown::Value) }
    }
}
