//! A small seeded generator, so that a printed seed reproduces a run.

/// SplitMix64 (Steele, Lea and Flood, 2014): one word of state, good enough to choose test inputs.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// Starts from a seed; from one seed come the same numbers each time.
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// Starts from `BASALT_SEED`, or from the clock; the caller prints [`Random::seed`].
    pub fn from_environment() -> Random {
        let given = std::env::var("BASALT_SEED").ok().and_then(|seed| seed.parse().ok());
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        Random(given.unwrap_or_else(|| now.map_or(1, |now| now.as_nanos() as u64 % 1_000_000_007)))
    }

    /// The present state, which as a seed continues from here.
    pub fn seed(&self) -> u64 {
        self.0
    }

    /// The next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number from 0 up to and without `end`, which must not be 0.
    pub fn below(&mut self, end: u64) -> u64 {
        self.next_u64() % end
    }

    /// `length` bytes.
    pub fn bytes(&mut self, length: usize) -> Vec<u8> {
        (0..length).map(|_| self.next_u64() as u8).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::Random;

    #[test]
    fn a_seed_reproduces_the_numbers() {
        let (mut one, mut two) = (Random::new(7), Random::new(7));
        assert_eq!(one.bytes(100), two.bytes(100));
        assert_ne!(Random::new(8).next_u64(), Random::new(7).next_u64());
        assert!((0..1_000).all(|_| one.below(3) < 3));
    }
}
