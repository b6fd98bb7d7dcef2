//! From registers to a number: Ertl's improved raw estimator.
//!
//! Only how many registers have which value matters. With C(k) registers of value k, m registers
//! and q = 50 bits behind the index, in the notation of the paper:
//!
//! ```text
//!  z = m τ(1 − C(q+1)/m) 2^−q + C(q) 2^−q + … + C(1) 2^−1 + m σ(C(0)/m)
//!  count = m² / (2 ln 2 · z)
//! ```
//! σ and τ are series that are summed up until nothing changes any more. The order of the
//! operations is part of the format: another one rounds differently, and counts would differ from
//! Redis'.

use super::layout::{COUNT_BITS, REGISTERS};

/// Registers of several HyperLogLogs merged, one byte each.
pub struct Registers(pub(super) Box<[u8; REGISTERS]>);

/// How many registers have each value; six bits can say 63, a hash makes 51 at most.
pub(super) struct Histogram(pub(super) [u32; 64]);

/// 1 / (2 ln 2).
const ALPHA: f64 = 0.721_347_520_444_481_7;

impl Default for Registers {
    fn default() -> Self {
        Registers(Box::new([0; REGISTERS]))
    }
}

impl Registers {
    /// The number of different elements.
    pub fn count(&self) -> u64 {
        let mut histogram = Histogram([0; 64]);
        self.0.iter().for_each(|&value| histogram.0[usize::from(value & 63)] += 1);
        histogram.count()
    }
}

impl Histogram {
    /// The number of different elements.
    pub(super) fn count(&self) -> u64 {
        const HIGHEST: usize = COUNT_BITS as usize + 1;
        let m = REGISTERS as f64;
        let with = |value: usize| f64::from(self.0[value]);
        let mut z = m * tau((m - with(HIGHEST)) / m);
        for value in (1..HIGHEST).rev() {
            z += with(value);
            z *= 0.5;
        }
        z += m * sigma(with(0) / m);
        let estimate = (ALPHA * m * m / z).round();
        // Only registers that no hash can make give more; Redis' conversion then says this.
        if estimate < i64::MAX as f64 { estimate as u64 } else { 1 << 63 }
    }
}

/// σ(x) = x + Σ x^(2^k) 2^(k−1) for k from 1.
fn sigma(mut x: f64) -> f64 {
    if x == 1.0 {
        return f64::INFINITY;
    }
    let (mut factor, mut sum) = (1.0, x);
    loop {
        x *= x;
        let before = sum;
        sum += x * factor;
        factor += factor;
        if sum == before {
            return sum;
        }
    }
}

/// τ(x) = (1 − x − Σ (1 − x^(2^−k))² 2^−k) / 3 for k from 1.
fn tau(mut x: f64) -> f64 {
    if x == 0.0 || x == 1.0 {
        return 0.0;
    }
    let (mut factor, mut sum) = (1.0, 1.0 - x);
    loop {
        x = x.sqrt();
        let before = sum;
        factor *= 0.5;
        sum -= (1.0 - x) * (1.0 - x) * factor;
        if sum == before {
            return sum / 3.0;
        }
    }
}
