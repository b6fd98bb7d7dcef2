//! Whether partitions want a checkpoint by themselves: one of them is full of changes, or much of
//! what is on disk has been deleted and only memory knows.
//!
//! Without the second, keys that have expired would take their space on disk until so much else has
//! changed that the log is long.

use crate::engine::Engine;
use basalt_change::place::PartitionId;
use basalt_env::Instant;
use basalt_keyspace::partition::Partition;
use std::time::Duration;

/// Dirty keys of one partition that start a checkpoint: about 1 ms under its lock.
const PARTITION_DIRTY_MAX: usize = 16 << 10;
/// Tombstones start one when one key of this number is one, and that for as long as this.
const KEYS_A_TOMBSTONE: u64 = 10;
const TOMBSTONES_WAIT: Duration = Duration::from_secs(60);

/// Since when there have been many tombstones.
#[derive(Default)]
pub(super) struct Tombstones {
    since: Option<Instant>,
}

/// What partitions have for a checkpoint.
#[derive(Default)]
struct Waiting {
    is_full: bool,
    tombstones: u64,
    keys: u64,
}

impl Engine {
    pub(super) fn partitions_want_checkpoint(&self, known: &mut Tombstones) -> bool {
        let mut waiting = Waiting::default();
        // One that somebody holds comes the next time.
        PartitionId::all().for_each(|id| {
            self.keyspace.try_look(id, |partition| waiting.add(partition));
        });
        let are_many = waiting.tombstones > 0
            && waiting.tombstones * KEYS_A_TOMBSTONE >= waiting.keys + waiting.tombstones;
        let now = self.env.clock.now();
        let since = known.since.filter(|_| are_many).or(are_many.then_some(now));
        known.since = since;
        let have_waited = since.is_some_and(|since| now >= since + TOMBSTONES_WAIT);
        if have_waited {
            known.since = None;
        }
        waiting.is_full || have_waited
    }
}

impl Waiting {
    fn add(&mut self, partition: &Partition) {
        let dirty = partition.dirty();
        self.is_full |= dirty + partition.dirty_elements() > PARTITION_DIRTY_MAX;
        let (mut tombstones, mut keys) = (0, 0);
        for database in partition.databases().iter() {
            let counts = database.table().counts();
            tombstones += counts.tombstones;
            keys += counts.live as u64 + database.keys_cold_only();
        }
        // Some may be clean: a read found nothing.
        self.tombstones += tombstones.min(dirty) as u64;
        self.keys += keys;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checkpoint::CheckpointPace;
    use crate::log::Gate;
    use crate::store::changes::ChangeSet;
    use crate::store::context::CommandContext;
    use crate::store::txn::Txn;
    use crate::testing::{engine, put};

    fn remove(engine: &Engine, key: &[u8]) {
        let key = engine.key(key);
        let mut changes = ChangeSet::default();
        let session = CommandContext::background(0, engine.clock().unix_ms());
        let mut txn = Txn::new(engine, engine.lock(&[key]), session, &mut changes);
        assert!(txn.delete(&key));
        txn.append(&mut Gate::default());
    }

    #[test]
    fn rows_of_deleted_keys_go_after_a_minute() {
        let (engine, clock) = engine();
        let names: Vec<String> = (0..40).map(|number| format!("key:{number}")).collect();
        names.iter().for_each(|name| put(&engine, name.as_bytes(), 0));
        engine.checkpoint().expect("a checkpoint");
        let mut pace = CheckpointPace::default();
        let mut later = |seconds: u64| {
            clock.advance_ms(seconds * 1_000);
            engine.checkpoint_now_if_due(&mut pace)
        };
        assert!(!later(100), "nothing is deleted");
        names[..3].iter().for_each(|name| remove(&engine, name.as_bytes()));
        assert!(!later(1) && !later(100), "too few");
        remove(&engine, names[3].as_bytes());
        assert!(!later(1) && !later(58), "too soon");
        assert!(later(2));
        assert!(!later(100) && !later(100), "once");
        // What was never on disk takes no space there.
        names[..3].iter().for_each(|name| put(&engine, name.as_bytes(), 0));
        names[..3].iter().for_each(|name| remove(&engine, name.as_bytes()));
        assert!(!later(100) && !later(100));
    }
}
