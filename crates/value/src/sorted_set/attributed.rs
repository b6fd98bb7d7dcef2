//! Versions and expiries of a sorted set's members.

use super::element::{Direction, Element, Scored};
use super::native::Change;
use super::{SortedSet, edit, spread};
use crate::attributes::{Attribute, Attributes};
use crate::edits::Edits;
use crate::form::{FormMut, FormRef};
use crate::item::{Digits, Item};
use crate::limits::FormLimits;

impl SortedSet {
    /// What a member has beside its score, if anything.
    pub fn attribute(&self, member: Item<'_>) -> Option<Attribute> {
        self.attributes().and_then(|attributes| attributes.get(member.respelled()))
    }

    /// The score of a member that has not expired.
    pub fn score_at(&self, member: &[u8], now_ms: u64) -> Option<f64> {
        let attribute = self.attribute(Item::Bytes(member));
        self.score(member).filter(|_| attribute.is_none_or(|it| it.is_live(now_ms)))
    }

    /// Sets the score of a member, whatever it was, when it expires, and its version, which it
    /// returns.
    ///
    /// # Panics
    /// If the edits have none.
    pub fn set_versioned(
        &mut self,
        member: &[u8],
        scored: Scored,
        limits: &FormLimits,
        edits: &mut Edits<'_>,
    ) -> u64 {
        let Scored { score, expire_ms, version } = scored;
        let version = edits.give_version(version);
        self.become_native();
        if self.is_expired(member, edits) {
            self.remove(member, edits);
        }
        edits.touch(member, |out| spread::was(self.score(member), self.of(member), out));
        self.set_score(member, limits, edits, |_| Some(score));
        self.change_attribute(member, Attribute { version, expire_ms }, edits);
        version
    }

    /// Removes members that have expired by now, at most `max`; returns their number.
    pub fn remove_expired(&mut self, now_ms: u64, max: usize, edits: &mut Edits<'_>) -> usize {
        for removed in 0..max {
            let due = self.attributes().and_then(|attributes| attributes.first_due(now_ms));
            let Some(member) = due else { return removed };
            self.remove(member.item().spell(&mut Digits::default()), edits);
        }
        max
    }

    fn attributes(&self) -> Option<&Attributes> {
        match self.0.read() {
            FormRef::Packed(_) => None,
            FormRef::Native(native) => native.attributes.all(),
        }
    }

    /// The greatest version of a member, 0 for none.
    pub(crate) fn newest_version(&self) -> u64 {
        self.attributes().map_or(0, Attributes::newest)
    }

    #[inline]
    pub(super) fn has_attributes(&self) -> bool {
        self.attributes().is_some()
    }

    fn of(&self, member: &[u8]) -> Option<Attribute> {
        self.attribute(Item::Bytes(member))
    }

    /// A member that is there has expired by the time of the edits.
    fn is_expired(&self, member: &[u8], edits: &Edits<'_>) -> bool {
        let now_ms = edits.now_ms().unwrap_or(0);
        self.of(member).is_some_and(|attribute| !attribute.is_live(now_ms))
    }

    /// A member that is there has this from now on.
    fn change_attribute(&mut self, member: &[u8], attribute: Attribute, edits: &mut Edits<'_>) {
        self.put_attribute(Item::of(member), attribute);
        edits.write(|out| edit::put_attribute(Item::Bytes(member), attribute, out));
    }

    /// A member that is there, of a native set, has this.
    pub(super) fn put_attribute(&mut self, member: Item<'_>, attribute: Attribute) {
        if let FormMut::Native(native) = self.0.change() {
            native.attributes.set(member.respelled(), attribute);
        }
    }

    /// A member has this; false if it is not there or has something already.
    pub(super) fn adopt_attribute(&mut self, member: Item<'_>, attribute: Attribute) -> bool {
        let is_free = self.score(member.spell(&mut Digits::default())).is_some()
            && self.attribute(member).is_none();
        if is_free {
            self.become_native();
            self.put_attribute(member, attribute);
        }
        is_free
    }

    #[cold]
    pub(super) fn set_beside_attributes(
        &mut self,
        member: &[u8],
        limits: &FormLimits,
        edits: &mut Edits<'_>,
        decide: impl FnOnce(Option<f64>) -> Option<f64>,
    ) -> Change {
        if self.is_expired(member, edits) {
            self.remove(member, edits);
        }
        edits.touch(member, |out| spread::was(self.score(member), self.of(member), out));
        let change = self.set_score(member, limits, edits, decide);
        if change != Change::None
            && let Some(before) = self.of(member)
            && let Some(version) = edits.next_version()
        {
            self.change_attribute(member, Attribute { version, ..before }, edits);
        }
        change
    }

    #[cold]
    pub(super) fn remove_beside_attributes(
        &mut self,
        member: &[u8],
        edits: &mut Edits<'_>,
    ) -> bool {
        let was_live = !self.is_expired(member, edits);
        edits.touch(member, |out| spread::was(self.score(member), self.of(member), out));
        let FormMut::Native(native) = self.0.change() else { return false };
        if !native.remove(member) {
            return false;
        }
        native.attributes.remove(Item::of(member));
        edits.write(|out| edit::put_remove(member, out));
        was_live
    }

    /// Takes the first element out, which may have expired.
    #[cold]
    pub(super) fn pop_beside_attributes(
        &mut self,
        direction: Direction,
        edits: &mut Edits<'_>,
        visit: impl FnOnce(Element<'_>),
    ) -> bool {
        let Some(Element { member, score }) = self.at(self.end(direction)) else { return false };
        let member = member.respelled().to_owned();
        self.remove(member.item().spell(&mut Digits::default()), edits);
        visit(Element { member: member.item(), score });
        true
    }
}
