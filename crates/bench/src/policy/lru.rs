//! Least recently used: what every other policy is measured by.

use super::cache::{Cache, Request};
use super::queue::Queue;

/// The key whose last use is longest ago goes.
#[derive(Debug)]
pub(super) struct Lru {
    capacity: usize,
    queue: Queue<()>,
}

impl Lru {
    pub(super) fn new(capacity: usize) -> Lru {
        Lru { capacity, queue: Queue::default() }
    }
}

impl Cache for Lru {
    fn request(&mut self, Request { key, .. }: Request) -> bool {
        if self.queue.contains(key) {
            self.queue.renew(key);
            return true;
        }
        if self.queue.len() == self.capacity {
            self.queue.pop();
        }
        self.queue.push(key, ());
        false
    }

    fn len(&self) -> usize {
        self.queue.len()
    }
}

#[cfg(test)]
mod tests {
    use super::super::naive::{NaiveLru, agree};
    use super::*;

    #[test]
    fn it_is_what_a_plain_list_does() {
        for capacity in [1, 2, 7, 40] {
            agree(&mut Lru::new(capacity), &mut NaiveLru::new(capacity));
        }
    }
}
