//! The policies once more, as plainly as they can be written: vectors that are searched from end to
//! end. The models have to decide the same, request by request.

use super::cache::{Cache, Request, hash};
use super::ghosts::Ghosts;
use super::newcomers::{Counts, Order, Settings};
use super::sketch::Sketch;
use crate::random::Random;

/// Requests that are compared.
const REQUESTS: u64 = 6_000;
/// Requests a second.
const PER_SECOND: u64 = 50;

/// A trace of keys by chance, small numbers oftener, and runs of keys in sequence.
fn random_trace() -> impl Iterator<Item = Request> {
    let mut random = Random::new(11, 0);
    let mut scan = 0..0;
    (0..REQUESTS).map(move |number| {
        if scan.is_empty() && random.below(40) == 0 {
            let from = random.below(300);
            scan = from..from + random.below(60);
        }
        let key = scan.next().unwrap_or_else(|| {
            let bound = random.below(150) + 1;
            random.below(bound)
        });
        Request { key, second: (number / PER_SECOND) as u32 }
    })
}

/// Compares two caches on a trace by chance.
pub(super) fn agree(cache: &mut dyn Cache, naive: &mut dyn Cache) {
    for (number, request) in random_trace().enumerate() {
        let (hit, expected) = (cache.request(request), naive.request(request));
        assert_eq!(hit, expected, "request {number} of key {}", request.key);
        assert_eq!(cache.len(), naive.len(), "after request {number}");
    }
}

pub(super) fn miss_ratio_of_random(cache: &mut dyn Cache) -> f64 {
    // A request a second: time is as fine as can be.
    let seconds = (0..).zip(random_trace());
    let misses =
        seconds.filter(|&(second, Request { key, .. })| !cache.request(Request { key, second }));
    misses.count() as f64 / REQUESTS as f64
}

/// Requests keys, one a second; a plus for each hit, a point for each miss.
pub(super) fn hits(cache: &mut dyn Cache, keys: &[u64]) -> String {
    let seconds = keys.iter().zip(0..);
    seconds
        .map(|(&key, second)| if cache.request(Request { key, second }) { '+' } else { '.' })
        .collect()
}

pub(super) struct NaiveLru {
    capacity: usize,
    /// The one used last is the last.
    keys: Vec<u64>,
}

impl NaiveLru {
    pub(super) fn new(capacity: usize) -> Self {
        Self { capacity, keys: Vec::new() }
    }
}

impl Cache for NaiveLru {
    fn request(&mut self, Request { key, .. }: Request) -> bool {
        let hit = self.keys.contains(&key);
        self.keys.retain(|&other| other != key);
        self.keys.push(key);
        if self.keys.len() > self.capacity {
            self.keys.remove(0);
        }
        hit
    }

    fn len(&self) -> usize {
        self.keys.len()
    }
}

pub(super) struct NaiveSieve {
    capacity: usize,
    /// The newest is the first, as in the paper.
    keys: Vec<(u64, bool)>,
    /// Index of the hand.
    hand: Option<usize>,
}

impl NaiveSieve {
    pub(super) fn new(capacity: usize) -> Self {
        Self { capacity, keys: Vec::new(), hand: None }
    }
}

impl Cache for NaiveSieve {
    fn request(&mut self, Request { key, .. }: Request) -> bool {
        if let Some(entry) = self.keys.iter_mut().find(|entry| entry.0 == key) {
            entry.1 = true;
            return true;
        }
        if self.keys.len() == self.capacity {
            let mut at = self.hand.unwrap_or(self.keys.len() - 1);
            while self.keys[at].1 {
                self.keys[at].1 = false;
                at = if at == 0 { self.keys.len() - 1 } else { at - 1 };
            }
            self.keys.remove(at);
            self.hand = at.checked_sub(1);
        }
        self.keys.insert(0, (key, false));
        self.hand = self.hand.map(|hand| hand + 1);
        false
    }

    fn len(&self) -> usize {
        self.keys.len()
    }
}

pub(super) struct NaiveS3Fifo {
    capacity: usize,
    /// The oldest is the first in each.
    small: Vec<(u64, u8)>,
    main: Vec<(u64, u8)>,
    ghosts: Vec<u64>,
}

