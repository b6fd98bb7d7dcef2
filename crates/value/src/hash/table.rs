//! HOT PATH
//! The native form of a hash: a table of fields that grows without a pause.

use super::aside::Aside;
use super::expiries::{Due, Expiries};
use super::field::Field;
use super::stored::Stored;
use crate::attributes::{Attribute, Attributes};
use crate::fetch::step::Step;
use crate::item::Item;
use crate::members::Members;
use crate::set::member::hash_item;

/// The native form.
#[derive(Default)]
pub(crate) struct Table {
    fields: Members<Stored>,
    /// Bytes of the fields' allocations.
    field_bytes: usize,
    /// Made with the first field that expires or has a version.
    aside: Option<Box<Aside>>,
}

/// What putting a field has done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Outcome {
    /// It is new.
    New,
    /// It has another value.
    Changed,
    /// It was there like this.
    Same,
}

impl Table {
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.fields.len()
    }

    #[inline]
    pub(crate) fn heap_bytes(&self) -> usize {
        if self.aside.is_none() {
            return self.bytes_beside_aside();
        }
        self.bytes_with_aside()
    }

    #[inline]
    fn bytes_beside_aside(&self) -> usize {
        size_of::<Table>() + self.fields.heap_bytes() + self.field_bytes
    }

    #[cold]
    #[inline(never)]
    fn bytes_with_aside(&self) -> usize {
        let aside = self.aside.as_ref().map_or(0, |aside| aside.heap_bytes());
        self.bytes_beside_aside() + aside
    }

    #[inline]
    pub(crate) fn find(&self, name: Item<'_>) -> Option<Field<'_>> {
        self.fields.find(hash_item(name), |stored| stored.name() == name).map(Stored::field)
    }

    /// What a step to a field fetches.
    #[inline]
    pub(crate) fn ahead(&self, hash: u64, step: Step) -> Option<*const u8> {
        self.fields.ahead(hash, step, |stored| Some(stored.address()))
    }

    /// No field expires or has a version.
    #[inline]
    pub(super) fn is_plain(&self) -> bool {
        self.aside.is_none()
    }

    #[inline]
    fn expiries(&self) -> Option<&Expiries> {
        self.aside.as_ref().map(|aside| &aside.expiries)
    }

    /// The versions that fields have, if any has one.
    #[inline]
    pub(super) fn versions(&self) -> Option<&Attributes> {
        self.aside.as_ref().and_then(|aside| aside.versions.as_ref())
    }

    /// A field that is there has this version, which is not 0.
    pub(super) fn set_version(&mut self, name: Item<'_>, version: u64) {
        let aside = self.aside.get_or_insert_default();
        aside.versions.get_or_insert_default().set(name, Attribute { version, expire_ms: 0 });
    }

    /// Puts a field that does not expire into a table of such, without versions.
    #[inline]
    pub(super) fn set_value(&mut self, field: Field<'_>) -> Outcome {
        let hash = hash_item(field.name);
        match self.fields.find_mut(hash, |stored| stored.name() == field.name) {
            Some(stored) if stored.field().value == field.value => Outcome::Same,
            Some(stored) => {
                let bytes = stored.heap_bytes();
                stored.replace(field.value, 0);
                self.field_bytes = self.field_bytes + stored.heap_bytes() - bytes;
                Outcome::Changed
            }
            None => {
                let stored = Stored::of(field);
                self.field_bytes += stored.heap_bytes();
                self.fields.insert(hash, stored, Stored::hash);
                Outcome::New
            }
        }
    }

    /// Puts a field, whatever was there; its version stays.
    #[inline]
    pub(crate) fn put(&mut self, field: Field<'_>) {
        let hash = hash_item(field.name);
        match self.fields.find_mut(hash, |stored| stored.name() == field.name) {
            Some(stored) => {
                let (bytes, expire_ms) = (stored.heap_bytes(), stored.field().expire_ms);
                stored.replace(field.value, field.expire_ms);
                self.field_bytes = self.field_bytes + stored.heap_bytes() - bytes;
                if expire_ms != field.expire_ms {
                    self.note_expiry(hash, expire_ms, field.expire_ms);
                }
            }
            None => {
                let stored = Stored::of(field);
                self.field_bytes += stored.heap_bytes();
                self.fields.insert(hash, stored, Stored::hash);
                if field.expire_ms != 0 {
                    self.note_expiry(hash, 0, field.expire_ms);
                }
            }
        }
    }

    /// Changes when a field expires, 0 for never; returns true if it is there.
    pub(super) fn set_expiry(&mut self, name: Item<'_>, expire_ms: u64) -> bool {
        let hash = hash_item(name);
        let Some(stored) = self.fields.find_mut(hash, |stored| stored.name() == name) else {
            return false;
        };
        let (bytes, before_ms) = (stored.heap_bytes(), stored.field().expire_ms);
        stored.set_expiry(expire_ms);
        self.field_bytes = self.field_bytes + stored.heap_bytes() - bytes;
        self.note_expiry(hash, before_ms, expire_ms);
        true
    }

    #[cold]
    fn note_expiry(&mut self, hash: u64, before_ms: u64, expire_ms: u64) {
        let aside = self.aside.get_or_insert_default();
        aside.expiries.remove(Due { expire_ms: before_ms, hash });
        aside.expiries.add(Due { expire_ms, hash });
        if aside.is_empty() {
            self.aside = None;
        }
    }

    /// Removes a field; returns true if it was there.
    #[inline]
    pub(crate) fn remove(&mut self, name: Item<'_>) -> bool {
        let hash = hash_item(name);
        let removed = self.fields.remove(hash, |stored| stored.name() == name, Stored::hash);
        removed.is_some_and(|stored| {
            self.forget(hash, &stored);
            true
        })
    }

    #[inline]
    fn forget(&mut self, hash: u64, stored: &Stored) {
        self.field_bytes -= stored.heap_bytes();
        if self.aside.is_some() {
            self.forget_aside(hash, stored.field());
        }
    }

    #[cold]
    fn forget_aside(&mut self, hash: u64, field: Field<'_>) {
        if let Some(aside) = &mut self.aside {
            aside.forget_version(field.name);
        }
        self.note_expiry(hash, field.expire_ms, 0);
    }

    /// The field that expires first, if it has expired by now.
    pub(crate) fn first_due(&self, now_ms: u64) -> Option<Field<'_>> {
        let due = self.expiries()?.first().filter(|due| due.expire_ms <= now_ms)?;
        let is_it = |stored: &Stored| stored.field().expire_ms == due.expire_ms;
        Some(self.fields.find(due.hash, is_it).expect("a noted expiry is a field's").field())
    }

    pub(crate) fn next_expiry_ms(&self) -> u64 {
        let first = self.expiries().and_then(Expiries::first);
        first.map_or(u64::MAX, |due| due.expire_ms)
    }

    /// Fields that have expired by now.
    pub(super) fn expired(&self, now_ms: u64) -> usize {
        self.expiries().map_or(0, |expiries| expiries.expired(now_ms))
    }

    /// When every field will have expired.
    pub(super) fn gone_ms(&self) -> u64 {
        let all = self.expiries().filter(|expiries| expiries.len() == self.fields.len());
        all.map_or(u64::MAX, |expiries| expiries.last_ms())
    }

    /// Every field has expired by now.
    pub(super) fn is_gone_at(&self, now_ms: u64) -> bool {
        self.gone_ms() <= now_ms
    }

    #[inline]
    pub(crate) fn iter(&self) -> impl Iterator<Item = Field<'_>> {
        self.fields.iter().map(Stored::field)
    }

    pub(super) fn random(&self, random: u64) -> Option<Field<'_>> {
        self.fields.random(random).map(Stored::field)
    }

    pub(super) fn scan(&self, cursor: u64, count: usize, mut visit: impl FnMut(Field<'_>)) -> u64 {
        self.fields.scan(cursor, count, Stored::hash, |stored| visit(stored.field()))
    }
}
