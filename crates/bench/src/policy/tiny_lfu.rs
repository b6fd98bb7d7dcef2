//! W-TinyLFU (Einziger, Friedman, Manes: "TinyLFU: a highly efficient cache admission policy", ACM
//! Transactions on Storage 2017), with the window of 1% that the paper proposes.
//!
//! ```text
//! new ▸ window, 1%, LRU ▸ its oldest: asked for oftener than the victim ▸ probation; else gone
//! on probation, and used ▸ protected, 80% of the main part ▸ its oldest: back on probation
//! ```
//! It has neither the window that adapts itself nor the random admission of later versions of
//! Caffeine.

use super::cache::{Cache, Request};
use super::queue::Queue;
use super::sketch::Sketch;

/// Percent of the cache that is the window, and of the rest that is protected.
const WINDOW_PERCENT: usize = 1;
const PROTECTED_PERCENT: usize = 80;

/// Three lists and a sketch of how often keys were asked for.
#[derive(Debug)]
pub(super) struct WTinyLfu {
    window_max: usize,
    protected_max: usize,
    main_max: usize,
    window: Queue<()>,
    probation: Queue<()>,
    protected: Queue<()>,
    sketch: Sketch,
}

impl WTinyLfu {
    pub(super) fn new(capacity: usize) -> WTinyLfu {
        let window_max = (capacity * WINDOW_PERCENT / 100).max(1);
        let main_max = capacity - window_max;
        let (window, probation, protected) = Default::default();
        WTinyLfu {
            window_max,
            protected_max: main_max * PROTECTED_PERCENT / 100,
            main_max,
            window,
            probation,
            protected,
            sketch: Sketch::new(capacity),
        }
    }

    /// Makes room in the window: its oldest key goes on to the main part or away.
    fn leave_window(&mut self) {
        let Some((candidate, ())) = self.window.pop() else { return };
        if self.probation.len() + self.protected.len() < self.main_max {
            self.probation.push(candidate, ());
            return;
        }
        let list = if self.probation.len() > 0 { &mut self.probation } else { &mut self.protected };
        let Some(victim) = list.first() else { return };
        if self.sketch.estimate(candidate) > self.sketch.estimate(victim) {
            list.pop();
            self.probation.push(candidate, ());
        }
    }

    fn protect(&mut self, key: u64) {
        self.probation.remove(key);
        self.protected.push(key, ());
        if self.protected.len() > self.protected_max
            && let Some((oldest, ())) = self.protected.pop()
        {
            self.probation.push(oldest, ());
        }
    }
}

impl Cache for WTinyLfu {
    fn request(&mut self, Request { key, .. }: Request) -> bool {
        self.sketch.count(key);
        if self.window.contains(key) {
            self.window.renew(key);
        } else if self.protected.contains(key) {
            self.protected.renew(key);
        } else if self.probation.contains(key) {
            self.protect(key);
        } else {
            if self.window.len() == self.window_max {
                self.leave_window();
            }
            self.window.push(key, ());
            return false;
        }
        true
    }

    fn len(&self) -> usize {
        self.window.len() + self.probation.len() + self.protected.len()
    }
}

#[cfg(test)]
mod tests {
    use super::super::naive::{NaiveWTinyLfu, agree, hits};
    use super::*;

    #[test]
    fn it_is_what_plain_lists_do() {
        for capacity in [1, 2, 10, 210] {
            agree(&mut WTinyLfu::new(capacity), &mut NaiveWTinyLfu::new(capacity));
        }
    }

    #[test]
    fn what_is_asked_for_once_pushes_out_nothing_that_was_asked_for_twice() {
        let mut cache = WTinyLfu::new(4);
        // 9 goes through the window alone; 1, 2 and 3 stay in the main part.
        let text = hits(&mut cache, &[1, 2, 3, 9, 1, 2, 3, 20, 21, 22, 23, 1, 2, 3]);
        assert_eq!(text, "....+++....+++");
    }

    #[test]
    fn what_is_asked_for_oftener_than_the_victim_takes_its_place() {
        let mut cache = WTinyLfu::new(2);
        let text = hits(&mut cache, &[1, 2, 2, 3, 2, 1, 3, 3, 3, 4, 3]);
        // 3 is asked for in the window until it outweighs what stands in the main part.
        assert!(text.ends_with('+'), "{text}");
    }
}