impl NaiveS3Fifo {
    pub(super) fn new(capacity: usize) -> Self {
        Self { capacity, small: Vec::new(), main: Vec::new(), ghosts: Vec::new() }
    }

    fn small_max(&self) -> usize {
        (self.capacity / 10).max(1)
    }

    fn evict_small(&mut self) -> bool {
        while !self.small.is_empty() {
            let (key, uses) = self.small.remove(0);
            if uses > 1 {
                self.main.push((key, 0));
            } else {
                self.ghosts.push(key);
                if self.ghosts.len() > self.capacity - self.small_max() {
                    self.ghosts.remove(0);
                }
                return true;
            }
        }
        false
    }
}

impl Cache for NaiveS3Fifo {
    fn request(&mut self, Request { key, .. }: Request) -> bool {
        let all = self.small.iter_mut().chain(&mut self.main);
        if let Some(entry) = all.into_iter().find(|entry| entry.0 == key) {
            entry.1 = u8::min(entry.1 + 1, 3);
            return true;
        }
        if self.len() == self.capacity
            && !(self.small.len() >= self.small_max() && self.evict_small())
        {
            while let Some(at) = self.main.iter().position(|entry| entry.1 == 0).or(Some(0)) {
                if self.main.is_empty() {
                    self.evict_small();
                    break;
                }
                // All before it go to the end with a use less, in their order.
                let passed: Vec<_> = self.main.drain(..at).collect();
                self.main.extend(passed.iter().map(|&(key, uses)| (key, uses - 1)));
                let (key, uses) = self.main.remove(0);
                if uses == 0 {
                    break;
                }
                self.main.push((key, uses - 1));
            }
        }
        if let Some(at) = self.ghosts.iter().position(|&ghost| ghost == key) {
            self.ghosts.remove(at);
            self.main.push((key, 0));
        } else {
            self.small.push((key, 0));
        }
        false
    }

    fn len(&self) -> usize {
        self.small.len() + self.main.len()
    }
}

pub(super) struct NaiveWTinyLfu {
    window_max: usize,
    main_max: usize,
    window: Vec<u64>,
    probation: Vec<u64>,
    protected: Vec<u64>,
    sketch: Sketch,
}

impl NaiveWTinyLfu {
    pub(super) fn new(capacity: usize) -> Self {
        let window_max = (capacity / 100).max(1);
        let (window, probation, protected) = Default::default();
        let main_max = capacity - window_max;
        Self { window_max, main_max, window, probation, protected, sketch: Sketch::new(capacity) }
    }
}

impl Cache for NaiveWTinyLfu {
    fn request(&mut self, Request { key, .. }: Request) -> bool {
        self.sketch.count(key);
        let lists = [&mut self.window, &mut self.protected, &mut self.probation];
        let found = lists.into_iter().position(|list| {
            let before = list.len();
            list.retain(|&other| other != key);
            list.len() < before
        });
        match found {
            Some(0) => self.window.push(key),
            Some(_) => {
                self.protected.push(key);
                if self.protected.len() > self.main_max * 8 / 10 {
                    self.probation.push(self.protected.remove(0));
                }
            }
            None => {
                self.window.push(key);
                if self.window.len() > self.window_max {
                    self.probation.push(self.window.remove(0));
                    self.admit();
                }
            }
        }
        found.is_some()
    }

    fn len(&self) -> usize {
        self.window.len() + self.probation.len() + self.protected.len()
    }
}

impl NaiveWTinyLfu {
    /// The last on probation has just come from the window.
    fn admit(&mut self) {
        if self.probation.len() + self.protected.len() <= self.main_max {
            return;
        }
        let Some(candidate) = self.probation.pop() else { return };
        let all = self.probation.iter().chain(&self.protected);
        let Some(&victim) = all.into_iter().next() else { return };
        if self.sketch.estimate(candidate) > self.sketch.estimate(victim) {
            self.probation.retain(|&key| key != victim);
            self.protected.retain(|&key| key != victim);
            self.probation.push(candidate);
        }
    }
}

struct NaiveEntry {
    key: u64,
    second: u32,
    uses: u8,
    probation: bool,
}

