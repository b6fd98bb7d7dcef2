//! HOT PATH. Which key comes next: uniform, Zipf or in sequence.
//!
//! Zipf draws use rejection-inversion (Hörmann and Derflinger: "Rejection-inversion to generate
//! variates from monotone discrete distributions", 1996). The usual alternative (Gray et al. 1994,
//! used by YCSB) must first sum n terms, which takes seconds for 10^8 keys, and fails for theta =
//! 1; this one needs four constants and works for every theta above 0.
//!
//! Ranks are then scattered over the keyspace by a bijection (multiplication by a constant that is
//! coprime to n), so that the hot keys are not neighbours, and every key can still be drawn.

use std::fmt;

use crate::random::Random;

/// How keys are chosen, as the user says it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Distribution {
    Uniform,
    Zipf { theta: f64 },
    Sequential,
}

impl fmt::Display for Distribution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Uniform => f.write_str("uniform"),
            Self::Zipf { theta } => write!(f, "zipf:{theta}"),
            Self::Sequential => f.write_str("sequential"),
        }
    }
}

/// Draws key numbers in `0..keyspace`.
#[derive(Debug, Clone)]
pub(crate) struct KeyDraw {
    keyspace: u64,
    how: How,
}

#[derive(Debug, Clone)]
enum How {
    Uniform,
    Sequential,
    Zipf { zipf: Zipf, stride: u64 },
}

impl KeyDraw {
    /// `keyspace` must be at least 1.
    pub(crate) fn new(distribution: Distribution, keyspace: u64) -> Self {
        let how = match distribution {
            Distribution::Uniform => How::Uniform,
            Distribution::Sequential => How::Sequential,
            Distribution::Zipf { theta } => {
                How::Zipf { zipf: Zipf::new(keyspace, theta), stride: coprime_stride(keyspace) }
            }
        };
        Self { keyspace, how }
    }

    /// The next key. `sequence` is the number of this draw within the run; only the sequential
    /// distribution looks at it.
    #[inline]
    pub(crate) fn next(&self, random: &mut Random, sequence: u64) -> u64 {
        match &self.how {
            How::Uniform => random.below(self.keyspace),
            How::Sequential => sequence % self.keyspace,
            How::Zipf { zipf, stride } => {
                let rank = zipf.draw(random) - 1;
                (u128::from(rank) * u128::from(*stride) % u128::from(self.keyspace)) as u64
            }
        }
    }
}

/// A multiplier near the golden section of `keyspace` that shares no factor with it.
fn coprime_stride(keyspace: u64) -> u64 {
    let start = (keyspace as f64 * 0.618_033_988_749_895) as u64 | 1;
    (start..).find(|&stride| gcd(stride, keyspace) == 1).expect("some prime follows every number")
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Ranks 1..=n with probability proportional to rank^-theta.
#[derive(Debug, Clone)]
struct Zipf {
    theta: f64,
    n: f64,
    /// The integral of the density over the left half-step of rank 1 and up to n + 1/2.
    area_low: f64,
    area_high: f64,
    /// Distance below which a rounded rank is accepted without evaluating the density.
    squeeze: f64,
}

impl Zipf {
    fn new(n: u64, theta: f64) -> Self {
        let mut zipf = Self { theta, n: n as f64, area_low: 0.0, area_high: 0.0, squeeze: 0.0 };
        zipf.area_low = zipf.area(1.5) - 1.0;
        zipf.area_high = zipf.area(zipf.n + 0.5);
        zipf.squeeze = 2.0 - zipf.area_inverse(zipf.area(2.5) - zipf.density(2.0));
        zipf
    }

    fn density(&self, x: f64) -> f64 {
        x.powf(-self.theta)
    }

    /// Integral of the density from 1 to x. `exp_m1(t)/t` keeps its digits as theta nears 1.
    fn area(&self, x: f64) -> f64 {
        let log = x.ln();
        let exponent = (1.0 - self.theta) * log;
        if exponent.abs() < 1e-9 { log } else { exponent.exp_m1() / exponent * log }
    }

    fn area_inverse(&self, area: f64) -> f64 {
        let slope = (1.0 - self.theta) * area;
        if slope.abs() < 1e-9 { area.exp() } else { (slope.ln_1p() / slope * area).exp() }
    }

    fn draw(&self, random: &mut Random) -> u64 {
        loop {
            let area = self.area_high + random.unit() * (self.area_low - self.area_high);
            let x = self.area_inverse(area);
            let rank = x.round().clamp(1.0, self.n);
            if rank - x <= self.squeeze || area >= self.area(rank + 0.5) - self.density(rank) {
                return rank as u64;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zipf_frequencies_match_the_definition() {
        for theta in [0.5, 0.99, 1.0, 1.4] {
            let zipf = Zipf::new(1000, theta);
            let mut random = Random::new(3, 0);
            let mut seen = vec![0u32; 1001];
            let draws = 400_000;
            for _ in 0..draws {
                seen[zipf.draw(&mut random) as usize] += 1;
            }
            let norm: f64 = (1..=1000).map(|rank| f64::from(rank).powf(-theta)).sum();
            for rank in [1usize, 2, 3, 10, 100] {
                let expected = (rank as f64).powf(-theta) / norm * f64::from(draws);
                let error = (f64::from(seen[rank]) - expected).abs();
                assert!(error < 6.0 * expected.sqrt() + 1.0, "theta {theta} rank {rank}");
            }
        }
    }

    #[test]
    fn scattering_is_a_bijection() {
        for keyspace in [1u64, 2, 10, 97, 1000, 65_536] {
            let stride = coprime_stride(keyspace);
            let mut seen = vec![false; keyspace as usize];
            for rank in 0..keyspace {
                seen[(u128::from(rank) * u128::from(stride) % u128::from(keyspace)) as usize] =
                    true;
            }
            assert!(seen.iter().all(|&hit| hit), "keyspace {keyspace}");
        }
    }

    #[test]
    fn sequence_wraps() {
        let draw = KeyDraw::new(Distribution::Sequential, 3);
        let mut random = Random::new(0, 0);
        let keys: Vec<u64> = (0..5).map(|sequence| draw.next(&mut random, sequence)).collect();
        assert_eq!(keys, [0, 1, 2, 0, 1]);
    }
}
