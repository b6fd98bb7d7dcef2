//! Which keys went a short while ago, by 16 bits of their hashes.
//!
//! ```text
//! hash:  ……………………………………… 32 bits: bucket ……………… | 16 bits: fingerprint
//! two generations of buckets of 32 fingerprints, one cache line each
//! ```
//! The younger generation takes what goes. When it has been given as many as it has places, it
//! becomes the older one, and that is forgotten. So between half and all of the last keys that
//! fit are known, and nothing is ever moved. A full bucket loses one of its fingerprints. Of keys
//! that never were here one in a thousand is taken for known: 64 places are compared, of 65,536
//! fingerprints.

/// Fingerprints of a bucket.
const BUCKET: usize = 32;
/// A place without a fingerprint.
const EMPTY: u16 = 0;

/// The ghost table.
#[derive(Debug)]
pub(super) struct Ghosts {
    young: Vec<[u16; BUCKET]>,
    old: Vec<[u16; BUCKET]>,
    /// Fingerprints that the younger generation was given.
    given: usize,
    /// And at which it becomes the older one.
    given_max: usize,
}

impl Ghosts {
    /// Room for this many in both generations together.
    pub(super) fn new(count: usize) -> Ghosts {
        let given_max = (count / 2).max(1);
        let buckets = vec![[EMPTY; BUCKET]; given_max.div_ceil(BUCKET)];
        Ghosts { young: buckets.clone(), old: buckets, given: 0, given_max }
    }

    /// Notes that a key went.
    pub(super) fn remember(&mut self, hash: u64) {
        if self.given == self.given_max {
            std::mem::swap(&mut self.young, &mut self.old);
            self.young.fill([EMPTY; BUCKET]);
            self.given = 0;
        }
        self.given += 1;
        let (bucket, fingerprint) = self.place(hash);
        let places = &mut self.young[bucket];
        let free = places.iter().position(|&place| place == EMPTY);
        places[free.unwrap_or(usize::from(fingerprint) % BUCKET)] = fingerprint;
    }

    /// Returns true if a key went of late, and forgets it.
    pub(super) fn recall(&mut self, hash: u64) -> bool {
        let (bucket, fingerprint) = self.place(hash);
        for places in [&mut self.young[bucket], &mut self.old[bucket]] {
            if let Some(place) = places.iter_mut().find(|place| **place == fingerprint) {
                *place = EMPTY;
                return true;
            }
        }
        false
    }

    fn place(&self, hash: u64) -> (usize, u16) {
        let spread = hash >> 16 & u64::from(u32::MAX);
        let bucket = (spread * self.young.len() as u64) >> 32;
        (bucket as usize, (hash as u16).max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::super::cache::hash;
    use super::*;

    #[test]
    fn a_ghost_is_recalled_once() {
        let mut ghosts = Ghosts::new(1_000);
        ghosts.remember(hash(1));
        assert!(!ghosts.recall(hash(2)));
        assert!(ghosts.recall(hash(1)));
        assert!(!ghosts.recall(hash(1)));
        // The fingerprint that would look like an empty place.
        ghosts.remember(0xabcd_0000);
        assert!(ghosts.recall(0xabcd_0000));
    }

    #[test]
    fn half_to_all_of_the_last_are_known_and_few_others() {
        const COUNT: u64 = 64_000;
        let mut ghosts = Ghosts::new(COUNT as usize);
        // Two and a half generations of half the count each.
        let last = COUNT / 2 * 5 / 2;
        (0..last).for_each(|key| ghosts.remember(hash(key)));
        let share = |ghosts: &mut Ghosts, keys: std::ops::Range<u64>| {
            let count = keys.end - keys.start;
            keys.filter(|&key| ghosts.recall(hash(key))).count() as f64 / count as f64
        };
        let strangers = share(&mut ghosts, 1_000_000..1_100_000);
        assert!(strangers < 0.002, "{strangers}");
        let forgotten = share(&mut ghosts, 0..COUNT / 2);
        assert!(forgotten < 0.002, "{forgotten}");
        let known = share(&mut ghosts, COUNT / 2..last);
        assert!((0.9..1.0).contains(&known), "{known}: full buckets lose a few");
    }
}
