//! HOT PATH
//! How durations are distributed: eight buckets an octave, written by one thread.
//!
//! ```text
//! 1 µs      1.125     1.25  …  1.875      2 µs      2.25  …            134.2 s
//! ├─ bucket 0 ─┼─ bucket 1 ─┼─ … ─┼─ bucket 7 ─┼─ bucket 8 ─┼─ … ─┼─ bucket 215 ─┤
//! ```
//! A duration is scaled so that a microsecond is 1,024 units. Then the place of its highest bit is
//! its octave, the three bits below that are the bucket in it, and bounds between octaves are whole
//! microseconds: 1, 2, 4 … What is shorter than a microsecond counts in the first bucket, what is
//! longer than two minutes in the last. A quantile is wrong by a sixteenth at most.
//!
//! Adding is a few shifts and three plain stores, whatever the number of equal durations: a batch
//! adds once for each run of equal commands. There is no lock and no atomic addition; a reader that
//! looks meanwhile may see a sum without its count, and sees it at the next look.

use crate::counters::Counter;

/// 2^10 units are a microsecond.
const UNIT_BITS: u32 = 10;
/// From 2^10 units, 1 µs, to 2^37, 134.2 s.
const OCTAVES: usize = 27;
/// An octave has 2^3 buckets.
const STEP_BITS: u32 = 3;
/// How many buckets there are.
pub const BUCKETS: usize = OCTAVES << STEP_BITS;

/// See the head of this file.
#[derive(Debug)]
pub struct Histogram {
    buckets: Box<[Counter]>,
    nanoseconds: Counter,
}

impl Default for Histogram {
    fn default() -> Histogram {
        let buckets = (0..BUCKETS).map(|_| Counter::default()).collect();
        Histogram { buckets, nanoseconds: Counter::default() }
    }
}

impl Histogram {
    /// Adds `count` equal durations. Only the owning thread calls this.
    #[inline]
    pub fn add(&self, nanoseconds: u64, count: u64) {
        self.buckets[bucket_of(nanoseconds)].add(count);
        self.nanoseconds.add(nanoseconds.wrapping_mul(count));
    }

    /// What it holds now.
    pub fn distribution(&self) -> Distribution {
        let mut distribution = Distribution::default();
        self.add_to(&mut distribution);
        distribution
    }

    /// Adds what it holds to the distribution of several.
    pub fn add_to(&self, distribution: &mut Distribution) {
        for (sum, bucket) in distribution.counts.iter_mut().zip(&self.buckets) {
            *sum += bucket.value();
        }
        distribution.nanoseconds += self.nanoseconds.value();
    }

    /// Back to nothing (`CONFIG RESETSTAT`).
    pub fn reset(&self) {
        self.buckets.iter().for_each(Counter::reset);
        self.nanoseconds.reset();
    }
}

#[inline]
fn bucket_of(nanoseconds: u64) -> usize {
    // 1,000 ns are 1,024 units. Longer than any duration of ours: the product fits.
    let units = nanoseconds.min(1 << 56) * 128 / 125;
    let octave = units.max(1 << UNIT_BITS).ilog2();
    let step =
        (units.max(1 << UNIT_BITS) >> (octave - STEP_BITS)) as usize & ((1 << STEP_BITS) - 1);
    (((octave - UNIT_BITS) as usize) << STEP_BITS | step).min(BUCKETS - 1)
}

/// What histograms held at some moment.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Distribution {
    counts: Vec<u64>,
    nanoseconds: u64,
}

impl Default for Distribution {
    fn default() -> Distribution {
        Distribution { counts: vec![0; BUCKETS], nanoseconds: 0 }
    }
}

impl Distribution {
    /// How many durations there were.
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Their sum.
    pub fn seconds(&self) -> f64 {
        self.nanoseconds as f64 / 1e9
    }

    /// The longest duration, in seconds, that has come since an earlier look at the same histogram:
    /// where its bucket begins. `None` if none has.
    pub fn longest_since(&self, before: &Distribution) -> Option<f64> {
        let mut pairs = self.counts.iter().zip(&before.counts);
        pairs.rposition(|(now, before)| now > before).map(bound_before)
    }

