//! HOT PATH
//! Where a key lives: hash slot ▸ partition ▸ shard.
//!
//! The slot is Redis Cluster's: CRC16 (XMODEM) of the key, or of the part between the first `{` and
//! the next `}` if that part is not empty, modulo 16384
//! (<https://redis.io/docs/latest/operate/oss_and_stack/reference/cluster-spec/#key-distribution-model>).
//! A partition is 16 neighbouring slots, a shard 16 neighbouring partitions, so each is a
//! contiguous slot range and a cluster can move it as one.

use crate::crc16::{crc16, crc16_of_words};
use memchr::memchr;

/// Number of hash slots, as in Redis Cluster.
pub const SLOTS: usize = 16384;
/// Number of partitions: the unit of locking and of checkpoint position.
pub const PARTITIONS: usize = 1024;
/// Number of shards: streams in the log, and later consensus groups.
pub const SHARDS: usize = 64;

/// A Redis Cluster hash slot, `0..16384`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub struct Slot(u16);

/// A partition, `0..1024`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Hash)]
pub struct PartitionId(u16);

/// A shard, `0..64`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Hash)]
pub struct ShardId(u16);

impl Slot {
    /// The slot of `key`, hash tags respected.
    #[inline(always)]
    pub fn of(key: &[u8]) -> Slot {
        let crc = match ends_without_brace(key) {
            Some((first, last)) => crc16_of_words(first, last, key.len()),
            None => crc16(hash_tag(key)),
        };
        Slot(crc & (SLOTS as u16 - 1))
    }

    /// The slot's number, `0..16384`.
    #[inline]
    pub fn number(self) -> u16 {
        self.0
    }

    /// The partition that holds this slot.
    #[inline]
    pub fn partition(self) -> PartitionId {
        PartitionId(self.0 / (SLOTS / PARTITIONS) as u16)
    }
}

impl PartitionId {
    /// The partition that has the libraries of functions.
    pub const LIBRARIES: PartitionId = PartitionId(0);

    /// The partition with this number, or `None` if there is none.
    #[inline]
    pub fn new(number: u16) -> Option<PartitionId> {
        (usize::from(number) < PARTITIONS).then_some(PartitionId(number))
    }

    /// The partition's number, `0..1024`.
    #[inline]
    pub fn number(self) -> u16 {
        self.0
    }

    /// The partition's number as an index; that it is below [`PARTITIONS`] is said in a way that a
    /// compiler understands.
    #[inline]
    pub fn index(self) -> usize {
        usize::from(self.0) & (PARTITIONS - 1)
    }

    /// The shard that holds this partition.
    #[inline]
    pub fn shard(self) -> ShardId {
        ShardId(self.0 / (PARTITIONS / SHARDS) as u16)
    }

    /// All partitions in ascending order.
    pub fn all() -> impl DoubleEndedIterator<Item = PartitionId> + ExactSizeIterator {
        (0..PARTITIONS as u16).map(PartitionId)
    }
}

impl ShardId {
    /// The shard with this number, or `None` if there is none.
    #[inline]
    pub fn new(number: u16) -> Option<ShardId> {
        (usize::from(number) < SHARDS).then_some(ShardId(number))
    }

    /// The shard's number, `0..64`.
    #[inline]
    pub fn number(self) -> u16 {
        self.0
    }

    /// The shard's number as an index.
    #[inline]
    pub fn index(self) -> usize {
        usize::from(self.0)
    }

    /// The partitions of this shard in ascending order.
    pub fn partitions(self) -> impl Iterator<Item = PartitionId> {
        let per_shard = (PARTITIONS / SHARDS) as u16;
        (self.0 * per_shard..(self.0 + 1) * per_shard).map(PartitionId)
    }

    /// All shards in ascending order.
    pub fn all() -> impl ExactSizeIterator<Item = ShardId> {
        (0..SHARDS as u16).map(ShardId)
    }
}

/// Some shards.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct ShardSet(u64);

const _: () = assert!(SHARDS == 64, "a set of shards has a bit for each");

impl ShardSet {
    /// None of them.
    pub const EMPTY: ShardSet = ShardSet(0);
    /// All of them.
    pub const ALL: ShardSet = ShardSet(u64::MAX);

    /// This one alone.
    #[inline]
    pub fn of(shard: ShardId) -> ShardSet {
        ShardSet(1 << shard.0)
    }

    /// Adds a shard.
    #[inline]
    pub fn insert(&mut self, shard: ShardId) {
        self.0 |= 1 << shard.0;
    }

    /// Whether it is one of them.
    #[inline]
    pub fn contains(self, shard: ShardId) -> bool {
        self.0 & 1 << shard.0 != 0
    }

    /// Whether one of them is in the other set, too.
    pub fn meets(self, others: ShardSet) -> bool {
        self.0 & others.0 != 0
    }

    /// The shards in ascending order.
    pub fn iter(self) -> impl Iterator<Item = ShardId> {
        let mut left = self.0;
        std::iter::from_fn(move || {
            let shard = (left != 0).then(|| ShardId(left.trailing_zeros() as u16))?;
            left &= left - 1;
            Some(shard)
        })
    }
}

impl FromIterator<ShardId> for ShardSet {
    fn from_iter<I: IntoIterator<Item = ShardId>>(shards: I) -> ShardSet {
        let mut set = ShardSet::EMPTY;
        shards.into_iter().for_each(|shard| set.insert(shard));
        set
    }
}

