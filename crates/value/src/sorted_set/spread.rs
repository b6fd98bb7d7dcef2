//! A sorted set member by member.
//!
//! ```text
//! content        score
//! second row     see sorted_set/order_row.rs
//! ```

use super::native::Native;
use super::order_row::{MINUS_ZERO, score_of};
use super::{SortedSet, score};
use crate::dirty::Keeping;
use crate::error::DecodeError;
use crate::form::{Form, FormMut};
use crate::limits::FormLimits;
use crate::spread::elements::{Spread, Visit, WalkPlace};

/// Appends the content of a member.
fn put_content(score: f64, out: &mut Vec<u8>) {
    score::put(score, out);
}

/// Appends the content of a member that may not have been there; returns true if it was.
pub(super) fn was(score: Option<f64>, out: &mut Vec<u8>) -> bool {
    score.inspect(|&score| put_content(score, out)).is_some()
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
