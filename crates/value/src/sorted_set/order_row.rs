//! The row that gives a member of a spread sorted set its place in the order.
//!
//! ```text
//! second name    order:u64be member      the score's bits, so that they sort as scores; -0 as 0
//! second content 80 if the score is -0, else nothing
//!                with an attribute in the first content: 80 or 00, attribute
//! ```

use super::score;

const SIGN: u64 = 1 << 63;
pub(super) const MINUS_ZERO: u8 = 0x80;
pub(super) const PLUS: u8 = 0;

fn order_of(score: f64) -> u64 {
    let bits = if score == 0.0 { 0 } else { score.to_bits() };
    if bits & SIGN == 0 { bits | SIGN } else { !bits }
}

/// The score that sorts like this.
pub(super) fn score_of(order: u64) -> f64 {
    f64::from_bits(if order & SIGN == 0 { !order } else { order & !SIGN })
}

/// Appends the name of a member's second row, given its first; false if that is none.
pub(crate) fn put_order_name(name: &[u8], content: &[u8], out: &mut Vec<u8>) -> bool {
    let mut content = content;
    let Ok(score) = score::take(&mut content) else { return false };
    out.extend_from_slice(&order_of(score).to_be_bytes());
    out.extend_from_slice(name);
    true
}

/// Appends the content of a member's second row, given that of its first.
pub(crate) fn put_order_content(content: &[u8], out: &mut Vec<u8>) {
    let mut attribute = content;
    let is_minus_zero =
        score::take(&mut attribute).is_ok_and(|score| score == 0.0 && score.is_sign_negative());
    if is_minus_zero || !attribute.is_empty() {
        out.push(if is_minus_zero { MINUS_ZERO } else { PLUS });
        out.extend_from_slice(attribute);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_sort_as_scores_do() {
        let scores = [f64::NEG_INFINITY, -1e300, -1.5, -1.0, -f64::MIN_POSITIVE, 0.0, 1e-300, 1.0];
        for pair in scores.windows(2) {
            assert!(order_of(pair[0]) < order_of(pair[1]), "{pair:?}");
        }
        for score in scores {
            assert_eq!(score_of(order_of(score)).to_bits(), score.to_bits());
        }
        assert_eq!(order_of(-0.0), order_of(0.0));
    }
}
