//! What the random walk chooses from: few keys, so that they meet, on partitions and shards that
//! are shared and that are not; values on both sides of every limit in the engine.

use basalt_change::place::{PartitionId, Slot};
use basalt_env::random::Random;
use basalt_value::Kind;

/// The kinds of collections.
pub(crate) const KINDS: [Kind; 6] =
    [Kind::List, Kind::Set, Kind::SortedSet, Kind::Hash, Kind::Stream, Kind::Queue];
/// Keys of one hash tag.
const KEYS_A_TAG: u64 = 8;
/// Elements that make a collection a large one: about 64 KiB.
pub(crate) const CROWD: u64 = 1_000;
/// Milliseconds within which chosen expiries lie.
pub(crate) const EXPIRY_SPAN_MS: u64 = 2_000;

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

    /// What a key is for, if nothing is there: strings, or one kind of collection each.
    pub(crate) fn custom(key: &[u8]) -> Option<Kind> {
        let number = key.last().map_or(0, |digit| digit - b'0');
        KINDS.get(usize::from(number)).copied()
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
        9 => 2_500,
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

/// An element: a number, a few letters, rarely long. Few, so that equal ones meet.
pub(crate) fn word(random: &mut Random) -> Vec<u8> {
    match random.below(16) {
        0..=5 => (random.below(200) as i64 - 50).to_string().into_bytes(),
        6..=13 => format!("element:{}", random.below(300)).into_bytes(),
        14 => {
            let len = random.below(90) as usize;
            bytes(random, len)
        }
        _ => {
            let len = length(random);
            bytes(random, len)
        }
    }
}

/// How many elements a change concerns: mostly one or some, rarely enough for a collection of more
/// than 64 KiB.
fn element_count(random: &mut Random) -> u64 {
    match random.below(25) {
        0..=14 => 1,
        15..=22 => random.below(20),
        23 => random.below(200),
        _ => CROWD + random.below(1_500),
    }
}

/// Elements.
pub(crate) fn words(random: &mut Random) -> Vec<Vec<u8>> {
    (0..element_count(random)).map(|_| word(random)).collect()
}

/// A member's or a field's name: of few if it is alone, of more if they come in crowds.
pub(crate) fn name(random: &mut Random) -> Vec<u8> {
    name_of(random.below(60), random)
}

fn name_of(number: u64, random: &mut Random) -> Vec<u8> {
    match number % 3 {
        0 => number.to_string().into_bytes(),
        1 => format!("name of some length: {number}").into_bytes(),
        _ if random.chance(1, 40) => vec![b'n'; 60 + number as usize % 10],
        _ => format!("n{number}").into_bytes(),
    }
}

/// Members or names of fields.
pub(crate) fn names(random: &mut Random) -> Vec<Vec<u8>> {
    let count = element_count(random);
    let range = if count > 100 { 5_000 } else { 60 };
    (0..count).map(|_| name_of(random.below(range), random)).collect()
}

/// Where to cut a collection, and how much to keep: mostly nearly all, else little.
pub(crate) fn ends(random: &mut Random) -> (usize, usize) {
    let start = random.below(4) as usize;
    let count = if random.chance(1, 2) { 2_500 } else { random.below(60) };
    (start, count as usize)
}