/// Entries in a vector that is sorted by hash, or in the order in which the hand comes by.
pub(super) struct NaiveNewcomers {
    capacity: usize,
    settings: Settings,
    entries: Vec<NaiveEntry>,
    ring: Vec<u64>,
    ghosts: Ghosts,
    /// Newcomers that came to leave the ring unused.
    unused: u32,
    /// The hash of the entry that the hand looked at last.
    passed: Option<u64>,
}

impl NaiveNewcomers {
    pub(super) fn new(capacity: usize, settings: Settings) -> Self {
        let ghosts = Ghosts::new(capacity * settings.ghosts_percent / 100);
        let (entries, ring) = Default::default();
        Self { capacity, settings, entries, ring, ghosts, unused: 0, passed: None }
    }

    fn at(&self, key: u64) -> Option<usize> {
        self.entries.iter().position(|entry| entry.key == key)
    }

    fn ring_max(&self) -> usize {
        (self.entries.len() * self.settings.ring_percent / 100).max(1)
    }

    fn evict(&mut self) {
        while self.ring.len() >= self.ring_max() {
            let key = self.ring[0];
            let Some(at) = self.at(key) else {
                panic!("{key} is in the ring and not in the table")
            };
            if self.entries[at].uses < self.settings.uses_to_stay {
                self.unused += 1;
                let spares = self.settings.spares_one_in;
                if spares == 0 || !self.unused.is_multiple_of(spares) {
                    return self.remove_newcomer();
                }
            }
            self.end_probation();
        }
        if self.entries.iter().all(|entry| entry.probation) {
            return self.remove_newcomer();
        }
        while !self.step() {}
    }

    fn remove_newcomer(&mut self) {
        let key = self.ring.remove(0);
        self.entries.retain(|entry| entry.key != key);
        self.ghosts.remember(hash(key));
    }

    fn end_probation(&mut self) {
        let key = self.ring.remove(0);
        let Some(at) = self.at(key) else { panic!("{key} is in the ring and not in the table") };
        let mut entry = self.entries.remove(at);
        entry.probation = false;
        match self.settings.order {
            Order::Hash => self.entries.insert(at, entry),
            Order::Arrival => self.entries.push(entry),
        }
    }

    /// The hand looks at one entry; returns true if that is gone.
    fn step(&mut self) -> bool {
        let at = match (self.settings.order, self.passed) {
            (Order::Hash, Some(passed)) => {
                self.entries.iter().position(|entry| hash(entry.key) > passed).unwrap_or(0)
            }
            _ => 0,
        };
        let mut entry = self.entries.remove(at);
        self.passed = Some(hash(entry.key));
        if !entry.probation {
            if entry.uses == 0 {
                if self.settings.hand_leaves_ghosts {
                    self.ghosts.remember(hash(entry.key));
                }
                return true;
            }
            entry.uses -= 1;
        }
        match self.settings.order {
            Order::Hash => self.entries.insert(at, entry),
            Order::Arrival => self.entries.push(entry),
        }
        false
    }
}

impl Cache for NaiveNewcomers {
    fn request(&mut self, Request { key, second }: Request) -> bool {
        if let Some(at) = self.at(key) {
            let entry = &mut self.entries[at];
            let is_first = entry.probation && entry.uses == 0;
            let is_counted = match self.settings.counts {
                Counts::Seconds => entry.second != second,
                Counts::SecondsAndFirst => entry.second != second || is_first,
                Counts::All => true,
            };
            if is_counted && entry.uses < self.settings.uses_max {
                entry.uses += 1;
            }
            entry.second = second;
            return true;
        }
        if self.entries.len() == self.capacity {
            self.evict();
        }
        let probation = !self.ghosts.recall(hash(key));
        self.entries.push(NaiveEntry { key, second, uses: 0, probation });
        if self.settings.order == Order::Hash {
            self.entries.sort_by_key(|entry| hash(entry.key));
        }
        if probation {
            self.ring.push(key);
            while self.ring.len() > self.ring_max() {
                self.end_probation();
            }
        }
        false
    }

    fn len(&self) -> usize {
        self.entries.len()
    }
}
