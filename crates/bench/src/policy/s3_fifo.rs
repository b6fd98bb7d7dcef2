//! S3-FIFO as published (Yang et al.: "FIFO queues are all you need for cache eviction", SOSP
//! 2023), which our own policy is derived from.
//!
//! ```text
//! new ▸ small, 10% ─ used twice ▸ main, 90% ─ used ▸ back to its end, a use less
//!                  └ else ▸ gone, a ghost            └ else ▸ gone
//! a ghost that is asked for ▸ main
//! ```

use super::cache::{Cache, Request};
use super::queue::Queue;

/// Uses that are counted.
const USES_MAX: u8 = 3;
/// Uses after which a key moves from the small queue to the main one.
const USES_TO_STAY: u8 = 2;

/// Three queues in the order of arrival.
#[derive(Debug)]
pub(super) struct S3Fifo {
    capacity: usize,
    small_max: usize,
    ghosts_max: usize,
    small: Queue<u8>,
    main: Queue<u8>,
    ghosts: Queue<()>,
}

impl S3Fifo {
    pub(super) fn new(capacity: usize) -> S3Fifo {
        let small_max = (capacity / 10).max(1);
        let (small, main, ghosts) = Default::default();
        let ghosts_max = capacity - small_max;
        S3Fifo { capacity, small_max, ghosts_max, small, main, ghosts }
    }

    fn evict(&mut self) {
        if self.small.len() >= self.small_max && self.evict_small() {
            return;
        }
        if !self.evict_main() {
            self.evict_small();
        }
    }

    /// Returns false if all that was there has moved to the main queue.
    fn evict_small(&mut self) -> bool {
        while let Some((key, uses)) = self.small.pop() {
            if uses >= USES_TO_STAY {
                self.main.push(key, 0);
                continue;
            }
            self.ghosts.push(key, ());
            if self.ghosts.len() > self.ghosts_max {
                self.ghosts.pop();
            }
            return true;
        }
        false
    }

    fn evict_main(&mut self) -> bool {
        while let Some((key, uses)) = self.main.pop() {
            if uses == 0 {
                return true;
            }
            self.main.push(key, uses - 1);
        }
        false
    }
}

impl Cache for S3Fifo {
    fn request(&mut self, Request { key, .. }: Request) -> bool {
        if let Some(uses) = self.small.get(key).or_else(|| self.main.get(key)) {
            *uses = (*uses + 1).min(USES_MAX);
            return true;
        }
        if self.len() == self.capacity {
            self.evict();
        }
        if self.ghosts.remove(key).is_some() {
            self.main.push(key, 0);
        } else {
            self.small.push(key, 0);
        }
        false
    }

    fn len(&self) -> usize {
        self.small.len() + self.main.len()
    }
}

#[cfg(test)]
mod tests {
    use super::super::naive::{NaiveS3Fifo, agree, hits};
    use super::*;

    #[test]
    fn it_is_what_plain_lists_do() {
        for capacity in [1, 2, 10, 47] {
            agree(&mut S3Fifo::new(capacity), &mut NaiveS3Fifo::new(capacity));
        }
    }

    #[test]
    fn a_ghost_that_is_asked_for_outlives_a_scan() {
        let mut cache = S3Fifo::new(10);
        let mut trace: Vec<u64> = (0..10).collect();
        // 10 pushes 0 out, which comes back to stay; a scan goes through the small queue.
        trace.extend([10, 0]);
        trace.extend(100..120);
        trace.push(0);
        let text = hits(&mut cache, &trace);
        assert!(text.ends_with('+'), "{text}");
        assert_eq!(text.matches('+').count(), 1, "{text}");
    }
}
