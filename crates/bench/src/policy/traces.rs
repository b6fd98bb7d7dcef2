//! The traces that are generated: what is asked for in which order.
//!
//! ```text
//! zipf-0.7 …   every key as likely as its rank says, independent draws; theta 0.7, 0.99 and 1.2
//! zipf-scan    Zipf 0.99; a half of the requests scans of a tenth of the keys, each at a random
//!              place, after as many others
//! loop-1.2x …  keys in sequence, again and again, 1.2 and 2 times what the cache holds, behind a
//!              tenth of Zipf 0.99
//! zipf-loop    every second request Zipf 0.99, the others a loop of twice what the cache holds
//! shift        Zipf 0.99 over a fifth of the keys, which moves on by a half of itself 20 times
//! short-lived  a half Zipf 0.99, a half new keys, each asked for three times soon, never again
//! ```

use super::cache::Request;
use crate::keys::{Distribution, KeyDraw};
use crate::random::Random;

/// What is generated.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Shape {
    Zipf {
        theta: f64,
    },
    ZipfWithScans,
    /// Of this many tenths of what the cache holds.
    Loop {
        tenths: u64,
    },
    ZipfWithLoop,
    Shift,
    ShortLived,
}

impl Shape {
    pub(super) const ALL: [(&str, Shape); 9] = [
        ("zipf-0.7", Shape::Zipf { theta: 0.7 }),
        ("zipf-0.99", Shape::Zipf { theta: 0.99 }),
        ("zipf-1.2", Shape::Zipf { theta: 1.2 }),
        ("zipf-scan", Shape::ZipfWithScans),
        ("loop-1.2x", Shape::Loop { tenths: 12 }),
        ("loop-2x", Shape::Loop { tenths: 20 }),
        ("zipf-loop", Shape::ZipfWithLoop),
        ("shift", Shape::Shift),
        ("short-lived", Shape::ShortLived),
    ];
}

/// How large, how long and how fast a generated trace is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Extent {
    /// Different keys, but for new ones and those of loops.
    pub(super) keys: u64,
    pub(super) requests: u64,
    pub(super) requests_per_second: u64,
    pub(super) seed: u64,
}

/// Keys that are no others: those of loops, and new ones.
const LOOPED: u64 = 1 << 40;
const NEW: u64 = 1 << 41;
/// Share of the keys in one scan, and of the working set that shifts.
const SCAN_SHARE: u64 = 10;
const WORKING_SHARE: u64 = 5;
const SHIFTS: u64 = 20;
/// Share of the requests before a loop begins.
const BEFORE_LOOP: u64 = 10;
/// Of this many new keys that came last those are drawn that are asked for again.
const RECENT: u64 = 200;

/// The requests of a trace for a cache of `capacity` keys.
pub(super) fn generate(shape: Shape, extent: &Extent, capacity: u64) -> Vec<Request> {
    let mut generator = Generator::new(shape, extent, capacity);
    (0..extent.requests)
        .map(|number| Request {
            key: generator.key(number),
            second: (number / extent.requests_per_second.max(1)) as u32,
        })
        .collect()
}

struct Generator<'a> {
    shape: Shape,
    extent: &'a Extent,
    capacity: u64,
    random: Random,
    draw: KeyDraw,
    /// New keys so far, and where the next scan begins.
    fresh: u64,
    scan_from: u64,
}

impl<'a> Generator<'a> {
    fn new(shape: Shape, extent: &'a Extent, capacity: u64) -> Self {
        let theta = if let Shape::Zipf { theta } = shape { theta } else { 0.99 };
        let drawn =
            if shape == Shape::Shift { extent.keys / WORKING_SHARE } else { extent.keys }.max(1);
        Self {
            shape,
            extent,
            capacity,
            random: Random::new(extent.seed, 0),
            draw: KeyDraw::new(Distribution::Zipf { theta }, drawn),
            fresh: 0,
            scan_from: 0,
        }
    }

