//! HOT PATH
//! Multiplication without carries: of polynomials over one bit, as checksums are made of.
//!
//! JUSTIFICATION for `unsafe`: the instruction has no safe name. With it the slot of a key of 16
//! bytes takes 40 instructions less than with tables, and none of their 4 KiB of cache.
#![cfg_attr(
    all(target_arch = "x86_64", target_feature = "pclmulqdq", not(miri)),
    expect(unsafe_code, reason = "the instruction has no safe name")
)]

/// Whether there is an instruction for [`carryless_product`]. Without one it takes some hundred.
pub const IS_FAST: bool =
    cfg!(all(target_arch = "x86_64", target_feature = "pclmulqdq", not(miri)));

/// The product of two polynomials whose coefficients are the bits: its low and its high 64.
#[inline(always)]
pub fn carryless_product(one: u64, other: u64) -> (u64, u64) {
    #[cfg(all(target_arch = "x86_64", target_feature = "pclmulqdq", not(miri)))]
    // SAFETY: the processor has the instructions, else this program was not built for it.
    unsafe {
        use std::arch::x86_64::{
            _mm_clmulepi64_si128, _mm_cvtsi64_si128, _mm_cvtsi128_si64, _mm_unpackhi_epi64,
        };
        let [one, other] = [one, other].map(|factor| _mm_cvtsi64_si128(factor as i64));
        let product = _mm_clmulepi64_si128::<0>(one, other);
        let high = _mm_unpackhi_epi64(product, product);
        (_mm_cvtsi128_si64(product) as u64, _mm_cvtsi128_si64(high) as u64)
    }
    #[cfg(not(all(target_arch = "x86_64", target_feature = "pclmulqdq", not(miri))))]
    bit_by_bit(one, other)
}

#[cfg(any(test, not(all(target_arch = "x86_64", target_feature = "pclmulqdq", not(miri)))))]
fn bit_by_bit(one: u64, other: u64) -> (u64, u64) {
    let bit = |place: u32| u128::from(other >> place & 1);
    let product = (0..64).fold(0, |sum, place| sum ^ ((u128::from(one) << place) * bit(place)));
    (product as u64, (product >> 64) as u64)
}

#[cfg(test)]
mod tests {
    use super::{bit_by_bit, carryless_product};

    #[test]
    fn the_instruction_agrees_with_the_definition() {
        assert_eq!(carryless_product(0b11, 0b11), (0b101, 0));
        let mut state = 1_u64;
        let mut next = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            state
        };
        for _ in 0..1000 {
            let (one, other) = (next(), next());
            assert_eq!(carryless_product(one, other), bit_by_bit(one, other));
        }
        assert_eq!(carryless_product(u64::MAX, u64::MAX), bit_by_bit(u64::MAX, u64::MAX));
    }
}
