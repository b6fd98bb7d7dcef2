//! Versions and expiries of a set's members.

use super::{Set, spread, write_addition, write_attribute, write_removal};
use crate::attributes::{Attribute, Attributes};
use crate::edits::Edits;
use crate::form::{FormMut, FormRef};
use crate::item::Item;
use crate::limits::FormLimits;
use crate::set::member::Member;

impl Set {
    /// What a member has, if anything.
    pub fn attribute(&self, item: Item<'_>) -> Option<Attribute> {
        self.attributes().and_then(|attributes| attributes.get(item))
    }

    /// Whether a member is there and has not expired.
    pub fn contains_at(&self, item: Item<'_>, now_ms: u64) -> bool {
        self.contains(item) && self.attribute(item).is_none_or(|it| it.is_live(now_ms))
    }

    /// Adds a member, or takes the one that is there, which expires then, 0 for never, and has a
    /// version: this one, or the next of the edits. Returns it.
    ///
    /// # Panics
    /// If the edits have none.
    pub fn add_versioned(
        &mut self,
        item: Item<'_>,
        expire_ms: u64,
        version: Option<u64>,
        limits: &FormLimits,
        edits: &mut Edits<'_>,
    ) -> u64 {
        let version = edits.give_version(version);
        if self.is_expired(item, edits) {
            self.remove_item(item, edits);
        }
        edits.touch_item(item, |out| spread::put_content(self, item, out));
        if self.add_item(item, limits) {
            write_addition(item, edits);
        }
        let attribute = Attribute { version, expire_ms };
        self.change_attribute(item, attribute);
        write_attribute(item, attribute, edits);
        version
    }

    /// Removes members that have expired by now, at most `max`; returns their number.
    pub fn remove_expired(&mut self, now_ms: u64, max: usize, edits: &mut Edits<'_>) -> usize {
        for removed in 0..max {
            let due = self.attributes().and_then(|attributes| attributes.first_due(now_ms));
            let Some(member) = due else { return removed };
            self.remove_item(member.item(), edits);
        }
        max
    }

    /// Every member that has something has this.
    pub(super) fn attributes(&self) -> Option<&Attributes> {
        match self.0.read() {
            FormRef::Packed(_) => None,
            FormRef::Native(table) => table.attributes.all(),
        }
    }

    /// The greatest version of a member, 0 for none.
    pub(crate) fn newest_version(&self) -> u64 {
        self.attributes().map_or(0, Attributes::newest)
    }

    /// A member that is there has expired by the time of the edits.
    #[inline]
    pub(super) fn is_expired(&self, item: Item<'_>, edits: &Edits<'_>) -> bool {
        edits.has_clock() && self.has_expired(item, edits)
    }

    #[cold]
    #[inline(never)]
    fn has_expired(&self, item: Item<'_>, edits: &Edits<'_>) -> bool {
        let now_ms = edits.now_ms().unwrap_or(0);
        self.attribute(item).is_some_and(|attribute| !attribute.is_live(now_ms))
    }

    /// A member that is there has this from now on; true.
    pub(super) fn change_attribute(&mut self, item: Item<'_>, attribute: Attribute) -> bool {
        self.native().attributes.set(item, attribute);
        true
    }

    /// A member has this; false if it is not there or has something already.
    pub(super) fn put_attribute(&mut self, item: Item<'_>, attribute: Attribute) -> bool {
        self.contains(item)
            && self.attribute(item).is_none()
            && self.change_attribute(item, attribute)
    }

    #[cold]
    pub(super) fn remove_beside_attributes(
        &mut self,
        item: Item<'_>,
        edits: &mut Edits<'_>,
    ) -> bool {
        let was_live = !self.is_expired(item, edits);
        edits.touch_item(item, |out| spread::put_content(self, item, out));
        let FormMut::Native(table) = self.0.change() else { return false };
        if !table.remove(item) {
            return false;
        }
        table.attributes.remove(item);
        write_removal(item, edits);
        was_live
    }

    /// Adds a member that has expired, without what it had; true.
    #[cold]
    pub(super) fn add_again(
        &mut self,
        item: Item<'_>,
        limits: &FormLimits,
        edits: &mut Edits<'_>,
    ) -> bool {
        self.remove_item(item, edits);
        self.add_item(item, limits);
        write_addition(item, edits);
        true
    }

    /// Removes some member, which may have expired: a caller that has promised this number of
    /// members gets them.
    #[cold]
    pub(super) fn pop_beside_attributes(
        &mut self,
        random: u64,
        edits: &mut Edits<'_>,
        visit: impl FnOnce(Item<'_>),
    ) -> bool {
        let Some(member) = self.random(random).map(Member::of) else { return false };
        self.remove_item(member.item(), edits);
        visit(member.item());
        true
    }
}
