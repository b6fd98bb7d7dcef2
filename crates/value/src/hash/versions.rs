//! Versions of a hash's fields.

use super::{Field, Hash, OldExpiry, Terms, edit, spread};
use crate::attributes::Attributes;
use crate::edits::Edits;
use crate::form::{FormMut, FormRef};
use crate::item::Item;

impl Hash {
    /// The version of a field that has not expired, if it has one.
    pub fn version(&self, name: Item<'_>, now_ms: u64) -> Option<u64> {
        self.stored_version(name).filter(|_| self.field(name, now_ms).is_some())
    }

    /// The versions that fields have, if any has one.
    pub(super) fn versions(&self) -> Option<&Attributes> {
        match self.0.read() {
            FormRef::Packed(_) => None,
            FormRef::Native(table) => table.versions(),
        }
    }

    /// The greatest version of a field, 0 for none.
    pub(crate) fn newest_version(&self) -> u64 {
        self.versions().map_or(0, Attributes::newest)
    }

    /// The version of a field, expired or not.
    pub(super) fn stored_version(&self, name: Item<'_>) -> Option<u64> {
        self.versions().and_then(|versions| versions.get(name)).map(|it| it.version)
    }

    /// A field that is there has this version, which is not 0.
    pub(super) fn put_version(&mut self, name: Item<'_>, version: u64) {
        self.native().set_version(name, version);
    }

    /// Sets a field with its expiry, whatever was there, and with a version: this one, or the next
    /// of the edits. Returns it.
    ///
    /// # Panics
    /// If the edits have none.
    pub fn set_versioned(
        &mut self,
        field: Field<'_>,
        version: Option<u64>,
        terms: &Terms,
        edits: &mut Edits<'_>,
    ) -> u64 {
        let version = edits.give_version(version);
        self.remove_if_expired(field.name, terms.now_ms, edits);
        let before = self.stored(field.name);
        edits.touch_item(field.name, |out| spread::was(self, before, out));
        if before != Some(field) {
            edit::write_value(edits, edit::SET, field.name, field.value);
            if field.expire_ms != 0 {
                edit::write_expiry(edits, field.name, field.expire_ms);
            }
            self.put(field, &terms.limits);
        }
        self.put_version(field.name, version);
        edit::write_attribute(edits, field.name, version);
        version
    }

    /// Sets a field of a hash in which fields have versions.
    #[cold]
    pub(super) fn set_beside_versions(
        &mut self,
        field: Field<'_>,
        old: OldExpiry,
        terms: &Terms,
        edits: &mut Edits<'_>,
    ) -> bool {
        self.remove_if_expired(field.name, terms.now_ms, edits);
        let written = edits.count();
        let is_new = self.set_stored(field, old, terms, edits);
        if edits.count() != written {
            self.move_version(field.name, edits);
        }
        is_new
    }

    /// What is put in the place of a field that has expired does not inherit its version.
    fn remove_if_expired(&mut self, name: Item<'_>, now_ms: u64, edits: &mut Edits<'_>) {
        if self.stored(name).is_some_and(|field| !field.is_live(now_ms)) {
            self.remove(name, now_ms, edits);
        }
    }

    /// A field has changed: if it has a version, it gets another one.
    #[inline]
    pub(super) fn move_version(&mut self, name: Item<'_>, edits: &mut Edits<'_>) {
        if let FormMut::Native(table) = self.0.change()
            && table.versions().is_some_and(|versions| versions.get(name).is_some())
            && let Some(version) = edits.next_version()
        {
            table.set_version(name, version);
            edit::write_attribute(edits, name, version);
        }
    }
}
