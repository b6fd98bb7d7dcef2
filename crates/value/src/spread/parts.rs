//! HOT PATH
//! What streams and queues share: their elements are of several kinds, and the name of an element's
//! row says of which it is.

use super::elements::{Visit, WalkPlace};
use crate::edits::Edits;

/// The name of a row, taken apart.
pub(crate) trait RowName {
    /// Appends it as it stands in the row.
    fn put(&self, out: &mut Vec<u8>);

    /// The element of this name is about to change. `was` appends its content, and returns true if
    /// it is there.
    #[inline]
    fn touch(&self, edits: &mut Edits<'_>, was: impl FnOnce(&mut Vec<u8>) -> bool) {
        if edits.notes_elements() {
            let mut name = Vec::new();
            self.put(&mut name);
            edits.touch(&name, was);
        }
    }

    /// The element of this name is new.
    #[inline]
    fn touch_new(&self, edits: &mut Edits<'_>) {
        self.touch(edits, |_| false);
    }
}

/// A walk over elements in the order of their names, which ends when enough have been seen.
pub(crate) struct Walk<'a, 'v> {
    left: usize,
    name: Vec<u8>,
    content: Vec<u8>,
    visit: &'a mut Visit<'v>,
}

impl<'a, 'v> Walk<'a, 'v> {
    pub(crate) fn new(count: usize, visit: &'a mut Visit<'v>) -> Walk<'a, 'v> {
        Walk { left: count.max(1), name: Vec::new(), content: Vec::new(), visit }
    }

    /// Visits an element, which counts as this number, with what `put_content` appends; returns
    /// false if enough have been seen.
    pub(crate) fn show(
        &mut self,
        name: &impl RowName,
        weight: usize,
        put_content: impl FnOnce(&mut Vec<u8>) -> bool,
    ) -> bool {
        self.name.clear();
        self.content.clear();
        name.put(&mut self.name);
        put_content(&mut self.content);
        (self.visit)(&self.name, &self.content);
        self.left = self.left.saturating_sub(weight);
        self.left > 0
    }

    /// Where the next walk goes on: nowhere if this one has not seen enough.
    pub(crate) fn end(self, goes_on: bool) -> WalkPlace {
        if goes_on { WalkPlace::End } else { WalkPlace::After(self.name) }
    }
}
