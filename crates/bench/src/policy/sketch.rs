//! How often keys were asked for of late, roughly, in a few bits a key: a count-min sketch whose
//! counters are halved from time to time.

use super::cache::hash;

const ROWS: usize = 4;
/// Counters of four bits.
const COUNT_MAX: u8 = 15;
/// Counters of a row, for each key of the cache.
const WIDTH: usize = 4;
/// Requests between two halvings, for each key of the cache.
const SAMPLE: usize = 10;

/// Counts requests; never too low, but for the halving.
#[derive(Debug)]
pub(super) struct Sketch {
    rows: [Vec<u8>; ROWS],
    mask: u64,
    counted: usize,
    halve_at: usize,
}

impl Sketch {
    pub(super) fn new(capacity: usize) -> Sketch {
        let width = (capacity * WIDTH).next_power_of_two().max(64);
        Sketch {
            rows: std::array::from_fn(|_| vec![0; width]),
            mask: width as u64 - 1,
            counted: 0,
            halve_at: SAMPLE * capacity.max(1),
        }
    }

    fn index(&self, row: usize, hash: u64) -> usize {
        // A sum of two halves of one hash is as good as a hash for each row (Kirsch, Mitzenmacher).
        let step = hash >> 32 | 1;
        (hash.wrapping_add(step.wrapping_mul(row as u64)) & self.mask) as usize
    }

    /// Counts one request.
    pub(super) fn count(&mut self, key: u64) {
        let hash = hash(key);
        let lowest = self.estimate(key);
        if lowest == COUNT_MAX {
            return;
        }
        for row in 0..ROWS {
            let index = self.index(row, hash);
            let counter = &mut self.rows[row][index];
            // Only what is too low otherwise ("conservative update").
            *counter = (*counter).max(lowest + 1);
        }
        self.counted += 1;
        if self.counted >= self.halve_at {
            self.rows.iter_mut().flatten().for_each(|counter| *counter /= 2);
            self.counted /= 2;
        }
    }

    /// How often a key was asked for.
    pub(super) fn estimate(&self, key: u64) -> u8 {
        let hash = hash(key);
        (0..ROWS).map(|row| self.rows[row][self.index(row, hash)]).min().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_counts_are_exact_and_many_saturate() {
        let mut sketch = Sketch::new(1_000);
        for key in 0..20u64 {
            (0..key).for_each(|_| sketch.count(key));
        }
        let seen: Vec<u8> = (0..20).map(|key| sketch.estimate(key)).collect();
        let expected: Vec<u8> = (0..20).map(|key: u8| key.min(COUNT_MAX)).collect();
        assert_eq!(seen, expected);
    }

    #[test]
    fn counts_are_halved_after_ten_requests_a_key() {
        let mut sketch = Sketch::new(10);
        (0..8).for_each(|_| sketch.count(1));
        (100..191).for_each(|key| sketch.count(key));
        assert_eq!(sketch.estimate(1), 8);
        sketch.count(1_000);
        assert_eq!(sketch.estimate(1), 4);
    }
}
