//! The numbers behind `math.random`: the 48-bit generator of POSIX' `lrand48`, as in Redis. One
//! script goes on where the one before it has left off; only a script that begins again draws the
//! same numbers again.

use std::cell::Cell;

/// Largest number drawn, and the divisor that makes it a fraction.
const DRAWN_MAX: f64 = i32::MAX as f64;

/// Where the numbers of `math.random` stand.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RandomState(u64);

/// See the head of this file.
#[derive(Default)]
pub(crate) struct Random {
    state: Cell<RandomState>,
}

impl Random {
    pub(crate) fn seed(&self, seed: i64) {
        self.state.set(RandomState((seed as u32 as u64) << 16 | 0x330E));
    }

    pub(crate) fn state(&self) -> RandomState {
        self.state.get()
    }

    pub(crate) fn go_back_to(&self, state: RandomState) {
        self.state.set(state);
    }

    /// A number from 0 on, below 1.
    pub(crate) fn fraction(&self) -> f64 {
        let RandomState(state) = self.state.get();
        let state = state.wrapping_mul(0x5_DEEC_E66D).wrapping_add(0xB) & ((1 << 48) - 1);
        self.state.set(RandomState(state));
        let drawn = (state >> 17) as f64;
        drawn % DRAWN_MAX / DRAWN_MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_numbers_are_those_of_lrand48() {
        let random = Random::default();
        random.seed(0);
        let drawn: Vec<u64> =
            (0..3).map(|_| (random.fraction() * DRAWN_MAX).round() as u64).collect();
        assert_eq!(drawn, [366_850_414, 1_610_402_240, 206_956_554]);
    }
}
