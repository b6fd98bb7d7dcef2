//! Redis' LRU: of a few keys that are drawn by chance, the one whose last use is longest ago goes.
//!
//! The sixteen best that were drawn so far are kept in a pool, and time has seconds, as in Redis'
//! `evict.c`. A key that stays in the pool is judged by when it was drawn.

use super::cache::{Cache, KeyMap, Request};
use crate::random::Random;

/// `EVPOOL_SIZE` of Redis.
const POOL: usize = 16;

/// Sampled LRU.
#[derive(Debug)]
pub(super) struct SampledLru {
    capacity: usize,
    samples: usize,
    /// Keys and the second of their last use, in no order, so that one can be drawn.
    entries: Vec<(u64, u32)>,
    index: KeyMap<usize>,
    /// Seconds without a use, and key; those that have waited longest last.
    pool: Vec<(u32, u64)>,
    random: Random,
}

impl SampledLru {
    /// `maxmemory-samples` is `samples`.
    pub(super) fn new(capacity: usize, samples: usize, seed: u64) -> SampledLru {
        SampledLru {
            capacity,
            samples,
            entries: Vec::new(),
            index: KeyMap::default(),
            pool: Vec::new(),
            random: Random::new(seed, samples as u64),
        }
    }

    fn draw(&mut self, now: u32) {
        for _ in 0..self.samples {
            let (key, used) = self.entries[self.random.below(self.entries.len() as u64) as usize];
            let idle = now.wrapping_sub(used);
            let place = self.pool.partition_point(|&(other, _)| other < idle);
            if self.pool.len() < POOL {
                self.pool.insert(place, (idle, key));
            } else if place > 0 {
                self.pool.insert(place, (idle, key));
                self.pool.remove(0);
            }
        }
    }

    fn evict(&mut self, now: u32) {
        loop {
            self.draw(now);
            while let Some((_, key)) = self.pool.pop() {
                if let Some(at) = self.index.remove(&key) {
                    self.entries.swap_remove(at);
                    if let Some(&(moved, _)) = self.entries.get(at) {
                        self.index.insert(moved, at);
                    }
                    return;
                }
            }
        }
    }
}

impl Cache for SampledLru {
    fn request(&mut self, Request { key, second }: Request) -> bool {
        if let Some(&at) = self.index.get(&key) {
            self.entries[at].1 = second;
            return true;
        }
        if self.entries.len() == self.capacity {
            self.evict(second);
        }
        self.index.insert(key, self.entries.len());
        self.entries.push((key, second));
        false
    }

    fn len(&self) -> usize {
        self.entries.len()
    }
}

#[cfg(test)]
mod tests {
    use super::super::naive::{NaiveLru, miss_ratio_of_random};
    use super::*;

    #[test]
    fn with_many_samples_and_fine_time_it_is_nearly_lru() {
        let lru = miss_ratio_of_random(&mut NaiveLru::new(40));
        let many = miss_ratio_of_random(&mut SampledLru::new(40, 200, 1));
        let one = miss_ratio_of_random(&mut SampledLru::new(40, 1, 1));
        assert!((many - lru).abs() < 0.01, "{many} and {lru}");
        assert!(one > lru + 0.005, "{one} and {lru}: one sample knows less");
    }

    #[test]
    fn of_a_pool_the_longest_idle_goes_first_and_those_gone_are_passed_over() {
        let mut cache = SampledLru::new(3, 64, 1);
        for (second, key) in [1, 2, 3].into_iter().enumerate() {
            cache.request(Request { key, second: second as u32 });
        }
        cache.request(Request { key: 1, second: 10 });
        cache.request(Request { key: 4, second: 11 });
        assert!(!cache.index.contains_key(&2) && cache.len() == 3);
        assert!(cache.pool.len() <= POOL && cache.pool.is_sorted());
        cache.request(Request { key: 5, second: 12 });
        assert!(!cache.index.contains_key(&3) && cache.index.contains_key(&1));
    }
}
