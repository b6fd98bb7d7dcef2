//! A sorted set member by member.
//!
//! ```text
//! content        score [attribute], see attributes.rs
//! second row     see sorted_set/order_row.rs
//! ```

use super::native::Native;
use super::order_row::{MINUS_ZERO, PLUS, score_of};
use super::{SortedSet, score};
use crate::attributes::Attribute;
use crate::dirty::Keeping;
use crate::error::DecodeError;
use crate::form::{Form, FormMut};
use crate::item::Item;
use crate::limits::FormLimits;
use crate::spread::elements::{Spread, Visit, WalkPlace};

/// Appends the content of a member that may not have been there; returns true if it was.
pub(super) fn was(score: Option<f64>, attribute: Option<Attribute>, out: &mut Vec<u8>) -> bool {
    let Some(score) = score else { return false };
    score::put(score, out);
    if let Some(attribute) = attribute {
        attribute.put(out);
    }
    true
}

impl Spread for SortedSet {
    const KEEPING: Keeping = Keeping::Contents;

    fn put_head(&self, _: &mut Vec<u8>) {}

    fn visit_elements(&self, from: WalkPlace, count: usize, visit: &mut Visit<'_>) -> WalkPlace {
        let mut content = Vec::new();
        WalkPlace::at_cursor(self.scan(from.cursor(), count, |element| {
            content.clear();
            was(Some(element.score), self.attribute(element.member), &mut content);
            visit(element.member.spell(&mut Default::default()), &content);
        }))
    }

    fn put_content(&self, name: &[u8], out: &mut Vec<u8>) -> bool {
        was(self.score(name), self.attribute(Item::Bytes(name)), out)
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
        let (sign, attribute) = content.split_first().unwrap_or((&PLUS, &[]));
        let score = match (score_of(u64::from_be_bytes(*order)), *sign) {
            (score, PLUS) => score,
            (0.0, MINUS_ZERO) => -0.0,
            _ => return Err(BAD),
        };
        if score.is_nan() || native.score(member).is_some() {
            return Err(BAD);
        }
        native.append(member, score);
        if let Some(attribute) = Attribute::from_row(attribute)? {
            native.attributes.set(Item::of(member), attribute);
        }
        Ok(())
    }
}