/// The first eight and the last eight bytes of a key of eight to sixteen, in order; `None` if one
/// of them is `{`, or the key has another length. As most keys are, they are looked at and hashed
/// without being read twice; as words, which is what the CRC takes.
#[inline(always)]
fn ends_without_brace(key: &[u8]) -> Option<(u64, u64)> {
    let (first, last) = match (key.first_chunk(), key.last_chunk()) {
        (Some(first), Some(last)) if key.len() <= 16 => (first, last),
        _ => return None,
    };
    let (first, last) = (u64::from_be_bytes(*first), u64::from_be_bytes(*last));
    ((braces(first) | braces(last)) & HIGHS == 0).then_some((first, last))
}

/// The lowest bit of each byte of a word.
const LOWS: u64 = u64::MAX / 255;
/// The highest one.
const HIGHS: u64 = LOWS << 7;

/// Of its [`HIGHS`], none is set if no byte of the word is `{`: a byte that is 0 borrows from the
/// next when 1 is taken from each.
#[inline(always)]
fn braces(word: u64) -> u64 {
    let differing = word ^ const { LOWS * b'{' as u64 };
    differing.wrapping_sub(LOWS) & !differing
}

/// The part of `key` that decides its slot.
#[inline(always)]
fn hash_tag(key: &[u8]) -> &[u8] {
    let has_none = match key.len() {
        4..8 => ends_have_none::<4>(key),
        17..=32 => ends_have_none::<16>(key),
        _ => false,
    };
    if has_none { key } else { hash_tag_of_any(key) }
}

/// Whether no byte at the two ends of a key is `{`. Of one that is not longer than both they are
/// all of it.
#[inline(always)]
fn ends_have_none<const BYTES: usize>(key: &[u8]) -> bool {
    let (Some(first), Some(last)) = (key.first_chunk::<BYTES>(), key.last_chunk::<BYTES>()) else {
        return false;
    };
    !(has_brace(first) | has_brace(last))
}

#[inline(never)]
fn hash_tag_of_any(key: &[u8]) -> &[u8] {
    if !may_have_brace(key) {
        return key;
    }
    tag_in_braces(key)
}

/// False if no byte of the key is `{`. Sixteen bytes a step, which beats a call for keys as short
/// as they are; long keys may have one for all that this says.
#[inline]
fn may_have_brace(key: &[u8]) -> bool {
    const EXACT_BYTES_MAX: usize = 64;
    if key.len() > EXACT_BYTES_MAX {
        return true;
    }
    let (sixteens, tail) = key.as_chunks::<16>();
    let (eights, tail) = tail.as_chunks::<8>();
    sixteens.iter().any(has_brace) || eights.iter().any(has_brace) || tail.contains(&b'{')
}

/// Looks at all bytes, without a branch in between: one comparison of vectors.
#[inline]
fn has_brace<const BYTES: usize>(bytes: &[u8; BYTES]) -> bool {
    bytes.iter().fold(false, |found, &byte| found | (byte == b'{'))
}

#[inline(never)]
fn tag_in_braces(key: &[u8]) -> &[u8] {
    let Some(open) = memchr(b'{', key) else { return key };
    let rest = &key[open + 1..];
    match memchr(b'}', rest) {
        Some(0) | None => key,
        Some(close) => &rest[..close],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_agree_with_redis_cluster() {
        // From CLUSTER KEYSLOT of a real redis-server.
        for (key, slot) in [
            ("foo", 12182),
            ("bar", 5061),
            ("", 0),
            ("123456789", 12739),
            ("key:000000000042", 7803),
        ] {
            assert_eq!(Slot::of(key.as_bytes()).number(), slot, "{key}");
        }
    }

    #[test]
    fn hash_tags_bring_keys_together() {
        let same = |a: &str, b: &str| Slot::of(a.as_bytes()) == Slot::of(b.as_bytes());
        assert!(same("{user1000}.following", "{user1000}.followers"));
        assert!(same("foo{bar}{zap}", "bar"));
        assert!(same("foo{{bar}}zap", "{bar"));
        assert!(!same("foo{}{bar}", "bar"), "an empty tag counts for nothing");
    }

    #[test]
    fn only_a_brace_is_taken_for_one() {
        for len in 8..=16 {
            for byte in (0..=u8::MAX).filter(|byte| *byte != b'{') {
                let ends = ends_without_brace(&vec![byte; len]);
                assert!(ends.is_some(), "{byte} of length {len}");
            }
        }
        assert_eq!(ends_without_brace(b"seventeen bytes!!"), None);
        assert_eq!(ends_without_brace(b"seven b"), None);
    }

    #[test]
    fn a_brace_is_seen_wherever_it_stands() {
        for len in 0..100 {
            let mut key = vec![b'z'; len];
            assert!(!may_have_brace(&key) || len > 64);
            assert_eq!(hash_tag(&key), key);
            assert_eq!(Slot::of(&key).0, crc16(&key) % SLOTS as u16, "length {len}");
            for at in 0..len {
                key[at] = b'{';
                assert!(may_have_brace(&key), "at {at} of {len}");
                let tag = hash_tag(&key).len();
                assert_eq!(tag, len, "nothing closes it");
                assert_eq!(ends_without_brace(&key), None, "at {at} of {len}");
                assert_eq!(Slot::of(&key).0, crc16(&key) % SLOTS as u16, "at {at} of {len}");
                if at + 2 < len {
                    key[len - 1] = b'}';
                    assert_eq!(hash_tag(&key).len(), len - at - 2, "at {at} of {len}");
                    key[len - 1] = b'z';
                }
                key[at] = b'z';
            }
        }
    }
}
