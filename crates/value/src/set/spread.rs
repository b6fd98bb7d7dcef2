//! A set member by member.
//!
//! ```text
//! content = [attribute], see attributes.rs
//! ```

use super::Set;
use crate::attributes::Attribute;
use crate::error::DecodeError;
use crate::item::{Digits, Item};
use crate::limits::FormLimits;
use crate::spread::elements::{Spread, Visit, WalkPlace};

fn put_attribute(set: &Set, item: Item<'_>, out: &mut Vec<u8>) {
    if let Some(attribute) = set.attribute(item) {
        attribute.put(out);
    }
}

/// Appends the content of a member; false if it is not there.
pub(super) fn put_content(set: &Set, item: Item<'_>, out: &mut Vec<u8>) -> bool {
    put_attribute(set, item, out);
    set.contains(item)
}

impl Spread for Set {
    fn put_head(&self, _: &mut Vec<u8>) {}

    fn visit_elements(&self, from: WalkPlace, count: usize, visit: &mut Visit<'_>) -> WalkPlace {
        let mut digits = Digits::default();
        let mut content = Vec::new();
        let visit = |item: Item<'_>| {
            content.clear();
            put_attribute(self, item, &mut content);
            visit(item.spell(&mut digits), &content);
        };
        WalkPlace::at_cursor(self.scan(from.cursor(), count, visit))
    }

    fn put_content(&self, name: &[u8], out: &mut Vec<u8>) -> bool {
        put_content(self, Item::of(name), out)
    }

    fn from_head(head: &[u8]) -> Result<Set, DecodeError> {
        if head.is_empty() { Ok(Set::default()) } else { Err(DecodeError::Corrupt("a set's head")) }
    }

    fn adopt(
        &mut self,
        name: &[u8],
        content: &[u8],
        limits: &FormLimits,
    ) -> Result<(), DecodeError> {
        let (item, attribute) = (Item::of(name), Attribute::from_row(content)?);
        if !self.add_item(item, limits) {
            return Err(DecodeError::Corrupt("a member of a set"));
        }
        if let Some(attribute) = attribute {
            self.put_attribute(item, attribute);
        }
        Ok(())
    }
}
