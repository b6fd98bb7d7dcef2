//! A sorted set member by member.
//!
//! ```text
//! content        score
//! second name    order:u64be member      the score's bits, so that they sort as scores; -0 as 0
//! second content 80 if the score is -0, else nothing
//! ```

use super::native::Native;
use super::{SortedSet, score};
use crate::form::{Form, FormMut};
use crate::spread::{Spread, Visit, WalkPlace};
use crate::touched::Keeping;
use crate::{DecodeError, FormLimits};

const SIGN: u64 = 1 << 63;
const MINUS_ZERO: u8 = 0x80;

/// Appends the content of a member.
fn put_content(score: f64, out: &mut Vec<u8>) {
    score::put(score, out);
}

/// Appends the content of a member that may not have been there; returns true if it was.
pub(super) fn was(score: Option<f64>, out: &mut Vec<u8>) -> bool {
    score.inspect(|&score| put_content(score, out)).is_some()
}

fn order_of(score: f64) -> u64 {
    let bits = if score == 0.0 { 0 } else { score.to_bits() };
    if bits & SIGN == 0 { bits | SIGN } else { !bits }
}

fn score_of(order: u64) -> f64 {
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
    let mut content = content;
    let is_minus_zero =
        score::take(&mut content).is_ok_and(|score| score == 0.0 && score.is_sign_negative());
    out.extend(is_minus_zero.then_some(MINUS_ZERO));
}

impl Spread for SortedSet {
    const KEEPING: Keeping = Keeping::Contents;

    fn put_head(&self, _: &mut Vec<u8>) {}

    fn visit_elements(&self, from: WalkPlace, count: usize, visit: &mut Visit<'_>) -> WalkPlace {
        let mut content = Vec::new();
        WalkPlace::at_cursor(self.scan(from.cursor(), count, |element| {
            content.clear();
            put_content(element.score, &mut content);
            visit(element.member.spell(&mut Default::default()), &content);
        }))
    }

    fn put_content(&self, name: &[u8], out: &mut Vec<u8>) -> bool {
        was(self.score(name), out)
    }

    fn from_head(head: &[u8]) -> Result<SortedSet, DecodeError> {
        if head.is_empty() {
            Ok(SortedSet(Form::native(Box::new(Native::default()))))
        } else {
            Err(DecodeError::Corrupt("a sorted set's head"))
        }
    }

    fn adopt(&mut self, name: &[u8], content: &[u8], _: &FormLimits) -> Result<(), DecodeError> {
        const BAD: DecodeError = DecodeError::Corrupt("a member of a sorted set");
        let FormMut::Native(native) = self.0.change() else { return Err(BAD) };
        let (order, member) = name.split_first_chunk().ok_or(DecodeError::Truncated)?;
        let score = match (score_of(u64::from_be_bytes(*order)), content) {
            (score, []) => score,
            (0.0, [MINUS_ZERO]) => -0.0,
            _ => return Err(BAD),
        };
        if score.is_nan() || native.score(member).is_some() {
            return Err(BAD);
        }
        native.append(member, score);
        Ok(())
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
