//! Looking at some of a database's keys in memory, from all over it: for reports on what is hot, on
//! what is large, and on how sizes are distributed, which need not be exact.
//!
//! Keys are in buckets by their hashes, so the buckets from any hash on hold a fair sample. Each
//! partition is looked at for its share of the keys, from a place of its own; one is held at a
//! time, for some hundred buckets. A database that has no more keys than are asked for is
//! looked at whole.

use crate::engine::Engine;
use crate::store::held::Held;
use crate::store::view::{Object, live};
use crate::store::walk::{Walk, WalkLimits, visit_some};
use basalt_change::place::PartitionId;
use basalt_env::random::Random;

/// Buckets that are looked at for a key, at most: where tombstones stand in most of them, fewer
/// keys are seen.
const BUCKETS_A_KEY: usize = 4;
/// Buckets that are looked at in any case.
const BUCKETS_MIN: usize = 256;

/// How much of a database a sample has seen.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Sampled {
    /// Its keys in memory.
    pub keys: u64,
    /// Keys that were shown.
    pub seen: u64,
}

impl Engine {
    /// Shows about this many live keys of a database, or all that are in memory if there are not
    /// more. A key that comes or goes meanwhile may be shown or not.
    ///
    /// # Errors
    /// Somebody holds a partition for longer than the thread waits.
    pub fn sample(
        &self,
        walk: Walk,
        keys_wanted: u64,
        random: &mut Random,
        mut visit: impl FnMut(&[u8], Object<'_>),
    ) -> Result<Sampled, Held> {
        let mut keys_of = Vec::with_capacity(PartitionId::all().len());
        for id in PartitionId::all() {
            let keys = self.look(None, id, walk.wait, |partition| {
                partition.database(walk.db).table().counts().live as u64
            });
            keys_of.push(keys?);
        }
        let mut sampled = Sampled { keys: keys_of.iter().sum(), seen: 0 };
        let wanted = keys_wanted.min(sampled.keys);
        for (id, keys) in PartitionId::all().zip(keys_of) {
            // Shares that are no whole numbers are rounded by chance, so that a database whose
            // partitions have few keys each is not left out.
            let share =
                u128::from(keys) * u128::from(wanted) + u128::from(random.below(sampled.keys));
            let share = (share / u128::from(sampled.keys.max(1))) as usize;
            let from = if share as u64 == keys { 0 } else { random.next_u64() };
            self.sample_partition(id, walk, (from, share), |key, object| {
                sampled.seen += 1;
                visit(key, object);
            })?;
        }
        Ok(sampled)
    }

    /// Shows keys of a partition from a hash on, and at its end from the first.
    fn sample_partition(
        &self,
        id: PartitionId,
        walk: Walk,
        (start, keys): (u64, usize),
        mut visit: impl FnMut(&[u8], Object<'_>),
    ) -> Result<(), Held> {
        let buckets = keys.saturating_mul(BUCKETS_A_KEY).max(BUCKETS_MIN);
        let mut left = WalkLimits { keys, buckets };
        let (mut from, mut is_second_part) = (start, false);
        while !left.are_reached() {
            let next = self.look(None, id, walk.wait, |partition| {
                visit_some(partition.database(walk.db).table(), from, &mut left, |entry| {
                    if let Some(object) = live(entry, walk.now_ms) {
                        visit(entry.key(), object);
                    }
                })
            })?;
            match next {
                Some(next) if is_second_part && next >= start => break,
                Some(next) => from = next,
                None if is_second_part || start == 0 => break,
                None => (from, is_second_part) = (0, true),
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{engine, put};
    use basalt_stdx::short_lock::LockWait;
    use std::collections::BTreeSet;

    fn sample(engine: &Engine, wanted: u64, seed: u64) -> (Sampled, Vec<Vec<u8>>) {
        let walk = Walk { db: 0, now_ms: engine.clock().unix_ms(), wait: LockWait::Endless };
        let mut names = Vec::new();
        let sampled = engine.sample(walk, wanted, &mut Random::new(seed), |key, _| {
            names.push(key.to_vec());
        });
        (sampled.expect("nobody holds a partition"), names)
    }

    #[test]
    fn a_small_database_is_seen_whole_and_each_key_once() {
        let (engine, clock) = engine();
        assert_eq!(sample(&engine, 10, 1).0, Sampled::default());
        for number in 0..3_000 {
            put(&engine, format!("key:{number}").as_bytes(), 0);
        }
        put(&engine, b"expired", 5);
        clock.advance_ms(10);
        let (sampled, names) = sample(&engine, 3_001, 1);
        assert_eq!((sampled.keys, sampled.seen), (3_001, 3_000), "the expired one is not shown");
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), 3_000);
    }

    /// Of a partition with many keys and many partitions with few, each has its share.
    #[test]
    fn a_sample_has_about_as_many_keys_as_are_wanted_from_everywhere() {
        let (engine, _) = engine();
        for number in 0..4_000 {
            put(&engine, format!("{{tag}}{number}").as_bytes(), 0);
            put(&engine, format!("key:{number}").as_bytes(), 0);
        }
        let mut tagged = 0;
        for seed in 0..10 {
            let (sampled, names) = sample(&engine, 800, seed);
            assert_eq!((sampled.keys, sampled.seen), (8_000, names.len() as u64));
            assert!((700..8_000).contains(&sampled.seen), "{sampled:?}");
            assert!(names.iter().any(|name| name.starts_with(b"key:")));
            tagged += names.iter().filter(|name| name.starts_with(b"{tag}")).count();
        }
        assert!((3_600..4_800).contains(&tagged), "{tagged} of one partition in ten samples");
    }
}
