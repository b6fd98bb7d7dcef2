//! A set member by member.

use super::Set;
use crate::error::DecodeError;
use crate::item::{Digits, Item};
use crate::limits::FormLimits;
use crate::spread::elements::{Spread, Visit, WalkPlace};

impl Spread for Set {
    fn put_head(&self, _: &mut Vec<u8>) {}

    fn visit_elements(&self, from: WalkPlace, count: usize, visit: &mut Visit<'_>) -> WalkPlace {
        let mut digits = Digits::default();
        let visit = |item: Item<'_>| visit(item.spell(&mut digits), &[]);
        WalkPlace::at_cursor(self.scan(from.cursor(), count, visit))
    }

    fn put_content(&self, name: &[u8], _: &mut Vec<u8>) -> bool {
        self.contains(Item::of(name))
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
        if !content.is_empty() || !self.add_item(Item::of(name), limits) {
            return Err(DecodeError::Corrupt("a member of a set"));
        }
        Ok(())
    }
}