    /// How many were shorter than 2^`power` microseconds. `power` is not 0: what is shorter than
    /// one microsecond counts with what is a little longer.
    pub fn shorter_than_power(&self, power: usize) -> u64 {
        self.counts[..(power << STEP_BITS).min(BUCKETS)].iter().sum()
    }

    /// The duration, in seconds, than which this share of all is not longer: the middle of its
    /// bucket. `None` if there are none.
    pub fn quantile(&self, share: f64) -> Option<f64> {
        let count = self.count();
        let rank = ((share * count as f64).ceil() as u64).clamp(1, count.max(1));
        let mut seen = 0;
        let bucket = self.counts.iter().position(|&own| {
            seen += own;
            seen >= rank
        })?;
        Some((bound_before(bucket) + bound_before(bucket + 1)) / 2.0)
    }
}

/// Where a bucket begins, in seconds.
fn bound_before(bucket: usize) -> f64 {
    let (octave, step) = (bucket >> STEP_BITS, bucket & ((1 << STEP_BITS) - 1));
    let steps = f64::from(1 << STEP_BITS);
    (octave as f64).exp2() * (1.0 + step as f64 / steps) / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bucket by its bounds, looked for one after the other.
    fn naive_bucket(nanoseconds: u64) -> usize {
        let is_in = |bucket: usize| nanoseconds as f64 / 1e9 >= bound_before(bucket);
        (0..BUCKETS).rev().find(|&bucket| is_in(bucket)).unwrap_or(0)
    }

    #[test]
    fn durations_are_in_the_bucket_that_their_bounds_say() {
        let mut nanoseconds = 1_u64;
        let mut tried = 0;
        while nanoseconds < 1 << 40 {
            for near in [nanoseconds - 1, nanoseconds, nanoseconds + 1] {
                let (own, naive) = (bucket_of(near), naive_bucket(near));
                // A unit is less than a nanosecond: next to a bound that is no whole one, either.
                let bound = bound_before(own.max(naive)) * 1e9;
                let is_at_bound = (near as f64 - bound).abs() <= 1.0;
                assert!(own == naive || is_at_bound, "{near} ns: {own}, not {naive}");
                tried += 1;
            }
            nanoseconds += nanoseconds / 13 + 1;
        }
        assert!(tried > 500);
        for power in 0..OCTAVES {
            let bound = 1000_u64 << power;
            assert_eq!(bucket_of(bound), power << STEP_BITS, "2^{power} us");
            assert_eq!(bucket_of(bound - 1), (power << STEP_BITS).saturating_sub(1));
        }
        assert_eq!((bucket_of(0), bucket_of(u64::MAX)), (0, BUCKETS - 1));
    }

    #[test]
    fn counts_below_a_bound_are_those_of_a_list() {
        let histogram = Histogram::default();
        let mut list = Vec::new();
        for at in 0..3000_u64 {
            let nanoseconds = at * at * at;
            histogram.add(nanoseconds, at % 4);
            list.extend((0..at % 4).map(|_| nanoseconds));
        }
        let distribution = histogram.distribution();
        assert_eq!(distribution.count(), list.len() as u64);
        let sum = list.iter().sum::<u64>() as f64 / 1e9;
        assert!((distribution.seconds() - sum).abs() < 1e-6 * sum);
        for power in 1..=OCTAVES {
            let shorter = list.iter().filter(|&&own| own < 1000 << power).count() as u64;
            assert_eq!(distribution.shorter_than_power(power), shorter, "2^{power} us");
        }
        list.sort_unstable();
        for share in [0.01, 0.5, 0.9, 0.99, 0.999] {
            let exact = list[(share * list.len() as f64).ceil() as usize - 1] as f64 / 1e9;
            let found = distribution.quantile(share).unwrap();
            assert!((found - exact).abs() <= exact / 15.0 + 1e-6, "{share}: {found}, not {exact}");
        }
        histogram.add(3_000_000, 1);
        histogram.add(1_000_000, 1);
        let longest = histogram.distribution().longest_since(&distribution).expect("there are two");
        assert!((0.0028..=0.003).contains(&longest), "{longest}");
        assert_eq!(distribution.longest_since(&distribution), None);
        histogram.reset();
        assert_eq!(histogram.distribution(), Distribution::default());
        assert_eq!(Distribution::default().quantile(0.5), None);
    }
}
