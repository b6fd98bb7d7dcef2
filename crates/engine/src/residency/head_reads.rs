//! Reading what the rows of keys begin with, for commands that need no more.
//!
//! ```text
//! a command misses keys ▸ the pool reads what their rows begin with ▸ ReadHeads
//!   and what those begin with that commands behind it in a pipeline will miss
//! it runs again and misses them still ▸ KnownHeads, those that are still true
//!   of some it is not: they are read again; of some it is not enough: their values are read
//! ```
//! What has been read of a command's keys is in memory at once, whatever their number, since the
//! command runs on all of them under their locks or not at all: some 300 bytes a key, of which its
//! own words take a part before. That may take half of what the keyspace may.

use crate::engine::Engine;
use crate::error::EngineError;
use crate::residency::heads::{Heads, KnownHeads, Purpose, ReadHead, ReadHeads, Said, Unknown};
use crate::residency::queue::{Done, Miss, Missing};
use crate::residency::rows::LoadError;
use crate::store::key::Key;
use crate::store::txn::Txn;
use crate::store::view::View;
use basalt_change::row;
use basalt_keyspace::deferred::Change;
use basalt_keyspace::keyspace::Locked;
use std::sync::Arc;

/// What a key takes until its command has run, besides two copies of its row's key: a place in a
/// table, of which half may be free, and what it is missed by.
const HEAD_BYTES: u64 = 2 * size_of::<(Vec<u8>, ReadHead)>() as u64 + size_of::<Miss>() as u64;
/// Heads that are read for a command may take this part of what the keyspace may.
const TARGET_PART: u64 = 2;

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
        let bytes_of = |miss: &Miss| HEAD_BYTES + 2 * miss.row_key.len() as u64;
        self.weigh_bytes(misses.len() as u64, misses.iter().map(bytes_of).sum(), TARGET_PART)
    }

    pub(super) fn read_heads(
        &self,
        misses: Vec<Miss>,
        read: &ReadHeads,
    ) -> Result<(), EngineError> {
        let split = |miss: Miss| (miss.row_key, miss.cold_version);
        let (keys, cold_versions): (Vec<Vec<u8>>, Vec<u64>) = misses.into_iter().map(split).unzip();
        let rows = self.cold.read_heads(&keys)?;
        let mut heads = Vec::with_capacity(keys.len());
        for ((key, cold_version), row) in keys.into_iter().zip(cold_versions).zip(rows) {
            let said = row.as_ref().map_or(Ok(Said::NoKey), Said::by);
            let said = said.map_err(|error| EngineError::from(LoadError::from(error)))?;
            heads.push((key, ReadHead { cold_version, said }));
        }
        read.heads.lock().extend(heads);
        Ok(())
    }

    /// What has been read of these keys, if it is true still, no checkpoint having written rows of
    /// their partitions since, and enough. It is taken out of `read`.
    fn heads_of(
        &self,
        locked: &Locked<'_>,
        missing: Missing,
        read: Option<&ReadHeads>,
        purpose: Purpose,
    ) -> Result<KnownHeads, Unknown> {
        let nothing = ReadHeads::default();
        let mut heads = read.unwrap_or(&nothing).heads.lock();
        let Missing { mut misses } = missing;
        let is_read = |heads: &Heads, miss: &Miss| {
            let head = heads.get(&miss.row_key);
            head.is_some_and(|head| head.cold_version == miss.cold_version)
        };
        if !misses.iter().all(|miss| is_read(&heads, miss)) {
            misses.retain(|miss| !is_read(&heads, miss));
            return Err(Unknown::Heads(Missing { misses }));
        }
        for miss in &misses {
            if let (Some(changes), Some(head)) =
                (changes_of(locked, miss), heads.get_mut(&miss.row_key))
            {
                // If the command has to wait it does this again, to the same effect.
                *head = head.after(&changes);
            }
        }
        let is_enough = |heads: &Heads, miss: &Miss| {
            heads.get(&miss.row_key).is_some_and(|head| head.is_enough_to(purpose))
        };
        if !misses.iter().all(|miss| is_enough(&heads, miss)) {
            misses.retain(|miss| !is_enough(&heads, miss));
            return Err(Unknown::Values(Missing { misses }));
        }
        if misses.len() == heads.len() {
            return Ok(KnownHeads(std::mem::take(&mut heads)));
        }
        let taken = misses.iter().filter_map(|miss| heads.remove_entry(&miss.row_key));
        Ok(KnownHeads(taken.collect()))
    }
}

impl ReadHeads {
    /// Nothing is left that somebody has not asked for.
    pub fn is_empty(&self) -> bool {
        self.heads.lock().is_empty()
    }
}

/// The changes of a collection that wait for it to be read.
fn changes_of(locked: &Locked<'_>, miss: &Miss) -> Option<Arc<Vec<Change>>> {
    let spread = locked.partition(miss.partition).database(miss.db).spread();
    let (_, key) = row::split_object_key(&miss.row_key)?;
    spread.deferred(key)
}

impl View<'_> {
    /// What the rows of these keys say, if `read` has it and it is true still.
    ///
    /// # Errors
    /// What is to be read.
    pub fn heads_of(
        &self,
        missing: Missing,
        read: Option<&ReadHeads>,
    ) -> Result<KnownHeads, Unknown> {
        self.engine.heads_of(&self.locked, missing, read, Purpose::Ask)
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
        missing: Missing,
        read: Option<&ReadHeads>,
    ) -> Result<KnownHeads, Unknown> {
        self.engine.heads_of(&self.locked, missing, read, Purpose::Remove)
    }
}
