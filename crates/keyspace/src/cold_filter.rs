//! Which keys may be in the cold tier only, in a bit and a half byte each.
//!
//! ```text
//! leading 40 bits of the hash (a row's key has no more) ▸ one line of 64 bytes ▸ six of its bits
//! layers: full? the next one has room for as many keys as all before together
//! ```
//! A key that it does not know is not in the cold tier, or in memory: a command that makes a new
//! key need not ask the cold tier's own filters for it, which takes ten times as long. Of keys that
//! never were there one in a hundred is taken for known. Nothing can be taken out of it: keys that
//! came back into memory or were deleted are in it until it is made again.

use basalt_change::row::HASH_SHIFT;
use basalt_stdx::prefetch::prefetch;
use std::mem::replace;

/// Bits for each key.
const BITS_A_KEY: usize = 12;
/// Bits that a key sets.
const PROBES: u32 = 6;
const LINE_WORDS: usize = 8;
const LINE_BITS: usize = LINE_WORDS * u64::BITS as usize;
/// Bits that name one of a line.
const PROBE_BITS: u32 = LINE_BITS.trailing_zeros();
/// Bits of the hash that count.
const HASH_BITS: u32 = u64::BITS - HASH_SHIFT;

/// A cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Line([u64; LINE_WORDS]);

/// See the head of this file.
#[derive(Debug)]
pub(crate) struct ColdFilter {
    /// The layer that takes what comes. Often the only one, so it is found at once.
    newest: Box<[Line]>,
    /// Those that are full.
    full: Vec<Box<[Line]>>,
    /// Keys that it was given, and for which there is room.
    keys: usize,
    keys_max: usize,
}

impl ColdFilter {
    /// An empty one with room for about this many keys.
    pub(crate) fn for_keys(keys: usize) -> ColdFilter {
        let lines = lines(keys.max(1));
        let keys_max = lines.len() * LINE_BITS / BITS_A_KEY;
        ColdFilter { newest: lines, full: Vec::new(), keys: 0, keys_max }
    }

    /// Whether a key with this hash may have been added.
    #[inline]
    pub(crate) fn may_have(&self, hash: u64) -> bool {
        has(&self.newest, hash) || self.full.iter().any(|lines| has(lines, hash))
    }

    /// Brings what [`ColdFilter::may_have`] reads into the cache.
    #[inline]
    pub(crate) fn prefetch(&self, hash: u64) {
        for lines in [&self.newest].into_iter().chain(&self.full) {
            prefetch((&raw const lines[line_of(hash, lines.len())]).cast());
        }
    }

    /// Adds a key; false if it is unknown and there is no room for it.
    pub(crate) fn add(&mut self, hash: u64) -> bool {
        if self.may_have(hash) {
            return true;
        }
        if self.keys == self.keys_max {
            return false;
        }
        self.keys += 1;
        let line = &mut self.newest[line_of(hash, self.newest.len())];
        for (word, bit) in probes(hash) {
            line.0[word] |= bit;
        }
        true
    }

    /// Makes room for as many keys as it has.
    pub(crate) fn grow(&mut self) {
        self.full.push(replace(&mut self.newest, lines(self.keys_max)));
        self.keys_max *= 2;
    }

    /// Keys that it was given.
    pub(crate) fn keys(&self) -> usize {
        self.keys
    }

    /// Bytes of memory.
    pub(crate) fn bytes(&self) -> usize {
        [&self.newest].into_iter().chain(&self.full).map(|lines| size_of_val(&**lines)).sum()
    }
}

fn lines(keys: usize) -> Box<[Line]> {
    vec![Line([0; LINE_WORDS]); (keys * BITS_A_KEY).div_ceil(LINE_BITS)].into_boxed_slice()
}

/// A layer has all bits of a key. Of one that it does not have the first bit or the second says so.
#[inline]
fn has(lines: &[Line], hash: u64) -> bool {
    let line = &lines[line_of(hash, lines.len())].0;
    probes(hash).all(|(word, bit)| line[word] & bit != 0)
}

/// The number of a key's line.
#[inline]
fn line_of(hash: u64, lines: usize) -> usize {
    ((u128::from(hash >> HASH_SHIFT) * lines as u128) >> HASH_BITS) as usize
}

/// The bits of a key in its line, each with the number of its word.
#[inline]
fn probes(hash: u64) -> impl Iterator<Item = (usize, u64)> {
    // The line says most of what the leading bits say: those behind have to reach all probes.
    let mut probes = (hash >> HASH_SHIFT).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    probes ^= probes >> 32;
    probes = probes.wrapping_mul(0xD6E8_FEB8_6659_FD93);
    (0..PROBES).map(move |_| {
        let bit = (probes >> (u64::BITS - PROBE_BITS)) as usize;
        probes <<= PROBE_BITS;
        (bit / u64::BITS as usize, 1 << (bit % u64::BITS as usize))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(number: u64) -> u64 {
        (number + 1)
            .wrapping_mul(0x9E37_79B9_7F4A_7C15)
            .rotate_left(31)
            .wrapping_mul(0xD6E8_FEB8_6659_FD93)
    }

    fn strangers(filter: &ColdFilter) -> f64 {
        const COUNT: u64 = if cfg!(miri) { 300 } else { 100_000 };
        let known = (1 << 40..(1 << 40) + COUNT).filter(|&key| filter.may_have(hash(key))).count();
        known as f64 / COUNT as f64
    }

    #[test]
    fn what_was_added_is_known_and_few_others() {
        const COUNT: u64 = if cfg!(miri) { 300 } else { 50_000 };
        let mut filter = ColdFilter::for_keys(COUNT as usize);
        assert!(!filter.may_have(hash(0)));
        assert!((0..COUNT).all(|key| filter.add(hash(key))));
        assert!((0..COUNT).all(|key| filter.may_have(hash(key))));
        let wrong = strangers(&filter);
        assert!(wrong < 0.02, "{wrong}");
        // A bit more than a byte and a half a key, and the share of the last line.
        assert!(filter.bytes() < COUNT as usize * 8 / 5 + 128);
    }

    #[test]
    fn it_grows_and_forgets_nothing() {
        let mut filter = ColdFilter::for_keys(0);
        const COUNT: u64 = if cfg!(miri) { 1_000 } else { 20_000 };
        for key in 0..COUNT {
            if !filter.add(hash(key)) {
                filter.grow();
                assert!(filter.add(hash(key)));
            }
        }
        assert!((0..COUNT).all(|key| filter.may_have(hash(key))));
        let wrong = strangers(&filter);
        assert!(wrong < 0.08, "{wrong}");
    }

    #[test]
    fn what_is_added_again_takes_no_room() {
        const KEYS: usize = 256;
        let mut filter = ColdFilter::for_keys(KEYS);
        for _ in 0..10 {
            assert!((0..KEYS as u64 / 2).all(|key| filter.add(hash(key))));
        }
        assert!(filter.keys() <= KEYS / 2);
        // Only what a row has of the hash counts.
        assert!(filter.may_have(hash(3) ^ 0xff_ffff));
    }
}
