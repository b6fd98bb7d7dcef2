//! SIEVE (Zhang et al.: "SIEVE is simpler than LRU", NSDI 2024).
//!
//! Keys stand in the order of arrival and never move. A hand goes from the oldest to the newest: a
//! key that was used loses its mark and stays, and the first without a mark goes.

use super::cache::{Cache, Request};
use super::queue::Queue;

/// One mark a key, and a hand.
#[derive(Debug)]
pub(super) struct Sieve {
    capacity: usize,
    /// Whether each was used since the hand passed it.
    queue: Queue<bool>,
    /// The place where the hand goes on.
    hand: u64,
}

impl Sieve {
    pub(super) fn new(capacity: usize) -> Sieve {
        Sieve { capacity, queue: Queue::default(), hand: 0 }
    }

    fn evict(&mut self) {
        while let Some((place, key)) = self.queue.at_or_behind(self.hand) {
            self.hand = place + 1;
            match self.queue.get(key) {
                Some(used) if *used => *used = false,
                _ => {
                    self.queue.remove(key);
                    // Behind the newest it begins again, before anything newer comes.
                    self.hand = self.queue.at_or_behind(self.hand).map_or(0, |(place, _)| place);
                    return;
                }
            }
        }
    }
}

impl Cache for Sieve {
    fn request(&mut self, Request { key, .. }: Request) -> bool {
        if let Some(used) = self.queue.get(key) {
            *used = true;
            return true;
        }
        if self.queue.len() == self.capacity {
            self.evict();
        }
        self.queue.push(key, false);
        false
    }

    fn len(&self) -> usize {
        self.queue.len()
    }
}

#[cfg(test)]
mod tests {
    use super::super::naive::{NaiveSieve, agree, hits};
    use super::*;

    #[test]
    fn it_is_what_a_plain_list_does() {
        for capacity in [1, 2, 7, 40] {
            agree(&mut Sieve::new(capacity), &mut NaiveSieve::new(capacity));
        }
    }

    #[test]
    fn a_used_key_outlives_newer_ones_and_the_hand_stays_where_it_was() {
        // 1 is used; 4 takes the place of 2, and 5 that of 3: the hand has not gone back to 1.
        let text = hits(&mut Sieve::new(3), &[1, 2, 3, 1, 4, 5, 1, 4, 5]);
        assert_eq!(text, "...+..+++");
    }
}
