//! HOT PATH
//! Scores as bytes.
//!
//! ```text
//! score = number                          an item: whole numbers of up to 2^53, but not -0
//!       | 08 bits:f64le                   all others
//! ```
//! Most scores are whole: counts, times. They take 1 to 8 bytes here, where a double takes 8.

use crate::error::DecodeError;
use crate::item::Item;

/// Whole numbers up to here are exact.
const WHOLE_MAX: f64 = (1u64 << 53) as f64;

/// The number that a score is, if it is encoded as one.
#[inline]
fn whole(score: f64) -> Option<i64> {
    let number = score as i64;
    let is_same = (number as f64).to_bits() == score.to_bits();
    (is_same && score.abs() <= WHOLE_MAX).then_some(number)
}

/// Appends a score.
#[inline]
pub(super) fn put(score: f64, out: &mut Vec<u8>) {
    match whole(score) {
        Some(number) => Item::Number(number).put(out),
        None => Item::Bytes(&score.to_le_bytes()).put(out),
    }
}

/// Takes a score off the front.
#[inline]
pub(super) fn take(bytes: &mut &[u8]) -> Result<f64, DecodeError> {
    match Item::take(bytes).ok_or(DecodeError::Truncated)? {
        Item::Number(number) if (number as f64).abs() <= WHOLE_MAX => Ok(number as f64),
        Item::Number(_) => Err(DecodeError::Corrupt("a score that is no double")),
        Item::Bytes(bits) => {
            let bits =
                bits.try_into().map_err(|_| DecodeError::Corrupt("a score of odd length"))?;
            let score = f64::from_le_bytes(bits);
            if score.is_nan() || whole(score).is_some() {
                return Err(DecodeError::Corrupt("a score that is spelled otherwise"));
            }
            Ok(score)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn encoded(score: f64) -> Vec<u8> {
        let mut out = Vec::new();
        put(score, &mut out);
        out
    }

    #[test]
    fn whole_scores_are_short_and_others_keep_every_bit() {
        for (score, bytes) in [
            (0.0, 1),
            (-0.0, 9),
            (47.0, 1),
            (-1.0, 2),
            (1e9, 5),
            (1_700_000_000_000.0, 7),
            (WHOLE_MAX, 8),
            (WHOLE_MAX * 2.0, 9),
            (0.5, 9),
            (f64::INFINITY, 9),
            (f64::NEG_INFINITY, 9),
            (f64::MIN_POSITIVE, 9),
        ] {
            let out = encoded(score);
            assert_eq!(out.len(), bytes, "{score}");
            assert_eq!(take(&mut &out[..]).map(f64::to_bits), Ok(score.to_bits()));
        }
    }

    #[test]
    fn what_is_no_score_is_refused() {
        let mut nan = vec![8];
        nan.extend_from_slice(&f64::NAN.to_le_bytes());
        let mut one = vec![8];
        one.extend_from_slice(&1f64.to_le_bytes());
        let mut large = Vec::new();
        Item::Number(i64::MAX).put(&mut large);
        for bytes in [&nan[..], &one, &large, &[], &[3, 1, 2, 3]] {
            assert!(take(&mut &bytes[..]).is_err(), "{bytes:?}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 4 } else { 256 }))]
        #[test]
        fn scores_round_trip(bits in any::<u64>()) {
            let score = f64::from_bits(bits);
            prop_assume!(!score.is_nan());
            prop_assert_eq!(take(&mut &encoded(score)[..]).map(f64::to_bits), Ok(bits));
        }
    }
}
