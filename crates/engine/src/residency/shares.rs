//! Partitions by their shares of something, for choosing one by chance.

use crate::engine::Engine;
use basalt_change::place::PartitionId;
use basalt_env::random::Random;
use basalt_keyspace::database::Database;

/// See the head of this file.
#[derive(Default)]
pub(super) struct Shares {
    /// For each partition, what it and those before it have.
    ends: Vec<u64>,
}

impl Shares {
    /// Adds up what the used databases have. Waits for nobody: a partition that somebody holds has
    /// nothing.
    pub(super) fn count(&mut self, engine: &Engine, of: impl Fn(&Database) -> u64) {
        self.ends.clear();
        let mut total = 0;
        for id in PartitionId::all() {
            let own = engine
                .keyspace
                .try_look(id, |partition| engine.used_of(partition).map(&of).sum::<u64>());
            total += own.unwrap_or(0);
            self.ends.push(total);
        }
    }

    pub(super) fn total(&self) -> u64 {
        self.ends.last().copied().unwrap_or(0)
    }

    /// A partition, by its share; `None` if there is nothing.
    pub(super) fn pick(&self, random: &mut Random) -> Option<PartitionId> {
        let total = self.total();
        let drawn = random.below(total);
        let place = self.ends.partition_point(|&end| end <= drawn);
        if total == 0 { None } else { PartitionId::new(place as u16) }
    }

    /// The partitions that have something.
    pub(super) fn all(&self) -> impl Iterator<Item = PartitionId> {
        let starts = [0].into_iter().chain(self.ends.iter().copied());
        let shares = PartitionId::all().zip(starts.zip(&self.ends));
        shares.filter(|(_, (start, end))| start < end).map(|(id, _)| id)
    }
}
