//! Which keys left memory a short while ago, by 16 bits of their hashes.
//!
//! ```text
//! hash:  ……………………………………… 32 bits: bucket ……………… | 16 bits: fingerprint
//! two generations of buckets of 32 fingerprints, one cache line each
//! ```
//! The younger generation takes what goes. When it has been given as many as it has places, it
//! becomes the older one, and that is forgotten: between half and all of the last keys that fit are
//! known, and nothing is ever moved. A full bucket loses one of its fingerprints. Of keys that
//! never were here one in a thousand is taken for known: then it stays in memory a little longer.

/// Fingerprints of a bucket.
const BUCKET: usize = 32;
/// A place without a fingerprint.
const EMPTY: u16 = 0;

type Bucket = [u16; BUCKET];

/// The ghosts of one table.
#[derive(Debug, Default)]
pub(crate) struct Ghosts {
    young: Box<[Bucket]>,
    old: Box<[Bucket]>,
    /// Fingerprints that the younger generation was given.
    given: usize,
    /// And at which it becomes the older one; 0 while there is no memory for any.
    given_max: usize,
}

impl Ghosts {
    /// Has room for about this many. Forgets all if that is far from what there is room for.
    pub(crate) fn fit(&mut self, count: usize) {
        let wanted = (count / 2).max(BUCKET);
        if (self.given_max / 2..=self.given_max * 2).contains(&wanted) {
            return;
        }
        let buckets = || vec![[EMPTY; BUCKET]; wanted.div_ceil(BUCKET)].into_boxed_slice();
        *self = Ghosts { young: buckets(), old: buckets(), given: 0, given_max: wanted };
    }

    /// The key with this hash goes.
    pub(crate) fn remember(&mut self, hash: u64) {
        if self.given == self.given_max {
            if self.given_max == 0 {
                return;
            }
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

    /// Whether the key with this hash went of late; that is forgotten.
    pub(crate) fn recall(&mut self, hash: u64) -> bool {
        if self.given_max == 0 {
            return false;
        }
        let (bucket, fingerprint) = self.place(hash);
        for places in [&mut self.young[bucket], &mut self.old[bucket]] {
            if let Some(place) = places.iter_mut().find(|place| **place == fingerprint) {
                *place = EMPTY;
                return true;
            }
        }
        false
    }

    /// Bytes of memory.
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(&*self.young) + size_of_val(&*self.old)
    }

    fn place(&self, hash: u64) -> (usize, u16) {
        let spread = hash >> 16 & u64::from(u32::MAX);
        let bucket = (spread * self.young.len() as u64) >> 32;
        (bucket as usize, (hash as u16).max(1))
    }
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

    #[test]
    fn a_ghost_is_recalled_once() {
        let mut ghosts = Ghosts::default();
        ghosts.remember(hash(1));
        assert!(!ghosts.recall(hash(1)), "there was no room");
        ghosts.fit(1_000);
        ghosts.remember(hash(1));
        ghosts.fit(1_400);
        assert!(!ghosts.recall(hash(2)));
        assert!(ghosts.recall(hash(1)));
        assert!(!ghosts.recall(hash(1)));
        // The fingerprint that would look like an empty place.
        ghosts.remember(0xabcd_0000);
        assert!(ghosts.recall(0xabcd_0000));
    }

    #[test]
    fn half_to_all_of_the_last_are_known_and_few_others() {
        const COUNT: u64 = if cfg!(miri) { 640 } else { 64_000 };
        let mut ghosts = Ghosts::default();
        ghosts.fit(COUNT as usize);
        // Two and a half generations of half the count each.
        let last = COUNT / 2 * 5 / 2;
        (0..last).for_each(|key| ghosts.remember(hash(key)));
        let share = |ghosts: &mut Ghosts, keys: std::ops::Range<u64>| {
            let count = keys.end - keys.start;
            keys.filter(|&key| ghosts.recall(hash(key))).count() as f64 / count as f64
        };
        let strangers = share(&mut ghosts, 1_000_000..1_000_000 + COUNT);
        assert!(strangers < 0.005, "{strangers}");
        let forgotten = share(&mut ghosts, 0..COUNT / 2);
        assert!(forgotten < 0.005, "{forgotten}");
        let known = share(&mut ghosts, COUNT / 2..last);
        assert!(known > 0.85, "{known}: full buckets lose a few");
    }
}
