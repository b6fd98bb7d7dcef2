//! What is known of deletions whose space may be given back.

use crate::options::LEVEL0_FILES_TO_MERGE;
use basalt_cold::KeyRange;

/// Noted ranges that are kept at most. They are a hint: what is not found by it is merged.
const RANGES_MAX: usize = 64 << 10;

/// What is known of deletions. A thread that has its lock commits, or keeps others from it.
pub(crate) struct Deleted {
    /// Deleted ranges that have not been looked through for files to be removed.
    pub(crate) ranges: Vec<KeyRange>,
    /// These were, and files stayed that merges had in hand.
    pub(crate) waits_for_merges: bool,
    /// Bytes that stood in deleted ranges whose tombstones may be in the youngest level.
    pub(crate) covered_bytes: u64,
    /// The youngest level is being merged, through the file of this number.
    pub(crate) merging_through: Option<u64>,
    /// Files of the youngest level that RocksDB merges.
    pub(crate) files_to_merge: i32,
    /// RocksDB begins no merges.
    pub(crate) merges_are_off: bool,
    /// What was there when the youngest level was looked at and left as it was.
    pub(crate) left: Option<Look>,
}

/// What a look at the youngest level depends on.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Look {
    pub(crate) commits: u64,
    pub(crate) covered_bytes: u64,
    pub(crate) percent_min: u64,
}

impl Default for Deleted {
    /// Nothing is, and RocksDB has been opened with the options that hold at first.
    fn default() -> Deleted {
        Deleted {
            ranges: Vec::new(),
            waits_for_merges: false,
            covered_bytes: 0,
            merging_through: None,
            files_to_merge: LEVEL0_FILES_TO_MERGE,
            merges_are_off: false,
            left: None,
        }
    }
}

impl Deleted {
    /// Ranges have been deleted in which `covered_bytes` stood.
    pub(crate) fn note(&mut self, ranges: Vec<KeyRange>, covered_bytes: u64) {
        self.covered_bytes += covered_bytes;
        let room = RANGES_MAX.saturating_sub(self.ranges.len());
        self.ranges.extend(ranges.into_iter().take(room));
    }
}

/// Sorts ranges, and joins those that overlap or touch.
pub(crate) fn joined(mut ranges: Vec<KeyRange>) -> Vec<KeyRange> {
    ranges.sort_unstable();
    let mut joined: Vec<KeyRange> = Vec::with_capacity(ranges.len());
    for (from, to) in ranges {
        match joined.last_mut() {
            Some((_, last)) if from <= *last => {
                if *last < to {
                    *last = to;
                }
            }
            _ => joined.push((from, to)),
        }
    }
    joined
}
