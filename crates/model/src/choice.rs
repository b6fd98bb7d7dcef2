//! What the random walk chooses from: few keys, so that they meet, on partitions and shards that
//! are shared and that are not; values on both sides of every limit in the engine.

use basalt_change::place::{PartitionId, Slot};
use basalt_env::random::Random;

/// Keys of one hash tag.
const KEYS_A_TAG: u64 = 8;
/// Milliseconds within which chosen expiries lie.
const EXPIRY_SPAN_MS: u64 = 2_000;

/// The keys of one run.
pub(crate) struct Keys {
    tags: Vec<String>,
}

impl Keys {
    /// Three partitions of one shard, two of another, and two on their own.
    pub(crate) fn new() -> Keys {
        let mut tags: Vec<(String, PartitionId)> = Vec::new();
        for (shard, partitions) in [(0, 3), (7, 2), (33, 1), (63, 1)] {
            let mut wanted = partitions;
            for number in 0u32.. {
                let tag = format!("{{t{number}}}");
                let partition = Slot::of(tag.as_bytes()).partition();
                let is_new = tags.iter().all(|&(_, other)| other != partition);
                if partition.shard().number() == shard && is_new {
                    tags.push((tag, partition));
                    wanted -= 1;
                }
                if wanted == 0 {
                    break;
                }
            }
        }
        Keys { tags: tags.into_iter().map(|(tag, _)| tag).collect() }
    }

    pub(crate) fn any(&self, random: &mut Random) -> Vec<u8> {
        let tag = &self.tags[random.below(self.tags.len() as u64) as usize];
        format!("{tag}{}", random.below(KEYS_A_TAG)).into_bytes()
    }

    /// Different keys, in no order.
    pub(crate) fn several(&self, random: &mut Random) -> Vec<Vec<u8>> {
        let mut keys: Vec<Vec<u8>> = Vec::new();
        for _ in 0..2 + random.below(4) {
            let key = self.any(random);
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
        keys
    }

    pub(crate) fn partition(&self, random: &mut Random) -> PartitionId {
        Slot::of(&self.any(random)).partition()
    }
}

/// A length around the limits: empty, whole in the log up to 128, apart from 2 KiB on.
pub(crate) fn length(random: &mut Random) -> usize {
    let bound = match random.below(12) {
        0 => return 0,
        1..=5 => 40,
        6..=8 => 300,
        9 | 10 => 2_500,
        _ => 9_000,
    };
    random.below(bound) as usize
}

pub(crate) fn bytes(random: &mut Random, len: usize) -> Vec<u8> {
    let mut bytes = vec![0; len];
    random.fill(&mut bytes);
    bytes
}

/// Mostly none, else soon, rarely already over.
pub(crate) fn expiry(random: &mut Random, now_ms: u64) -> u64 {
    match random.below(8) {
        0..=3 => 0,
        4 => now_ms - random.below(10),
        _ => now_ms + 1 + random.below(EXPIRY_SPAN_MS),
    }
}
