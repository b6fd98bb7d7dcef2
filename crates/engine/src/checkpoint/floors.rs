//! Up to where each partition does without the log.
//!
//! A checkpoint passes over the partitions in their order and ingests what it has gathered in
//! slices of [`Options::ingest_bytes`](crate::engine::Options). A record that nobody needs could go
//! at once, but records of all partitions share the log's files, and a file goes when its last
//! record does. So the log has what was written since the pass before came to the partition that
//! comes next: one pass at any time. If it were cut at the end of each pass only, it would grow to
//! two, and so would the time of a restart.

use basalt_change::log_mark::LogMark;
use basalt_change::place::{PARTITIONS, PartitionId, SHARDS};

/// A position in its shard's stream for each partition: the cold tier has what the partition did up
/// to it. They begin at zero with the process, so that the first pass cuts the log at its end only.
#[derive(Clone)]
pub(crate) struct Floors {
    of_partitions: Box<[u64]>,
    /// What the cold tier has noted, or will have with the next ingest; `None` if the log has no
    /// name.
    mark: Option<LogMark>,
}

impl Default for Floors {
    fn default() -> Floors {
        Floors { of_partitions: vec![0; PARTITIONS].into(), mark: None }
    }
}

impl Floors {
    /// Goes on from what a start has found.
    pub(crate) fn after(mark: Option<LogMark>) -> Floors {
        Floors { mark, ..Floors::default() }
    }

    /// The row that must be in the cold tier before the log is trimmed.
    pub(crate) fn mark(&self) -> Option<&LogMark> {
        self.mark.as_ref()
    }

    /// Some partitions are in the cold tier as they were at these positions, one a shard, or later.
    pub(crate) fn raise(&mut self, partitions: &[PartitionId], positions: &[u64]) {
        for id in partitions {
            self.of_partitions[id.index()] = positions[id.shard().index()];
        }
        let through = self.of_shards();
        // What an earlier process has trimmed stays so.
        let trimmed = self.mark.iter_mut().flat_map(|mark| &mut mark.trimmed);
        trimmed.zip(through).for_each(|(trimmed, through)| *trimmed = through.max(*trimmed));
    }

    /// For each shard the position through which none of its partitions needs the log.
    pub(crate) fn of_shards(&self) -> Vec<u64> {
        let mut through = vec![u64::MAX; SHARDS];
        for (id, floor) in PartitionId::all().zip(&self.of_partitions) {
            let through = &mut through[id.shard().index()];
            *through = (*through).min(*floor);
        }
        through
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shard_waits_for_the_last_of_its_partitions() {
        let mut floors = Floors::default();
        let all: Vec<PartitionId> = PartitionId::all().collect();
        let (last, others) = all.split_last().expect("there are partitions");
        floors.raise(others, &[10; SHARDS]);
        let shard = last.shard().index();
        let through = floors.of_shards();
        assert!((0..SHARDS).all(|s| through[s] == if s == shard { 0 } else { 10 }));
        floors.raise(&[*last], &[12; SHARDS]);
        assert_eq!(floors.of_shards(), [10; SHARDS]);
    }
}
