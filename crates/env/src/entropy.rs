//! Where seeds come from.

use crate::random::Random;
use parking_lot::Mutex;
use rustix::rand::{GetRandomFlags, getrandom};
use std::io;

/// A source of seeds.
pub trait Entropy: Send + Sync {
    /// 64 bits that nobody can guess and that differ from call to call.
    fn seed(&self) -> u64;
}

/// The kernel's random numbers. A seed takes a system call, some 200 ns: one that needs many
/// numbers draws them from a [`Random`] of one seed.
#[derive(Debug, Default, Clone, Copy)]
pub struct SystemEntropy;

impl Entropy for SystemEntropy {
    /// # Panics
    /// The kernel refuses random numbers, which no kernel since 3.17 does: without them nothing
    /// that depends on unguessable hashes may go on.
    fn seed(&self) -> u64 {
        let mut bytes = [0; 8];
        fill(&mut bytes).expect("the kernel gives random numbers");
        u64::from_ne_bytes(bytes)
    }
}

/// Up to 256 bytes come whole; before that, a signal may interrupt the wait for the kernel's pool
/// to be filled after a boot.
fn fill(bytes: &mut [u8; 8]) -> io::Result<()> {
    loop {
        match getrandom(&mut bytes[..], GetRandomFlags::empty()) {
            Ok(8) => return Ok(()),
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Seeds that all follow from one number: for tests and simulators.
#[derive(Debug)]
pub struct SeededEntropy {
    random: Mutex<Random>,
}

impl SeededEntropy {
    /// Seeds that follow from `seed`.
    pub fn new(seed: u64) -> SeededEntropy {
        SeededEntropy { random: Mutex::new(Random::new(seed)) }
    }
}

impl Entropy for SeededEntropy {
    fn seed(&self) -> u64 {
        self.random.lock().next_u64()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_seeds_differ() {
        let seeds: std::collections::BTreeSet<u64> =
            (0..1_000).map(|_| SystemEntropy.seed()).collect();
        assert_eq!(seeds.len(), 1_000);
        // Every bit is set in some of them, and in some it is not.
        assert_eq!(seeds.iter().fold(0, |all, seed| all | seed), u64::MAX);
        assert_eq!(seeds.iter().fold(u64::MAX, |all, seed| all & seed), 0);
    }

    #[test]
    fn seeded_ones_follow_from_their_seed() {
        let seeds = |seed| {
            let entropy = SeededEntropy::new(seed);
            [entropy.seed(), entropy.seed()]
        };
        assert_eq!(seeds(1), seeds(1));
        assert_ne!(seeds(1), seeds(2));
        assert_ne!(seeds(1)[0], seeds(1)[1]);
    }
}
