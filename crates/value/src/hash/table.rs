//! HOT PATH
//! The native form of a hash: a table of fields that grows without a pause.

use super::expiries::{Due, Expiries};
use super::field::Field;
use super::stored::Stored;
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
    /// Made with the first field that expires.
    expiries: Option<Box<Expiries>>,
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
    pub(super) fn len(&self) -> usize {
        self.fields.len()
    }

    pub(super) fn heap_bytes(&self) -> usize {
        let expiries = self.expiries.as_ref().map_or(0, |expiries| expiries.heap_bytes());
        size_of::<Table>() + self.fields.heap_bytes() + self.field_bytes + expiries
    }

    #[inline]
    pub(super) fn find(&self, name: Item<'_>) -> Option<Field<'_>> {
        self.fields.find(hash_item(name), |stored| stored.name() == name).map(Stored::field)
    }

    /// What a step to a field fetches.
    #[inline]
    pub(crate) fn ahead(&self, hash: u64, step: Step) -> Option<*const u8> {
        self.fields.ahead(hash, step, |stored| Some(stored.address()))
    }

    /// Some field expires.
    #[inline]
    pub(super) fn expires(&self) -> bool {
        self.expiries.is_some()
    }

    /// Puts a field that does not expire into a table where none does.
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

    /// Puts a field, whatever was there.
    #[inline]
    pub(super) fn put(&mut self, field: Field<'_>) {
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
        let expiries = self.expiries.get_or_insert_default();
        expiries.remove(Due { expire_ms: before_ms, hash });
        expiries.add(Due { expire_ms, hash });
        if expiries.len() == 0 {
            self.expiries = None;
        }
    }

    /// Removes a field; returns true if it was there.
    #[inline]
    pub(super) fn remove(&mut self, name: Item<'_>) -> bool {
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
        if self.expiries.is_some() {
            self.note_expiry(hash, stored.field().expire_ms, 0);
        }
    }

    /// Removes the field that expires first, if it has expired by now.
    pub(super) fn remove_expired(&mut self, now_ms: u64, visit: impl FnOnce(Field<'_>)) -> bool {
        let Some(due) = self.expiries.as_ref().and_then(|expiries| expiries.first()) else {
            return false;
        };
        if due.expire_ms > now_ms {
            return false;
        }
        let is_it = |stored: &Stored| stored.field().expire_ms == due.expire_ms;
        let removed = self.fields.remove(due.hash, is_it, Stored::hash);
        let stored = removed.expect("a noted expiry is a field's");
        visit(stored.field());
        self.forget(due.hash, &stored);
        true
    }

    pub(super) fn next_expiry_ms(&self) -> u64 {
        let first = self.expiries.as_ref().and_then(|expiries| expiries.first());
        first.map_or(u64::MAX, |due| due.expire_ms)
    }

    /// Fields that have expired by now.
    pub(super) fn expired(&self, now_ms: u64) -> usize {
        self.expiries.as_ref().map_or(0, |expiries| expiries.expired(now_ms))
    }

    /// When every field will have expired.
    pub(super) fn gone_ms(&self) -> u64 {
        let all = self.expiries.as_ref().filter(|expiries| expiries.len() == self.fields.len());
        all.map_or(u64::MAX, |expiries| expiries.last_ms())
    }

    /// Every field has expired by now.
    pub(super) fn is_gone_at(&self, now_ms: u64) -> bool {
        self.gone_ms() <= now_ms
    }

    #[inline]
    pub(super) fn iter(&self) -> impl Iterator<Item = Field<'_>> {
        self.fields.iter().map(Stored::field)
    }

    pub(super) fn random(&self, random: u64) -> Option<Field<'_>> {
        self.fields.random(random).map(Stored::field)
    }

    pub(super) fn scan(&self, cursor: u64, count: usize, mut visit: impl FnMut(Field<'_>)) -> u64 {
        self.fields.scan(cursor, count, Stored::hash, |stored| visit(stored.field()))
    }
}
