//! HOT PATH
//! Random numbers that are known before they are drawn.
//!
//! A command that takes some member of a set reads one place of memory after the other, and which
//! they are only the random number says. So a thread keeps the next numbers: what prefetches for a
//! batch looks at as many as its commands will draw, and they draw them in that order.

use basalt_env::Random;
use std::cell::RefCell;
use std::collections::VecDeque;

struct Draws {
    random: Random,
    next: VecDeque<u64>,
}

thread_local! {
    static DRAWS: RefCell<Draws> =
        RefCell::new(Draws { random: Random::new(0), next: VecDeque::new() });
}

/// A thread begins that draws: its numbers follow from `seed`.
pub fn begin(seed: u64) {
    DRAWS.set(Draws { random: Random::new(seed), next: VecDeque::new() });
}

/// The next number of this thread.
#[inline]
pub fn draw() -> u64 {
    DRAWS.with_borrow_mut(|draws| match draws.next.pop_front() {
        Some(number) => number,
        None => draws.random.next_u64(),
    })
}

/// The number that [`draw`] returns after this number of others.
#[inline]
pub fn upcoming(nth: usize) -> u64 {
    DRAWS.with_borrow_mut(|draws| {
        while draws.next.len() <= nth {
            let number = draws.random.next_u64();
            draws.next.push_back(number);
        }
        draws.next[nth]
    })
}

#[cfg(test)]
mod tests {
    use super::{draw, upcoming};

    #[test]
    fn what_was_seen_is_drawn_in_that_order() {
        let seen = [upcoming(0), upcoming(1), upcoming(2)];
        assert_eq!([draw(), draw()], seen[..2]);
        assert_eq!(upcoming(0), seen[2]);
        assert_eq!(draw(), seen[2]);
        assert_ne!(draw(), draw());
    }
}
