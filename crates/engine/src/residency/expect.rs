//! Keys that commands will ask for soon: those of the requests that stand in a pipeline behind one
//! that waits for its own. They are read meanwhile, so a pipeline waits for the slowest of its
//! reads and not for their sum.
//!
//! Nobody waits for them here. A command that asks for one that is still being read joins; one that
//! finds it gone again, or damaged, has it read as if nobody had expected it.

use crate::engine::Engine;
use crate::residency::budget::Room;
use crate::residency::queue::Miss;
use crate::store::key::Key;
use basalt_change::row;
use basalt_keyspace::partition::Partition;

/// Keys that are looked at: some 50 µs. The others of a longer pipeline are looked at when it goes
/// on.
const KEYS_MAX: usize = 1_024;

impl Engine {
    /// Has those of these keys read that may be on disk only. Does nothing where memory is short,
    /// where more than one command can bring in at once would come, or while much waits to be read.
    pub fn expect<'k>(&self, keys: impl Iterator<Item = (u8, Key<'k>)>) {
        let misses = self.expected_misses(keys);
        if !misses.is_empty() && self.weigh(misses.len() as u64).is_ok() {
            self.misses.add_expected(misses);
        }
    }

    /// What is to be read for keys that will be asked for; nothing where memory is short, or while
    /// much waits to be read.
    pub(super) fn expected_misses<'k>(
        &self,
        keys: impl Iterator<Item = (u8, Key<'k>)>,
    ) -> Vec<Miss> {
        if self.memory_room().is_some_and(|room| room != Room::Free) || self.misses.has_much() {
            return Vec::new();
        }
        keys.take(KEYS_MAX).filter_map(|(db, key)| self.expected_miss(db, &key)).collect()
    }

    /// What is to be read for a key; `None` if nothing is, or somebody holds its partition.
    fn expected_miss(&self, db: u8, key: &Key<'_>) -> Option<Miss> {
        let miss_of = |partition: &Partition| {
            let database = partition.databases().numbered(usize::from(db))?;
            if !database.may_be_cold(key.hash)
                || database.table().find(key.hash, key.bytes).is_some()
            {
                return None;
            }
            let (generation, cold_version) = (database.generation(), partition.cold_version());
            let mut row_key = Vec::new();
            row::object_key(key.partition, generation, (key.hash, key.bytes), &mut row_key);
            Some(Miss { partition: key.partition, db, cold_version, hash: key.hash, row_key })
        };
        self.keyspace.try_look(key.partition, miss_of)?
    }
}
