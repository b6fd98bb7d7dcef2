//! HOT PATH. The generator's own source of randomness: one word of state, two nanoseconds a draw.
//!
//! SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", 2014). It is
//! equidistributed, passes the usual batteries, and one seed reproduces a whole run, which is all
//! that a load generator asks of it. It is no secret: never use it where an adversary matters.

/// A seeded stream of random numbers.
#[derive(Debug, Clone)]
pub(crate) struct Random {
    state: u64,
}

impl Random {
    /// Stream number `stream` of `seed`; streams of one seed are unrelated.
    pub(crate) fn new(seed: u64, stream: u64) -> Self {
        let mut random = Self { state: seed };
        random.state = random.next() ^ stream.wrapping_mul(0xd134_2543_de82_ef95);
        random
    }

    #[inline]
    pub(crate) fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number in `0..bound`. Multiply-shift without rejection: the bias is below `bound / 2^64`.
    #[inline]
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u64
    }

    /// A number in `0.0..1.0`.
    #[inline]
    pub(crate) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    pub(crate) fn fill(&mut self, bytes: &mut [u8]) {
        for chunk in bytes.chunks_mut(8) {
            chunk.copy_from_slice(&self.next().to_le_bytes()[..chunk.len()]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_reproduces_and_streams_differ() {
        let draw = |seed, stream| {
            let mut random = Random::new(seed, stream);
            (0..8).map(|_| random.next()).collect::<Vec<_>>()
        };
        assert_eq!(draw(1, 0), draw(1, 0));
        assert_ne!(draw(1, 0), draw(1, 1));
        assert_ne!(draw(1, 0), draw(2, 0));
    }

    #[test]
    fn below_reaches_both_ends_and_no_further() {
        let mut random = Random::new(7, 0);
        let mut seen = [0u32; 10];
        for _ in 0..10_000 {
            seen[random.below(10) as usize] += 1;
        }
        assert!(seen.iter().all(|&count| (800..1200).contains(&count)), "{seen:?}");
    }
}
