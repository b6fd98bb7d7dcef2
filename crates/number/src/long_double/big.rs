//! Natural numbers of any size, as much as the conversion of long decimals needs.

use std::cmp::Ordering;

const LIMB_BITS: usize = 32;

/// A natural number: 32 bits a limb, the lowest first, no zero limb at the end.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Big {
    limbs: Vec<u32>,
}

impl From<u64> for Big {
    fn from(value: u64) -> Big {
        let mut big = Big { limbs: vec![value as u32, (value >> LIMB_BITS) as u32] };
        big.trim();
        big
    }
}

impl Big {
    /// Number of bits up to the highest one that is set.
    pub(super) fn bits(&self) -> usize {
        let top = self.limbs.last().map_or(0, |limb| limb.leading_zeros() as usize);
        self.limbs.len() * LIMB_BITS - top
    }

    pub(super) fn is_zero(&self) -> bool {
        self.limbs.is_empty()
    }

    /// Becomes itself × `factor` + `addend`.
    pub(super) fn multiply_add(&mut self, factor: u32, addend: u32) {
        let mut carry = u64::from(addend);
        for limb in &mut self.limbs {
            carry += u64::from(*limb) * u64::from(factor);
            *limb = carry as u32;
            carry >>= LIMB_BITS;
        }
        if carry != 0 {
            self.limbs.push(carry as u32);
        }
    }

    /// Becomes itself × 10^`power`.
    pub(super) fn multiply_by_power_of_ten(&mut self, power: usize) {
        const STEP: usize = 9;
        for _ in 0..power / STEP {
            self.multiply_add(10u32.pow(STEP as u32), 0);
        }
        self.multiply_add(10u32.pow((power % STEP) as u32), 0);
    }

    /// Becomes itself × 2^`bits`.
    pub(super) fn shift_left(&mut self, bits: usize) {
        let shift = bits % LIMB_BITS;
        if shift != 0 {
            self.multiply_add(1 << shift, 0);
        }
        if !self.is_zero() {
            self.limbs.splice(0..0, std::iter::repeat_n(0, bits / LIMB_BITS));
        }
    }

    /// Becomes itself − `other`, which is not larger.
    fn subtract(&mut self, other: &Big) {
        let mut borrow = 0;
        for (index, limb) in self.limbs.iter_mut().enumerate() {
            let taken = u64::from(other.limbs.get(index).copied().unwrap_or(0)) + borrow;
            let left = u64::from(*limb).wrapping_sub(taken);
            *limb = left as u32;
            borrow = left >> 63;
        }
        self.trim();
    }

    /// Returns the quotient by `divisor`, which has at most `bits` bits; becomes a multiple of the
    /// remainder: zero if and only if there is none.
    pub(super) fn divide(&mut self, divisor: &Big, bits: usize) -> u128 {
        let mut aligned = divisor.clone();
        aligned.shift_left(bits - 1);
        let mut quotient = 0;
        // Long division, a bit at a time. The remainder is doubled rather than the divisor halved.
        for step in 0..bits {
            quotient <<= 1;
            if *self >= aligned {
                self.subtract(&aligned);
                quotient |= 1;
            }
            if step + 1 < bits {
                self.shift_left(1);
            }
        }
        quotient
    }

    /// Becomes itself / `divisor`; returns the remainder.
    pub(super) fn divide_small(&mut self, divisor: u32) -> u32 {
        let mut rest = 0u64;
        for limb in self.limbs.iter_mut().rev() {
            rest = rest << LIMB_BITS | u64::from(*limb);
            *limb = (rest / u64::from(divisor)) as u32;
            rest %= u64::from(divisor);
        }
        self.trim();
        rest as u32
    }

    fn trim(&mut self) {
        while self.limbs.last() == Some(&0) {
            self.limbs.pop();
        }
    }
}

impl PartialOrd for Big {
    fn partial_cmp(&self, other: &Big) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Big {
    fn cmp(&self, other: &Big) -> Ordering {
        let lengths = self.limbs.len().cmp(&other.limbs.len());
        lengths.then_with(|| self.limbs.iter().rev().cmp(other.limbs.iter().rev()))
    }
}

#[cfg(test)]
mod tests {
    use super::Big;

    #[test]
    fn arithmetic_agrees_with_128_bits() {
        for (a, b, shift) in [(1u64, 3u64, 0), (u64::MAX, 7, 63), (12_345_678_900, 10, 40)] {
            let wide = u128::from(a) << shift;
            let mut big = Big::from(a);
            big.shift_left(shift);
            assert_eq!(big.bits(), 128 - wide.leading_zeros() as usize);
            let mut rest = big.clone();
            assert_eq!(rest.divide(&Big::from(b), 127), wide / u128::from(b));
            assert_eq!(rest.is_zero(), wide % u128::from(b) == 0);
            assert_eq!(u128::from(big.divide_small(b as u32)), wide % u128::from(b));
        }
        let mut power = Big::from(1);
        power.multiply_by_power_of_ten(19);
        assert_eq!(power, Big::from(10u64.pow(19)));
    }
}