    fn key(&mut self, number: u64) -> u64 {
        let keys = self.extent.keys;
        match self.shape {
            Shape::Zipf { .. } => self.zipf(),
            Shape::ZipfWithScans => {
                let scanned = (keys / SCAN_SHARE).max(1);
                let within = number % (2 * scanned);
                if within < scanned {
                    return self.zipf();
                }
                if within == scanned {
                    self.scan_from = self.random.below(keys);
                }
                (self.scan_from + within - scanned) % keys
            }
            // No cache is empty when a loop begins; what it holds has to go first.
            Shape::Loop { .. } if number < self.extent.requests / BEFORE_LOOP => self.zipf(),
            Shape::Loop { tenths } => LOOPED + number % self.loop_len(tenths),
            Shape::ZipfWithLoop if number.is_multiple_of(2) => self.zipf(),
            Shape::ZipfWithLoop => LOOPED + number / 2 % self.loop_len(20),
            Shape::Shift => {
                let moved = number * SHIFTS / self.extent.requests.max(1);
                (moved * (keys / WORKING_SHARE / 2) + self.zipf()) % keys
            }
            Shape::ShortLived => match self.random.below(6) {
                0..3 => self.zipf(),
                3 => {
                    self.fresh += 1;
                    NEW + self.fresh
                }
                _ => NEW + self.fresh.saturating_sub(self.random.below(RECENT)),
            },
        }
    }

    fn zipf(&mut self) -> u64 {
        self.draw.next(&mut self.random, 0)
    }

    fn loop_len(&self, tenths: u64) -> u64 {
        (self.capacity * tenths / 10).max(1)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    const EXTENT: Extent =
        Extent { keys: 10_000, requests: 60_000, requests_per_second: 1_000, seed: 3 };

    fn keys(shape: Shape) -> Vec<u64> {
        generate(shape, &EXTENT, 1_000).into_iter().map(|request| request.key).collect()
    }

    fn distinct(keys: &[u64]) -> usize {
        keys.iter().collect::<HashSet<_>>().len()
    }

    #[test]
    fn a_seed_makes_a_trace_and_time_goes_on() {
        for (name, shape) in Shape::ALL {
            let trace = generate(shape, &EXTENT, 1_000);
            assert_eq!(trace, generate(shape, &EXTENT, 1_000), "{name}");
            assert_eq!((trace.len(), trace[59_999].second), (60_000, 59), "{name}");
        }
        let other = generate(Shape::Shift, &Extent { seed: 4, ..EXTENT }, 1_000);
        assert_ne!(other, generate(Shape::Shift, &EXTENT, 1_000));
    }

    #[test]
    fn loops_and_scans_go_in_sequence() {
        let (before, looped) = (keys(Shape::Loop { tenths: 12 }), 6_000);
        assert!(before[..looped].iter().all(|&key| key < EXTENT.keys));
        assert_eq!(distinct(&before[looped..]), 1_200);
        let mixed = keys(Shape::ZipfWithLoop);
        let looped: Vec<u64> = mixed.iter().copied().filter(|&key| key >= LOOPED).collect();
        assert_eq!((looped.len(), distinct(&looped)), (30_000, 2_000));
        assert!(looped.windows(2).take(1_999).all(|pair| pair[0] + 1 == pair[1]));
        let scans = keys(Shape::ZipfWithScans);
        let in_sequence =
            scans.windows(2).filter(|pair| (pair[0] + 1) % EXTENT.keys == pair[1]).count();
        assert!((29_900..31_000).contains(&in_sequence), "{in_sequence}");
    }

    #[test]
    fn a_working_set_moves_on() {
        let keys = keys(Shape::Shift);
        let (first, last) = (&keys[..3_000], &keys[57_000..]);
        assert!(first.iter().all(|&key| key < 2_000));
        assert!(last.iter().all(|&key| (9_000..10_000).contains(&key) || key < 1_000));
    }

    #[test]
    fn new_keys_are_asked_for_three_times_and_soon() {
        let keys = keys(Shape::ShortLived);
        let new: Vec<u64> = keys.iter().copied().filter(|&key| key >= NEW).collect();
        let (share, uses) = (new.len() as f64 / 6e4, new.len() as f64 / distinct(&new) as f64);
        assert!((0.48..0.52).contains(&share) && (2.8..3.2).contains(&uses), "{share} {uses}");
        let newest = new.iter().scan(0, |newest, &key| {
            *newest = key.max(*newest);
            Some((key, *newest))
        });
        assert!(newest.into_iter().all(|(key, newest)| newest - key < RECENT));
    }
}
